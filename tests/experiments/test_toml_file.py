"""Experiments from TOML files: they are played as written, and errors name the key in one sentence."""

import dataclasses
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setwise as sw
from setwise.environments import MNL, MODELS, Independent, RandomUtility, Scaled, Table
from setwise.experiments.experiment import Experiment
from setwise.experiments.specs import ForWorld, environments, make, models, parameters, policy_classes
from setwise.experiments.toml_file import KEYS, experiment_of, read_experiment
from setwise.testing import check_environment, check_policy

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = 'environments = ["camera"]\npolicies = ["ucb"]\n'
WORLD = 'environments = ["camera"]\n'
POLICY = 'policies = ["ucb"]\n'


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a text as a file in a folder of its own, and forget the modules that it has imported."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def reader(text, **modules):
        for name, code in modules.items():
            (tmp_path / f"{name}.py").write_text(code)
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return read_experiment(path)

    yield reader
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def refusal(read, text, **modules):
    with pytest.raises(sw.InputError) as caught:
        read(text, **modules)
    return str(caught.value)


def test_the_short_form_is_what_the_command_line_takes(read):
    found = read(
        'title = "Two"\nhorizon = [1e4, 500]\nruns = 7\nseed = 3\ncheckpoints = [100, 400]\nspacing = "linear"\n'
        "common = true\ncertificate = 0.9\n"
        'environments = ["camera", "random-weak:seed=3"]\npolicies = ["ucb", "ucb:alpha=0.5"]\n'
    )
    assert (found.title, found.horizon, found.runs, found.seed) == ("Two", (500, 10_000), 7, 3)
    assert [entry[:3] for entry in found.entries] == [
        (world, policy, horizon)
        for world in ("camera", "random-weak:seed=3")
        for policy in ("ucb", "ucb:alpha=0.5")
        for horizon in (500, 10_000)
    ]
    first = found.entries[0].play
    assert found.common and first.common and not read(SHORT).common
    assert found.certificate == first.certificate == 0.9 and read(SHORT).certificate is None
    assert (first.policy, first.horizon, first.seed, first.checkpoints) == (sw.UCB(), 500, 3, (100, 400, 500))
    assert found.entries[2].play.policy == sw.UCB(alpha=0.5)
    assert found.environments["random-weak:seed=3"].seed == 3


def test_what_is_not_said_is_as_in_python(read):
    said, python = read(SHORT), Experiment(["camera"], ["ucb"])
    for field in dataclasses.fields(Experiment):
        if field.name not in ("environments", "policies"):
            assert getattr(said, field.name) == getattr(python, field.name)
    assert [entry.play.digest for entry in said.entries] == [entry.play.digest for entry in python.entries]


def test_the_long_form_has_labels_models_and_parameters(read):
    found = read("""
        [environments.shop]
        model = "MNL"
        values = [0.9, 0.5, 0.2]
        k = 2
        [environments.pairs]
        model = "Table"
        probabilities = [[0.3, 0.3], [0.6, 0.4], [0.3, 0.5]]
        feedback = "independent"
        names = ["tea", "milk", "rum"]
        [environments.tastes]
        model = "RandomUtility"
        utilities = [1, 0, -1]
        noise = "gumbel"
        k = 1.0
        [environments.priced]
        model = "Scaled"
        prices = [0.1, 0.5, 1.0]
        [environments.priced.base]
        model = "Independent"
        values = [0.1, 0.2, 0.3]
        k = 2
        [environments.priced-camera]
        model = "Scaled"
        base = "camera"
        prices = 0.5
        [environments]
        photo = "camera"
        [policies.careful]
        name = "ucb"
        alpha = 4
        [policies.doubled]
        name = "doubling"
        base = "kl-ucb"
        first = 10
        [policies.doubled-too]
        name = "doubling"
        base = { name = "ucb", alpha = 0.5 }
        restart = true
    """)
    worlds = found.environments
    assert worlds["shop"].values.tolist() == [0.9, 0.5, 0.2]
    assert isinstance(worlds["shop"], MNL) and worlds["shop"].k == 2
    row = np.zeros(2)
    worlds["pairs"].means(np.array([2, 0]), row)
    assert isinstance(worlds["pairs"], Table) and row.tolist() == [0.4, 0.6]
    assert worlds["pairs"].feedback == "independent" and worlds["pairs"].names == ("tea", "milk", "rum")
    assert isinstance(worlds["tastes"], RandomUtility) and worlds["tastes"].noise == "gumbel"
    assert isinstance(worlds["priced"], Scaled) and isinstance(worlds["priced"].base, Independent)
    assert worlds["priced-camera"].base.names == worlds["photo"].names == sw.paper.camera().names
    assert dict(found.policies) == {
        "careful": sw.UCB(alpha=4.0),
        "doubled": sw.Doubling(base=sw.KLUCB(), first=10),
        "doubled-too": sw.Doubling(base=sw.UCB(alpha=0.5), restart=True),
    }


