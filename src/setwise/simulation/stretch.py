"""Draw long stretches of one set at once, far beyond its certain rounds, with the distribution of single rounds.

While a set is played, the largest index outside it, theta, is constant. An arm of the set that earned S(m) in the next
m rounds is above theta if S(m) > g(m), its required reward, which is convex in m. Its slack is S(m) - g(m). Nearly
always one arm, the critical one, is far closer to theta than all others. The algorithm:

1. Choose a number of rounds in which all other arms stay above theta even without a reward.
2. Play the critical arm alone, in chunks: draw the total X of the next L rounds. Let a > 0 be its slack before and b
   after them, and x = X / L. Given X, all orders of its rewards are equally likely.
   - If even the worst order, all rewards last, keeps it above the chord of g, that is if b > 0 and
     a > (1 - x) (a + X - b), it stayed above theta.
   - If b > 0, the probability that it did not is at most

         sqrt(8 L x (1 - x)) e^(-E),   E = 2 a c / (v (L + d)),

     where, for x <= 1/2, v = x, d = max(a, b) / (3 v) and c = b + (b - a) d / L; for x > 1/2 the same with 1 - x in
     place of x, and a and b exchanged. If that is below e^-60, treat it as having stayed above theta.
   - Otherwise halve the chunk. The total of its first half is hypergeometric. Test the first half, then the second.
   A single round after which the arm is not above theta ends the stretch: the set may change now, and draws for later
   rounds are discarded.
3. Draw the rewards of the other arms in these rounds.

The end is a stopping time of the sequence of rounds, so discarding later draws changes nothing: the distribution is
that of single rounds, up to e^-60 = 9e-27 per chunk. For a run of 10^9 chunks that is less than 1e-17, whereas a
uniform number of 53 bits already has an error of 1e-16.

Rounding is safe. The computed g is convex up to less than `SLACK`, for up to 10^12 plays of an arm, and the tests
subtract that much from the arm's slack. So an arm that passes stayed above the computed g as well, and the end is the
first round in which it did not, however the rounds were cut into chunks.

The bound. Let the line l(t) be the chord of g, so that an arm that falls to theta falls to l. Of all orders, a share of
P(w) = binom(L - t, X - s) / binom(L, X) begins with given t rounds w of which s were rewarded. Independent rounds,
rewarded with probability q, begin so with probability Q(w) = q^s (1 - q)^(t - s). The sum of P over all w that end with
the first fall to l is at most the largest P / Q among them, for any q. With binom(L - t, X - s) <= e^((L - t) H), H the
entropy, and binom(L, X) >= e^(L H) / sqrt(8 L x (1 - x)), log(P / Q) is at most log sqrt(8 L x (1 - x)) plus a function
that increases with s up to l(t), is concave in t along the line, and convex in q. So the minimum over q of its maximum
equals the maximum over t of its minimum, which is attained at q = s / t and equals

    -min over t of t kl(s/t, x) + (L - t) kl((X - s)/(L - t), x),    s = l(t).

With y = t x - s, which is linear from a to b, kl(p, x) >= (x - p)^2 / (2 x) below x, and above it at least
(p - x)^2 / (2 (x + (p - x) / 3)), the sum is at least y^2 / (2 x) (1/t + 1/(L - t + d)), and that is at least E.

Why not the worst order alone: it settles chunks of about a / x rounds, halved or not, so the number of chunks grows
like the square root of the horizon. With the bound, chunks have about a^2 / (50 x) rounds.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.kernels.binomial import draw_binomial
from setwise.kernels.draws import share_of
from setwise.kernels.hypergeometric import draw_hypergeometric
from setwise.types import Feedback, Floats, Generator, Ints

SURE = 60.0  # events less likely than e^-60 are ignored
WORTH = 16  # no stretch is tried if the set is certain for fewer rounds
SLACK = 0.01  # of a reward: exceeds the rounding error of the required reward
SHARE = 0.7  # of the length at which an arm with its expected reward just passes the test
PIECES = 64  # maximum number of waiting chunks, each half as long as the one before: enough for 2^63 rounds


class Stretch(NamedTuple):
    """Stack of waiting chunks: their rounds and hits, the next one last."""

    rounds: Ints
    hits: Ints


def new_stretch() -> Stretch:
    """Create empty buffers."""
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
    """Play the set until it may change, or to the end of the stretch; write the totals and return the rounds.

    certain: number of rounds for which the set is certain
    most: maximum number of rounds
    Without buffers, or if a stretch would be hardly longer than `certain`, draw nothing and return 0.
    """
    if stretch is None:  # known at compile time: then nothing below is compiled
        return 0
    theta = policy.threshold(state, chosen)
    if not theta < np.inf:
        return 0
    critical, most = rounds_of_others(policy, state, chosen, certain, most, theta)
    if most == 0:
        return 0
    arm = chosen[critical]
    mean = min(means[critical], 1.0)
    before = policy.required_reward(state, arm, 0, certain, theta)
    spare = -before
    slope = (policy.required_reward(state, arm, certain, certain, theta) - before) / certain
    rare = SURE + 0.5 * math.log(2.0 * most)
    done = earned = pieces = 0
    while pieces > 0 or done < most:
        if pieces == 0:
            rounds = min(promising_length(spare, slope, mean, rare), most - done)
            hits = draw_binomial(rounds, mean, rng)
        else:
            pieces -= 1
            rounds = stretch.rounds[pieces]
            hits = stretch.hits[pieces]
        before = policy.required_reward(state, arm, done, done + rounds, theta)
        after = policy.required_reward(state, arm, done + rounds, done + rounds, theta)
        above = stays_above(earned - before, earned + hits - after, float(hits), rounds, rare)
        if above or rounds == 1:
            done += rounds
            earned += hits
            if not above:
                break
            spare = earned - after
            slope = (after - before) / rounds
        else:
            halve(stretch, pieces, rounds, hits, rng)
            pieces += 2
    draw_others(feedback, means, critical, earned, done, rng, totals)
    return done


def halve(stretch: Stretch, pieces: int, rounds: int, hits: int, rng: Generator) -> None:
    """Split a chunk in two on the stack, the first half on top: its hits are hypergeometric."""
    half = rounds // 2
    first = draw_hypergeometric(hits, rounds - hits, half, rng)
    stretch.rounds[pieces] = rounds - half
    stretch.hits[pieces] = hits - first
    stretch.rounds[pieces + 1] = half
    stretch.hits[pieces + 1] = first


def rounds_of_others(policy: Any, state: Any, chosen: Ints, certain: int, most: int, theta: float) -> tuple[int, int]:
    """Return the position of the critical arm, and for how many rounds the others are certain to stay above theta.

    The rounds are at most `most`, and 0 if they are fewer than twice `certain`.
    """
    critical = 0
    first = second = np.inf  # estimated rounds until the two arms nearest to theta fall to it without a reward
    for j in range(len(chosen)):
        before = policy.required_reward(state, chosen[j], 0, certain, theta)
        after = policy.required_reward(state, chosen[j], certain, certain, theta)
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
        if j == critical or policy.required_reward(state, chosen[j], rounds, rounds, theta) < -SLACK:
            j += 1
        else:
            rounds //= 2
    return critical, rounds if rounds >= 2 * certain else 0


def promising_length(spare: float, slope: float, mean: float, rare: float) -> int:
    """Return the length of a chunk that will likely pass the test, for an arm that earns its expected reward.

    slope: of its required reward; rare: a probability of e^-rare counts as 0
    """
    against = rare * min(mean, 1.0 - mean) + 2.0 * spare * (slope - mean)
    length = 1e18
    if against > 0.0:
        length = SHARE * 2.0 * spare * spare / against
    if slope > 0.0 and mean < 1.0:
        length = max(length, 0.9 * spare / (slope * (1.0 - mean)))  # by the test of the worst order
    return int(min(max(length, 1.0), 1e18))


def stays_above(a: float, b: float, total: float, rounds: int, rare: float) -> bool:
    """Whether an arm with slack a before and b after these rounds stayed above theta throughout."""
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
        return True  # always or never rewarded: the path is a straight line
    d = max(a, b) / (3.0 * v)
    c = far + (far - near) * d / rounds
    return c > 0.0 and 2.0 * near * c >= rare * v * (rounds + d)


def draw_others(
    feedback: Feedback, means: Floats, critical: int, hits: int, rounds: int, rng: Generator, totals: Floats
) -> None:
    """Draw the other arms' totals over `rounds` rounds, given the hits of the critical arm."""
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
