"""Compare Setwise with other bandit libraries: `make bench-peers`.

Every library has its own environment (`environments`), plays the same world there (`world`, `games`), and is timed from
the inside (`inside`, `rounds`). `compare` is the command; `table` and `picture` are its output.
"""
