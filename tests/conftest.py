"""On what property tests are tried."""

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)  # the same examples in every run, so that it tells of the code
settings.register_profile("anew", derandomize=False)  # others in every run: `make proofs`
settings.load_profile("fixed")
