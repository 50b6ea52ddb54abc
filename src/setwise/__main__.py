"""Run the command line: `python -m setwise` is `setwise`."""

from setwise.cli import main

main(prog_name="setwise")
