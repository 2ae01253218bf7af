"""`python -m budgetlearn.cli`."""

from . import main

main()
