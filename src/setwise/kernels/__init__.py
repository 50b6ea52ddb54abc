"""Plain functions that run interpreted and compiled alike: the k best arms, and draws.

Those named here are for policies of your own, in place of what NumPy's generator does only when interpreted.
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