def test_a_policy_that_knows_its_world_is_made_for_each_and_left_out_where_it_cannot_be(read):
    found = read("""
        environments = ["camera", "coverage"]
        [policies.best]
        name = "oracle"
        [policies.greedy]
        name = "lsb-greedy"
        alpha = 0.5
    """)
    made = {entry[:2]: entry.play.policy for entry in found.entries}
    assert made["camera", "best"].arms.tolist() == [0, 1, 2]
    assert made["coverage", "best"].arms.tolist() == sw.environments.PRESETS["coverage"]().best().tolist()
    assert made["coverage", "greedy"].alpha == 0.5
    assert [tuple(left)[:2] for left in found.left_out] == [("camera", "greedy")]
    assert "LSBGreedy needs a world whose arms cover topics" in found.left_out[0].reason


def test_a_policy_that_is_told_all_it_needs_does_not_ask_its_world(read):
    found = read(WORLD + '[policies.fixed]\nname = "oracle"\narms = [3, 2, 5]\n')
    assert found.entries[0].play.policy.arms.tolist() == [3, 2, 5]


def test_a_policy_is_left_out_where_it_cannot_play_and_refused_if_that_is_everywhere(read):
    worlds = 'environments = ["lower-bound-choice", "lower-bound-independent"]\n'
    found = read(worlds + 'policies = ["ucb", "rucb"]')
    assert [tuple(left)[:2] for left in found.left_out] == [("lower-bound-independent", "rucb")]
    sentence = refusal(read, 'environments = ["lower-bound-independent"]\npolicies = ["ucb", "rucb"]')
    assert "mine.toml: policies[1]: rucb can play in none of the environments: RUCB learns from choice" in sentence


OWN = """
from typing import NamedTuple
import numpy as np
import setwise as sw
from beside import SOME

class State(NamedTuple):
    chosen: np.ndarray

@sw.policy
class Lazy(NamedTuple):
    first: int = 0
    def init(self, n, k, horizon, rng):
        return State(np.arange(self.first, self.first + k))
    def select(self, state, rng):
        return state.chosen
    def update(self, state, chosen, rewards, rng):
        pass

class Undeclared(NamedTuple):
    scale: int = 1
    select = init = update = Lazy.update

def world(k: int = 2, high: float = SOME):
    return sw.environments.MNL([high, 0.5, 0.2], k)

def broken(k):
    return 1 / 0

READY = sw.UCB(alpha=3.0)
"""


def test_modules_are_found_beside_the_file_and_stay_where_other_processes_find_them(read, tmp_path):
    found = read(
        """
        [environments.own]
        name = "own_things.world"
        k = 1
        [policies]
        ready = "own_things.READY"
        short = "own_things.Lazy:first=1"
        [policies.lazy]
        name = "own_things.Lazy"
        first = 2.0
        """,
        own_things=OWN,
        beside="SOME = 0.75\n",
    )
    assert found.environments["own"].values[0] == 0.75 and found.environments["own"].k == 1
    assert found.policies["ready"] == sw.UCB(alpha=3.0)
    assert tuple(found.policies["short"]) == (1,) and tuple(found.policies["lazy"]) == (2,)
    assert sys.path[-1] == str(tmp_path.resolve()) and sys.path.count(sys.path[-1]) == 1


