"""The numbering of sets, against `itertools.combinations`."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seeded import generator
from setwise.compiled import compile_for
from setwise.kernels.sets import TOO_MANY, binomial_table, next_set, row_of, set_of_row, write_set
from setwise.types import Ints

SIZES = [(n, k) for n in range(1, 9) for k in range(1, n + 1)]


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_rows_are_the_places_among_all_combinations(n: int, k: int) -> None:
    choose, chosen, walking = binomial_table(n, k), np.zeros(k, np.int64), np.arange(k)
    sets = list(itertools.combinations(range(n), k))
    for row, arms in enumerate(sets):
        write_set(choose, row, chosen)
        assert tuple(chosen) == tuple(set_of_row(n, k, row)) == tuple(walking) == arms
        assert row_of(choose, len(sets), np.array(arms)) == row
        assert row_of(choose, len(sets), generator(row).permutation(arms)) == row
        next_set(n, walking)
    assert tuple(walking) == sets[-1]


def write_rows(choose: Ints, rows: Ints, out: Ints) -> None:
    for i in range(len(rows)):
        write_set(choose, rows[i], out[i])


def test_rows_are_written_alike_compiled() -> None:
    choose, rows = binomial_table(20, 5), np.arange(0, math.comb(20, 5), 7)
    one, two = np.zeros((2, len(rows), 5), np.int64)
    write_rows(choose, rows, one)
    compile_for(write_rows, choose, rows, two)(choose, rows, two)
    assert np.array_equal(one, two) and one[1].tolist() == [0, 1, 2, 3, 11]


@given(data=st.data())
def test_rows_and_sets_are_inverse_where_the_rest_of_the_table_is_too_large(data: st.DataObject) -> None:
    """Of 300 arms all but 2 or 3: C(299, 150) has 89 digits."""
    n, k = 300, data.draw(st.sampled_from([297, 298, 299, 300]))
    choose, sets, chosen = binomial_table(n, k), math.comb(n, k), np.zeros(k, np.int64)
    assert choose.max() == TOO_MANY
    row = data.draw(st.integers(0, sets - 1))
    write_set(choose, row, chosen)
    assert chosen.tolist() == set_of_row(n, k, row).tolist()
    assert row_of(choose, sets, chosen) == row


def test_the_table_has_the_binomials_or_says_that_they_are_too_many() -> None:
    table = binomial_table(90, 60)
    for m, j in itertools.product(range(90), range(61)):
        assert table[m, j] == min(math.comb(m, j), TOO_MANY)
    assert not table.flags.writeable
