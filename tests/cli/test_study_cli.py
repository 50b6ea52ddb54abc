"""The commands of `setwise study`."""

import csv
import io
import json
import re
import signal
import sqlite3
import subprocess
import sys

import pytest

import setwise as sw
from setwise.cli.studies import visible
from shell import SETWISE, lines_of, on_terminal
from shell import study as call

ARMS = ("Nikon", "Canon", "Sony", "Shoes")


@pytest.fixture
def shop(tmp_path):
    """Create a study called cameras and return its address."""
    address = f"sqlite:///{tmp_path}/shop.db"
    sw.Study.create(address, "cameras", ARMS, 2, sw.UCB(), 1000, seed=0).close()
    return address


def as_read(value):
    """Send a value through JSON and back."""
    return json.loads(json.dumps(value))


def test_create_makes_the_study_that_the_options_describe(tmp_path):
    address = f"sqlite:///{tmp_path}/shop.db"
    words = ["--arm", "Nikon", "--arm", "Digital Camera", "--arm", "Sony", "-k", "2", "-p", "kl-ucb:alpha=1"]
    more = ["-t", "1e4", "-s", "7", "--window", "30m", "--durability", "normal"]
    (made,) = lines_of(call("create", address, "cameras", *words, *more))
    with sw.Study.open(address, "cameras") as opened:
        assert made == as_read(opened.summary().to_json())
        assert [arm.name for arm in opened.arms()] == ["Nikon", "Digital Camera", "Sony"]
        assert (opened.k, opened.policy, opened.horizon, opened.seed) == (2, sw.KLUCB(alpha=1), 10_000, 7)
    assert made["window"] == "30m"


def test_create_reads_the_names_of_arms_from_a_file_or_a_pipe(tmp_path):
    address = f"sqlite:///{tmp_path}/shop.db"
    (tmp_path / "arms.txt").write_text("Nikon\r\nDigital Camera \n\nÉclair", encoding="utf-8-sig")
    assert lines_of(call("create", address, "file", "--arms-from", str(tmp_path / "arms.txt"), "-k", "1"))
    assert lines_of(call("create", address, "pipe", "--arms-from", "-", "-k", "1", given="Nikon\nCanon\n"))
    names = {name: [line["name"] for line in lines_of(call("arms", address, name))] for name in ("file", "pipe")}
    assert names == {"file": ["Nikon", "Digital Camera", "Éclair"], "pipe": ["Nikon", "Canon"]}


def test_exist_ok_accepts_the_same_study_and_refuses_another(shop):
    words = [word for arm in ARMS for word in ("--arm", arm)]
    same = ["create", shop, "cameras", *words, "-k", "2", "-t", "1000"]
    assert lines_of(call(*same, "--exist-ok"))[0]["seed"] == 0
    assert "there is a study 'cameras'" in call(*same).output
    other = call("create", shop, "cameras", *words, "-k", "3", "-t", "1000", "--exist-ok")
    assert (other.exit_code, "k is 2 there and 3 here" in other.output) == (2, True)


def test_ask_and_tell_are_those_of_the_library(shop):
    (asked,) = lines_of(call("ask", shop, "cameras", "--id", "v1"))
    assert lines_of(call("ask", shop, "cameras", "--id", "v1")) == [asked], "repeating an id returns the same decision"
    first, second = asked["arms"]
    (told,) = lines_of(call("tell", shop, "cameras", "v1", "--reward", f"{first}=0.5", "--reward", f"{second}=1"))
    assert told["rewards"] == {first: 0.5, second: 1.0}
    with sw.Study.open(shop, "cameras") as opened:
        assert [as_read(decision.to_json()) for decision in opened.decisions()] == [told]


def test_a_winner_and_nothing_can_be_told(shop):
    one, two = lines_of(call("ask", shop, "cameras", "--count", "2"))
    winner = one["arms"][0]
    assert lines_of(call("tell", shop, "cameras", one["id"], "-w", winner))[0]["rewards"][winner] == 1.0
    assert set(lines_of(call("tell", shop, "cameras", two["id"], "--nothing"))[0]["rewards"].values()) == {0.0}


