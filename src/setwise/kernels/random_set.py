"""Uniformly random sets."""

from setwise.types import Generator, Ints


def random_set(arms: Ints, chosen: Ints, rng: Generator) -> None:
    """Write k = len(chosen) distinct arms to `chosen`, every sequence equally likely, in O(k).

    `arms` has to be 0, 1, ..., n - 1 and is restored: the first k steps of a shuffle are undone.
    """
    n = len(arms)
    for j in range(len(chosen)):
        other = j + int(rng.random() * (n - j))
        arm = arms[other]
        arms[other] = arms[j]
        arms[j] = arm
        chosen[j] = arm
    # A changed place after the first k gave its own arm to the set.
    for j in range(len(chosen)):
        arms[j] = j
        arms[chosen[j]] = chosen[j]
