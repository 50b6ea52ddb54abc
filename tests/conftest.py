"""Shared fixtures, Hypothesis profiles, and the skips that are allowed."""

import os
import signal
import time

import pytest
from hypothesis import HealthCheck, settings

import postgresql
import setwise as sw
from skips import NOT_HERE
from studies import CAMERAS

# How long an example takes, or making it, says something of the machine and nothing of the code.
AT_ANY_SPEED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# The same examples in every run, so that it tells of the code; others in every run: `make proofs`.
settings.register_profile("fixed", derandomize=True, **AT_ANY_SPEED)
settings.register_profile("random", derandomize=False, **AT_ANY_SPEED)
settings.load_profile("fixed")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell sets it for what it starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


def forbid_skip(report):
    """With SETWISE_NO_SKIPS=1 a skip is a failure, unless the platform or the user's rights are the reason."""
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("SETWISE_NO_SKIPS") == "1":
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith(NOT_HERE):
            report.outcome = "failed"
            report.longrepr = f"{report.nodeid} was skipped, which SETWISE_NO_SKIPS=1 forbids: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    return forbid_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return forbid_skip((yield))


@pytest.fixture(scope="session")
def server():
    if postgresql.missing():
        pytest.skip(postgresql.missing())
    server = postgresql.Server()
    yield server
    server.stop()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def create(request, tmp_path):
    """A function that creates a study, in each storage, and one that opens it again."""
    studies = []

    class Maker:
        def __call__(self, name="homepage", arms=CAMERAS, k=3, policy=None, horizon=1000, seed=0, **options):
            if request.param == "memory":
                study = sw.Study.memory(arms, k, policy, horizon, seed, name=name, **options)
            else:
                study = sw.Study.create(self.address, name, arms, k, policy, horizon, seed, **options)
            studies.append(study)
            return study

        def again(self, study):
            if request.param == "memory":
                return study
            study.close()
            studies.append(sw.Study.open(self.address, study.name))
            return studies[-1]

    maker = Maker()
    if request.param == "sqlite":
        maker.address = f"sqlite:///{tmp_path}/shop.db"
    elif request.param == "postgresql":
        server = request.getfixturevalue("server")
        maker.address = postgresql.new_database(server, f"d{time.time_ns()}")
    yield maker
    for study in studies:
        study.close()


@pytest.fixture
def address(tmp_path):
    return f"sqlite:///{tmp_path}/shop.db"
