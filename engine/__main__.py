"""`python -m engine`: the command line."""

from engine.cli.main import main

main()