def test_ask_chooses_among_the_available_arms(shop):
    (asked,) = lines_of(call("ask", shop, "cameras", "--available", "Sony", "--available", "Shoes"))
    assert set(asked["arms"]) == {"Sony", "Shoes"}


def test_a_name_may_have_an_equals_sign(tmp_path):
    address = f"sqlite:///{tmp_path}/shop.db"
    sw.Study.create(address, "sizes", ["a=1", "b=2"], 2).close()
    (asked,) = lines_of(call("ask", address, "sizes"))
    assert lines_of(call("tell", address, "sizes", asked["id"], "-r", "a=1=0.5"))[0]["rewards"] == {
        "a=1": 0.5,
        "b=2": 0.0,
    }


def test_tell_answers_every_line_and_continues_after_an_invalid_one(shop):
    decisions = lines_of(call("ask", shop, "cameras", "--count", "3"))
    one, two, three = decisions
    given = [
        json.dumps({"id": one["id"], "rewards": [1, 0.5]}),
        "what?",
        "",
        "[1]",
        json.dumps({"id": "nobody", "rewards": {}}),
        json.dumps({"id": two["id"], "reward": {}}),
        json.dumps({"rewards": {}}),
        json.dumps({"id": two["id"], "rewards": {two["arms"][0]: 7}}),
        "[" * 100_000,
        json.dumps({**two, "winner": two["arms"][1]}),
        json.dumps({"id": three["id"], "rewards": {}}),
    ]
    answers = lines_of(call("tell", shop, "cameras", given="\n".join(given)), exit_code=2)
    assert [answer.get("line") for answer in answers] == [None, 2, 4, 5, 6, 7, 8, 9, None, None]
    sentences = [answer["error"] for answer in answers if "error" in answer]
    assert sentences[0] == "'what?' is not JSON"
    assert "is not an object" in sentences[1]
    assert "there is no decision 'nobody'" in sentences[2]
    assert "did you mean 'rewards'?" in sentences[3]
    assert "has no id" in sentences[4]
    assert "from 0 to 1" in sentences[5]
    assert answers[0]["rewards"] == dict(zip(one["arms"], [1.0, 0.5]))
    assert answers[-2]["rewards"][two["arms"][1]] == 1.0
    assert lines_of(call("show", shop, "cameras"))[0]["told"] == 3


def test_lines_that_are_not_utf8_are_invalid(shop):
    (answer,) = lines_of(call("tell", shop, "cameras", given=b"\xff\xfe\n"), exit_code=2)
    assert "is not JSON" in answer["error"]


def test_a_stream_asks_and_tells(shop):
    given = [
        {},
        {"available": ["Nikon", "Sony"], "id": "v1"},
        {"tell": "v1", "winner": "Sony"},
        {"tell": "v1", "rewards": {"Sony": 1}},
        {"tell": "v1", "rewards": {}},
        {"avaliable": ["Nikon"]},
        {"available": {"Nikon": 1}},
        {"id": "v1", "winner": "Sony"},
        {"id": "v2"},
    ]
    text = "\n".join(map(json.dumps, given))
    answers = lines_of(call("ask", shop, "cameras", "--stream", given=text), exit_code=2)
    assert [answer.get("line") for answer in answers] == [None, None, None, None, 5, 6, 7, 8, None]
    assert answers[2] == answers[3], "repeating the same feedback counts once"
    assert set(answers[1]["arms"]) == {"Nikon", "Sony"}
    assert "it counts once" in answers[4]["error"]
    assert "did you mean 'available'?" in answers[5]["error"]
    assert "give a list" in answers[6]["error"]
    assert 'has the id as "tell"' in answers[7]["error"]


