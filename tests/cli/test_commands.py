"""What holds of all commands: their order, versions, names that were meant, folders, Ctrl-C."""

import fcntl
import os
import platform
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import version

import pytest
import typer

import robustbo as rb
from robustbo.cli.app import app
from robustbo.cli.commands import name_option

SPACE = '[x]\nkind = "float"\nlow = 0\nhigh = 1\n'
SPEC = 'problem = "branin"\nmethods = ["sobol"]\ntrials = 2\nnum_initial = 2\nreplications = 1\n'


@pytest.fixture
def runs(tmp_path):
    for name in ("small", "large"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "spec.toml").write_text(SPEC)
    (tmp_path / "other.toml").write_text(SPEC)


def test_what_was_found_comes_first_in_the_help_then_the_study_then_benchmarks(cli):
    _, out, _ = cli("--help")
    listed = re.findall(r"^  ([a-z-]+) ", out.partition("Commands:")[2], re.MULTILINE)
    assert listed[0] == "show"
    assert len(listed) == len(set(listed)) == len(app.registered_commands)
    study = {"create", "ask", "tell", "best", "front", "fail", "exclude", "include", "amend", "requeue", "repair"}
    assert max(map(listed.index, study)) < min(map(listed.index, ("replay", "verify", "list")))


def test_the_version_is_a_line_with_those_beneath(cli):
    code, out, _ = cli("--version")
    beneath = f"Python {platform.python_version()}, torch {version('torch')}, botorch {version('botorch')}"
    assert (code, out) == (0, f"robustbo {rb.__version__} ({beneath})\n")


def test_the_package_is_a_command(tmp_path):
    command = [sys.executable, "-m", "robustbo", "show", "nowhere.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: nowhere.jsonl: there is no such journal\n"


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("replay", "other", "--set", "problem=hartman6"), "there is no problem 'hartman6'; did you mean 'hartmann6'?"),
        (("replay", "other", "--set", 'methods=["oracel"]'), "there is no method 'oracel'; did you mean 'oracle'?"),
        (("replay", "other", "--set", 'methods=["studnet-t"]'), "no method 'studnet-t'; did you mean 'student-t'?"),
        (
            ("replay", "other", "--set", 'methods.mine.surrogate="trimed"'),
            "methods.mine.surrogate: there is no surrogate 'trimed'; did you mean 'trimmed'?",
        ),
        (("replay", "other", "--method", "sobbol"), "expected one of sobol; did you mean 'sobol'?"),
        (("replay", "otter.toml"), "found neither; did you mean 'other'?"),
        (("replay", "runs/smal"), "found neither; did you mean 'runs/small'?"),
        (("replay", "lrage"), "found neither; did you mean 'runs/large'?"),
        (("verify", "runs/lrage"), "found none; did you mean 'runs/large'?"),
        (("report", "runs/lrage"), "found neither; did you mean 'runs/large'?"),
        (("show", "tunning.jsonl"), "there is no such journal; did you mean 'tuning.jsonl'?"),
        (("ask", "tunning.jsonl"), "there is no such journal; did you mean 'tuning.jsonl'?"),
        (("verify", "tunning.jsonl"), "there is no such journal; did you mean 'tuning.jsonl'?"),
        (
            ("create", "--direction", "minimize", "k.jsonl", "space.toml", "--surrogate", "standrad"),
            "'standrad'; did you mean 'standard'?",
        ),
        (("crate", "k.jsonl", "space.toml"), "No such command 'crate'"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_one_that_was_meant(cli, tmp_path, arguments, message):
    assert cli("create", "--direction", "minimize", "tuning.jsonl", "space.toml")[0] == 0
    before = sorted(tmp_path.rglob("*"))
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == (1 if err.startswith("error: ") else 4)  # the latter of typer itself
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("runs")
def test_what_resembles_nothing_is_answered_with_all_there_is(cli):
    err = cli("replay", "other", "--set", "problem=mars")[2]
    assert "problem must be one of ['ackley', " in err
    assert "mean" not in err + cli("replay", "zzz")[2] + cli("show", "zzz.jsonl")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--num-initial", "-1"), "--num-initial must be a whole number of at least 1, got -1"),
        (("--if-exists", "go"), "--if-exists must be one of ['error', 'resume'], got 'go'"),
        (("--max-replicates", "0"), "--max-replicates must be a whole number of at least 1, got 0"),
        (("--replicate", "often"), "--replicate must be one of "),
    ],
)
def test_a_message_names_the_option_and_not_the_argument_in_python(cli, arguments, message):
    code, _, err = cli("create", "--direction", "minimize", "k.jsonl", "space.toml", *arguments)
    assert code == 2
    assert err.startswith(f"error: {message}")


def test_only_the_first_word_of_a_message_is_an_option_s_name():
    parameters = typer.main.get_command(app).commands["create"].params
    assert name_option("seed must be whole", parameters) == "--seed must be whole"
    assert name_option("surrogate_options must be few", parameters) == "--surrogate-options must be few"
    assert name_option("a seed must be whole", parameters) == "a seed must be whole"
    assert name_option("journal must be a file", parameters) == "journal must be a file"  # which is typed as no option


@pytest.mark.usefixtures("runs")
def test_folders_are_made_where_results_are_to_be(cli, tmp_path):
    assert cli("create", "--direction", "minimize", "deep/er/j.jsonl", "space.toml", "--seed", 0)[0] == 0
    assert cli("replay", "other", "--out", "new/run/here")[0] == 0
    assert cli("report", "new/run/here", "--out", "newer/pages/all.html")[0] == 0
    assert cli("show", "deep/er/j.jsonl", "--html", "--out", "newest/pages/j.html")[0] == 0
    for made in ("new/run/here/results.csv", "newer/pages/all.html", "newest/pages/j.html"):
        assert (tmp_path / made).stat().st_size > 100


def is_locked(path):
    with path.open("a") as file:  # what locks makes it
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@pytest.mark.slow
def test_interrupting_a_long_command_is_a_line_and_code_130(tmp_path):
    """An ask of a million trials, which takes minutes, is interrupted when its lock says that it has begun."""
    (tmp_path / "space.toml").write_text(SPACE)
    begin = [
        sys.executable,
        "-m",
        "robustbo",
        "create",
        "--direction",
        "minimize",
        "j.jsonl",
        "space.toml",
        "--acquisition",
        "sobol",
    ]
    subprocess.run(begin, cwd=tmp_path, check=True, capture_output=True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore Ctrl-C
    command = [sys.executable, "-m", "robustbo", "ask", "j.jsonl", "-n", "1000000"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 120
    while not is_locked(tmp_path / ".j.jsonl.lock") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err
