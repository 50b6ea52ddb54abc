"""Plain functions for the k best arms and for random draws, with the same result interpreted and compiled.

The public ones, listed here, replace methods of NumPy's generator that compiled policies cannot call.
"""

from setwise.kernels.sampling import (
    choose,
    choose_one,
    choose_weighted,
    draw_bernoullis,
    draw_betas,
    draw_exponentials,
    draw_gammas,
    draw_normals,
    largest,
)

__all__ = [
    "choose",
    "choose_one",
    "choose_weighted",
    "draw_bernoullis",
    "draw_betas",
    "draw_exponentials",
    "draw_gammas",
    "draw_normals",
    "largest",
]