@pytest.mark.parametrize(("text", "sentence"), [
    ('name = "own_things.Lasy"', "policies.x.name: the policy 'own_things.Lasy' cannot be imported: own_things has no "
     "Lasy; did you mean 'Lazy'?"),
    ('name = "own_thing.Lazy"', "policies.x.name: the policy 'own_thing.Lazy' cannot be imported: No module named"),
    ('name = "own_things.py"', "own_things has no py"),
    ('name = "./own_things.Lazy"', "cannot be imported: write module.Name, the file's name without .py"),
    ('name = "own_things.Lazy"\nfirst = "x"', "policies.x.first is 'x', which is not a number"),
    ('name = "own_things.Lazy"\nfrist = 1', "policies.x.frist: own_things.Lazy has no parameter 'frist'; did you mean"),
    ('name = "own_things.READY"\nalpha = 1', "policies.x: own_things.READY is an object already, and takes no"),
    ('name = "own_things.State"', "policies.x.chosen is missing; own_things.State needs chosen"),
    ('name = "own_things.OWN"', "has no OWN"),
    ('name = "own_things.world"', "policies.x: own_things.world makes MNL(values=[0.75, 0.5, 0.2], k=2), which"),
    ('name = "own_things.broken"\nk = 1', "policies.x: own_things.broken cannot be made: ZeroDivisionError: division"),
    ('name = "own_things.Undeclared"', "policies.x: Undeclared.init (own_things.py, line 17) has the parameters"),
])  # fmt: skip
def test_mistakes_with_modules_are_told(read, text, sentence):
    told = refusal(read, WORLD + "[policies.x]\n" + text, own_things=OWN, beside="SOME = 0.75\n")
    assert sentence in told and "mine.toml: policies.x" in told


@pytest.mark.parametrize(("code", "sentence"), [
    ("x = 1\ny = z\n", "cannot be imported: NameError: name 'z' is not defined (fails.py, line 2)"),
    ("x = = 1\n", "cannot be imported: SyntaxError: invalid syntax (fails.py, line 1)"),
    ("import sys\nsys.exit('no')\n", "cannot be imported: SystemExit: no (fails.py, line 2)"),
    ("import nowhere_at_all\n", "cannot be imported: No module named 'nowhere_at_all' (fails.py, line 1)"),
])  # fmt: skip
def test_a_module_that_fails_is_told_with_its_line(read, code, sentence):
    assert sentence in refusal(read, WORLD + '[policies.x]\nname = "fails.Policy"', fails=code)


def test_a_module_whose_name_is_taken_is_not_mistaken_for_another(read):
    told = refusal(read, WORLD + '[policies.x]\nname = "json.Policy"', json="Policy = None\n")
    assert "another module of that name is loaded already" in told and "give it another name" in told


@pytest.mark.parametrize(("text", "sentence"), [
    (SHORT + "horizn = 3", "there is no key horizn; did you mean 'horizon'?"),
    (SHORT + '"my runs" = 3', 'there is no key "my runs"; did you mean'),
    ("", "there are no environments; give some, for example environments = [\"camera\"]"),
    (WORLD, "there are no policies; give some"),
    (WORLD + "policies = []", "policies is empty; give at least one"),
    (POLICY + "[environments]", "environments is empty; give at least one"),
    (WORLD + 'policies = "ucb"', "policies is 'ucb'; give a list"),
    (WORLD + "policies = 3", "policies is 3; give a list"),
    (WORLD + "policies = [3]", "policies[0] is 3; a list has names"),
    (WORLD + 'policies = [{ name = "ucb" }]', "policies[0] is {'name': 'ucb'}; a list has names"),
    (WORLD + 'policies = ["ucb", "kl-ucb", "ucb"]', "policies[2] is 'ucb' again; each is to be there once"),
    (WORLD + 'policies = ["ucbb"]', "policies[0]: there is no policy 'ucbb'; did you mean 'ucb'?"),
    (WORLD + 'policies = ["KLUCB"]', "policies[0]: there is no policy 'KLUCB'; did you mean 'kl-ucb'?"),
    (WORLD + 'policies = ["ucb:alpah=1"]', "policies[0]: ucb has no parameter 'alpah'; did you mean 'alpha'?"),
    (WORLD + 'policies = ["ucb:alpha=0"]', "policies[0]: UCB: alpha is 0; it has to be more than 0"),
    (WORLD + 'policies = ["ucb:alpha"]', "policies[0]: 'alpha' in 'ucb:alpha' is not of the form parameter=value"),
    (WORLD + "[policies]\nx = 3", 'policies.x is 3; write x = "ucb", or a table [policies.x] with name = "ucb"'),
    (WORLD + "[policies.'']\nname = 'ucb'", "policies.\"\" has no label"),
    (POLICY + 'environments = ["camara"]', "environments[0]: there is no environment 'camara'; did you mean 'camera'?"),
    (POLICY + 'environments = ["MNL"]', "environments[0]: MNL is a reward model, whose parameters need a table"),
    (POLICY + 'environments = ["random-weak:seed=0.5"]', "environments[0]: seed is 0.5, which is not a whole number"),
    (POLICY + 'environments = ["votes.soc:k=2,outside=1"]', "environments[0]: No such file or directory: "),
])  # fmt: skip
def test_mistakes_in_lists_are_told(read, text, sentence):
    told = refusal(read, text)
    assert f"mine.toml: {sentence}" in told and "\n" not in told


