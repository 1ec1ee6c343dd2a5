"""Names, units and possible ranges on the command line and in files."""

import json
import math

import pytest

import robustbo as rb

SPACE = '[x]\nkind = "float"\nlow = 0\nhigh = 1\n'
YIELD = rb.Outcome("yield", unit="%", low=0, high=100)
SAID = ("--outcome", "0 <= yield (%) <= 100")
SEVEN = [12.1, 31.5, 38.0, 55.2, 47.3, 66.0, 71.6]
REFUSED = "yield must be in the possible range [0, 100] %, got 820 %"


def test_a_study_is_begun_with_it_told_and_shown(cli):
    code, out, _ = cli("create", "j.jsonl", "space.toml", "--direction", "maximize", "--seed", 1, *SAID)
    assert code == 0
    assert out.startswith("j.jsonl: maximize yield with relevance-pursuit, seed 1; ")
    assert rb.Study.resume("j.jsonl").settings.outcome == (YIELD,)
    for i, value in enumerate(SEVEN):
        told = ("tell", "j.jsonl", "--params", json.dumps({"x": round(0.38 * i % 1, 2)}), value)
        assert cli(*told)[1].startswith(f"trial {i} (told, user), x={0.38 * i % 1:.2g}") or i == 0
    before = cli("tell", "j.jsonl", "--params", '{"x": 0.5}', 820)
    assert before[0] == 2
    assert REFUSED in before[2]
    assert "--out-of-range exclude" in before[2]
    assert len(rb.Study.resume("j.jsonl").history) == 7
    kept = cli("tell", "j.jsonl", "--params", '{"x": 0.5}', 820, "--out-of-range", "exclude")
    assert kept[:2] == (
        0,
        "trial 7 (excluded, user), x=0.5: 820.0 % (outside the possible range [0, 100] %)\n",
    )
    assert cli("tell", "j.jsonl", "--params", '{"x": 0.5}', 820, "--out-of-range", "clip")[0] == 2
    assert REFUSED in cli("amend", "j.jsonl", 3, 820)[2]
    _, out, _ = cli("show", "j.jsonl")
    assert "j.jsonl: maximize yield with relevance-pursuit" in out
    assert "best raw value: trial 6, yield 71.6 %, at x=0.28" in out
    assert "820 %" in out
    assert "outside the possible range [0, 100] %" in out
    found = json.loads(cli("show", "j.jsonl", "--format", "json")[1])
    assert found["outcome"] == [{"name": "yield", "unit": "%", "low": 0, "high": 100}]
    assert (found["excluded"][0]["value"], found["incumbent"]["value"] <= 100) == (820, True)


@pytest.mark.parametrize(
    "text",
    [
        '[outcome]\nname = "yield"\nunit = "%"\nlow = 0\nhigh = 100\n',
        '[[outcome]]\nname = "yield"\nunit = "%"\nlow = 0\nhigh = 100\n',
    ],
    ids=["one", "list"],
)
def test_a_file_may_say_it(cli, tmp_path, text):
    (tmp_path / "with.toml").write_text(SPACE + text)
    assert cli("create", "j.jsonl", "with.toml", "--direction", "maximize", "--seed", 1)[0] == 0
    settings = rb.Study.resume("j.jsonl").settings
    assert (settings.outcome, settings.space.names) == ((YIELD,), ("x",)) or settings.space.names == ["x"]
    again = cli("create", "k.jsonl", "with.toml", "--direction", "maximize", *SAID)
    assert again[0] == 2
    assert "each outcome must have a name of its own" in again[2] or "outcome must be one" in again[2]


