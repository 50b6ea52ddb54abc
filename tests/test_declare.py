"""Invalid declarations are refused where they are written, in one sentence each; clear ones are converted."""

import copy
import math
import typing
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt
import pytest

import setwise as sw
from setwise.coercion import hints_of
from setwise.declare import shares
from setwise.environments import MNL, Independent, Scaled
from setwise.kernels.draws import draw_binary_many
from setwise.policies import POLICIES
from setwise.testing import check_environment
from setwise.types import Floats, Ints
from setwise.validation import NonNegative, Positive, Range

WORLD = MNL([3.0, 2.0, 1.0, 0.5], k=2)


class State(NamedTuple):
    chosen: Ints


def fixed_policy(**facts):
    """A declared policy that always plays the first k arms."""

    class Fixed(NamedTuple):
        count: int = 1
        rates: Floats | None = None
        weights: Floats = np.ones(2)

        def init(self, n, k, horizon, rng):
            return State(np.arange(k))

        def select(self, state, rng):
            return state.chosen

        def update(self, state, chosen, rewards, rng):
            pass

    return sw.policy(**facts)(Fixed)


def constant_world(**facts):
    """A declared environment of three arms that all earn 0.5 in every round."""

    class Constant(NamedTuple):
        n: int = 3
        k: int = 2

        def means(self, chosen, out):
            out[:] = 0.5

        def draw(self, chosen, rng, rewards):
            rewards[:] = 0.5

        def best(self):
            return np.arange(self.k)

    return sw.environment(**facts)(Constant)


def init(n=4, k=2, horizon=100):
    return sw.UCB().init(n, k, horizon, np.random.default_rng(0))


def update(chosen, rewards, policy=None):
    rng = np.random.default_rng(0)
    policy = sw.UCB() if policy is None else policy
    policy.update(policy.init(4, 2, 100, rng), chosen, rewards, rng)


