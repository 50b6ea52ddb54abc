"""The comparison with other libraries counts and concludes correctly, whatever is installed."""

import ast
import itertools
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def peers(monkeypatch):
    """The package, by the names of its modules; nothing of it stays loaded."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    import peers.compare
    import peers.picture
    import peers.rounds
    import peers.table
    import peers.world

    yield peers
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("peers", "measuring", "memory"):
            del sys.modules[name]


def test_customers_buy_by_the_multinomial_logit(peers, monkeypatch):
    """Random numbers on a fine grid: an arm is bought by its share of them, v_a / (1 + sum of v)."""
    steps = 10_000
    grid = itertools.cycle([(step + 0.5) / steps for step in range(steps)])
    monkeypatch.setattr(peers.world.random.Random, "random", lambda self: next(grid))
    buy = peers.world.customers(20)
    bought = [buy([3, 0, 19]) for _ in range(steps)]
    values = {0: 0.96, 3: 0.84, 19: 0.2}
    for arm, value in values.items():
        assert abs(bought.count(arm) - steps * value / 3.0) <= 1
    assert abs(bought.count(None) - steps / 3.0) <= 1


class Clock:
    """A clock that a round moves by as much as it takes."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class TestRounds:
    def test_the_best_window_counts(self, peers):
        clock = Clock()
        rounds = peers.rounds.Rounds(1.0, clock=clock)
        for played in rounds:
            clock.now += 0.02 if played < 30 else 0.01 if played < 60 else 0.03
        assert rounds.best == pytest.approx(0.01)

    def test_warming_up_is_not_timed(self, peers):
        clock = Clock()
        rounds = peers.rounds.Rounds(1.0, least=50, clock=clock)
        for played in rounds:
            clock.now += 0.005 if played < 50 else 0.01
        assert rounds.best == pytest.approx(0.01)

    def test_rounds_slower_than_the_time_there_is_are_played_twice(self, peers):
        clock = Clock()
        rounds = peers.rounds.Rounds(1.0, least=10**5, clock=clock)
        for _ in rounds:
            clock.now += 7.0
        assert rounds.played == 2
        assert rounds.best == pytest.approx(7.0)


class TestLines:
    def test_only_code_counts(self, peers, tmp_path):
        path = tmp_path / "game.py"
        path.write_text(
            'def other():\n    pass\n\n\ndef way(n):\n    """What it is."""\n    import math\n\n'
            "    # why\n    for _ in n:\n        print(\n            math.pi\n        )\n"
        )
        assert peers.table.code_lines(path, "way") == 5

    def test_the_world_counts_where_a_user_has_to_write_it(self, peers):
        games = BENCHMARKS / "peers" / "games"
        world = peers.table.code_lines(BENCHMARKS / "peers" / "world.py", "customers")
        alone, with_world = (games / f"{name}.py" for name in ("setwise", "river"))
        assert peers.table.lines_of("setwise", "simulate") == peers.table.code_lines(alone, "simulate")
        assert peers.table.lines_of("river", "ucb") == peers.table.code_lines(with_world, "ucb") + world


class TestCatalogue:
    def test_every_way_is_there_and_says_what_it_plays(self, peers):
        for peer in peers.catalogue.PEERS:
            for way in peer.ways:
                said = peers.table.said(peer.module, way)
                assert said and "\n" not in said and "|" not in said, (peer.name, way)

    def test_games_need_no_library_to_be_read(self):
        """They import inside the functions, so that these lines count."""
        for path in (BENCHMARKS / "peers" / "games").glob("*.py"):
            imports = [
                node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)
            ]
            assert not imports, path


class TestTable:
    def lines(self, peers):
        table, environments = peers.table, peers.environments
        known = environments.Install([], 12.0, 34_500_000, "1.2", "")
        broken = environments.Install([], 0.0, 0, "", "at x<2: ValueError: no")
        by_name = {peer.name: peer for peer in peers.catalogue.PEERS}
        return [
            table.Line(by_name["obp"], broken, failure="`pip install` fails, at x<2: ValueError: no"),
            table.Line(by_name["river"], known, 0.5, table.Played("ucb", 1e-3, 2.0, 5e7)),
            table.Line(by_name["mabalgs"], known, 0.5, table.Played("ranked", 5e-4, 2.0, 5e7)),
            table.Line(by_name["Setwise"], known, 0.1, table.Played("simulate", 1e-7, 9.0, 2e8)),
        ]

    def test_ours_first_then_by_speed_then_what_failed(self, peers):
        rows = peers.table.table(self.lines(peers))
        assert [row[0] for row in rows] == ["Setwise", "mabalgs", "river", "obp"]
        assert all(len(row) == len(peers.table.HEAD) for row in rows)

    def test_a_row_says_what_was_measured_or_how_it_failed(self, peers):
        rows = {row[0]: dict(zip(peers.table.HEAD, row)) for row in peers.table.table(self.lines(peers))}
        assert rows["river"]["rounds/s"] == "1,000"
        assert rows["river"]["times slower than ours"] == "10,000"
        assert rows["river"]["install MB"] == "34.5"
        assert rows["obp"]["what ran"] == "nothing: `pip install` fails, at x<2: ValueError: no"
        assert rows["obp"]["rounds/s"] == rows["obp"]["install MB"] == ""

    def test_the_faster_of_two_times_counts_with_the_first_round_of_the_first(self, peers):
        played = peers.table.Played
        slow, fast = played("ucb", 2.0, 9.0, 300.0), played("ucb", 1.0, 3.0, 200.0)
        assert peers.table.better(None, slow) == slow
        assert peers.table.better(slow, fast) == played("ucb", 1.0, 9.0, 200.0)
        assert peers.table.better(fast, slow) == played("ucb", 1.0, 3.0, 200.0)
        assert peers.table.better(slow, fast._replace(way="other")).way == "other"

    def test_the_picture_takes_failures(self, peers, tmp_path):
        path = tmp_path / "peers.png"
        peers.picture.draw(peers.table.table(self.lines(peers)), path)
        assert path.stat().st_size > 1000


class TestReason:
    @pytest.mark.parametrize(
        ("output", "said"),
        [
            (
                "Traceback\n  x\nImportError: cannot import name 'a' (/home/b.py)\n",
                "ImportError: cannot import name 'a'",
            ),
            ("AttributeError: no 'float'.\nuse another\n    https://a.b/c\n", "AttributeError: no 'float'."),
            (
                "Collecting a<2\nLooking in x\nERROR: No matching distribution\n",
                "at a<2: ERROR: No matching distribution",
            ),
            ("Collecting a<2\n  KeyError: 'b'\nerror: subprocess-exited-with-error\n", "at a<2: KeyError: 'b'"),
            ("Segmentation fault\n", "Segmentation fault"),
            ("", ""),
        ],
    )
    def test_it_is_the_last_line_that_names_an_error(self, peers, output, said):
        assert peers.environments.reason(output) == said

    def test_a_command_that_fails_says_why(self, peers):
        with pytest.raises(peers.environments.Failed, match=r"^ValueError: no$"):
            peers.environments.run([sys.executable, "-c", "raise ValueError('no')"], 60)

    def test_a_command_that_takes_too_long_is_ended(self, peers):
        with pytest.raises(peers.environments.Failed, match=r"^not done after 0\.2 s$"):
            peers.environments.run([sys.executable, "-c", "import time; time.sleep(60)"], 0.2)
