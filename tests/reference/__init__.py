"""Slow, plain versions of the paper's algorithm and worlds, to compare the package with."""
