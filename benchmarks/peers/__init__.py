"""Setwise beside other bandit libraries: `make bench-peers`.

Every library has an environment of its own (`environments`), plays the same world there (`world`, `games`), and is
timed from the inside (`inside`, `rounds`). `compare` is the command; `table` and `picture` are what comes of it.
"""