@pytest.mark.parametrize(("line", "sentence"), [
    ("horizon = true", "horizon is True, which is not a number"),
    ("horizon = 'long'", "horizon is 'long', which is not a number"),
    ("horizon = 0", "horizon is 0, which is less than 1"),
    ("horizon = 1e13", "horizon is 10000000000000; it can be at most 1000000000000"),
    ("horizon = inf", "horizon is inf, which is not a whole number"),
    ("horizon = []", "horizon is empty"),
    ("horizon = [100, 1.5]", "horizon[1] is 1.5, which is not a whole number"),
    ("horizon = [100, [1]]", "horizon[1] is [1], which is not a number"),
    ("horizon = [100, 100.0]", "horizon is [100, 100]; each is to be there once"),
    ("runs = 2.5", "runs is 2.5, which is not a whole number"),
    ("runs = 0", "runs is 0, which is less than 1"),
    ("runs = [1, 2]", "runs is [1, 2], which is not a number"),
    ("seed = -1", "seed is -1, which is less than 0"),
    (f"seed = {10**400}", "seed is larger than any number can be"),
    ("checkpoints = 0", "checkpoints is 0, which is less than 1"),
    ("checkpoints = 1e9", "checkpoints is 1000000000; it can be at most 1000000"),
    ("checkpoints = []", "checkpoints is empty"),
    ("checkpoints = [5, 'x']", "checkpoints[1] is 'x', which is not a number"),
    ("checkpoints = [5, 3]", "checkpoints have to be in rising order"),
    ("checkpoints = [5, 1e6]", "checkpoint 1000000 lies beyond the horizon 100000"),
    ("spacing = 'lin'", "spacing is 'lin'; it can be 'log' or 'linear'"),
    ("spacing = 3", "spacing is 3; it can be 'log' or 'linear'"),
    ("common = 'all'", "common is 'all'; it can be True or False"),
    ("certificate = 'all'", "certificate is 'all', which is not a number"),
    ("certificate = true", "certificate is True, which is not a number"),
    ("certificate = 95", "certificate is 95; it is the confidence of the test, above 0 and below 1, such as 0.95"),
    ("title = 3", "title is 3; it has to be a text"),
    ("title = 1979-05-27", "title is datetime.date(1979, 5, 27); a value is a text, a number"),
    ("horizon = " + "[" * 20 + "]" * 20, "horizon[0][0][0][0][0][0][0][0] is nested too deep"),
])  # fmt: skip
def test_mistakes_in_numbers_are_told(read, line, sentence):
    told = refusal(read, line + "\n" + SHORT)
    assert f"mine.toml: {sentence}" in told and "\n" not in told


