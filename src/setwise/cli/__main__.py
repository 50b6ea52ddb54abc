"""Run the command line: `python -m setwise.cli` is `setwise`."""

from setwise.cli import main

main()