def test_a_stream_answers_each_line_before_the_next_and_stores_its_answers(shop):
    with subprocess.Popen(
        [*SETWISE, "study", "ask", shop, "cameras", "--stream"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
    ) as process:  # fmt: skip
        for round in range(1, 6):
            process.stdin.write("{}\n")
            asked = json.loads(process.stdout.readline())
            assert asked["round"] == round
            process.stdin.write(json.dumps({"tell": asked["id"], "winner": asked["arms"][0]}) + "\n")
            assert json.loads(process.stdout.readline())["status"] == "told"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == "setwise: stopped; all printed answers are stored\n"
    assert lines_of(call("show", shop, "cameras"))[0]["told"] == 5


def test_commands_work_in_a_pipeline(shop):
    setwise = " ".join(SETWISE)
    choose = "import json,sys\nfor l in sys.stdin: d=json.loads(l); print(json.dumps({**d, 'winner': d['arms'][0]}))"
    pipe = (
        f'set -o pipefail; {setwise} study ask {shop} cameras -n 3 | {sys.executable} -c "{choose}" '
        f"| {setwise} study tell {shop} cameras"
    )
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=True, timeout=60)
    assert [json.loads(line)["status"] for line in done.stdout.splitlines()] == ["told"] * 3
    copy = f"{setwise} study export {shop} cameras - --format jsonl | {setwise} study import {shop} copy -"
    done = subprocess.run(["bash", "-c", copy], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout)["told"] == 3
    few = f"{setwise} study ask {shop} cameras -n 1000 | head -n 1"
    done = subprocess.run(["bash", "-c", few], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout)["round"] == 4
    assert done.stderr == ""


def test_show_and_list_are_json_in_a_pipe_and_tables_if_asked_for(shop):
    with sw.Study.open(shop, "cameras") as opened:
        opened.tell(opened.ask(available=["Nikon", "Sony"]), winner="Nikon")
        summary = as_read(opened.summary().to_json())
    assert lines_of(call("show", shop, "cameras")) == lines_of(call("list", shop)) == [summary]
    table = call("show", shop, "cameras", "--table").output
    assert "told 1" in table and "best so far: Nikon" in table
    assert re.search(r"^Nikon +best +active +1 +1 +1\.0000 ", table, re.MULTILINE)
    assert re.search(r"^Canon +best|^Canon +active +0 +0 +- +\+inf", table, re.MULTILINE)
    assert re.search(r"^cameras +2 +4 +1 +1 +0 +1 ", call("list", shop, "--table").output, re.MULTILINE)


def test_many_arms_are_shown_in_part_and_listed_in_full(tmp_path):
    address = f"sqlite:///{tmp_path}/shop.db"
    sw.Study.create(address, "many", [f"arm {i}" for i in range(60)], 2).close()
    assert "... and 10 others" in call("show", address, "many", "--table").output
    assert len(lines_of(call("arms", address, "many"))) == 60


def test_markup_and_control_characters_in_names_are_shown_literally(tmp_path):
    address = f"sqlite:///{tmp_path}/shop.db"
    sw.Study.create(address, "[red]x[/]", ["[bold]", "[/nothing]", "a\x1b[2Jb\tc"], 2).close()
    for words in (["show", address, "[red]x[/]", "--table"], ["arms", address, "[red]x[/]", "--table"]):
        output = call(*words).output
        assert all(name in output for name in ("[bold]", "[/nothing]", r"a\x1b[2Jb\tc"))
        assert "\x1b" not in output
    assert "[red]x[/]" in call("list", address, "--table").output
    assert visible("Éclair 相机") == "Éclair 相机"


def test_arms_are_added_retired_and_activated(shop):
    words = ["--add", "Leica", "--pending", "Pentax", "--retire", "Shoes"]
    found = {line["name"]: line for line in lines_of(call("arms", shop, "cameras", *words))}
    status = {name: line["status"] for name, line in found.items()}
    assert status == {
        "Nikon": "active", "Canon": "active", "Sony": "active", "Shoes": "retired", "Leica": "active",
        "Pentax": "pending",
    }  # fmt: skip
    assert found["Leica"]["index"] == "inf"
    found = lines_of(call("arms", shop, "cameras", "--activate", "Shoes", "--activate", "Pentax"))
    assert {line["status"] for line in found} == {"active"}


