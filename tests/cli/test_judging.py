"""Words on values and on sources at the command line, and what it says of sources."""

import json

import pytest

import robustbo as rb
from robustbo.cli.arguments import source_of


@pytest.fixture
def begun(cli):
    """The same, with a journal j.jsonl of six values by three reactors."""
    created = ("create", "--direction", "minimize", "j.jsonl", "space.toml", "--seed", 1, "--surrogate", "standard")
    assert cli(*created, "--block", "plate")[0] == 0
    for number in range(6):
        point, source = json.dumps({"x": 0.1 * number, "c": "a"}), f"reactor=R{number % 3}"
        assert cli("tell", "j.jsonl", "--params", point, number, "--source", source, "--source", "plate=7")[0] == 0
    return cli


def history():
    return rb.Study.resume("j.jsonl").history


@pytest.mark.filterwarnings("ignore:standard takes no sources")
def test_sources_are_told_and_asked_by(begun):
    assert rb.Study.resume("j.jsonl").settings.blocks == ("plate",)
    assert history()[4].sources == {"reactor": "R1", "plate": "7"}
    code, out, _ = begun("ask", "j.jsonl", "--by", "reactor=R2", "--by", "plate=8")
    assert code == 0
    code, out, _ = begun("tell", "j.jsonl", json.loads(out)["trial"], 1.5)
    assert "by reactor R2, plate 8" in out
    assert history()[6].sources == {"reactor": "R2", "plate": "8"}
    assert begun("ask", "j.jsonl", "--by", "R1")[0] == 0
    assert history()[7].sources == {"reactor": "R1"}


def test_all_values_of_a_source_are_judged(begun):
    code, out, _ = begun("exclude", "j.jsonl", "--source", "reactor=R1", "--since", 2, "--reason", "lamp")
    assert code == 0
    assert out.startswith("reactor R1 is excluded since trial 2: 1 trial so far\n")
    assert history()[4].state == "excluded"
    code, out, _ = begun("correct", "j.jsonl", "-0.5", "--source", "R1")
    assert code == 0
    assert out.startswith("reactor R1 is corrected by +0.5: 2 trials so far\n")
    assert [history()[number].value for number in (1, 4)] == [1.5, 4.5]
    assert begun("include", "j.jsonl", "--source", "R1")[0] == 0
    assert [history()[number].value for number in (1, 4)] == [1.0, 4.0]


def test_a_single_value_is_judged_as_before(begun):
    assert begun("exclude", "j.jsonl", 3, "--reason", "spilled")[0] == 0
    assert history()[3].note == "spilled"
    assert begun("include", "j.jsonl", 3)[0] == 0
    assert history()[3].is_vouched


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("exclude", "j.jsonl"), "takes a trial's number, or --source or --since"),
        (("exclude", "j.jsonl", "--source", "reactor=R9"), "one that was told"),
        (("exclude", "j.jsonl", "--source", "a", "--source", "b"), "must be like KIND=NAME"),
        (("tell", "j.jsonl", "3", "1.0", "--source", "a=1", "--source", "a=2"), "'a' must be given once"),
        (("correct", "j.jsonl", "abc", "--source", "R1"), "error must be a number, such as 4.8, got 'abc'"),
        (("correct", "j.jsonl", "1,5", "--source", "R1"), "got '1,5'; write 1.5"),
        (("correct", "j.jsonl", "--source", "R1"), "got none; write robustbo correct j.jsonl 4.8"),
        (("correct", "j.jsonl", "--sauce"), "no such option: --sauce"),
        (("correct", "j.jsonl", "1.0"), "needs a trial, a source or since"),
        (("correct", "j.jsonl", "1.0", "--source", "reactor=R1", "--since", "-1"), "--since must be one of the trials"),
        (("exclude", "j.jsonl", "--source", "reacto=R1"), "got 'reacto'; did you mean 'reactor'?"),
        (("tell", "j.jsonl", "--params", '{"x": 0.9, "c": "a"}', "1.0", "--measured-at", ""), "--measured-at must be"),
        (
            ("tell", "j.jsonl", "--params", '{"x": 0.9, "c": "a"}', "1.0", "--source", " "),
            "--source must not be an empty",
        ),
    ],
)
def test_a_mistake_is_told_in_a_line(begun, command, words):
    code, _, err = begun(*command)
    assert code == 2
    assert words in err
    assert not history().verdicts


@pytest.mark.filterwarnings("ignore:standard takes no sources")
def test_sources_are_shown(begun):
    begun("exclude", "j.jsonl", "--source", "reactor=R1")
    code, out, _ = begun("sources", "j.jsonl")
    assert code == 0
    assert "reactor R1 is excluded by your word" in out
    code, out, _ = begun("sources", "j.jsonl", "--format", "json")
    assert {json.loads(line)["level"]: json.loads(line)["status"] for line in out.splitlines()}["R1"] == "excluded"
    assert begun("sources", "j.jsonl", "--format", "csv")[0] == 0


def test_sources_of_few_values_are_shown_as_not_judged(cli):
    cli("create", "--direction", "minimize", "j.jsonl", "space.toml", "--seed", 1)
    cli("tell", "j.jsonl", "--params", '{"x": 0.5, "c": "a"}', 1.0, "--source", "reactor=R1")
    _, out, _ = cli("sources", "j.jsonl")
    assert out.startswith("reactor R1 is not judged: that takes 3 values of it and 3 of others, there are 1 and 0\n")
    assert json.loads(cli("sources", "j.jsonl", "--format", "json")[1])["status"] == "not judged"
    assert "reactor,R1" in cli("sources", "j.jsonl", "--format", "csv")[1]


def test_nobody_told_a_source(cli):
    cli("create", "--direction", "minimize", "j.jsonl", "space.toml", "--seed", 1)
    assert cli("sources", "j.jsonl")[1] == "no source of any value was told\n"
    for format_ in ("json", "csv"):
        _, out, err = cli("sources", "j.jsonl", "--format", format_)
        assert (out.strip(), "no source of any value was told" in err) == ("", True)


def test_sources_as_they_are_typed():
    assert source_of([]) is None
    assert source_of(["R3"]) == "R3"
    assert source_of(["reactor=R=3"]) == {"reactor": "R=3"}


def test_a_correction_says_why(begun):
    assert begun("amend", "j.jsonl", 2, 1.5, "--reason", "a slip of the pen")[0] == 0
    assert (history()[2].value, history()[2].note) == (1.5, "a slip of the pen")
