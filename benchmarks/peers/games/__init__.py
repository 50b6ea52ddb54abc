"""The same game with every library: choose k of n arms, see which one was bought, learn.

One module per library, one function per way of playing. The docstring of a function describes the game exactly and is
shown in the table; its lines, with imports, are those that a user writes. Arguments:

    n, k, horizon    the game; the policy gets the horizon if it takes one
    rounds           an iterator over as many rounds as fit in the time
    buy              the world: `buy(chosen)` returns the arm bought, or None

A way without a loop plays the whole game in one call, and is timed as such. The table shows a library's fastest way.
"""