def test_a_parameter_may_be_called_outcome(cli, tmp_path):
    (tmp_path / "named.toml").write_text(SPACE.replace("[x]", "[outcome]"))
    assert cli("create", "j.jsonl", "named.toml", "--direction", "maximize", "--seed", 1)[0] == 0
    assert list(rb.Study.resume("j.jsonl").settings.space.names) == ["outcome"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--outcome", "0 < yield"), "an outcome must be NAME, NAME (UNIT), or one of these within"),
        (("--objective", "yield=minimize"), "NAME:DIRECTION, such as yield:minimize, got 'yield=minimize'"),
        (("--outcome", "yield % 0..100"), "must hold no unit and no range, got 'yield % 0..100'; write such as "),
        (("--outcome", "100 <= yield <= 0"), "low end below its high one"),
        ((*SAID, "--outcome", "cost (EUR)"), "outcome must be a single outcome if there are no objectives"),
        (("--objective", "a:maximize", "--outcome", "b"), "the name of an outcome must be one of ['a'], got 'b'"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(cli, more, said):
    direction = () if "--objective" in more else ("--direction", "maximize")
    code, _, err = cli("create", "j.jsonl", "space.toml", *direction, *more)
    assert code == 2
    assert said in err


def test_a_bad_file_is_told_in_a_line(cli, tmp_path):
    (tmp_path / "bad.toml").write_text(SPACE + '[outcome]\nname = "yield"\nlow = 3\nhigh = 3\n')
    code, _, err = cli("create", "j.jsonl", "bad.toml", "--direction", "maximize")
    assert (code, "bad.toml: outcome: the possible range" in err) == (2, True)


def test_of_several_outcomes_each_has_its_own(cli):
    two = ("--objective", "yield:maximize", "--objective", "cost:minimize")
    assert cli("create", "j.jsonl", "space.toml", "--seed", 1, *two, *SAID, "--outcome", "cost (EUR)")[0] == 0
    assert REFUSED in cli("tell", "j.jsonl", "--params", '{"x": 0.5}', "yield=820", "cost=3")[2]
    for i, value in enumerate(SEVEN):
        x = json.dumps({"x": round(0.38 * i % 1, 2)})
        assert cli("tell", "j.jsonl", "--params", x, f"yield={value}", f"cost={3 - i / 10}")[0] == 0
    _, out, _ = cli("tell", "j.jsonl", "--params", '{"x": 0.5}', "yield=820", "cost=3", "--out-of-range", "exclude")
    assert "yield 820.0 %, cost 3.0 EUR, yield excluded (outside the possible range [0, 100] %)" in out
    _, out, _ = cli("show", "j.jsonl")
    assert "yield (%)" in out
    assert "[0, 100] %" in out
    assert "cost (EUR)" in out
    _, out, _ = cli("front", "j.jsonl", "--format", "table")
    assert "yield (%)" in out
    assert "yield.sd" in cli("front", "j.jsonl", "--format", "csv")[1].splitlines()[0]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (("--negligible-error", 0.5), [rb.Outcome(negligible_error=0.5)]),
        ((*SAID, "--negligible-error", 0.5), [rb.Outcome("yield", unit="%", low=0, high=100, negligible_error=0.5)]),
        (
            ("--objective", "a:maximize", "--objective", "b:minimize", "--negligible-error", "b=2"),
            [rb.Outcome("b", negligible_error=2)],
        ),
    ],
)
def test_negligible_errors_are_typed(cli, typed, expected):
    goal = () if "--objective" in typed else ("--direction", "maximize")
    assert cli("create", *goal, "n.jsonl", "space.toml", *typed)[0] == 0
    assert [*rb.Study.resume("n.jsonl").settings.outcome] == expected


def test_a_negligible_error_of_zero_is_none(cli):
    assert cli("create", "--direction", "minimize", "n.jsonl", "space.toml", "--negligible-error", 0)[0] == 0
    assert rb.Study.resume("n.jsonl").settings.outcome == ()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("--negligible-error", "abc"), "--negligible-error must be a number, such as 0.2, got 'abc'"),
        (("--negligible-error", "-1"), "--negligible-error must be at least 0 and finite, got '-1'; 0 is none"),
        ((*SAID, "--negligible-error", "yeild=1"), "one of ['yield'], got 'yeild'; did you mean 'yield'?"),
        (
            ("--objective", "a:maximize", "--objective", "b:minimize", "--negligible-error", "0.5"),
            "of several outcomes NAME=NUMBER, got '0.5'",
        ),
    ],
)
def test_a_negligible_error_must_be_one(cli, typed, words):
    goal = () if "--objective" in typed else ("--direction", "maximize")
    code, _, err = cli("create", *goal, "n.jsonl", "space.toml", *typed)
    assert code != 0
    assert words in err


