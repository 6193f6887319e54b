"""`python -m trimtab`: the command."""

from trimtab.cli import main

main()
