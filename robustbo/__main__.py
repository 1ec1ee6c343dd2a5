"""``python -m robustbo``: the command line."""

from robustbo.cli import main

if __name__ == "__main__":
    main()
