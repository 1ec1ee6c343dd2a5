"""The commands for a single optimization, as a lab uses them that scripts in another language."""

import csv
import io
import json
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import robustbo as rb
from robustbo.cli import terminal
from robustbo.cli.arguments import seconds
from robustbo.printable import printable

DATA = Path(__file__).parents[1] / "trials" / "data"


@pytest.fixture
def begun(cli):
    """The same, with a journal j.jsonl."""
    assert (
        cli("create", "--direction", "minimize", "j.jsonl", "space.toml", "--seed", 1, "--surrogate", "standard")[0]
        == 0
    )
    return cli


def history(journal="j.jsonl"):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*begun with other libraries", rb.JournalWarning)
        return rb.Study.resume(journal).history


def asked(cli, *arguments):
    code, out, _ = cli("ask", "j.jsonl", *arguments)
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


class TestCreate:
    def test_a_space_may_be_toml_or_json(self, cli, tmp_path):
        code, out, _ = cli("create", "a.jsonl", "space.toml", "--seed", 3, "--direction", "maximize")
        assert (code, out) == (
            0,
            "a.jsonl: maximize with relevance-pursuit, seed 3; 6 space-filling points come first\n",
        )
        settings = rb.Study.resume("a.jsonl").settings
        assert settings.space == rb.Space(x=rb.Float(0, 1), c=rb.Choice("a", "b"))
        (tmp_path / "space.json").write_text(json.dumps(settings.space.to_dict()))
        options = ["--num-initial", 4, "--surrogate", "student-t", "--surrogate-options", '{"dof": 5.0}']
        assert cli("create", "--direction", "minimize", "b.jsonl", "space.json", *options)[0] == 0
        other = rb.Study.resume("b.jsonl").settings
        assert (other.space, other.num_initial, other.surrogate_options) == (settings.space, 4, {"dof": 5.0})

    def test_which_way_is_asked_for(self, cli, tmp_path):
        for more in ((), ("--if-exists", "resume")):
            code, out, err = cli("create", "a.jsonl", "space.toml", *more)
            assert (code, out) == (2, "")
            assert err.startswith('error: --direction must be "minimize" or "maximize", got none; say which')
        assert not (tmp_path / "a.jsonl").exists()

    def test_it_can_be_said_twice(self, begun):
        code, _, err = begun("create", "--direction", "minimize", "j.jsonl", "space.toml")
        assert (code, err) == (2, "error: j.jsonl: exists; --if-exists resume continues it\n")
        again = ("create", "j.jsonl", "space.toml", "--if-exists", "resume", "--surrogate", "standard")
        assert begun(*again)[:2] == (0, "j.jsonl: minimize with standard, seed 1; 6 space-filling points come first\n")
        code, _, err = begun(*again, "--direction", "maximize")
        assert code == 2
        assert "direction: recorded 'minimize', given 'maximize'" in err

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"x": {"kind": "float", "low": 1, "high": 0}}', "error: s.json: x: low must not be above high"),
            ('{"x": 1}', "error: s.json: x: must be like {'kind': 'float', 'low': 0, 'high': 1}, got 1"),
            ('{"x": ', "error: s.json: expected JSON: "),
            ("[1]", "error: s.json: a space is made from a mapping"),
            ("{}", "error: s.json: a space needs at least one parameter"),
        ],
    )
    def test_a_wrong_space_is_named(self, cli, tmp_path, text, message):
        (tmp_path / "s.json").write_text(text)
        code, out, err = cli("create", "--direction", "minimize", "j.jsonl", "s.json")
        assert (code, out) == (2, "")
        assert err.startswith(message)
        assert err.count("\n") == 1
        assert not (tmp_path / "j.jsonl").exists()


