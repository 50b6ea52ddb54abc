"""Compare Setwise with other bandit libraries in the same world: docs/bench/peers.csv and docs/images/peers.png.

    make bench-peers
    cd benchmarks && ../.venv/bin/python -m peers.compare river obp --seconds 1

Every library is installed from the package index into its own environment (benchmarks/.build/peers), which is reused;
--fresh creates it again. With names, only these are played, and the table is printed but not stored. The world is the
paper's multinomial logit: 10 of 20 arms, horizon 10^6, at most one purchase per round; and 10 of more and more arms, as
far as each library gets in half a minute (docs/bench/peers-arms.csv; `make bench-scale` measures ours).
"""

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator, Sequence

from measuring import KEPT, keep
from peers.catalogue import OURS, PEERS, ROOT, Peer
from peers.environments import Failed, Install, import_time, install, python_of, run
from peers.inside import MARK
from peers.picture import draw
from peers.table import HEAD, Line, Played, better, number, table

HORIZON = 10**6
ARMS, SIZE = 20, 10
MANY = (10, 100, 1000, 10**4, 10**5, 10**6)
ARMS_HEAD = ("what", "n", "microseconds a round")
PATIENCE = 30.0
COMPILING = 300.0
PICTURE = ROOT / "docs" / "images" / "peers.png"


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


def play(peer: Peer, way: str, n: int, seconds: float, patience: float) -> Played:
    """Play in the environment of the library, in a new process."""
    start = time.time()
    game = (peer.module, way, str(n), str(SIZE), str(HORIZON), str(seconds))
    output = run([str(python_of(peer)), "-m", "peers.inside", *game], patience)
    said = [line.removeprefix(MARK) for line in output.splitlines() if line.startswith(MARK)]
    if not said:
        raise Failed("ended without an answer")
    answer = json.loads(said[-1])
    return Played(way, answer["seconds"], answer["first_over"] - start, answer["bytes"])


def prepare(peer: Peer, known: Install) -> Line:
    """Install and import the library; return the cost, or the failure."""
    if known.failure:
        say(f"{peer.name}: pip install fails: {known.failure}")
        return Line(peer, known, failure=f"`pip install` fails, {known.failure}")
    say(f"{peer.name} {known.version}: {known.size / 1e6:,.0f} MB, installed in {known.seconds:.0f} s")
    try:
        imported = import_time(peer)
    except Failed as problem:
        say(f"{peer.name}: import fails: {problem}")
        return Line(peer, known, failure=f"import fails, {problem}")
    return Line(peer, known, imported)


def play_paper(line: Line, seconds: float) -> Line:
    """Play the paper's game in every way; return the fastest, including earlier measurements."""
    peer, played, failure = line.peer, line.played, line.failure
    for way in peer.ways:
        try:
            new = play(peer, way, ARMS, seconds, COMPILING)
            say(f"{peer.name}, {way}: {number(1 / new.seconds)} rounds/s, first after {new.first:.1f} s")
            played = better(played, new)
        except Failed as problem:
            say(f"{peer.name}, {way}: {problem}")
            failure = f"playing fails, {problem}"
    return line._replace(played=played, failure="" if played else failure)


def play_many_arms(peer: Peer, seconds: float) -> Iterator[tuple[str, int, str]]:
    """Measure microseconds per round with more and more arms, in the fastest way; drop a way that fails."""
    ways = list(peer.ways)
    for n in MANY:
        times = []
        for way in list(ways):
            try:
                times.append(play(peer, way, n, seconds, PATIENCE).seconds)
            except Failed as problem:
                say(f"{peer.name}, {way}, {n:,} arms: {problem}")
                ways.remove(way)
        if times:
            say(f"{peer.name}, {n:,} arms: {number(min(times) * 1e6)} us a round")
            yield peer.name, n, f"{min(times) * 1e6:.6g}"


def compare(peers: Sequence[Peer], seconds: float, fresh: bool) -> tuple[list[list[str]], list[tuple[str, int, str]]]:
    """Measure the table, and the times with many arms."""
    installs: dict[str, Install] = {}
    lines, arms = [], []
    for peer in peers:
        if peer.environment not in installs:
            say(f"{peer.name}: environment")
            installs[peer.environment] = install(peer, fresh)
        lines.append(prepare(peer, installs[peer.environment]))
    # Measure everything twice, so that a noisy minute does not decide.
    for _ in range(2):
        lines = [line if line.failure else play_paper(line, seconds) for line in lines]
    for line in lines:
        if line.played and not line.peer.ours:
            arms += play_many_arms(line.peer, seconds / 3)
    return table(lines), arms


def options() -> argparse.Namespace:
    names = sorted({peer.module for peer in PEERS})
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("peers", nargs="*", metavar="PEER", help=f"{', '.join(names)}; all unless given")
    parser.add_argument("--seconds", type=float, default=3.0, help="for every measurement (3)")
    parser.add_argument("--fresh", action="store_true", help="create the environments again")
    parser.add_argument("--draw", action="store_true", help="only the picture, from the table that is kept")
    chosen = parser.parse_args()
    for name in chosen.peers:
        if name not in names:
            parser.error(f"{name!r} is not one of the libraries: {', '.join(names)}")
    if chosen.seconds <= 0:
        parser.error(f"--seconds {chosen.seconds:g} is no time to measure in; it has to be more than 0")
    return chosen


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that its child processes end too
    chosen = options()
    if chosen.draw:
        import csv

        with open(KEPT / "peers.csv", newline="", encoding="utf-8") as file:
            draw(list(csv.reader(file))[1:], PICTURE)
        return
    peers = [peer for peer in PEERS if not chosen.peers or peer == OURS or peer.module in chosen.peers]
    rows, arms = compare(peers, chosen.seconds, chosen.fresh)
    print()
    for row in rows:
        print("; ".join(f"{name}: {cell}" for name, cell in zip(HEAD, row) if cell))
    if not chosen.peers:
        print(f"\nkept in {keep('peers', HEAD, rows)}, {keep('peers-arms', ARMS_HEAD, arms)}")
        draw(rows, PICTURE)


if __name__ == "__main__":
    main()
