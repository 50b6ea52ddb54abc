"""Experiments as data, run on all cores, with results stored by digest."""
