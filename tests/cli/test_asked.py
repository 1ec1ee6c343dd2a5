"""Points that are asked for, and cannot be printed."""

import subprocess
import sys
from pathlib import Path

import pytest

import robustbo as rb

SPACE = 'x = {kind = "float", low = 0, high = 1}\n'  # of the fixture `cli`


@pytest.fixture
def ask(cli, tmp_path):
    """Ask for two in a process whose stdout goes elsewhere; gives its exit code and stderr."""
    assert cli("create", "--direction", "minimize", "j.jsonl", "space.toml", "--seed", 1)[0] == 0

    def called(shell, *options):
        command = f'"$0" -m robustbo ask j.jsonl -n 2 "$@" {shell}'
        ended = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command, sys.executable, *options],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
        return ended.returncode, ended.stderr

    return called


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("shell", "why"),
    [("> /dev/full", "No space left on device"), (">&-", "stdout is closed"), ("| :", "its reader is gone")],
)
def test_are_named_in_a_line(ask, shell, why):
    if "full" in shell and not Path("/dev/full").exists():
        pytest.skip("needs a disk that is full: /dev/full")
    code, err = ask(shell)
    assert code == 2
    assert err == (
        f"error: the result cannot be written: {why}; trials [0, 1] have been asked for, and wait for their values: "
        "robustbo show has their points, robustbo requeue takes them back\n"
    )
    assert [trial.number for trial in rb.Study.resume("j.jsonl").history.having("pending")] == [0, 1]


def test_a_table_has_the_point_however_narrow_the_screen_is(cli, tmp_path, monkeypatch):
    space = "".join(f'x{i} = {{kind = "float", low = 0, high = 1}}\n' for i in range(30))
    (tmp_path / "wide.toml").write_text(space)
    assert cli("create", "--direction", "minimize", "j.jsonl", "wide.toml", "--seed", 1)[0] == 0
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = cli("ask", "j.jsonl", "--format", "table")
    assert code == 0
    shown = dict(line.split() for line in out.splitlines() if line.strip())
    (trial,) = rb.Study.resume("j.jsonl").history.having("pending")
    assert shown == {"trial": "0", **{name: repr(value) for name, value in trial.params.items()}, "repeats": "-"}
