"""Measure, print the tables, and store them: `python -m research --help`."""

import argparse
import importlib
from functools import partial

from research import comparison
from research.summary import markdown, read, write
from setwise import Experiment
from setwise.cli.printing import Steps

QUESTIONS = ("comparison", "gains", "horizons", "weak-worlds", "adversary", "candidates", "violations", "calibration")


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m research", description="Measure policies beyond the paper.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(QUESTIONS)}; by default all")
    parser.add_argument("--quick", action="store_true", help="a small version that takes seconds")
    parser.add_argument("--write", action="store_true", help="store the tables for the docs")
    parser.add_argument("--results", default="out/research", help="folder of stored runs (default: %(default)s)")
    given = parser.parse_args(words)
    for name in given.names:
        if name not in QUESTIONS:
            parser.error(f"there is no question {name!r}; there are {', '.join(QUESTIONS)}")
    if given.quick and given.write:
        parser.error("--quick is too small to be stored; leave out --write")
    for name in given.names or QUESTIONS:
        module = importlib.import_module(f"research.{name.replace('-', '_')}")
        with Steps() as steps:
            summaries = module.compute(partial(Experiment.run, results=given.results, progress=steps.show), given.quick)
        print(f"\n## {name}: {str(module.__doc__).splitlines()[0]}\n\n{markdown(summaries)}", flush=True)
        if given.write:
            write(name, summaries)
            if name == "comparison":
                comparison.write_measured(read(name)[0])


if __name__ == "__main__":
    main()
