"""`setwise study demo`: play the paper's camera example through a real study, with a live view."""

import contextlib
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from setwise.cli.group import COUNT
from setwise.cli.printing import new_console
from setwise.cli.studies import make_study_policy, print_arms, study
from setwise.types import InputError
from setwise.validation import whole_number

if TYPE_CHECKING:
    from setwise.study import Arm, Decision, Study

FRAME_SECONDS = 0.04  # between two frames
BAR_WIDTH = 24  # of the longest bar, in characters


class Seen(NamedTuple):
    """Progress after a round.

    round: 1, 2, ...
    decision: the last one, with its rewards
    best_share: share of rounds with the optimal set so far
    mean: mean reward per round so far
    """

    round: int
    decision: "Decision"
    best_share: float
    mean: float


@study.command("demo")
@click.option("--rounds", "-t", type=COUNT, default=500, show_default=True, help="Number of visitors.")
@click.option("--policy", "-p", default="robust-ucb", show_default=True, metavar="NAME[:PARAMETER=VALUE,...]")
@click.option("--seed", "-s", type=COUNT, default=0, show_default=True, help="Equal seeds give equal demos.")
@click.option("--delay", type=float, default=None, help="Seconds between rounds; 0.01 on a terminal, else 0.")
@click.option("--address", default=None, help="Keep the study there; by default it is temporary.")
@click.option("--name", default="demo", show_default=True, help="Name of the study.")
def demo(rounds: int, policy: str, seed: int, delay: float | None, address: str | None, name: str) -> None:
    """Play the paper's camera example through a real study: which 3 of 6 items should a shop show?

    \b
    setwise study demo
    setwise study demo --rounds 5000 --policy thompson --delay 0
    setwise study demo --address sqlite:///shop.db          keep the study
    """
    from setwise.paper.instances import camera
    from setwise.study import Study

    whole_number("rounds", rounds, 1)
    pause = delay if delay is not None else 0.01 if sys.stdout.isatty() else 0.0
    if not 0.0 <= pause <= 60.0:
        raise InputError(f"delay is {pause:g}; it is a number of seconds from 0 to 60")
    world, player = camera(), make_study_policy(policy)
    with contextlib.ExitStack() as cleanup:
        place, durability = address, "full"
        if place is None:
            folder = cleanup.enter_context(tempfile.TemporaryDirectory(prefix="setwise-demo-"))
            place, durability = f"sqlite:///{os.path.join(folder, 'demo.db')}", "normal"
        opened = cleanup.enter_context(
            Study.create(place, name, world.names, world.k, player, rounds, seed, durability=durability)
        )
        try:
            last = _watch(opened, play(opened, world, rounds, seed), rounds, pause)
        except KeyboardInterrupt:
            if address is not None:
                raise
            click.echo("setwise: stopped; the demo study was removed", err=True)
            sys.exit(130)
        _conclude(opened, world, last, policy)
        _say_next(None if address is None else (opened.address, name))


def play(opened: "Study", world: Any, rounds: int, seed: int) -> Iterator[Seen]:
    """Ask for sets, draw the visitors' choices from the environment, and tell the rewards."""
    import numpy as np

    rng = np.random.default_rng(seed)
    best = set(world.best().tolist())
    hits, earned = 0, 0.0
    for round in range(1, rounds + 1):
        decision = opened.ask()
        chosen = np.array([world.names.index(arm) for arm in decision.arms], np.int64)
        rewards = np.zeros(len(chosen))
        world.draw(chosen, rng, rewards)
        told = opened.tell(decision, rewards)
        hits += set(chosen.tolist()) == best
        earned += float(rewards.sum())
        yield Seen(round, told, hits / round, earned / round)


def _watch(opened: "Study", rounds: Iterator[Seen], planned: int, pause: float) -> Seen:
    """Play the rounds, with a live table on a terminal; return the last progress."""
    from rich.live import Live

    if not sys.stdout.isatty():
        for last in rounds:  # noqa: B007
            time.sleep(pause)
        print_arms(opened.arms(), opened.best())
        click.echo(f"\n{_standing(last, planned)}")
        return last
    console = new_console()
    fancy = "utf" in (console.encoding or "").lower()
    shown = 0.0
    with Live(console=console, auto_refresh=False) as live:
        for seen in rounds:
            now = time.monotonic()
            if now - shown > FRAME_SECONDS or seen.round == planned:
                live.update(_picture(opened.arms(), seen, planned, fancy), refresh=True)
                shown = now
            time.sleep(pause)
    return seen


def _picture(arms: "list[Arm]", seen: Seen, planned: int, fancy: bool) -> Any:
    """Render the arms after a round; the last set is highlighted, its rewarded arm in bold."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    dot, block = ("●", "█") if fancy else ("*", "#")
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1))
    table.add_column("")
    table.add_column("arm", no_wrap=True)
    for head in ("pulls", "mean", "index"):
        table.add_column(head, justify="right", no_wrap=True, min_width=5)
    table.add_column("in sets", no_wrap=True, min_width=BAR_WIDTH)
    earned = seen.decision.rewards or {}
    for arm in arms:
        inside = arm.name in seen.decision.arms
        style = "bold green" if earned.get(arm.name) else "green" if inside else "dim"
        table.add_row(
            Text(dot if inside else " ", style),
            Text(arm.name, style),
            f"{arm.pulls:,}",
            "-" if arm.mean is None else f"{arm.mean:.3f}",
            "-" if arm.index is None else f"{arm.index:.3f}",
            Text(block * round(BAR_WIDTH * arm.pulls / seen.round), style),
        )
    title = Text("Which 3 of these 6 should a shop show? A visitor chooses one of them, or none.")
    return Group(title, "", table, "", Text(_standing(seen, planned), "bold"))


def _standing(seen: Seen, planned: int) -> str:
    return (
        f"round {seen.round:,} of {planned:,}   best set in {seen.best_share:.0%} of rounds   "
        f"mean reward {seen.mean:.3f}"
    )


def _conclude(opened: "Study", world: Any, last: Seen, policy: str) -> None:
    """Print the study's best set and the true one."""
    import numpy as np

    best = world.best()
    means = np.zeros(world.k)
    world.means(best, means)
    truth = [world.names[arm] for arm in best]
    believed = opened.best()
    click.echo(f"\nThe study thinks best: {', '.join(sorted(believed, key=world.names.index))}")
    click.echo(f"The truth:             {', '.join(truth)}, who earn {means.sum():.2f} a round")
    if set(believed) != set(truth):
        click.echo(f"They differ: {last.round:,} rounds are few for {policy}. Try --rounds {10 * last.round}.")


def _say_next(kept: tuple[str, str] | None) -> None:
    """Print commands to try next."""
    if kept is None:
        place, name = "sqlite:///shop.db", "cameras"
        first = [f"create {place} {name} --arm Nikon --arm Canon --arm Shoes -k 2", f"ask {place} {name}"]
        verbs = [*first, f"tell {place} {name} ID --winner Nikon", f"show {place} {name}"]
    else:
        where = " ".join(map(shlex.quote, kept))
        verbs = [f"show {where}", f"verify {where}", f"export {where} {shlex.quote(kept[1])}.csv", f"delete {where}"]
    click.echo("\nTry next:")
    for verb in verbs:
        click.echo(f"  setwise study {verb}")