@pytest.mark.parametrize(("body", "sentence"), [
    ("name = 'ucb'\nalpah = 4.0", ".alpah: ucb has no parameter 'alpah'; did you mean 'alpha'?"),
    ("name = 'ucb'\nalpha = 0", ".alpha is 0; it has to be more than 0"),
    ("name = 'ucb'\nalpha = '4'", ".alpha is '4', which is not a number"),
    ("name = 'ucb'\nalpha = nan", ".alpha is not a number (NaN)"),
    ("name = 'ucb'\nalpha = [1, 2]", ".alpha is [1, 2], which is not a number"),
    ("name = 'ucb'\nalpha = { a = 1 }", ".alpha is {'a': 1}, which is not a number"),
    ("name = 'ucb'\nruns = 3", ".runs: runs is of the whole experiment; write it above the first [table]"),
    ("name = 'ucbb'", ".name: there is no policy 'ucbb'; did you mean 'ucb'?"),
    ("name = 'ucb:alpha=3'", ".name is 'ucb:alpha=3'; in a table the parameters are keys of their own"),
    ("name = 3", ".name is 3; it has to be a text"),
    ("alpha = 3", ' has no name; write, for example, name = "ucb"'),
    ("model = 'ucb'", ".model: models are for environments; a policy has a name"),
    ("name = 'doubling'\nbase = 'kl-ucbb'",
     ".base is 'kl-ucbb', which is not a policy; give one, such as UCB(); did you mean 'kl-ucb'?"),
    ("name = 'doubling'\nbase = 'thompson'", ".base is Thompson, which has no method set_horizon"),
    ("name = 'doubling'\nbase = 'ucb:alpha=0'", ".base: UCB: alpha is 0; it has to be more than 0"),
    ("name = 'doubling'\nbase = { alpha = 1 }", ".base has no name"),
    ("name = 'doubling'\nbase = { name = 'ucb', alpa = 1 }", ".base.alpa: ucb has no parameter 'alpa'; did you mean"),
    ("name = 'doubling'\nrestart = 3", ".restart is 3; it can be True or False"),
])  # fmt: skip
def test_mistakes_in_policies_are_told_with_the_full_path_of_the_key(read, body, sentence):
    told = refusal(read, f"{WORLD}[policies.x]\n{body}\n")
    assert f"mine.toml: policies.x{sentence}" in told and "\n" not in told
    odd = refusal(read, f"{WORLD}[policies.'my own']\n{body}\n")
    assert f'mine.toml: policies."my own"{sentence}' in odd


@pytest.mark.parametrize(("body", "sentence"), [
    ("name = 'camera'\nmodel = 'MNL'", " has both name and model; leave one of them out"),
    ("k = 3", ' has no name and no model; write, for example, name = "camera" or model = "MNL"'),
    ("model = 'MNLL'", ".model: there is no model 'MNLL'; did you mean 'MNL'?"),
    ("model = 'mnl'", ".model: 'mnl' is not a model; write model = \"MNL\" or name = \"mnl\""),
    ("model = 'camera'", ".model: 'camera' is not a model; write name = \"camera\""),
    ("name = 'Table'", ".name: 'Table' is not a name; write model = \"Table\""),
    ("name = 'camera'\nk = 3", ".k: camera has no parameter 'k'; there are none"),
    ("name = 'random-weak'\nseed = 0.5", ".seed is 0.5, which is not a whole number"),
    ("name = 'votes.soc'\nk = 1", ": votes.soc needs k and outside"),
    ("model = 'MNL'\nvalues = [1.0]", ".k is missing; MNL needs k"),
    ("model = 'MNL'", ".values is missing; MNL needs values and k"),
    ("model = 'MNL'\nvalues = [1, 2]\nk = 3", ".k=3 is more than the 2 arms there are"),
    ("model = 'MNL'\nvalues = 1.0\nk = 1", ".values has 0 dimensions; give a list with a number for each arm"),
    ("model = 'MNL'\nvalues = []\nk = 1", ": n is 0, which is less than 1"),
    ("model = 'MNL'\nvalues = [1, 'a']\nk = 1", ".values is [1, 'a'], which is not a list of numbers"),
    ("model = 'MNL'\nvalues = [1, [2]]\nk = 1", ".values is [1, [2]], which is not a list of numbers"),
    ("model = 'MNL'\nvalues = [1, -2]\nk = 1", ".values is -2 at position 1; it has to be"),
    ("model = 'Table'\nprobabilities = [[0.1, 0.2], [0.3]]", ".probabilities is [[0.1, 0.2], [0.3]], which is not a"),
    ("model = 'Table'\nprobabilities = [[0.9, 0.9]]", ": those of the set [0, 1] add up to 1.8"),
    ("model = 'Table'\nprobabilities = [[0.1]]\nk = 1", ".k: Table works that out from its other parameters"),
    ("model = 'Table'\nprobabilities = [[0.1]]\nfeedback = 'both'", ".feedback is 'both'; it can be 'choice' or"),
    ("model = 'Table'\nprobabilities = [[0.1]]\nnames = 'a'", ".names is 'a'; give a list"),
    ("model = 'RandomUtility'\nutilities = [1]\nk = 1\nnoise = 'gumble'",
     ".noise is 'gumble'; it can be 'gaussian', 'gumbel' or a quantile function"),
    ("model = 'Scaled'\nbase = 'camra'\nprices = 1",
     ".base is 'camra'; it has to be an environment with rewards of 0 and 1; did you mean 'camera'?"),
    ("model = 'Scaled'\nbase = { model = 'MNL', k = 1 }\nprices = 1", ".base.values is missing; MNL needs values"),
])  # fmt: skip
def test_mistakes_in_environments_are_told_with_the_full_path_of_the_key(read, body, sentence):
    told = refusal(read, f"{POLICY}[environments.x]\n{body}\n")
    assert f"mine.toml: environments.x{sentence}" in told and "\n" not in told