class TestAskAndTell:
    def test_an_ask_is_a_json_object_a_line(self, begun):
        first, second = asked(begun, "-n", 2)
        assert first == {"trial": 0, "params": dict(history()[0].params), "repeats": None}
        assert second["trial"] == 1
        assert {t.asked_by.partition(":")[2] for t in history()} == {"command line"}
        assert asked(begun, "--by", "anna")[0]["trial"] == 2
        assert history()[2].asked_by == "anna"

    def test_other_formats_have_all_digits(self, begun):
        _, out, _ = begun("ask", "j.jsonl", "--format", "csv")
        (row,) = csv.DictReader(io.StringIO(out))
        assert row == {"trial": "0", **{k: str(v) for k, v in history()[0].params.items()}, "repeats": ""}
        _, out, _ = begun("ask", "j.jsonl", "--format", "table")
        assert repr(history()[1].params["x"]) in out

    @pytest.mark.parametrize("value", ["1.5", "-1.5", "-2", "-.5", "-1e-3", "+3", "0"])
    def test_any_number_can_be_told(self, begun, value):
        asked(begun)
        code, out, _ = begun("tell", "j.jsonl", "0", value, "--sd", "0.5")
        assert code == 0
        assert out.startswith("trial 0 (told, sobol), x=")
        assert (history()[0].value, history()[0].sd) == (float(value), 0.5)

    @pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
    def test_what_is_not_finite_is_a_failure(self, begun, value):
        asked(begun)
        assert begun("tell", "j.jsonl", 0, value)[0] == 0
        assert history()[0].state == "failed"

    def test_a_measurement_made_elsewhere(self, begun):
        assert begun("tell", "j.jsonl", "--params", '{"c": "b", "x": 0.25}', "-3")[0] == 0
        (trial,) = asked(begun)
        assert begun("tell", "j.jsonl", "4", "--params", json.dumps(trial["params"]), "--sd", 0.1)[0] == 0
        found = [(t.state, t.value, t.origin) for t in history()]
        assert found == [("told", -3.0, "user"), ("told", 4.0, "sobol")]

    def test_second_thoughts(self, begun):
        asked(begun, "-n", 2)
        begun("tell", "j.jsonl", 0, 1)
        for command, state, value in [
            (("exclude", "j.jsonl", 0), "excluded", 1.0),
            (("include", "j.jsonl", 0), "told", 1.0),
            (("amend", "j.jsonl", 0, "-1", "--sd", 0.5), "told", -1.0),
        ]:
            assert begun(*command)[0] == 0
            assert (history()[0].state, history()[0].value) == (state, value)
        assert begun("fail", "j.jsonl", 1, "--reason", "no power")[0] == 0
        assert (history()[1].state, history()[1].reason) == ("failed", "no power")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("tell", "j.jsonl", 7, 1), "trial must be 0, the only one so far, got 7"),
            (("tell", "j.jsonl", -1, 1), "trial must be 0, the only one so far, got -1"),
            (("tell", "j.jsonl", "x", 1), "trial must be a number, 0, 1, ..., got 'x'"),
            (("tell", "j.jsonl", 0, "1,5"), "value must be a number, such as -1.5, got '1,5'"),
            (("tell", "j.jsonl", 0, "yield=55"), "value must be a number, such as -1.5, got 'yield=55'; write 55"),
            (("tell", "j.jsonl", 0, "1_5"), "value must be a number, such as -1.5, got '1_5'"),
            (("tell", "j.jsonl", 0), "tell takes a trial's number and a value, such as 3 -1.5, got '0'"),
            (("tell", "j.jsonl", 0, 1, 2), "tell takes a trial's number and a value, such as 3 -1.5, got '0 1 2'"),
            (("tell", "j.jsonl", 0, 1, "--std", 2), "no such option: --std; see robustbo tell --help"),
            (("tell", "j.jsonl", 0, 1, "--sd", -1), "--sd must be finite and at least 0, got -1.0"),
            (("tell", "j.jsonl", 0, 1, 2, "--params", "{}"), "tell takes one value beside --params, got '0 1 2'"),
            (
                ("tell", "j.jsonl", 1, "--params", "x=1"),
                "--params must be a JSON object, such as '{\"x\": 1}', got 'x=1'",
            ),
            (("tell", "j.jsonl", 1, "--params", '{"x": 0}'), "c: every parameter must have a value"),
            (("amend", "j.jsonl", 0, 1), "trial 0 must be told or excluded or failed to amend it, it is pending"),
            (("fail", "j.jsonl", 7), "trial must be 0, the only one so far"),
            (("exclude", "j.jsonl", 0), "trial 0 must be told to exclude it"),
            (("requeue", "j.jsonl", 7), "trial must be 0, the only one so far"),
            (("requeue", "j.jsonl", "--older-than", "soon"), "an age must be like 2h, 90m, 30s or 1h30m, got 'soon'"),
            (("best", "j.jsonl"), "the best needs at least one told value"),
            (("ask", "nowhere.jsonl"), "nowhere.jsonl: there is no such journal"),
            (("verify", "nowhere.jsonl"), "nowhere.jsonl: there is no such journal"),
            (("repair", "space.toml"), "space.toml: is not a journal of robustbo"),
        ],
    )
    def test_a_mistake_is_a_line_and_code_2_and_changes_nothing(self, begun, tmp_path, arguments, message):
        asked(begun)
        before = (tmp_path / "j.jsonl").read_bytes()
        code, out, err = begun(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {message}")
        assert err.count("\n") == 1
        assert (tmp_path / "j.jsonl").read_bytes() == before


class TestRequeue:
    def test_the_next_ask_gives_it_out_again(self, begun):
        (first, _) = asked(begun, "-n", 2)
        assert begun("requeue", "j.jsonl", 0)[1].startswith("trial 0 (queued, sobol)")
        assert asked(begun) == [first]

    def test_by_age(self, begun):
        asked(begun, "-n", 2)
        _, out, said = begun("requeue", "j.jsonl", "--older-than", "2h")
        assert (out, said.split(";")[0]) == ("", "nothing was taken back: none was asked for so long ago")
        assert begun("requeue", "j.jsonl")[2].startswith("nothing was taken back: no asker is known to have ended")
        time.sleep(0.02)
        assert len(begun("requeue", "j.jsonl", "--older-than", "0.01s")[1].splitlines()) == 2

    def test_those_asked_for_by_the_command_line_are_not_taken_for_gone(self, begun):
        asked(begun)
        assert begun("requeue", "j.jsonl")[1] == ""

    @pytest.mark.parametrize(
        ("text", "number"), [("30s", 30), ("90m", 5400), ("2h", 7200), ("1h30m", 5400), ("1.5d", 129600), ("45", 45)]
    )
    def test_ages(self, text, number):
        assert seconds(text) == number

    @pytest.mark.parametrize("text", ["", "h", "-2h", "2 h", "2w", "1.2.3", "1e3"])
    def test_no_ages(self, text):
        with pytest.raises(ValueError, match="an age must be like"):
            seconds(text)


class TestShow:
    @pytest.fixture
    def shown(self, begun):
        asked(begun, "-n", 5)
        begun("tell", "j.jsonl", 0, 1.5)
        begun("exclude", "j.jsonl", 0)
        begun("fail", "j.jsonl", 1, "--reason", "pump \x1b[31mbroke\nsecond line")
        begun("requeue", "j.jsonl", 2)
        begun("tell", "j.jsonl", 3, 0.5)
        return begun

    def test_the_trials_without_a_value_are_listed(self, shown):
        _, out, _ = shown("show", "j.jsonl")
        parts = [part.splitlines() for part in out.split("\n \n") if part.strip()]
        text = "\n".join(line.rstrip() for part in parts for line in part)
        assert "1 told, 1 pending, 1 queued, 1 failed, 1 excluded" in text
        for title in ("being measured", "waiting for the next ask", "failed", "excluded"):
            assert f"\n{title}\n" in text
        assert ":command line" in text
        assert " s ago" in text
        assert "pump \\x1b[31mbroke" in text
        assert "second line" not in text
        assert "\x1b" not in out

    def test_json_has_them_too(self, shown):
        _, out, _ = shown("show", "j.jsonl", "--format", "json")
        found = json.loads(out)
        assert [len(found[state]) for state in ("pending", "queued", "failed", "excluded")] == [1, 1, 1, 1]
        assert found["failed"][0]["reason"].endswith("second line")
        assert found["excluded"][0]["value"] == 1.5
        (pending,) = found["pending"]
        assert (pending["trial"], pending["has_ended"], pending["asked_at"][:2]) == (4, False, "20")
        assert found["trials"]["told"] == 1

    def test_what_a_failure_looks_like_is_shown(self, shown):
        asked(shown)
        assert shown("fail", "j.jsonl", 2, "--no-retry")[1].startswith(
            "trial 2 (failed, sobol, said to lie in its point)"
        )
        _, out, _ = shown("show", "j.jsonl")
        assert "\n2 trials failed: all look like their region; about " in out
        assert "log odds of a flake, nats" in out
        assert "said to lie in its point" in out
        found = json.loads(shown("show", "j.jsonl", "--format", "json")[1])
        assert [(t["looks_like"], t["retry"], t["again"]) for t in found["failed"]] == [
            ("region", None, None),
            ("region", False, None),
        ]
        assert found["failures"]["asks_keep_away"]

    @pytest.mark.slow
    def test_where_a_process_has_ended_it_says_what_to_do(self, begun):
        code = "import robustbo as rb; rb.Optimizer.resume('j.jsonl').ask()"
        subprocess.run([sys.executable, "-c", code], check=True)
        out = begun("show", "j.jsonl")[1]
        assert "See to trial 0. The process that asked for it has ended" in out
        assert "give out again: robustbo requeue j.jsonl\n" in out
        assert begun("requeue", "j.jsonl")[1].startswith("trial 0 (queued")

    def test_many_are_cut(self, begun):
        asked(begun, "-n", 25)
        out = begun("show", "j.jsonl")[1]
        assert "being measured, the last 20 of 25" in out
        assert len(json.loads(begun("show", "j.jsonl", "--format", "json")[1])["pending"]) == 25

    def test_names_cannot_command_a_terminal(self, cli, tmp_path):
        name, word = "\x1b[2Jx\x9b1m\u202e", "\x1b]0;owned\x07"
        space = rb.Space.from_dict({name: rb.Choice(word, "b"), "y": rb.Float(0, 1)})
        opt = rb.Optimizer(space, direction="minimize", seed=1, journal=tmp_path / "\x1bj.jsonl")
        opt.tell({name: word, "y": 0.5}, 1.0)
        for trial in opt.ask(2):
            opt.fail(trial, word)
        for command in ("show", "best", "ask", "verify", "repair"):
            for form in ([], ["--format", "table"], ["--format", "csv"], ["--format", "json"]):
                if command == "best" and form:
                    continue
                _, out, err = cli(command, "\x1bj.jsonl", *form)
                assert all(c.isprintable() or c == "\n" for c in out + err)
        assert printable("größe \U0001f600 -> ½") == "größe \U0001f600 -> ½"

    def test_a_line_of_a_message_is_bounded(self, capsys):
        terminal.log(f"x must be a number, got {'y' * 10**5}, in space.toml\nsecond line")
        first, second, _ = capsys.readouterr().err.split("\n")
        assert len(first) < 2100
        assert first.startswith("x must be a number, got yyy")
        assert first.endswith("yyy, in space.toml")
        letters = len("x must be a number, got , in space.toml") + 10**5
        assert f"({letters} letters)" in first
        assert second == "second line"


def test_the_best_is_a_json_object(begun):
    for x, value in [(0.1, 3.0), (0.5, 1.0), (0.9, 2.0)]:
        begun("tell", "j.jsonl", "--params", json.dumps({"x": x, "c": "a"}), value)
    code, out, _ = begun("best", "j.jsonl")
    assert code == 0
    assert json.loads(out)["params"] == {"x": 0.5, "c": "a"}
    assert json.loads(begun("best", "j.jsonl", "--raw")[1]) == {
        "trial": 1,
        "value": 1.0,
        "sd": None,
        "params": {"x": 0.5, "c": "a"},
    }


class TestVerify:
    def test_a_journal_is_the_same(self, begun):
        for trial in asked(begun, "-n", 8):
            begun("tell", "j.jsonl", trial["trial"], trial["params"]["x"])
        asked(begun)
        code, out, _ = begun("verify", "j.jsonl", "--format", "json")
        row = {
            "run": "j.jsonl",
            "method": "(journal)",
            "replication": None,
            "asks": 9,
            "agreement": "bits",
            "verdict": "9 asks: the same to the last bit",
        }
        assert (code, json.loads(out)) == (0, [row])

    def test_what_cannot_be_read_is_code_2(self, begun, tmp_path):
        shutil.copy(DATA / "threads_asking.jsonl", tmp_path / "other.jsonl")
        asked(begun)
        code, out, _ = begun("verify", "j.jsonl", "other.jsonl", "--format", "json")
        assert code == 2
        assert [row["asks"] for row in json.loads(out)] == [1, None]
        assert "line 8: damaged" in json.loads(out)[1]["verdict"]


class TestRepair:
    def test_a_damaged_journal(self, cli, tmp_path):
        shutil.copy(DATA / "threads_asking.jsonl", tmp_path / "j.jsonl")
        before = (tmp_path / "j.jsonl").read_bytes()
        assert "`robustbo repair j.jsonl` writes what can be proven" in cli("show", "j.jsonl")[2]
        code, out, _ = cli("repair", "j.jsonl")
        assert code == 0
        assert out.startswith("j.repaired.jsonl: kept 16 events of 9 trials (9 told)\nleft out: 2 lines\n")
        assert "is a copy of line 2" in out
        assert (tmp_path / "j.jsonl").read_bytes() == before
        assert len(history("j.repaired.jsonl").having("told")) == 9
        assert cli("verify", "j.repaired.jsonl")[0] == 0
        code, out, _ = cli("repair", "j.repaired.jsonl")
        assert (code, out.split(",")[0]) == (0, "j.repaired.jsonl is whole")
        assert not (tmp_path / "j.repaired.repaired.jsonl").exists()

    def test_it_never_overwrites(self, cli, tmp_path):
        shutil.copy(DATA / "threads.jsonl", tmp_path / "j.jsonl")
        assert cli("repair", "j.jsonl")[0] == 0
        assert cli("repair", "j.jsonl")[::2] == (
            2,
            "error: j.repaired.jsonl: exists, and robustbo does not overwrite it; name another file\n",
        )
        code, out, _ = cli("repair", "j.jsonl", "--out", "new/k.jsonl", "--format", "json")
        assert code == 0
        assert json.loads(out)["out"] == "new/k.jsonl"
        assert len(history("new/k.jsonl")) == 16

    def test_an_unproven_line_is_kept_on_request(self, begun, tmp_path):
        asked(begun)
        begun("tell", "j.jsonl", 0, 2.0)
        path = tmp_path / "j.jsonl"
        path.write_bytes(path.read_bytes().replace(b'"value": 2.0', b'"value": 2.5'))
        code, out, _ = begun("repair", "j.jsonl", "--out", "a.jsonl")
        assert code == 0
        assert "a line that nothing proves is kept with --keep LINE" in out
        assert begun("repair", "j.jsonl", "--out", "b.jsonl", "--keep", 3)[0] == 0
        assert (history("a.jsonl")[0].state, history("b.jsonl")[0].value) == ("pending", 2.5)


def test_a_database_is_as_good_as_a_file(cli):
    place = "sqlite:///lab.db#my study"
    assert cli("create", "--direction", "minimize", place, "space.toml", "--seed", 1)[0] == 0
    assert json.loads(cli("ask", place)[1])["trial"] == 0
    assert cli("tell", place, 0, "-1")[0] == 0
    assert "1 told" in cli("show", place)[1]
    assert cli("verify", place)[0] == 0
    assert cli("show", place, "--html")[1] == "my-study.html\n"
    assert cli("report", place)[1] == "my-study.html\n"
    assert "only a file can be repaired" in cli("repair", place)[2]


@pytest.mark.parametrize(("argument", "begins"), [("--version", f"robustbo {rb.__version__}"), ("--help", "Usage: ")])
def test_version_and_help_import_nothing_heavy(argument, begins):
    code = "from robustbo.cli.app import main; main()"
    command = [sys.executable, "-X", "importtime", "-c", code, argument]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.startswith(begins)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "typer" in imported
    assert not imported & {"torch", "botorch", "numpy", "pandas", "scipy", "matplotlib"}


def test_labels_are_typed_and_shown(cli, tmp_path):
    (tmp_path / "s.json").write_text('{"x": {"kind": "float", "low": 0, "high": 1}}')
    cli("create", "--direction", "minimize", "l.jsonl", "s.json")
    point = ("tell", "l.jsonl", "--params", '{"x": 0.5}', "1.5")
    code, out, _ = cli(*point, "--label", "name=Knock Hill", "--label", "lot=7", "--label", "code=007")
    assert (code, out.rstrip().endswith("[name=Knock Hill, lot=7, code=007]")) == (0, True)
    assert rb.Optimizer.resume(tmp_path / "l.jsonl").history[0].labels == {
        "name": "Knock Hill",
        "lot": 7,
        "code": "007",
    }
    assert "Knock Hill (trial 0)" in cli("show", "l.jsonl")[1]
    code, _, err = cli(*point, "--label", "lot")
    assert (code, "--label must be like NAME=VALUE" in err) == (2, True)
