"""`setwise study ask` and `tell`, once or line by line."""

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from setwise.cli.group import COUNT, exit_code
from setwise.cli.studies import ADDRESS, DURABILITY, NAME, print_line, study
from setwise.errors import InputError, SetwiseError
from setwise.validation import shown, suggestion, whole_number

if TYPE_CHECKING:
    from setwise.study import Decision, Study


@study.command("ask")
@ADDRESS
@NAME
@click.option("--available", multiple=True, metavar="ARM", help="Choose only among these arms; repeat the option.")
@click.option("--id", "id", default=None, help="Id of the decision; repeating it returns the same decision.")
@click.option("--count", "-n", type=COUNT, default=None, help="Number of decisions to make.")
@click.option("--stream", is_flag=True, help="Answer lines of standard input until it ends.")
@DURABILITY
def ask_study(
    address: str,
    name: str,
    available: tuple[str, ...],
    id: str | None,
    count: int | None,
    stream: bool,
    durability: str,
) -> None:
    """Ask for a set; prints a line of JSON for each decision.

    \b
    setwise study ask sqlite:///shop.db cameras
    setwise study ask sqlite:///shop.db cameras --available Nikon --available Sony --available Shoes
    setwise study ask sqlite:///shop.db cameras --id visitor-17

    With --stream the study stays open, and every input line is answered at once with a line. Lines ask or tell:

    \b
    {}
    {"available": ["Nikon", "Sony", "Shoes"], "id": "visitor-17"}
    {"tell": "visitor-17", "rewards": {"Nikon": 1}}
    {"tell": "visitor-17", "winner": "Nikon"}

    An invalid line is answered with {"error": "...", "line": 3}; the exit code is then 2, or 3 if a valid
    line failed.
    """
    from setwise.study import Study

    if stream and (available or id is not None or count is not None):
        raise InputError("with --stream every line says what is available and its id; leave the other options out")
    if count is not None and id is not None:
        raise InputError("--count and --id were both given; an id is the name of one decision")
    times = 1 if count is None else whole_number("count", count, 1)
    with Study.open(address, name, durability=durability) as opened:
        if stream:
            answer_lines(lambda line: _ask_or_tell(opened, line), '{} or {"tell": "...", "winner": "..."}')
            return
        for _ in range(times):
            print_line(opened.ask(available or None, id).to_json())


@study.command("tell")
@ADDRESS
@NAME
@click.argument("id", required=False)
@click.option("--reward", "-r", "rewards", multiple=True, metavar="ARM=REWARD", help="Arms left out earned nothing.")
@click.option("--winner", "-w", default=None, metavar="ARM", help="The arm that was chosen.")
@click.option("--nothing", is_flag=True, help="No arm earned anything.")
@DURABILITY
def tell_study(
    address: str,
    name: str,
    id: str | None,
    rewards: tuple[str, ...],
    winner: str | None,
    nothing: bool,
    durability: str,
) -> None:
    """Tell the rewards of a decision, given by the id from `ask`, or of many in JSON lines on standard input.

    \b
    setwise study tell sqlite:///shop.db cameras 0199... --winner Sony
    setwise study tell sqlite:///shop.db cameras 0199... --reward Nikon=0.5 --reward Sony=1
    setwise study tell sqlite:///shop.db cameras 0199... --nothing
    setwise study ask sqlite:///shop.db cameras | jq -c '.winner = .arms[0]' \\
        | setwise study tell sqlite:///shop.db cameras

    \b
    {"id": "0199...", "rewards": {"Nikon": 1}}       arms left out earned nothing, {} if none earned anything
    {"id": "0199...", "rewards": [1, 0]}             in the order of the decision's arms
    {"id": "0199...", "winner": "Nikon"}

    A line may contain all keys that `ask` printed. Idempotent: repeating the same feedback counts once. An invalid line
    is answered with {"error": "...", "line": 3} and does not stop the next; the exit code is then 2, or 3 if a valid
    line failed.
    """
    from setwise.study import Study

    given = bool(rewards) + (winner is not None) + nothing
    if id is None and given:
        raise InputError("no decision is named; give its id, as `setwise study ask` printed it")
    if id is not None and given != 1:
        how = "--reward ARM=REWARD, --winner ARM or --nothing"
        raise InputError(f"say what {id} earned by {how}" if not given else f"only one of {how} can be given")
    earned = None if winner is not None else _read_rewards(rewards)
    with Study.open(address, name, durability=durability) as opened:
        if id is None:
            answer_lines(lambda line: _tell(opened, line), '{"id": "...", "winner": "..."}')
        else:
            print_line(opened.tell(id, earned, winner).to_json())


def _read_rewards(given: Sequence[str]) -> dict[str, float]:
    """Parse rewards such as Nikon=1; a name may contain an equals sign."""
    rewards: dict[str, float] = {}
    for text in given:
        arm, equals, amount = text.rpartition("=")
        try:
            reward = float(amount)
        except ValueError:
            reward = math.nan
        if not equals or not arm or math.isnan(reward):
            raise InputError(f"--reward is {text!r}; write it as ARM=REWARD, such as Nikon=1")
        if arm in rewards:
            raise InputError(f"--reward has {arm!r} more than once")
        rewards[arm] = reward
    return rewards


def answer_lines(answer: Callable[[dict[str, Any]], "Decision"], example: str) -> None:
    """Answer each line of standard input at once with a line; exit with the highest error code."""
    if sys.stdin.isatty():
        click.echo(f"setwise: waiting for lines such as {example}; Ctrl-D ends", err=True)
    worst = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            found = answer(_read_object(line)).to_json()
        except SetwiseError as error:
            found, worst = {"error": str(error), "line": number}, max(worst, exit_code(error))
        print_line(found)
    if worst:
        sys.exit(worst)


def _read_object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise InputError(f"{shown(line.decode(errors='replace').strip())} is not JSON") from None
    if not isinstance(found, dict):
        raise InputError(f'{shown(found)} is not an object; a line is such as {{"id": "..."}}')
    return found


def _ask_or_tell(opened: "Study", line: dict[str, Any]) -> "Decision":
    """Return the answer to a line of `ask --stream`."""
    if "tell" in line:
        _check_keys(line, ("tell", "rewards", "winner"))
        return opened.tell(line["tell"], line.get("rewards"), line.get("winner"))
    if "rewards" in line or "winner" in line:
        raise InputError('a line that tells has the id as "tell", such as {"tell": "...", "winner": "..."}')
    _check_keys(line, ("available", "id"))
    available = line.get("available")
    if isinstance(available, dict):
        raise InputError(f"available is {shown(available)}; give a list with names of arms")
    return opened.ask(available, line.get("id"))


def _tell(opened: "Study", line: dict[str, Any]) -> "Decision":
    """Return the answer to a line of `tell`, which may be a whole decision as `ask` printed it."""
    from setwise.study import Decision

    _check_keys(line, [*(field.name for field in dataclasses.fields(Decision)), "winner"])
    if "id" not in line:
        raise InputError('the line has no id; write {"id": "...", "winner": "..."}')
    return opened.tell(line["id"], line.get("rewards"), line.get("winner"))


def _check_keys(line: dict[str, Any], known: Collection[str]) -> None:
    for key in line:
        if key not in known:
            raise InputError(f"{shown(key)} is not known in such a line; {suggestion(key, known)}")