@pytest.mark.parametrize(("data", "sentence"), [
    (b'policies = ["ucb"\nruns = 3', "mine.toml is not valid TOML: Unclosed array (at line 2, column 1)"),
    (b"runs = 3\nruns = 4\n", "mine.toml is not valid TOML: Cannot overwrite a value (at line 2, column 9); a key "),
    (b'policies = ["ucb"]\n[policies.x]\nname = "ucb"', "environments and policies are either a list or tables"),
    (b"runs = " + b"1" * 5000, "mine.toml is not valid TOML: Exceeds the limit"),
    (b"runs = " + b"[" * 5000, "mine.toml is not an experiment: it has lists or tables nested too deep"),
    (b'runs = 3\ntitle = "\xff"', "mine.toml is not a text in UTF-8 (line 2); save it as one"),
])  # fmt: skip
def test_a_file_that_is_no_toml_is_told(tmp_path, data, sentence):
    (tmp_path / "mine.toml").write_bytes(data)
    with pytest.raises(sw.InputError) as caught:
        read_experiment(tmp_path / "mine.toml")
    assert str(tmp_path) in str(caught.value) and sentence in str(caught.value)


def test_a_folder_a_missing_file_and_a_byte_order_mark(tmp_path):
    with pytest.raises(sw.InputError, match="is a folder; give a TOML file"):
        read_experiment(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_experiment(tmp_path / "nothing.toml")
    (tmp_path / "mine.toml").write_bytes(b"\xef\xbb\xbf" + SHORT.replace("\n", "\r\n").encode())
    assert list(read_experiment(tmp_path / "mine.toml").policies) == ["ucb"]


def test_files_of_rankings_are_looked_for_beside_the_file(read, tmp_path):
    (tmp_path / "votes.soc").write_text("3\n1,tea\n2,milk\n3,rum\n5,5,2\n4,1,3,2\n1,2,1,3\n")
    found = read(POLICY + '[environments]\nshort = "votes.soc:k=1,outside=2"\n[environments.long]\n'
                 'name = "votes.soc"\nk = 1\noutside = 2\n')  # fmt: skip
    assert found.environments["short"].rankings == found.environments["long"].rankings == ((0, 2), (1, 0))


def test_every_model_can_be_named_and_asks_for_what_it_needs(read):
    assert set(models()) == {cls.__name__ for cls in MODELS}
    for name, cls in models().items():
        needed = [key for key, required in parameters(cls).items() if required]
        if needed:
            told = refusal(read, POLICY + f'[environments.x]\nmodel = "{name}"\n')
            assert f"environments.x.{needed[0]} is missing; {name} needs {' and '.join(needed)}" in told
        else:
            assert type(read(POLICY + f'[environments.x]\nmodel = "{name}"\n').environments["x"]) is cls


def test_all_policies_can_be_named_in_a_file():
    names = list(policy_classes())
    found = experiment_of({"environments": ["camera", "coverage"], "policies": names})
    assert list(found.policies) == names
    assert {entry.policy for entry in found.entries} == set(names)


def test_a_name_without_a_world_gives_what_asks_the_world_later():
    later = make("lsb-greedy:alpha=0.5", policy_classes(), "policy")
    assert isinstance(later, ForWorld)
    world = environments()["coverage"]()
    told = make("lsb-greedy:alpha=0.5", policy_classes(), "policy", world)
    assert repr(later.for_world(world)) == repr(told) and told.alpha == 0.5
    assert make("ucb", policy_classes(), "policy") == sw.UCB()


GUIDE = (EXAMPLES.parent / "docs" / "experiments.md").read_text()


@pytest.mark.parametrize("text", re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL), ids=["short", "long", "own"])
def test_the_files_in_the_guide_are_experiments(text, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    found = experiment_of(tomllib.loads(text), str(EXAMPLES / "guide.toml"))
    assert found.left_out == [] and len(found.entries) >= 2


def test_the_guide_has_every_key_with_its_default():
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| `?\"?([^|]*?)\"?`? \|$", GUIDE, re.MULTILINE))
    assert set(rows) == set(KEYS)
    for field in dataclasses.fields(Experiment):
        if field.default is not dataclasses.MISSING and field.name != "title":
            default = str(field.default).replace("False", "false").replace("None", "none")  # as TOML has it, or not
            assert rows[field.name] == default


@pytest.mark.parametrize("name", ["slates", "own_policy"])
def test_the_examples_are_read_and_played(name, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    found = read_experiment(EXAMPLES / f"{name}.toml")
    for entry in found.entries:
        play = dataclasses.replace(entry.play, horizon=100, checkpoints=(100,))
        result = play.run(1, compiled=False)
        assert result.regret.shape == (1, 1) and np.isfinite(result.regret).all()
    left = {"slates": [("each-by-itself", "logit-only")], "own_policy": []}
    assert [tuple(out)[:2] for out in found.left_out] == left[name]


def test_the_examples_own_policy_and_environment_keep_the_contract(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    found = read_experiment(EXAMPLES / "own_policy.toml")
    check_environment(found.environments["attention"], compiled=False)
    check_policy(found.policies["explore-first"], rounds=100, compiled=False)


words = st.sampled_from([*KEYS, "name", "model", "alpha", "values", "k", "n", "base", "x", "probabilities"])
texts = st.one_of(
    st.sampled_from(["ucb", "kl-ucb", "doubling", "doubling:base=ucb", "oracle", "camera", "mallows:phi=0.5", "log"]),
    st.sampled_from(["MNL", "Table", "Scaled", "Independent", "Rankings", "Coverage", "Needle", "choice", "a.b"]),
    st.text(max_size=5),
)
numbers = st.one_of(st.integers(-2, 6), st.floats(), st.booleans(), st.just(10**400))
anything = st.recursive(
    st.one_of(st.none(), texts, numbers),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)),
    max_leaves=12,
)
shares = st.lists(st.floats(0.0, 0.5), min_size=1, max_size=3)
fitting = st.one_of(st.integers(0, 3), texts, shares, st.lists(shares, min_size=1, max_size=3), anything)


def described(key, names, parameters):
    """Names, and tables with a name or a model and some of the parameters, by label."""
    table = st.fixed_dictionaries({key: st.sampled_from(names)}, optional=dict.fromkeys(parameters.split(), fitting))
    return st.dictionaries(st.sampled_from("xyz"), st.one_of(table, texts), min_size=1, max_size=2)


worlds = described(
    "model", list(models()), "values k n base probabilities prices weights covers rankings feedback center"
)
players = described("name", ["ucb", "doubling", "oracle", "lsb-greedy"], "alpha base first arms covers restart")
tables = st.one_of(
    st.dictionaries(st.one_of(words, texts), anything, max_size=6),
    st.fixed_dictionaries({"environments": worlds, "policies": st.just(["ucb", "oracle"])}),
    st.fixed_dictionaries({"environments": st.just(["camera"]), "policies": players}),
    st.fixed_dictionaries(
        {"environments": st.just(["camera"]), "policies": st.just(["ucb"])},
        optional=dict.fromkeys((key for key in KEYS if key not in ("environments", "policies")), fitting),
    ),
)


@settings(max_examples=100, deadline=None)
@given(tables)
def test_any_table_makes_an_experiment_or_is_told_what_is_wrong(table):
    told = ""
    try:
        found = experiment_of(table, "some.toml")
    except sw.InputError as error:
        told = str(error)
    assert told.startswith("some.toml: ") or {entry.policy for entry in found.entries} == set(found.policies)
    assert "\n" not in told
