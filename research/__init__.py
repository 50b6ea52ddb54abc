"""Measurements beyond the paper: every policy side by side, and attempts to break and to beat the best ones.

Each question is a module with a function `compute`, which runs experiments and returns tables. `python -m research`
prints them, and `make research` stores them in `results.json`, from which the docs are filled.
"""