def test_an_invalid_change_of_arms_lists_the_changes_made_before_it(shop):
    answer = call("arms", shop, "cameras", "--add", "Leica", "--retire", "Nokia")
    assert answer.exit_code == 2
    assert "there is no arm 'Nokia'" in answer.output
    assert "(done before that, and kept: --add Leica)" in answer.output


def test_export_writes_files_and_the_standard_output(shop, tmp_path):
    lines_of(call("ask", shop, "cameras", "--count", "3"))
    for ending in ("csv", "jsonl"):
        path = tmp_path / f"cameras.{ending}"
        answer = call("export", shop, "cameras", str(path))
        assert answer.output == f"{path}  3 decisions\n"
        assert call("export", shop, "cameras", "-", "--format", ending).stdout == path.read_text()
    rows = list(csv.DictReader(io.StringIO((tmp_path / "cameras.csv").read_text())))
    assert [row["round"] for row in rows] == ["1", "1", "2", "2", "3", "3"]
    (loaded,) = lines_of(call("import", f"sqlite:///{tmp_path}/other.db", "copy", str(tmp_path / "cameras.jsonl")))
    assert (loaded["name"], loaded["rounds"]) == ("copy", 3)
    answer = call("import", shop, "copy", str(tmp_path / "cameras.csv"))
    assert (answer.exit_code, "is not a journal that Setwise exported" in answer.output) == (2, True)


def test_verify_exits_with_1_if_there_are_problems(shop):
    lines_of(call("ask", shop, "cameras", "--count", "3"))
    (found,) = lines_of(call("verify", shop, "cameras"))
    assert (found["ok"], found["recomputed"]) == (True, 3)
    assert lines_of(call("verify", shop, "cameras", "--quick"))[0]["recomputed"] == 0
    assert ": no problems" in call("verify", shop, "cameras", "--table").output
    with sqlite3.connect(shop.removeprefix("sqlite:///")) as database:
        database.execute("UPDATE setwise_journal SET body = replace(body, '\"round\":2', '\"round\":9')")
    database.close()
    (found,) = lines_of(call("verify", shop, "cameras"), exit_code=1)
    assert not found["ok"]
    assert "position 3" in found["problems"][0]
    answer = call("verify", shop, "cameras", "--table")
    assert (answer.exit_code, "PROBLEMS FOUND" in answer.output) == (1, True)


def test_list_reports_studies_that_cannot_be_opened(shop):
    with sqlite3.connect(shop.removeprefix("sqlite:///")) as database:
        database.execute("UPDATE setwise_journal SET body = '{}'")
    database.close()
    sw.Study.create(shop, "whole", ARMS, 2).close()
    broken, whole = lines_of(call("list", shop), exit_code=3)
    assert "damaged" in broken["error"]
    assert whole["name"] == "whole"
    assert "cannot be opened" in call("list", shop, "--table").output


def test_delete_asks_for_confirmation(shop):
    answer = call("delete", shop, "cameras")
    assert (answer.exit_code, "give --yes" in answer.output) == (2, True)
    assert lines_of(call("delete", shop, "cameras", "--yes"))[0]["name"] == "cameras"
    assert lines_of(call("list", shop)) == []
    assert "there are no studies" in call("list", shop, "--table").output


def test_on_a_terminal_delete_asks_and_show_is_a_table(shop):
    output, code = on_terminal("study", "show", shop, "cameras")
    assert code == 0
    assert "best so far" in output and '"name"' not in output
    output, code = on_terminal("study", "delete", shop, "cameras", typed=b"y\n")
    assert code == 0
    assert "with 0 rounds permanently?" in output and "cameras is deleted" in output


