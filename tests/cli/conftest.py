import sys

import pytest

from robustbo.cli import main

SPACE = """
[x]
kind = "float"
low = 0
high = 1

[c]
kind = "choice"
values = ["a", "b"]
"""


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


@pytest.fixture
def cli(monkeypatch, tmp_path, call, request):
    """The same in a folder that holds space.toml, which is the module's SPACE, or the one above."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "space.toml").write_text(getattr(request.module, "SPACE", SPACE))
    return call
