"""Colours and dashes, consistent across all figures.

The palette starts from Okabe and Ito's, which colour-blind readers can tell apart; colours too pale for a line on white
are darkened, and yellow is left out. Dashes separate lines of similar colour.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from setwise.policies import NAMES


class Style(NamedTuple):
    """Colour and dashes of a line.

    colour: on a light background
    dark: on a dark background
    dash: alternating lengths of strokes and gaps, in line widths; empty for a solid line
    """

    colour: str
    dark: str
    dash: tuple[float, ...] = ()


# The tables are immutable, so that the digest of the drawing code covers them.
INKS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "blue": ("#0067B5", "#5AA9F5"),
        "black": ("#1A1A1A", "#F2F2F2"),
        "vermilion": ("#D55E00", "#FF8A3D"),
        "green": ("#009E73", "#2FC79A"),
        "wine": ("#7B2458", "#D06299"),
        "lavender": ("#8B7BEA", "#C9B8FF"),
        "pink": ("#CC6FA3", "#FFA9D8"),
        "brown": ("#8A5A2E", "#C08C58"),
        "lime": ("#7C9A1E", "#B5D24A"),
        "sky": ("#2F9BD8", "#8ADAFF"),
        "indigo": ("#2A2A8C", "#7C6DE6"),
        "amber": ("#BE8400", "#E8B23A"),
        "grey": ("#8C8C8C", "#B4B4B4"),
        "moss": ("#4E5B3A", "#7F8F66"),
        "red": ("#B3202C", "#FF6B6B"),
        "teal": ("#00798A", "#3FC3D6"),
        "slate": ("#5A6B80", "#9DB0C8"),
        "plum": ("#8E3FB0", "#D08BEE"),
    }
)

DASHES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "solid": (),
        "long": (7.0, 1.8),
        "dash": (4.0, 1.6),
        "short": (2.2, 1.2),
        "dot": (1.0, 1.4),
        "dash dot": (4.5, 1.4, 1.0, 1.4),
        "dash dot dot": (4.5, 1.4, 1.0, 1.4, 1.0, 1.4),
        "long short": (7.0, 1.5, 2.5, 1.5),
        "sparse dash": (3.5, 3.5),
        "sparse dot": (1.2, 3.2),
        "long dot": (9.0, 1.6, 1.2, 1.6),
        "two dots": (1.0, 1.0, 1.0, 3.4),
        "sparse long": (8.0, 4.0),
        "dash dash dot": (3.0, 1.3, 3.0, 1.3, 1.0, 1.3),
    }
)


def _style(ink: str, dash: str = "solid") -> Style:
    return Style(*INKS[ink], DASHES[dash])


# Policies without a line here get a style by their name.
CHOSEN: Mapping[str, Style] = MappingProxyType(
    {
        "ucb": _style("blue"),
        "kl-ucb": _style("black", "long"),
        "kl-moss": _style("wine", "long short"),
        "ucb-v": _style("lavender", "dash dot dot"),
        "robust-ucb": _style("indigo", "sparse dash"),
        "set-thompson": _style("brown", "dash dot dot"),
        "set-ucb": _style("moss", "two dots"),
        "set-kl-ucb": _style("green", "dash dash dot"),
        "mnl-ucb": _style("vermilion", "dash"),
        "mnl-thompson": _style("pink", "short"),
        "stagewise-elimination": _style("green", "dash dot"),
        "comb-ucb1": _style("brown", "sparse dash"),
        "cucb": _style("lime", "dash dash dot"),
        "thompson": _style("sky", "long dot"),
        "escb2": _style("indigo", "two dots"),
        "epsilon-greedy": _style("amber", "sparse long"),
        "uniform": _style("grey", "dot"),
        "oracle": _style("moss", "sparse dot"),
        "anytime-ucb": _style("blue", "sparse dash"),
        "doubling": _style("sky", "short"),
        "escb1": _style("indigo", "dash dot"),
        "max-min-ucb": _style("red"),
        "rec-max-min-ucb": _style("red", "long short"),
        "winner-beats-all": _style("red", "dot"),
        "sparring": _style("teal"),
        "self-sparring": _style("teal", "dash"),
        "rucb": _style("teal", "dash dot dot"),
        "multi-dueling": _style("plum"),
        "interleaved-filter": _style("plum", "sparse dash"),
        "beat-the-mean": _style("plum", "long dot"),
        "battling-doubler": _style("slate"),
        "battling-multi-sbm": _style("slate", "dash"),
        "battling-duel": _style("slate", "two dots"),
        "lsb-greedy": _style("amber", "dash dot"),
    }
)


def policy_styles(names: Iterable[str]) -> dict[str, Style]:
    """Return a style for each policy: the chosen one, or a free one whose colour neither neighbour in the list has."""
    styles, listed = dict(CHOSEN), list(names)
    every = [_style(ink, dash) for ink in INKS if ink != "grey" for dash in DASHES]
    for place, name in enumerate(listed):
        if name not in styles:
            near = {styles[other].colour for other in listed[max(place - 1, 0) : place + 2] if other in styles}
            free = [style for style in every if style not in styles.values() and style.colour not in near]
            styles[name] = free[_hash(name) % len(free)]
    return styles


def _hash(text: str) -> int:
    """Return a hash that is the same in every process."""
    from hashlib import sha256

    return int.from_bytes(sha256(text.encode()).digest()[:8], "little")


POLICY_STYLES: Mapping[str, Style] = MappingProxyType(policy_styles(NAMES))

# Parameters in alphabetical order, as `style_of` sorts them.
VARIANTS: Mapping[str, Style] = MappingProxyType(
    {
        "stagewise-elimination:bernstein=yes": _style("green", "dot"),
        "stagewise-elimination:cumulative=yes": _style("green", "long"),
        "stagewise-elimination:bernstein=yes,cumulative=yes": _style("green", "sparse dash"),
    }
)

OTHERS: Mapping[str, Style] = MappingProxyType(
    {
        "bound": Style("#6E6E6E", "#A8A8A8", (4.0, 2.0)),
        "lower-bound": Style("#6E6E6E", "#A8A8A8", (1.2, 1.8)),
        "limit": Style("#6E6E6E", "#A8A8A8", (7.0, 2.0, 1.5, 2.0)),
        "rho": Style("#BBBBBB", "#6C7078"),
        "arm 0": _style("blue"),
        "arm 1": _style("vermilion", "long"),
        "arm 2": _style("green", "dash dot"),
        "arm 3": _style("pink", "dash"),
        "arm 4": _style("black", "short"),
        "arm 5": _style("lavender", "sparse dash"),
        "arm 6": _style("amber", "dash dot dot"),
        "arm 7": _style("brown", "long short"),
        "arm 8": _style("sky", "dot"),
        "arm 9": _style("wine", "long dot"),
        "mnl": _style("vermilion"),
        "random-utility": _style("blue", "dash"),
        "preference-matrix": _style("green", "dash dot"),
        "random-weak": _style("wine", "short"),
        "camera": _style("black", "long"),
        "lower-bound-choice": _style("lavender", "dash dot dot"),
        "lower-bound-independent": _style("amber", "long short"),
        "best": _style("blue"),
        "other": Style("#8A94A2", "#7C8694"),
    }
)


def style_of(style: str) -> Style:
    """Return the style of a policy by its name on the command line, or of one of `OTHERS`.

    A policy with parameters has the colour of the policy and other dashes. An unknown name gets a colour and dashes by
    its hash, the same in every figure and process.

    >>> style_of("ucb:alpha=0.5").colour == style_of("ucb").colour
    True
    """
    known = POLICY_STYLES.get(style) or OTHERS.get(style)
    if known:
        return known
    base, _, parameters = style.partition(":")
    whole = f"{base}:{','.join(sorted(part.strip() for part in parameters.split(',')))}"
    if whole in VARIANTS:
        return VARIANTS[whole]
    if base in POLICY_STYLES:
        dashes = [dash for dash in DASHES.values() if dash != POLICY_STYLES[base].dash]
        return POLICY_STYLES[base]._replace(dash=dashes[_hash(whole) % len(dashes)])
    inks, dashes = [ink for name, ink in INKS.items() if name != "grey"], list(DASHES.values())
    number = _hash(style)
    return Style(*inks[number % len(inks)], dashes[number // len(inks) % len(dashes)])