REFUSED = {
    # parameters by name and number
    "unknown": (lambda: sw.UCB(alfa=1), ["UCB", "'alfa'", "did you mean 'alpha'"]),
    "unlike any": (lambda: sw.UCB(colour=1), ["UCB", "'colour'", "alpha, bound"]),
    "of none": (lambda: MNL([1.0, 2.0], k=1, size=2), ["MNL", "'size'"]),
    "missing": (lambda: MNL([1.0, 2.0]), ["MNL", "'k'"]),
    "too many": (lambda: sw.UCB(1, 2, 3), ["UCB", "arguments"]),
    "twice": (lambda: sw.UCB(1, alpha=2), ["UCB", "'alpha'"]),
    # numbers
    "zero": (lambda: sw.UCB(alpha=0), ["UCB", "alpha is 0", "more than 0"]),
    "negative": (lambda: sw.UCB(alpha=-0.5), ["alpha is -0.5", "more than 0"]),
    "NaN": (lambda: sw.UCB(alpha=math.nan), ["UCB", "alpha", "NaN"]),
    "infinite": (lambda: sw.UCB(alpha=math.inf), ["UCB", "alpha", "finite"]),
    "infinite bound": (lambda: sw.UCB(bound=math.inf), ["UCB", "bound", "finite"]),
    "text": (lambda: sw.UCB(alpha="2"), ["UCB", "alpha is '2'", "not a number"]),
    "truth": (lambda: sw.UCB(alpha=True), ["alpha is True", "not a number"]),
    "nothing": (lambda: sw.UCB(alpha=None), ["alpha is None", "not a number"]),
    "complex": (lambda: sw.UCB(alpha=1 + 0j), ["alpha", "not a number"]),
    "array for a number": (lambda: sw.UCB(alpha=np.ones(300)), ["UCB", "alpha", "not a number"]),
    "too large for a float": (lambda: sw.UCB(alpha=10**400), ["UCB", "alpha"]),
    "broken count": (lambda: fixed_policy()(count=1.5), ["Fixed", "count is 1.5", "not a whole number"]),
    "infinite count": (lambda: fixed_policy()(count=math.inf), ["count is inf", "not a whole number"]),
    # copies with other values
    "replaced": (lambda: sw.UCB()._replace(alpha=-1), ["UCB", "alpha is -1"]),
    "replaced by text": (lambda: WORLD._replace(k="two"), ["MNL", "k is 'two'"]),
    "replaced beyond": (lambda: WORLD._replace(k=5), ["k=5", "4 arms"]),
    "replaced unknown": (lambda: sw.UCB()._replace(alfa=1), ["UCB", "'alfa'", "did you mean 'alpha'"]),
    "made": (lambda: sw.UCB._make([0.0, 1.0]), ["UCB", "alpha is 0"]),
    # arrays
    "array with NaN": (lambda: MNL([1.0, math.nan], k=1), ["MNL", "values", "NaN", "position 1"]),
    "array below": (lambda: MNL([1.0, -2.0], k=1), ["MNL", "values is -2", "position 1"]),
    "array above": (lambda: Independent([0.5, 1.5], k=1), ["Independent", "values is 1.5", "position 1", "0 to 1"]),
    "array infinite": (lambda: MNL([1.0, math.inf], k=1), ["MNL", "values is inf", "position 1"]),
    "array of words": (lambda: MNL(["a", "b"], k=1), ["MNL", "values", "numbers"]),
    "array of digits": (lambda: MNL(["1", "2"], k=1), ["MNL", "values", "numbers"]),
    "long array of words": (lambda: MNL(np.array(["word"] * 500), k=1), ["MNL", "values", "numbers"]),
    "ragged": (lambda: MNL([[1.0], [1.0, 2.0]], k=1), ["MNL", "values", "numbers"]),
    "one number": (lambda: MNL(0.5, k=1), ["MNL", "values"]),
    "no array": (lambda: MNL(None, k=1), ["MNL", "values"]),
    "two dimensions": (lambda: MNL([[1.0, 2.0], [3.0, 4.0]], k=1), ["MNL", "values"]),
    "empty": (lambda: MNL([], k=1), ["0"]),
    "broken arms": (lambda: Scaled(WORLD, 2.0, best_set=[0.5, 1.7]), ["Scaled", "best_set"]),
    # names and feedback
    "names twice": (lambda: MNL([1.0, 2.0], k=1, names=["a", "a"]), ["names", "'a'", "more than once"]),
    "names too few": (lambda: MNL([1.0, 2.0], k=1, names=["a"]), ["names", "1", "2 arms"]),
    "names empty": (lambda: MNL([1.0, 2.0], k=1, names=["a", ""]), ["names", "non-empty"]),
    "names not text": (lambda: MNL([1.0, 2.0], k=1, names=[0, 1]), ["names", "string"]),
    "names no list": (lambda: MNL([1.0, 2.0], k=1, names=5), ["names", "string"]),
    "feedback": (lambda: MNL([1.0], k=1, feedback="chioce"), ["feedback is 'chioce'", "'choice'", "'independent'"]),
    "feedback none": (lambda: MNL([1.0], k=1, feedback=None), ["feedback is None", "'choice'"]),
    # facts
    "fact": (lambda: fixed_policy(refrence="x"), ["Fixed", "'refrence'", "did you mean 'reference'"]),
    "fact unlike any": (lambda: constant_world(colour="red"), ["Constant", "'colour'", "outside_option"]),
    # init by hand
    "k above n": (lambda: init(n=4, k=5), ["k=5", "4 arms"]),
    "k zero": (lambda: init(k=0), ["k is 0", "less than 1"]),
    "k broken": (lambda: init(k=1.5), ["k is 1.5", "not a whole number"]),
    "n broken": (lambda: init(n=4.5), ["n is 4.5", "not a whole number"]),
    "n text": (lambda: init(n="4"), ["n is '4'", "not a number"]),
    "n infinite": (lambda: init(n=math.inf), ["n is inf", "not a whole number"]),
    "horizon zero": (lambda: init(horizon=0), ["horizon is 0", "less than 1"]),
    "horizon broken": (lambda: init(horizon=9.5), ["horizon is 9.5", "not a whole number"]),
    # update by hand
    "rewards too few": (lambda: update([0, 1], [1.0]), ["1 rewards", "2 chosen arms"]),
    "reward NaN": (lambda: update([0, 3], [1.0, math.nan]), ["arm 3", "nan", "0 to 1"]),
    "reward negative": (lambda: update([0, 3], [-0.25, 1.0]), ["arm 0", "-0.25", "0 to 1"]),
    "reward above": (lambda: update([0, 3], [0.0, 1.5]), ["arm 3", "1.5", "0 to 1"]),
    "reward above bound": (lambda: update([0, 3], [0.0, 5.5], sw.UCB(bound=5)), ["arm 3", "5.5", "0 to 5"]),
    "reward text": (lambda: update([0, 1], ["a", "b"]), ["reward", "number"]),
    "reward complex": (lambda: update([0, 1], [1j, 0.0]), ["reward", "number"]),
    "arm broken": (lambda: update([0.5, 1.0], [0.0, 0.0]), ["arm"]),
    "arm below": (lambda: update([-1, 0], [0.0, 0.0]), ["arm -1"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_refused_in_one_sentence(case):
    mistake, words = REFUSED[case]
    with pytest.raises(sw.InputError) as refusal:
        mistake()
    sentence = str(refusal.value)
    assert "\n" not in sentence and len(sentence) < 400
    for word in words:
        assert word in sentence


def test_a_refused_update_leaves_the_state_as_it_was():
    policy, rng = sw.UCB(), np.random.default_rng(0)
    state = policy.init(4, 2, 100, rng)
    with pytest.raises(sw.InputError):
        policy.update(state, [0, 1], [1.0, 7.0], rng)
    assert state.pulls.tolist() == [0, 0, 0, 0] and state.reward.tolist() == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("alpha", [3, 3.0, np.float32(3), np.int8(3), Fraction(3)])
def test_any_real_number_becomes_a_float(alpha):
    assert type(sw.UCB(alpha).alpha) is float and sw.UCB(alpha) == sw.UCB(alpha=3.0)


@pytest.mark.parametrize("count", [10**6, 1e6, np.int32(10**6), np.float64(1e6)])
def test_any_whole_number_becomes_an_int(count):
    assert type(fixed_policy()(count=count).count) is int and fixed_policy()(count=count).count == 10**6


def test_large_whole_numbers_lose_nothing():
    assert fixed_policy()(count=2**60 + 1).count == 2**60 + 1


@pytest.mark.parametrize("given", [[4, 3, 2, 1], (4, 3, 2, 1), np.arange(4, 0, -1), np.arange(1.0, 5.0)[::-1]])
def test_lists_become_read_only_arrays_of_floats(given):
    values = MNL(given, k=2).values
    assert values.dtype == np.float64 and values.flags.c_contiguous and values.tolist() == [4.0, 3.0, 2.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 9.0


def test_the_callers_array_is_copied_not_locked():
    given = np.array([4.0, 3.0])
    world = MNL(given, k=1)
    given[0] = 0.0
    assert world.values.tolist() == [4.0, 3.0]


def test_an_optional_array_may_be_left_out_or_given():
    rates = fixed_policy()(rates=[1, 2]).rates
    assert fixed_policy()().rates is None
    assert rates.dtype == np.float64 and not rates.flags.writeable


def with_field(hint):
    """A declared policy with one field that is annotated so."""

    class Mine(NamedTuple):
        field: hint

        def init(self, n, k, horizon, rng):
            return State(np.arange(k))

        def select(self, state, rng):
            return state.chosen

        def update(self, state, chosen, rewards, rng):
            pass

    return sw.policy(Mine)


@pytest.mark.parametrize(
    ("hint", "given", "dtype"),
    [
        (np.ndarray, [1.5, 2.0], np.float64),
        (np.ndarray, [1, 2, 3], np.float64),  # weights, most likely
        (np.ndarray, [1, 2.5], np.float64),
        (np.ndarray, [True, False], np.bool_),
        (np.ndarray, [], np.float64),
        (np.ndarray, [[1, 2], [3, 4]], np.float64),
        (np.ndarray, (1, 2), np.float64),
        (np.ndarray, range(3), np.float64),
        (np.ndarray, np.arange(3), np.int64),  # whoever gives an array has said what it is
        (np.ndarray, np.ones(3, np.float32), np.float32),
        (np.ndarray, np.arange(6.0).reshape(2, 3).T, np.float64),
        (np.ndarray, np.ones(2, ">f8"), np.float64),
        (np.ndarray | None, [1, 2], np.float64),
        (Optional[np.ndarray], [1, 2], np.float64),  # noqa: UP045
        (Annotated[np.ndarray, "of weights"], [1, 2], np.float64),
        (np.ndarray | float, [1, 2], np.float64),
        (np.ndarray | list[float], [1, 2], np.float64),
        ("np.ndarray", [1, 2], np.float64),
        ("np.ndarray | None", [1, 2], np.float64),
        ("npt.NDArray[np.int64]", [1, 2], np.int64),
        (npt.NDArray[Any], [1, 2], np.float64),
        (npt.NDArray[np.float64], [1, 2], np.float64),
        (npt.NDArray[np.float32], [1, 2.5], np.float32),
        (npt.NDArray[np.int64], [1, 2], np.int64),
        (npt.NDArray[np.int32] | None, [1, -2], np.int32),
        (npt.NDArray[np.uint8], [0, 255], np.uint8),
        (npt.NDArray[np.bool_], [True, False], np.bool_),
        (npt.NDArray[np.floating[Any]], [1, 2], np.float64),
        (npt.NDArray[np.integer[Any]], [1, 2], np.int64),
        (npt.NDArray[np.number[Any]], [1, 2], np.float64),
        (np.ndarray[tuple[int], np.dtype[np.float32]], [1, 2], np.float32),
    ],
)
def test_a_list_in_a_field_of_an_array_becomes_one(hint, given, dtype):
    found = with_field(hint)(given).field
    assert type(found) is np.ndarray and found.dtype == dtype and found.dtype.isnative
    assert found.flags.c_contiguous and not found.flags.writeable
    assert found.tolist() == np.array(given).tolist()


@pytest.mark.parametrize(
    ("hint", "given"),
    [
        (np.ndarray | None, None),
        (np.ndarray | float, 2.5),
        (np.ndarray | float, 2),
        (np.ndarray | str, "all"),
        (npt.NDArray[np.str_], ["a", "b"]),
        (list[str], ["a", "b"]),
        (tuple[int, ...], (1, 2)),
        (Any, [1, 2]),
        (dict, {"a": 1}),
    ],
)
def test_what_is_no_array_of_numbers_stays_what_it_is(hint, given):
    assert with_field(hint)(given).field is given


def test_an_array_of_texts_stays_what_it_is():
    given = np.array(["a", "b"])
    assert with_field(np.ndarray)(given).field is given


@pytest.mark.parametrize(
    ("hint", "given", "sentence"),
    [
        (np.ndarray, ["a", "b"], "Mine: field is ['a', 'b'], which is not a list of numbers"),
        (np.ndarray, "heavy", "Mine: field is 'heavy', which is not a list of numbers"),
        (np.ndarray, {"a": 1}, "Mine: field is {'a': 1}, which is not a list of numbers"),
        (np.ndarray, [[1, 2], [3]], "Mine: field is [[1, 2], [3]], which is not a list of numbers"),
        (np.ndarray, None, "Mine: field is None, which is not a list of numbers"),
        (np.ndarray, [1.0, math.nan], "Mine: field has a NaN at position 1"),
        (npt.NDArray[np.int64], [1.5], "Mine: field is [1.5], which is not a list of whole numbers"),
        (npt.NDArray[np.int8], [0, 300], "Mine: field is 300 at position 1, which does not fit into int8"),
        (npt.NDArray[np.uint8], [-1], "Mine: field is -1 at position 0, which does not fit into uint8"),
        (Ints, [2**63], f"Mine: field is {2**63} at position 0, which does not fit into int64"),
        (npt.NDArray[np.float32], [1.0, 1e300], "Mine: field is 1e+300 at position 1, which does not fit into float32"),
        (npt.NDArray[np.bool_], [2], "Mine: field is [2], which is not a list of truths, True or False"),
        (list[float], [1.0, 2.0], "Mine: field is annotated list[float], and compiled code takes no lists; annotate"),
        (list, [1, 2.5], "Mine: field is annotated list, and compiled code takes no lists; annotate it np.ndarray"),
        (list[list[int]], [[1], [2, 3]], "Mine: field is annotated list[list[int]], and compiled code takes no lists;"),
        (
            Sequence[float],
            [1.0],
            "Mine: field is annotated Sequence[float], and compiled code takes no lists;",
        ),
        (typing.Sequence[float] | None, [1], "Mine: field is annotated "),
        (list[float], [], "Mine: field is annotated list[float], and compiled code takes no lists; annotate it np.nd"),
    ],
)
def test_what_cannot_become_an_array_is_refused_in_one_sentence(hint, given, sentence):
    with pytest.raises(sw.InputError) as refusal:
        with_field(hint)(given)
    assert str(refusal.value).startswith(sentence) and "\n" not in str(refusal.value)


def test_an_array_in_a_field_that_is_annotated_as_a_list_is_taken():
    given = np.array([1.0, 2.0])
    assert with_field(list[float])(given).field is given


UNKNOWN = """
from __future__ import annotations
from typing import TYPE_CHECKING, NamedTuple
import numpy as np
import setwise as sw

if TYPE_CHECKING:
    import numpy.typing as npt
    from somewhere import Nothing

class State(NamedTuple):
    chosen: np.ndarray

@sw.policy
class Mine(NamedTuple):
    weights: np.ndarray
    arms: npt.NDArray[np.int64]
    other: Nothing
    count: int = 3

    def init(self, n, k, horizon, rng):
        return State(np.arange(k))

    def select(self, state, rng):
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        pass

def make(weights: np.ndarray, other: Nothing = None):
    return Mine(weights, [0], other)
"""


def test_annotations_for_type_checkers_only_keep_no_other_field_from_being_coerced(tmp_path, monkeypatch):
    (tmp_path / "of_unknown.py").write_text(UNKNOWN)
    monkeypatch.syspath_prepend(tmp_path)
    import of_unknown

    made = of_unknown.Mine([1, 2], [3, 4], "anything", 1e3)
    assert made.weights.dtype == np.float64 and made.arms.dtype == np.int64
    assert (made.other, made.count) == ("anything", 1000) and type(made.count) is int
    assert set(hints_of(of_unknown.Mine)) == {"weights", "arms", "count"}
    assert hints_of(of_unknown.make) == {"weights": np.ndarray}


def test_a_field_of_any_dtype_is_printed():
    assert repr(with_field(np.ndarray)([True, False])) == "Mine(field=[1, 0])"
    assert repr(with_field(np.ndarray)(np.array(["a"]))) == "Mine(field=['a'])"
    assert repr(with_field(Ints)([10**6, 2])) == "Mine(field=[1e+06, 2])"


def test_the_default_of_a_field_is_coerced_as_well():
    assert not fixed_policy()().weights.flags.writeable


def test_positions_and_names_of_parameters_mean_the_same():
    assert sw.UCB(3, 2) == sw.UCB(bound=2, alpha=3) == sw.UCB(3)._replace(bound=2) == sw.UCB._make((3, 2))


def test_a_copy_is_equal():
    assert copy.deepcopy(sw.UCB(3)) == sw.UCB(3) and copy.copy(sw.UCB(3)) == sw.UCB(3)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("choice", sw.Feedback.choice),
        ("independent", sw.Feedback.independent),
        (sw.Feedback.independent, sw.Feedback.independent),
        (1, sw.Feedback.independent),
    ],
)
def test_feedback_may_be_given_by_name(given, meant):
    assert MNL([1.0, 2.0], k=1, feedback=given).feedback is meant
    assert sw.Feedback(given) is meant


def test_feedback_reads_and_compares_as_its_name():
    assert sw.Feedback.choice == "choice" and sw.Feedback.choice != "independent"
    assert str(sw.Feedback.choice) == "choice" and repr(sw.Feedback.choice) == "'choice'"


def test_the_repr_is_short_and_says_what_differs():
    assert repr(sw.UCB()) == "UCB()"
    assert repr(sw.UCB(3, 5)) == "UCB(alpha=3.0, bound=5.0)"
    assert repr(MNL([1, 2], k=1)) == "MNL(values=[1, 2], k=1)"
    long = repr(MNL(np.linspace(1.0, 2.0, 10_000), k=5, feedback="independent"))
    assert "10000" in long and "k=5" in long and "feedback='independent'" in long and len(long) < 120


def test_derived_fields_are_left_out_of_the_repr():
    assert "choose" not in repr(sw.paper.camera())


def test_facts_have_defaults_and_can_be_stated():
    assert fixed_policy().title == "Fixed" and fixed_policy().feedback == ("choice", "independent")
    stated = fixed_policy(title="The first k", original=False)
    assert stated.title == "The first k" and stated.original is False
    assert constant_world(bound=2.0).bound == 2.0 and constant_world().rewards == "bounded"


def test_a_policy_may_state_one_kind_of_feedback():
    policy = fixed_policy(feedback="choice")()
    assert sw.simulate(policy, WORLD, horizon=5, compiled=False).pulls.tolist() == [[5, 5, 0, 0]]
    with pytest.raises(sw.InputError, match="learns from choice feedback"):
        sw.simulate(policy, WORLD._replace(feedback="independent"), horizon=5, compiled=False)


def test_an_environment_need_not_state_its_feedback():
    result = sw.simulate(fixed_policy()(), constant_world()(), horizon=5, compiled=False)
    assert result.pulls.tolist() == [[5, 5, 0]] and result.regret[0, -1] == 0.0


def test_a_class_is_declared_with_or_without_brackets():
    class Bare(NamedTuple):
        def init(self, n, k, horizon, rng):
            return State(np.arange(k))

        def select(self, state, rng):
            return state.chosen

        def update(self, state, chosen, rewards, rng):
            pass

    assert sw.policy(Bare) is Bare and Bare.title == "Bare"
    assert sw.policy()(Bare) is Bare


def test_what_is_no_named_tuple_is_refused():
    class Plain:
        pass

    with pytest.raises(sw.InputError, match=r"Plain is not a NamedTuple: write class Plain\(NamedTuple\)"):
        sw.policy(Plain)


def test_a_policy_inside_another_is_printed_if_it_is_not_the_default() -> None:
    """Tuples of different classes can be equal, so the class counts."""
    assert repr(sw.Doubling()) == "Doubling()"
    assert repr(sw.Doubling(sw.KLUCB(alpha=2.0))) == "Doubling(base=KLUCB(alpha=2.0))"


@pytest.mark.parametrize(("given", "taken"), [(True, True), (0, False), (1.0, True), (np.bool_(False), False)])
def test_yes_and_no_are_taken_as_such(given: Any, taken: bool) -> None:
    assert sw.Doubling(restart=given).restart is taken


def test_what_is_neither_yes_nor_no_is_refused() -> None:
    with pytest.raises(sw.InputError, match="Doubling: restart is 'maybe'; it can be True or False"):
        sw.Doubling(restart="maybe")


@pytest.mark.parametrize(
    ("policy", "chosen", "rewards", "sentence"),
    [
        (sw.KLUCB(), [1, 1], [0, 1], r"\[1, 1\] has an arm twice; the arms of a set are distinct"),
        (sw.KLUCB(), [9, 1], [0, 1], "arm 9 is chosen; there are 4 arms, numbered from 0"),
        (sw.RUCB(), [0, 1], [1, 1], "2 arms are rewarded; RUCB learns from one winner at most"),
        (sw.Thompson(), [0, 4], [1, 1], "arm 4 is chosen; there are 4 arms"),
    ],
)
def test_feedback_that_cannot_be_is_refused_and_nothing_is_learned(
    policy: Any, chosen: list[int], rewards: list[float], sentence: str
) -> None:
    rng = np.random.default_rng(0)
    state = policy.init(4, 2, 100, rng)
    before = copy.deepcopy(state)
    with pytest.raises(sw.InputError, match=sentence):
        policy.update(state, chosen, rewards, rng)
    for left, right in zip(before, state, strict=True):
        assert not isinstance(left, np.ndarray) or np.array_equal(left, right)


def test_an_infinite_parameter_is_refused() -> None:
    with pytest.raises(sw.InputError, match="KLUCB: alpha is inf; it has to be more than 0 and finite"):
        sw.KLUCB(alpha=math.inf)


def limited_policy(**annotations: Any) -> Any:
    """A policy whose parameters have these annotations; each is 0.5 by default."""

    def init(self, n, k, horizon, rng):
        return State(np.arange(k))

    def select(self, state, rng):
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        pass

    limited = NamedTuple("Limited", list(annotations.items()))
    limited.__new__.__defaults__ = (0.5,) * len(annotations)
    for method in (init, select, update):
        setattr(limited, method.__name__, method)
    return sw.policy(limited)


@pytest.mark.parametrize(
    ("annotation", "taken", "refused", "wanted"),
    [
        (Positive, [1e-300, 7], 0, "more than 0"),
        (Positive, [0.1], math.inf, "more than 0 and finite"),
        (NonNegative, [0, 2.5], -1, "at least 0"),
        (Annotated[float, Range(0.0, 1.0)], [0, 1, 0.5], 1.5, "from 0 to 1"),
        (Annotated[float, Range(0.0, 1.0, strict=True)], [1], 0, "above 0 and at most 1"),
        (Annotated[int, Range(1)], [1, 10**6], 0, "at least 1"),
    ],
)
def test_the_range_of_a_parameter_stands_in_its_annotation(annotation, taken, refused, wanted):
    limited = limited_policy(share=annotation)
    for value in taken:
        assert limited(value).share == value
    with pytest.raises(sw.InputError, match=f"^Limited: share is {refused:g}; it has to be {wanted}$"):
        limited(refused)
    with pytest.raises(sw.InputError, match=r"^Limited: share is 'x', which is not a number$"):
        limited("x")


AMOUNTS = [(name, field) for name, cls in POLICIES.items() for field in ("bound", "total") if field in cls._fields]


@pytest.mark.parametrize(("name", "field"), AMOUNTS)
def test_the_largest_reward_of_a_policy_is_so_small_or_large_that_its_square_is_a_number(name, field):
    cls, world = POLICIES[name], Independent([0.5, 0.25, 0.0, 0.75], k=2)
    for value in (1e155, 1e-155, 1.0000001e50):
        with pytest.raises(sw.InputError, match=rf"^{cls.__name__}: {field} is .*; it has to be from 1e-50 to 1e\+50$"):
            cls(**{field: value})
    for scale in (1e-50, 1e50):
        result = sw.simulate(cls(**{field: scale}), Scaled(world, np.full(4, 0.5 * scale)), 300, compiled=False)
        assert 0 < result.regret[0, -1] < 300 * scale


def test_a_number_that_is_refused_has_as_many_digits_as_it_takes():
    limited = limited_policy(share=Annotated[float, Range(0.0, 1.0)])
    with pytest.raises(sw.InputError, match=r"share is 1\.000000000001; it has to be from 0 to 1$"):
        limited(1 + 1e-12)
    state = sw.UCB().init(4, 2, 9, np.random.default_rng(0))
    with pytest.raises(sw.InputError, match=r"reward of arm 0 is 1\.000000000001; rewards are numbers from 0 to 1$"):
        sw.UCB().update(state, [0, 1], [1 + 1e-12, 0.0], np.random.default_rng(0))


def test_the_range_of_an_array_holds_for_every_number_of_it():
    limited = limited_policy(shares=Annotated[Floats, Range(0.0, 1.0)])
    assert limited([0, 1]).shares.tolist() == [0.0, 1.0]
    with pytest.raises(sw.InputError, match=r"^Limited: shares is 2 at position 1; it has to be from 0 to 1$"):
        limited([0, 2])


def test_shared_methods_are_the_same_functions_and_run_compiled():
    assert sw.KLMOSS.certain_rounds is sw.KLUCB.certain_rounds
    assert sw.KLUCB.indices is sw.UCB.indices
    with pytest.raises(sw.InputError, match=r"^Fixed: UCB has no method gaps to share$"):
        shares(sw.UCB, "gaps")(fixed_policy())

    @sw.policy
    @shares(sw.CUCB, "init", "select", "update")
    class Borrowed(NamedTuple):
        clip: bool = False
        bound: float = 1.0

    runs = [
        sw.simulate(policy, WORLD, 300, seed=1, compiled=c).regret for c in (True, False) for policy in [Borrowed()]
    ]
    assert runs[0].tolist() == runs[1].tolist()
    with pytest.raises(sw.InputError, match="the reward of arm 0 is 2; rewards are numbers from 0 to 1"):
        Borrowed().update(Borrowed().init(4, 2, 9, np.random.default_rng(0)), [0, 1], [2.0, 0.0], None)


def coins(annotation: Any, **facts: Any) -> Any:
    """An environment of independent fair coins, with its feedback annotated like this."""

    class Coins(NamedTuple):
        n: int = 4
        k: int = 2
        feedback: annotation = sw.Feedback.independent

        def means(self, chosen, out):
            for j in range(len(chosen)):
                out[j] = 0.5

        def draw(self, chosen, rng, rewards):
            for j in range(len(chosen)):
                rewards[j] = 1.0 if rng.random() < 0.5 else 0.0

        def best(self):
            return np.arange(self.k)

    return sw.environment(**facts)(Coins)


def test_rewards_of_0_and_1_are_drawn_in_many_rounds_from_the_means_by_default():
    world = coins(sw.Feedback, rewards="binary")()
    totals, wanted, chosen = np.zeros(2), np.zeros(2), np.array([0, 3])
    world.draw_many(chosen, 1000, np.random.default_rng(3), totals)
    draw_binary_many(world.feedback, np.full(2, 0.5), 1000, np.random.default_rng(3), wanted)
    assert totals.tolist() == wanted.tolist() != [0.0, 0.0]
    check_environment(world)
    prices = Scaled(world, np.array([1.0, 2.0, 3.0, 4.0]))
    runs = [sw.simulate(sw.UCB(bound=4.0), prices, 2000, seed=2, compiled=c).regret.tolist() for c in (True, False)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(("annotation", "facts"), [(sw.Feedback, {}), (str, {"rewards": "binary"})])
def test_nothing_is_assumed_of_rewards_that_the_means_do_not_determine(annotation, facts):
    assert not hasattr(coins(annotation, **facts), "draw_many")


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"rewards": "binry"}, "Constant: rewards is 'binry'; did you mean 'binary'?"),
        ({"feedback": "independant"}, "Constant: feedback is 'independant'; did you mean 'independent'?"),
    ],
)
def test_facts_with_a_typing_error_are_refused(facts, sentence):
    with pytest.raises(sw.InputError) as refused:
        constant_world(**facts)
    assert str(refused.value) == sentence
