"""Sets drawn at random, all equally likely."""

from setwise.types import Generator, Ints


def random_set(arms: Ints, chosen: Ints, rng: Generator) -> None:
    """Write k = len(chosen) distinct arms to `chosen`, every sequence equally likely, in O(k).

    `arms` lists 0, 1, ..., n - 1 and does so again afterwards: the first k steps of a shuffle, and their undoing.
    """
    n = len(arms)
    for j in range(len(chosen)):
        other = j + int(rng.random() * (n - j))
        arm = arms[other]
        arms[other] = arms[j]
        arms[j] = arm
        chosen[j] = arm
    # A place behind the first k that was touched has given its own arm to the set.
    for j in range(len(chosen)):
        arms[j] = j
        arms[chosen[j]] = chosen[j]
