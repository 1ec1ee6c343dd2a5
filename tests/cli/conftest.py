import sys

import pytest

from robustbo.cli import main


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command line; gives (exit code, stdout, stderr)."""

    def called(*arguments):
        monkeypatch.setattr(sys, "argv", ["robustbo", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return called
