"""The same game with every library: choose k of n arms, see which one was bought, learn.

A module to a library, and a function to each way of playing with it. Its docstring says exactly what is played and goes
into the table; its lines, imports included, are what a user writes. It is given

    n, k, horizon    the game; the policy is told the horizon if it can be
    rounds           as many rounds as there is time for: an iterator
    buy              the world: `buy(chosen)` is the arm that was bought, or None

A way that has no loop of its own plays the whole game in one call, and is timed as that. Of several ways to play with a
library, the fastest is shown.
"""
