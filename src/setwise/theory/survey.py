"""Survey the sets of a world: their values, which arm is ahead of which, and the means of the best set's arms.

Two passes (see `findings`) go over all sets, or over a random sample. If a closed form proves the answers, large worlds
are not enumerated.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.declare import check_contract
from setwise.environments.enumeration import (
    MOST_SETS,
    cache_best,
    has_few_orders,
    has_order,
    has_value,
    number_of_sets,
    run_compiled,
    scan_orders,
    scan_sets,
    stated_best,
    tolerance_of,
)
from setwise.environments.ordered import means_of
from setwise.kernels.sets import set_of_row
from setwise.theory.findings import (
    AgainstBest,
    Relations,
    draw_until,
    merge_against,
    merge_relations,
    new_against_best,
    new_relations,
    new_sample,
    scan_against_best,
    scan_relations,
    search_against_best,
    search_relations,
)
from setwise.types import Floats, InputError, Ints
from setwise.validation import check_range, number, suggestion, whole_number

CHECKED_THOUGH_PROVED = 200_000  # up to this many sets are enumerated even if a closed form proves the answers
SEARCH_CHUNK = 1 << 16
ALL_ORDERS = "all orders of all sets"
NOT_OPTIMAL = "best() is not the optimal set, and which one is was not found out"
OPTIONS = ("budget", "method", "tolerance", "seed", "threads", "progress")
MOST_ARMS = 3_000  # memory limit: leads are stored for all pairs of arms


@dataclasses.dataclass(frozen=True)
class Survey:
    """The findings in a world, and how they were obtained.

    environment: the world
    looked_at: number of sets evaluated
    enumerated: whether these are all sets
    exact: whether fractions were used
    proof: why the answers hold without enumeration, or ""
    tolerance: differences up to it are ties
    relations: findings of the first pass, or None if only the proof was used
    best, value, means: the optimal set, Q(s*) and P(a|s*); where the order matters, the world's own `best()`
    against: findings of the second pass, or None if only the proof was used
    optimal_sets, ties: the optimal sets, at most 64 of them, and their total number
    set_of: maps the number of a set to its arms
    doubt: why s* may not be the optimal set, or ""
    """

    environment: Any
    looked_at: int
    enumerated: bool
    exact: bool
    proof: str
    tolerance: float
    relations: Any
    best: tuple[int, ...]
    value: Any
    means: tuple[Any, ...]
    against: Any
    optimal_sets: tuple[tuple[int, ...], ...]
    ties: int
    set_of: Callable[[int], tuple[int, ...]]
    doubt: str = ""

    @property
    def all_sets(self) -> bool:
        """Whether the values Q(s) are certain: all sets were evaluated, or a proof covers them."""
        return bool(self.proof) or self.enumerated

    @property
    def complete(self) -> bool:
        """Whether P(a|s) is certain too: false if means depend on the order of the arms in a set."""
        return self.all_sets and not has_order(self.environment)

    @property
    def how(self) -> str:
        """How certain the answers are, as text."""
        sets = number_of_sets(self.environment)
        ordered = ", arms in rising order only" if has_order(self.environment) else ""
        if self.enumerated:
            seen = f"all {sets:,} sets{ordered}, " + ("exactly" if self.exact else f"to {self.tolerance:.0e}")
        elif self.looked_at:
            total = f"{sets:,}" if sets < 10**15 else f"{sets:.1e}"
            seen = f"{self.looked_at:,} sets of {total}{ordered}, to {self.tolerance:.0e}"
        else:
            seen = ""
        return " and ".join(filter(None, [seen, "by proof" if self.proof else ""]))


def survey_sets(
    environment: Any,
    *,
    budget: int | None = None,
    method: str = "auto",
    tolerance: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    **unknown: Any,
) -> Survey:
    """Survey the sets of a world by enumeration, random search or proof.

    budget: if there are more sets than that, and no proof, evaluate this many random sets
    method: "auto", or force "enumerate", "search" or "prove"
    tolerance: differences up to it are ties; by default the accuracy that the world states for its means, and none in a
        table of fractions
    seed: of the search
    threads: by default one per core
    progress: called from time to time with the fraction of the work done
    """
    if unknown:
        name = next(iter(unknown))
        raise InputError(f"there is no option {name!r}; {suggestion(name, OPTIONS)}")
    if isinstance(environment, type) or not hasattr(environment, "means"):
        raise InputError(f"{environment!r} is not an environment; give an object such as setwise.paper.camera()")
    check_contract(type(environment), "environment")
    for size in ("n", "k"):
        if not hasattr(environment, size):
            raise InputError(f"{type(environment).__name__} has no {size}; give it a field or a property of that name")
    if has_value(environment):
        raise InputError(
            f"{type(environment).__name__} counts regret by its own value, and the theory is about the sum of the "
            "means; compare policies by playing them: setwise.simulate(policy, world)"
        )
    threads = None if threads is None else whole_number("threads", threads, 1)
    if method not in ("auto", "enumerate", "search", "prove"):
        raise InputError(f"method is {method!r}; it can be 'auto', 'enumerate', 'search' or 'prove'")
    sets = number_of_sets(environment)
    limit = None if budget is None else whole_number("budget", budget, 1)
    width = tolerance_of(environment) if tolerance is None else number("tolerance", tolerance)
    check_range("tolerance", width, 0.0, math.inf)
    seed = whole_number("seed", seed, 0)
    provable = bool(getattr(environment, "proof", "")) and hasattr(environment, "merits")
    if method == "auto":
        method = _method(environment, sets, limit, provable)
    if method == "prove":
        if not provable:
            raise InputError(f"{type(environment).__name__} has no closed form that would prove anything")
        return _proved(environment, width)
    if method == "search":
        return _searched(environment, limit or min(sets, 100_000), width, seed, progress)
    if sets > MOST_SETS and (limit is None or limit < sets):
        raise InputError(_too_many(environment, sets))
    exact = getattr(environment, "exact", None)
    if exact is not None and tolerance is None:
        from setwise.theory.exact import exact_survey

        return exact_survey(environment, exact)
    return _enumerated(environment, width, threads, progress, provable)


def _method(environment: Any, sets: int, limit: int | None, provable: bool) -> str:
    if provable and sets > CHECKED_THOUGH_PROVED:
        return "prove"
    if limit is not None:
        return "enumerate" if sets <= limit else "search"
    if sets > MOST_SETS:
        raise InputError(_too_many(environment, sets))
    return "enumerate"


def _too_many(environment: Any, sets: int) -> str:
    total = f"{sets:,}" if sets < 10**15 else f"{sets:.1e}"
    return (
        f"{environment.k} of {environment.n} arms make {total} sets, more than the {MOST_SETS:,} that are looked at "
        "one by one: give a budget, and so many sets are searched for a violation"
    )


def _part(progress: Callable[[float], None] | None, low: float, high: float) -> Callable[[float], None] | None:
    """Map the progress of one part to its share of the whole."""
    return None if progress is None else (lambda done: progress(low + (high - low) * done))


def _enumerated(
    environment: Any, width: float, threads: int | None, progress: Callable[[float], None] | None, provable: bool
) -> Survey:
    n, k = int(environment.n), int(environment.k)
    if n > MOST_ARMS:
        raise InputError(f"there are {n} arms, and the pairs of at most {MOST_ARMS} are kept")
    bound = float(getattr(environment, "bound", 1.0))
    found = scan_sets(
        scan_relations, environment, lambda: new_relations(n, k, width, bound), threads, _part(progress, 0.0, 0.4)
    )
    relations = merge_relations(found)
    _check_means(environment, relations, lambda row: tuple(set_of_row(n, k, row).tolist()))
    first = set_of_row(n, k, int(relations.top_row[0]))

    def against(best: Ints, part: Callable[[float], None] | None = None) -> AgainstBest:
        top, reference = _value(environment, best)
        return merge_against(
            scan_sets(
                scan_against_best,
                environment,
                lambda: new_against_best(n, best, reference, max(top, float(relations.top[0])), width),
                threads,
                part,
            )
        )

    if has_order(environment):
        return _in_rising_order(environment, width, relations, against)
    findings = against(first, _part(progress, 0.4, 0.7))
    top, second = float(relations.top[0]), float(findings.second[0])
    if width == tolerance_of(environment):
        gaps = (top - second, top - float(relations.bottom[0])) if second > -np.inf else (0.0, 0.0)
        cache_best(environment, first, gaps)
    rows = [int(row) for row in findings.tie_rows if row >= 0]
    # The assumption may hold for only some of several optimal sets: take the first of largest margin.
    start = int(relations.top_row[0])
    affordable = max(1, MOST_SETS // number_of_sets(environment))
    candidates = {start: findings}
    for row in [row for row in rows if row != start][: affordable - 1]:
        done = len(candidates) / min(len(rows), affordable)
        candidates[row] = against(set_of_row(n, k, row), _part(progress, 0.7 + 0.3 * done, 0.7 + 0.3 * done))
    largest = max(_margin(own) for own in candidates.values())
    findings = next(candidates[row] for row in sorted(candidates) if _margin(candidates[row]) >= largest - width)
    untried = int(findings.ties[0]) - len(candidates)
    return Survey(
        environment=environment,
        looked_at=number_of_sets(environment),
        enumerated=True,
        exact=False,
        proof=environment.proof if provable else "",
        tolerance=width,
        relations=relations,
        best=tuple(findings.best.tolist()),
        value=_value(environment, findings.best)[0],
        means=tuple(findings.reference.tolist()),
        against=findings,
        optimal_sets=tuple(tuple(set_of_row(n, k, row).tolist()) for row in rows),
        ties=int(findings.ties[0]),
        set_of=lambda row: tuple(set_of_row(n, k, row).tolist()),
        doubt=f"{untried:,} other optimal sets were not tried as s*" if untried else "",
    )


def _in_rising_order(
    environment: Any, width: float, relations: Relations, against: Callable[[Ints], AgainstBest]
) -> Survey:
    """Return the survey of a world in which the order matters, with `best()` unless a better order is found.

    All orders are looked at if they are few, else rising ones.
    """
    n, k = int(environment.n), int(environment.k)

    def set_of(row: int) -> tuple[int, ...]:
        return tuple(set_of_row(n, k, row).tolist())

    best, doubt = stated_best(environment), ""
    value = _value(environment, best)[0] + width
    if has_few_orders(environment):
        top = scan_orders(environment)[0]
        best = top if _value(environment, top)[0] > value else best
    elif float(relations.top[0]) > value:
        best, doubt = set_of_row(n, k, int(relations.top_row[0])), NOT_OPTIMAL
    findings = against(best)
    return Survey(
        environment=environment,
        looked_at=number_of_sets(environment),
        enumerated=True,
        exact=False,
        proof="",
        tolerance=width,
        relations=relations,
        best=tuple(best.tolist()),
        value=_value(environment, best)[0],
        means=tuple(findings.reference.tolist()),
        against=findings,
        optimal_sets=(tuple(best.tolist()),),
        ties=1,
        set_of=set_of,
        doubt=doubt,
    )


def _check_means(environment: Any, relations: Relations, set_of: Callable[[int], tuple[int, ...]]) -> None:
    """Raise InputError if a mean is not a number from 0 to the bound."""
    row = int(relations.wrong_row[0])
    if row >= 0:
        chosen = set_of(row)
        _, means = _value(environment, chosen)
        bound = float(getattr(environment, "bound", 1.0))
        raise InputError(
            f"{type(environment).__name__}.means gives {means.tolist()} for the set {list(chosen)}; means are numbers "
            f"from 0 to {bound:g}"
        )


def _margin(findings: AgainstBest) -> float:
    return float(findings.margin.min(initial=np.inf))


def _value(environment: Any, chosen: Any) -> tuple[float, Floats]:
    """Return Q(s) and P(a|s), summed in the same order as in the surveys."""
    means = means_of(environment, chosen)
    return sum(means.tolist()), means


def _searched(environment: Any, rows: int, width: float, seed: int, progress: Callable[[float], None] | None) -> Survey:
    n, k = int(environment.n), int(environment.k)
    if n > MOST_ARMS:
        raise InputError(f"there are {n} arms, and the pairs of at most {MOST_ARMS} are kept in a search")
    around = stated_best(environment)
    if not has_order(environment):
        around = np.sort(around)

    def search(look: Callable[..., None], findings: Any, low: float, high: float) -> Any:
        sample, rng = new_sample(n, around, rows), np.random.default_rng(seed)
        for row in range(0, rows, SEARCH_CHUNK):
            count = min(SEARCH_CHUNK, rows - row)
            run_compiled(look, environment, sample, rng, row, count, findings, interpreted=rows <= 2_000)
            if progress is not None:
                progress(low + (high - low) * (row + count) / rows)
        return sample

    def set_of(row: int) -> tuple[int, ...]:
        sample = new_sample(n, around, rows)
        run_compiled(draw_until, sample, np.random.default_rng(seed), row, interpreted=row <= 2_000)
        return tuple(sample.chosen.tolist())

    relations = new_relations(n, k, width, float(getattr(environment, "bound", 1.0)))
    sample = search(search_relations, relations, 0.0, 0.5)
    _check_means(environment, relations, set_of)
    best, doubt = around, ""
    top, reference = _value(environment, best)
    if relations.top[0] > top + width:
        best = np.array(set_of(int(relations.top_row[0])), dtype=np.int64)
        top, reference = _value(environment, best)
        doubt = NOT_OPTIMAL
    against = new_against_best(n, best, reference, top, width)
    search(search_against_best, against, 0.5, 1.0)
    return Survey(
        environment=environment,
        looked_at=len(np.unique(sample.keys)),
        enumerated=False,
        exact=False,
        proof="",
        tolerance=width,
        relations=relations,
        best=tuple(best.tolist()),
        value=top,
        means=tuple(reference.tolist()),
        against=against,
        optimal_sets=(tuple(best.tolist()),),
        ties=1,
        set_of=set_of,
        doubt=doubt,
    )


def _proved(environment: Any, width: float) -> Survey:
    best = np.sort(stated_best(environment))
    top, reference = _value(environment, best)
    merits = np.asarray(environment.merits)
    border = merits[best].min()
    inside, everywhere = int((merits[best] == border).sum()), int((merits == border).sum())
    return Survey(
        environment=environment,
        looked_at=0,
        enumerated=False,
        exact=False,
        proof=environment.proof,
        tolerance=width,
        relations=None,
        best=tuple(best.tolist()),
        value=top,
        means=tuple(reference.tolist()),
        against=None,
        optimal_sets=(tuple(best.tolist()),),
        ties=math.comb(everywhere, inside),
        set_of=lambda row: (),
    )
