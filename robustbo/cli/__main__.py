"""``python -m robustbo.cli``."""

from robustbo.cli import main

main()
