"""Colours and dashes, the same for the same thing in every figure.

The colours start from Okabe and Ito's, which colour-blind readers can tell apart; those too pale for a line on white
are darkened, and yellow is left out. What colour alone does not tell apart, dashes do.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Style(NamedTuple):
    """How something is drawn.

    colour: on a light background
    dark: on a dark background
    dash: the lengths of strokes and gaps in turn, in widths of the line; empty for an unbroken line
    """

    colour: str
    dark: str
    dash: tuple[float, ...] = ()


# The tables cannot be changed, so that the digest of the code that draws covers them.
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


POLICY_STYLES: Mapping[str, Style] = MappingProxyType(
    {
        "ucb": _style("blue"),
        "kl-ucb": _style("black", "long"),
        "kl-moss": _style("wine", "long short"),
        "ucb-v": _style("lavender", "dash dot dot"),
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

# The parameters in alphabetical order, as `style_of` puts them.
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
    """The style of a policy by its name on the command line, or of one of `OTHERS`.

    A policy with parameters has the colour of the policy and other dashes. A name that is in no table gets a colour
    and dashes by its digest, so that it has the same ones in every figure and process.

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
        plain = POLICY_STYLES[base]
        others = [dash for dash in DASHES.values() if dash != plain.dash]
        return plain._replace(dash=others[_number(whole) % len(others)])
    inks, dashes = [ink for name, ink in INKS.items() if name != "grey"], list(DASHES.values())
    number = _number(style)
    return Style(*inks[number % len(inks)], dashes[number // len(inks) % len(dashes)])


def _number(text: str) -> int:
    from hashlib import sha256

    return int.from_bytes(sha256(text.encode()).digest()[:8], "little")
