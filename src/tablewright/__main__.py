"""`python -m tablewright` is the `tablewright` command."""

from tablewright.cli import main

main()