def test_a_value_may_have_its_unit(cli):
    cli("create", "j.jsonl", "space.toml", "--direction", "maximize", "--seed", 1, *SAID)
    told = ("tell", "j.jsonl", "--params", '{"x": 0.5}')
    assert cli(*told, "45.1 %", "--sd", "0.5%")[:2] == (0, "trial 0 (told, user), x=0.5: 45.1 %\n")
    assert rb.Study.resume("j.jsonl").history[0].sd == 0.5
    assert cli("amend", "j.jsonl", 0, "44.1%")[0] == 0
    assert cli(*told, "< 5 %")[0] == 0
    first, second = rb.Study.resume("j.jsonl").history
    assert (first.value, str(second.value)) == (44.1, "<5.0")
    assert "value must be a number" in cli(*told, "45.1 g")[2]


def test_each_of_several_values_may_have_its_unit(cli):
    several = ("--objective", "yield:maximize", "--objective", "cost:minimize", "--outcome", "cost (EUR)")
    assert cli("create", "j.jsonl", "space.toml", "--seed", 1, *SAID, *several)[0] == 0
    assert cli("tell", "j.jsonl", "--params", '{"x": 0.5}', "cost=2 EUR", "yield=81%")[0] == 0
    assert rb.Study.resume("j.jsonl").history[0].values == {"yield": 81.0, "cost": 2.0}


def test_digits_are_shown_down_to_the_standard_deviation(cli):
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)),
        direction="maximize",
        outcome=rb.Outcome("pressure", unit="hPa"),
        seed=0,
        journal="j.jsonl",
    )
    for i in range(12):
        opt.tell({"x": i / 11}, 1013.9 if i == 7 else 1013 + round(0.3 * math.sin(3 * i / 11), 3))
    assert "measured 1013.299 hPa, believed 1013.299" in str(opt.best())
    assert "measured 1013.9 hPa, expected 1013.28" in str(opt.outliers()[0])
    _, out, _ = cli("show", "j.jsonl")
    assert "7   1013.9           1013.28" in out
    assert "pressure was measured as 1013.9 hPa, the other values predict 1013.28" in out


def test_bounds_and_errors_of_sources_may_have_the_unit(cli):
    cli("create", "j.jsonl", "space.toml", "--direction", "maximize", "--seed", 1, *SAID)
    for i, value in enumerate(("<=5 %", ">= 5 %", "12 %", "31%")):
        told = ("tell", "j.jsonl", "--params", json.dumps({"x": 0.1 * i}), value, "--source", f"R{i % 2}")
        assert cli(*told)[0] == 0
    assert cli("correct", "j.jsonl", "4.8 %", "--source", "R1")[0] == 0
    first, second, *_ = rb.Study.resume("j.jsonl").history
    assert (str(first.value), str(second.value)[0], float(second.value)) == ("<5.0", ">", pytest.approx(0.2))


@pytest.mark.parametrize("value", [">0", "<0"])
def test_a_bound_at_zero_is_shown(cli, value):
    cli("create", "j.jsonl", "space.toml", "--direction", "maximize", "--seed", 1)
    for i in range(8):
        cli(
            "tell",
            "j.jsonl",
            "--params",
            json.dumps({"x": i / 7}),
            value if i == 3 else (5 if value == "<0" else -5) + i / 7,
        )
    code, out, _ = cli("show", "j.jsonl")
    assert code == 0
    assert f"{value}.0" in out or value in out
    assert value in str(rb.Study.resume("j.jsonl").history[3].value)
