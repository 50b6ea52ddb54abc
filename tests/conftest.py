"""Fixtures that several files of tests use, and on what property tests are tried."""

import time

import pytest
from hypothesis import settings

import postgresql
import setwise as sw
from studies import CAMERAS

settings.register_profile("fixed", derandomize=True)  # the same examples in every run, so that it tells of the code
settings.register_profile("anew", derandomize=False)  # others in every run: `make proofs`
settings.load_profile("fixed")


@pytest.fixture(scope="session")
def server():
    if postgresql.binaries() is None:
        pytest.skip(postgresql.HOW)
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