@pytest.mark.parametrize(("words", "sentence"), [
    ("create {} x -k 2", "there are no arms"),
    ("create {} x --arm a --arms-from b -k 1", "--arm and --arms-from were both given"),
    ("create {} x --arms-from nowhere.txt -k 1", "No such file or directory: nowhere.txt"),
    ("create {} x --arm a --arm b", "Missing option '-k'"),
    ("create {} x --arm a --arm b -k 3", "k=3 is more than the 2 arms there are"),
    ("create {} x --arm a --arm a -k 1", "more than once"),
    ("create {} x --arm a --arm b -k 1 -p KLUCB", "there is no policy 'KLUCB'; did you mean 'kl-ucb'?"),
    ("create {} x --arm a --arm b -k 1 -p oracle", "the policy 'oracle' is made from a world, and a study has none"),
    ("create {} x --arm a --arm b -k 1 -p doubling:base=oracle", "is made from a world"),
    ("create {} x --arm a --arm b -k 1 --window soon", "window is 'soon'"),
    ("create {} x --arm a --arm b -k 1 --durability high", "'high' is not one of 'full', 'normal'"),
    ("create shop.db x --arm a --arm b -k 1", "write sqlite:///shop.db for a file"),
    ("create mysql://me:secret@host/x x --arm a --arm b -k 1", "mysql://me:***@host/x"),
    ("ask sqlite:///nowhere.db x", "there is no file"),
    ("ask {} camera", "did you mean 'cameras'?"),
    ("ask {} cameras --available Nikon", "less than k=2"),
    ("ask {} cameras --available Nikon --available Nokia", "there is no arm 'Nokia'"),
    ("ask {} cameras --count 0", "count is 0, which is less than 1"),
    ("ask {} cameras --count 2 --id v1", "--count and --id were both given"),
    ("ask {} cameras --stream --count 2", "with --stream every line says"),
    ("tell {} cameras v1", "say what v1 earned by --reward ARM=REWARD, --winner ARM or --nothing"),
    ("tell {} cameras v1 --nothing --winner Nikon", "only one of"),
    ("tell {} cameras v1 --nothing", "there is no decision 'v1'"),
    ("tell {} cameras --winner Nikon", "no decision is named"),
    ("tell {} cameras v1 --reward Nikon", "--reward is 'Nikon'; write it as ARM=REWARD"),
    ("tell {} cameras v1 --reward Nikon=much", "write it as ARM=REWARD"),
    ("tell {} cameras v1 --reward Nikon=1 --reward Nikon=0", "'Nikon' more than once"),
    ("arms {} cameras --add Nikon", "there is an arm 'Nikon' already"),
    ("export {} cameras -", "--format csv or --format jsonl"),
    ("export {} cameras cameras.txt", "does not end in .csv"),
    ("export {} cameras cameras.csv --format jsonl", "does not end in .jsonl"),
    ("import {} copy nowhere.jsonl", "No such file or directory"),
    ("verify {} camera", "did you mean 'cameras'?"),
    ("delete {} camera --yes", "did you mean 'cameras'?"),
    ("list sqlite:///nowhere.db", "there is no file"),
    ("demo --rounds 0", "rounds is 0"),
    ("demo --delay -1", "delay is -1"),
    ("demo --policy oracle", "is made from a world"),
])  # fmt: skip
def test_a_mistake_is_answered_with_one_sentence_and_exit_code_2(shop, words, sentence):
    answer = call(*(word.format(shop) for word in words.split()))
    assert answer.exit_code == 2, answer.output
    assert sentence in " ".join(answer.output.split())
    assert "Traceback" not in answer.output
    assert "secret" not in answer.output
    assert answer.stdout == ""


MINE = """
from typing import NamedTuple
import setwise as sw

@sw.policy
class Eager(NamedTuple):
    size: float = 1.0

    def init(self, n, k, horizon, rng):
        return sw.Uniform().init(n, k, horizon, rng)

    def select(self, state, rng):
        return sw.Uniform().select(state, rng)

    def update(self, state, chosen, rewards, rng):
        pass
"""


def test_a_user_policy_is_imported_from_the_working_directory(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    console = "import sys; sys.path = [p for p in sys.path if p]; from setwise.cli import main; main()"
    setwise = [
        sys.executable,
        "-c",
        console,
        "study",
    ]  # like the installed command, without the working directory on the path
    words = ["create", "sqlite:///shop.db", "x", "--arm", "a", "--arm", "b", "-k", "1", "-p", "mine.Eager:size=2"]
    for command in (words, ["ask", "sqlite:///shop.db", "x"]):
        done = subprocess.run([*setwise, *command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["arms"]) == 1
