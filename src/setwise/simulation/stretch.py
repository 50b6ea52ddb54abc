"""Long stretches of one set, drawn at once: far longer than the set is certain, with the law of single rounds.

While a set is played, the largest index outside it, theta, stays. An arm of the set that earned S(m) in the next m
rounds is above theta if S(m) > g(m), its demand, which is convex in m. What it has to spare is S(m) - g(m). Nearly
always one arm, the critical one, is far closer to theta than all others. So a stretch goes like this:

1. Choose a number of rounds in which all other arms stay above theta even without a reward.
2. Play the critical arm alone, in pieces: draw the total X of the next L rounds. Say it has a > 0 to spare before and b
   after them; let x = X / L. Given X, all orders of its rewards are equally likely.
   - If even the worst order, all rewards last, keeps it above the chord of g, that is if b > 0 and
     a > (1 - x) (a + X - b), it stayed above theta.
   - If b > 0, the probability that it did not is at most

         sqrt(8 L x (1 - x)) e^(-E),   E = 2 a c / (v (L + d)),

     where, for x <= 1/2, v = x, d = max(a, b) / (3 v) and c = b + (b - a) d / L; for x > 1/2 the same with 1 - x in
     place of x, and a and b exchanged. If that is below e^-60, it stayed above theta.
   - Else the piece is halved. The total of its first half is hypergeometric. Look at the first half, then the second.
   A single round after which the arm is not above theta ends the stretch: the set may change now, and what was drawn of
   later rounds is forgotten.
3. Draw what the others earned in these rounds.

The end is a stopping time of the sequence of rounds, so forgetting what comes after it changes nothing: the law of what
is kept is that of single rounds, but for those e^-60 = 9e-27 a piece. For a run of 10^9 pieces that is less than 1e-17,
when a uniform number of 53 bits is off by 1e-16 already.

Rounding must not spoil that. What is computed of g is convex but for less than `SLACK`, up to 10^12 plays of an arm,
and a piece is judged as if the arm had so much less to spare. Then an arm that is said to have stayed above did so by
the computed g as well, and the end is the first round in which it did not, in whatever pieces the rounds were drawn.

The bound. Let the line l(t) be the chord of g, so that an arm that falls to theta falls to l. Of all orders, a share of
P(w) = binom(L - t, X - s) / binom(L, X) begins with given t rounds w of which s were rewarded. Independent rounds,
rewarded with probability q, begin so with probability Q(w) = q^s (1 - q)^(t - s). The sum of P over all w that end with
the first fall to l is at most the largest P / Q among them, for any q. With binom(L - t, X - s) <= e^((L - t) H), H the
entropy, and binom(L, X) >= e^(L H) / sqrt(8 L x (1 - x)), log(P / Q) is at most log sqrt(8 L x (1 - x)) and a function
that rises with s up to l(t), is concave in t along the line, and convex in q. So the least over q of its largest
value is the largest over t of its least, which is attained at q = s / t and equals

    -min over t of t kl(s/t, x) + (L - t) kl((X - s)/(L - t), x),    s = l(t).

With y = t x - s, which goes from a to b in a straight line, kl(p, x) >= (x - p)^2 / (2 x) below x, and above it at
least (p - x)^2 / (2 (x + (p - x) / 3)), the sum is at least y^2 / (2 x) (1/t + 1/(L - t + d)), and that is at least E.

Why not the worst order alone: it settles pieces of about a / x rounds, halved or not, so the number of pieces grows
like the root of the horizon. With the bound pieces have about a^2 / (50 x) rounds.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.kernels.binomial import draw_binomial
from setwise.kernels.draws import share_of
from setwise.kernels.hypergeometric import draw_hypergeometric
from setwise.types import Feedback, Floats, Generator, Ints

SURE = 60.0  # what is less likely than e^-60 does not happen
WORTH = 16  # a set that is certain for fewer rounds is played for just these
SLACK = 0.01  # of a reward: more than rounding does to what is demanded
SHARE = 0.7  # of the length at which an arm that earns what is expected would just be sure
PIECES = 64  # that wait, each half as long as the one before: enough for 2^63 rounds


class Stretch(NamedTuple):
    """Buffers: the rounds and the hits of the pieces that wait, the next one last."""

    rounds: Ints
    hits: Ints


def new_stretch() -> Stretch:
    """Empty buffers."""
    return Stretch(np.zeros(PIECES, np.int64), np.zeros(PIECES, np.int64))


def play_stretch(
    policy: Any,
    state: Any,
    chosen: Ints,
    means: Floats,
    feedback: Feedback,
    certain: int,
    most: int,
    rng: Generator,
    totals: Floats,
    stretch: Stretch | None,
) -> int:
    """Play the set until it may change, or for as long as a stretch is; write the totals and return the rounds.

    certain: for how many rounds the set is certain
    most: how many rounds there may be
    Without buffers, or if a stretch would be hardly longer than that, nothing is drawn and the answer is 0.
    """
    if stretch is None:  # known when this is compiled: then nothing below is
        return 0
    theta = policy.rival(state, chosen)
    if not theta < np.inf:
        return 0
    critical, most = rounds_of_others(policy, state, chosen, certain, most, theta)
    if most == 0:
        return 0
    arm = chosen[critical]
    mean = min(means[critical], 1.0)
    before = policy.demand(state, arm, 0, certain, theta)
    spare = -before
    slope = (policy.demand(state, arm, certain, certain, theta) - before) / certain
    rare = SURE + 0.5 * math.log(2.0 * most)
    done = 0
    earned = 0
    pieces = 0
    while pieces > 0 or done < most:
        if pieces == 0:
            rounds = min(promising_length(spare, slope, mean, rare), most - done)
            hits = draw_binomial(rounds, mean, rng)
        else:
            pieces -= 1
            rounds = stretch.rounds[pieces]
            hits = stretch.hits[pieces]
        before = policy.demand(state, arm, done, done + rounds, theta)
        after = policy.demand(state, arm, done + rounds, done + rounds, theta)
        above = stays_above(earned - before, earned + hits - after, float(hits), rounds, rare)
        if above or rounds == 1:
            done += rounds
            earned += hits
            if not above:
                break
            spare = earned - after
            slope = (after - before) / rounds
        else:
            half = rounds // 2
            now = draw_hypergeometric(hits, rounds - hits, half, rng)
            stretch.rounds[pieces] = rounds - half
            stretch.hits[pieces] = hits - now
            stretch.rounds[pieces + 1] = half
            stretch.hits[pieces + 1] = now
            pieces += 2
    draw_others(feedback, means, critical, earned, done, rng, totals)
    return done


def rounds_of_others(policy: Any, state: Any, chosen: Ints, certain: int, most: int, theta: float) -> tuple[int, int]:
    """The place of the critical arm in the set, and for how many rounds the others are above theta in any case.

    These are at most `most`, and 0 if they are hardly more than the certain ones.
    """
    critical = 0
    first = second = np.inf  # the rounds that the two nearest to theta have without a reward, roughly
    for j in range(len(chosen)):
        before = policy.demand(state, chosen[j], 0, certain, theta)
        after = policy.demand(state, chosen[j], certain, certain, theta)
        if before >= -SLACK:
            return 0, 0
        own = np.inf
        if after > before:
            own = before / (before - after) * certain
        if own < first:
            second = first
            first = own
            critical = j
        else:
            second = min(second, own)
    rounds = int(min(float(most), 0.9 * second))
    j = 0
    while j < len(chosen) and rounds >= 2 * certain:
        if j == critical or policy.demand(state, chosen[j], rounds, rounds, theta) < -SLACK:
            j += 1
        else:
            rounds //= 2
    return critical, rounds if rounds >= 2 * certain else 0


def promising_length(spare: float, slope: float, mean: float, rare: float) -> int:
    """After how many rounds an arm that earns what is expected is known to have stayed above theta.

    slope: of its demand; rare: a probability of e^-rare is nothing
    """
    against = rare * min(mean, 1.0 - mean) + 2.0 * spare * (slope - mean)
    length = 1e18
    if against > 0.0:
        length = SHARE * 2.0 * spare * spare / against
    if slope > 0.0 and mean < 1.0:
        length = max(length, 0.9 * spare / (slope * (1.0 - mean)))  # by the worst order
    return int(min(max(length, 1.0), 1e18))


def stays_above(a: float, b: float, total: float, rounds: int, rare: float) -> bool:
    """Whether an arm cannot have been at theta within these rounds, with a to spare before and b after them."""
    if rounds == 1:
        return b > 0.0
    a -= SLACK
    b -= SLACK
    if a <= 0.0 or b <= 0.0:
        return False
    x = total / rounds
    if a > (1.0 - x) * (a + total - b):
        return True
    v, near, far = x, a, b
    if x > 0.5:
        v, near, far = 1.0 - x, b, a
    if v <= 0.0:
        return True  # always or never rewarded: a straight line from one to the other
    d = max(a, b) / (3.0 * v)
    c = far + (far - near) * d / rounds
    return c > 0.0 and 2.0 * near * c >= rare * v * (rounds + d)


def draw_others(
    feedback: Feedback, means: Floats, critical: int, hits: int, rounds: int, rng: Generator, totals: Floats
) -> None:
    """The totals of so many rounds, given that the critical arm has so many hits."""
    choice = feedback == Feedback.choice
    left = rounds - hits if choice else rounds
    rest = 1.0 - means[critical] if choice else 1.0
    for j in range(len(means)):
        if j != critical:
            more = draw_binomial(left, share_of(means[j], rest), rng)
            totals[j] = more
            if choice:
                left -= more
                rest -= means[j]
    totals[critical] = hits
