"""``python -m robustbo.cli``."""

from robustbo.cli import main

if __name__ == "__main__":
    main()
