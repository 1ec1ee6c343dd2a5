"""Several outcomes on the command line, as a lab meets them."""

import csv
import io
import json
import math

import pytest

import robustbo as rb

SPACE = '[x]\nkind = "float"\nlow = 0\nhigh = 1\n\n[y]\nkind = "float"\nlow = 0\nhigh = 1\n'
TWO = ("--objective", "yield:maximize", "--objective", "cost:minimize", "--outcome-constraint", "purity >= 0.2")
WRONG = 6


def outcomes(i, x, y):
    return {"yield": math.sin(3 * x) + y + 30 * (i == WRONG), "cost": x * x + y * y, "purity": x - y + 0.5}


def point(i):
    return {"x": (0.38 * i) % 1, "y": (0.71 * i) % 1}


@pytest.fixture
def begun(cli):
    assert cli("create", "j.jsonl", "space.toml", "--seed", 1, *TWO)[0] == 0
    return cli


def measure(opt):
    """Ten trials, of which one has a wrong yield and one no cost, and verdicts on two."""
    for i in range(10):
        values = outcomes(i, **point(i))
        opt.tell(point(i), {name: value for name, value in values.items() if (i, name) != (3, "cost")})
    opt.exclude(1, outcome="purity")
    opt.exclude(2)


@pytest.fixture
def measured(begun):
    measure(rb.Optimizer.resume("j.jsonl"))
    return begun


@pytest.fixture
def plain(cli):
    """The same by a surrogate that believes all, to which a person has said which value is wrong."""
    assert cli("create", "j.jsonl", "space.toml", "--seed", 1, "--surrogate", "standard", *TWO)[0] == 0
    opt = rb.Optimizer.resume("j.jsonl")
    measure(opt)
    opt.exclude(WRONG, outcome="yield")
    return cli


def history(journal="j.jsonl"):
    return rb.Study.resume(journal).history


class TestCreate:
    def test_what_is_wanted_is_said(self, cli):
        reference = ("--reference-point", "cost=9", "--reference-point", "yield=-1")
        code, out, _ = cli("create", "a.jsonl", "space.toml", "--seed", 3, *TWO, *reference)
        wanted = "maximize yield, minimize cost, purity >= 0.2"
        assert code == 0
        assert out == f"a.jsonl: {wanted} with relevance-pursuit, seed 3; 6 space-filling points come first\n"
        settings = rb.Study.resume("a.jsonl").settings
        assert settings.objectives == (("yield", "maximize"), ("cost", "minimize"))
        assert settings.reference_point == (("yield", -1.0), ("cost", 9.0))
        again = ("create", "a.jsonl", "space.toml", "--if-exists", "resume")
        assert cli(*again, *TWO, *reference)[0] == 0
        assert "outcome_constraints: recorded ['purity >= 0.2'], given nothing" in cli(*again, *TWO[:4], *reference)[2]

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--objective", "yield"], "--objective must be NAME:DIRECTION, such as yield:maximize, got 'yield'"),
            (["--objective", "yield:up"], "the direction of 'yield' must be one of"),
            (["--objective", "a:maximize", "--objective", "a:minimize"], "must have a name of its own"),
            (["--objective", "a:maximize", "--direction", "maximize"], "with --objective write NAME:DIRECTION"),
            (["--objective", "a:maximize", "--outcome-constraint", "b = 3"], "NAME >= NUMBER"),
            (["--objective", "a:maximize", "--reference-point", "a=1"], "each of several objectives"),
            ([*TWO, "--reference-point", "yield"], "--reference-point must be like NAME=NUMBER, got 'yield'"),
            ([*TWO, "--reference-point", "yield=much"], "value of 'yield' must be a number, such as -1.5, got 'much'"),
            (["--outcome-constraint", "b <= 3"], "outcome_constraints need objectives"),
        ],
    )
    def test_what_is_no_objective_is_told_in_a_line(self, cli, tmp_path, options, says):
        code, out, err = cli("create", "a.jsonl", "space.toml", *options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert says in err
        assert not (tmp_path / "a.jsonl").exists()


class TestTelling:
    def test_outcomes_are_told_by_name_and_some_later(self, begun):
        assert begun("ask", "j.jsonl")[0] == 0
        code, out, _ = begun("tell", "j.jsonl", 0, "yield=-0.5", "cost=3.2", "--sd", "cost=0.1")
        assert code == 0
        assert out.endswith(": yield -0.5, cost 3.2\n")
        assert begun("amend", "j.jsonl", 0, "purity=0.97", "--sd", "purity=0.01")[0] == 0
        (trial,) = history()
        assert trial.values == {"yield": -0.5, "cost": 3.2, "purity": 0.97}
        assert [trial.outcomes[name].sd for name in trial.values] == [None, 0.1, 0.01]

    def test_at_a_point_measured_elsewhere(self, begun):
        at = json.dumps(point(1))
        assert begun("tell", "j.jsonl", "--params", at, "yield=1", "cost=nan")[0] == 0
        assert begun("tell", "j.jsonl", "--params", at, "yield=inf")[0] == 0
        first, second = history()
        assert (first.params, first.values) == (point(1), {"yield": 1.0})
        assert (second.state, second.reason) == ("failed", "no value told was finite")

    @pytest.mark.parametrize(
        ("typed", "says"),
        [
            (["0", "0.5"], "tell takes a trial's number and outcomes, such as 3 yield=-1.5 cost=-1.5, got '0.5'"),
            (["0"], "tell takes a trial's number and outcomes, such as 3 yield=-1.5 cost=-1.5, got '0'"),
            (["yield=1", "cost=2"], "trial must be a number, 0, 1, ..., got 'yield=1'; tell takes a trial's number"),
            (["0", "yeild=1"], "an outcome in value must be one of ['yield', 'cost', 'purity'], got 'yeild'; did you"),
            (["0", "yield=high"], "value of 'yield' must be a number, such as -1.5, got 'high'"),
            (["0", "yield=1", "yield=2"], "'yield' must be given once"),
            (["0", "yield=1", "--sd", "0.1"], "--sd must be like NAME=NUMBER, such as yield=0.1, got '0.1'"),
            (["0", "yield=1", "--sd", "cost=-1"], "sd must be finite and at least 0"),
            (["--params", '{"x": 0, "y": 0}', "0.5"], "tell takes outcomes beside --params, such as yield=-1.5"),
        ],
    )
    def test_what_is_no_outcome_is_told_in_a_line_and_nothing_is_recorded(self, begun, typed, says):
        begun("ask", "j.jsonl")
        code, out, err = begun("tell", "j.jsonl", *typed)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert says in err
        assert [trial.state for trial in history()] == ["pending"]

    def test_one_value_has_no_names(self, cli):
        cli("create", "one.jsonl", "space.toml", "--direction", "minimize", "--seed", 1)
        cli("ask", "one.jsonl")
        assert "value must be a number, such as -1.5, got 'yield=1'" in cli("tell", "one.jsonl", 0, "yield=1")[2]
        assert "--sd must be a number" in cli("tell", "one.jsonl", 0, 1, "--sd", "yield=1")[2]
        assert "--outcome must not be given" in cli("exclude", "one.jsonl", 0, "--outcome", "yield")[2]
        assert "a front needs several objectives" in cli("front", "one.jsonl")[2]
        assert cli("tell", "one.jsonl", 0, 1, "--sd", 0.5)[0] == 0
        assert history("one.jsonl")[0].sd == 0.5

    def test_a_verdict_may_be_on_one_outcome(self, measured):
        assert history()[1].outcomes["purity"].is_excluded
        code, out, _ = measured("exclude", "j.jsonl", WRONG, "--outcome", "yield")
        assert (code, out.startswith(f"trial {WRONG} (told, user)")) == (0, True)
        assert history()[WRONG].outcomes["yield"].is_excluded
        assert not history()[WRONG].outcomes["cost"].is_excluded
        assert measured("include", "j.jsonl", WRONG, "--outcome", "yield")[0] == 0
        assert not history()[WRONG].outcomes["yield"].is_excluded
        assert measured("repair", "j.jsonl")[1].startswith("j.jsonl is whole")


class TestShowing:
    def test_the_front_is_a_json_object_a_point(self, plain):
        code, out, _ = plain("front", "j.jsonl")
        assert code == 0
        points, found = [json.loads(line) for line in out.splitlines()], rb.Study.resume("j.jsonl").front()
        assert [each["trial"] for each in points] == [each.trial.number for each in found]
        assert WRONG not in {each["trial"] for each in points}
        assert points[0]["outcomes"]["yield"]["mean"] == pytest.approx(found.points[0].means["yield"])
        assert {*points[0]} == {"trial", "outcomes", "probability", "probability_feasible", "params"}
        (row, *_) = csv.DictReader(io.StringIO(plain("front", "j.jsonl", "--format", "csv")[1]))
        assert [*row][:7] == ["trial", "yield", "yield.sd", "cost", "cost.sd", "purity", "purity.sd"]
        assert [*row][-3:] == ["on the front", "x", "y"]
        assert "x=0.3" in plain("front", "j.jsonl", "--fixed", "x=0.3", "--format", "table")[1]

    def test_show_has_what_is_wanted_the_front_and_the_outcomes_of_wrong_values(self, measured):
        code, out, _ = measured("show", "j.jsonl")
        assert code == 0
        assert out.startswith("j.jsonl: maximize yield, minimize cost, purity >= 0.2 with relevance-pursuit, seed 1\n")
        rows = [line.split() for line in out.splitlines()]
        assert ["cost", "minimize", "8", "1", "1", "0"] in rows  # values, missing, excluded, flagged
        assert ["purity", "at", "least", "0.2", "8", "0", "2", "0"] in rows
        assert "\nthe front: " in out
        assert any(row[:2] == [str(WRONG), "yield"] for row in rows)
        assert "incumbent" not in out
        (first, *_) = csv.DictReader(io.StringIO(measured("show", "j.jsonl", "--format", "csv")[1]))
        assert (first["trial"], first["outcome"], first["flagged"]) == (str(WRONG), "yield", "True")

    def test_as_json(self, plain):
        found = json.loads(plain("show", "j.jsonl", "--format", "json")[1])
        front = rb.Study.resume("j.jsonl").front()
        assert found["objectives"] == {"yield": "maximize", "cost": "minimize"}
        assert found["outcome_constraints"] == ["purity >= 0.2"]
        assert found["front"]["hypervolume"] == pytest.approx(front.hypervolume)
        assert len(found["front"]["points"]) == len(front)
        assert (found["incumbent"], found["best_raw_value"]) == (None, None)
        excluded = [(each["trial"], each["outcome"]) for each in found["excluded"]]
        assert excluded == [(1, "purity"), (2, "yield"), (2, "cost"), (2, "purity"), (WRONG, "yield")]

    def test_best_says_where_to_look(self, measured):
        code, _, err = measured("best", "j.jsonl")
        assert code == 2
        assert "several objectives have no single best point: robustbo front j.jsonl" in err

    def test_before_every_outcome_has_a_value_there_is_no_front(self, begun):
        assert "no front yet" not in begun("show", "j.jsonl")[1]
        begun("tell", "j.jsonl", "--params", json.dumps(point(0)), "yield=1")
        code, out, _ = begun("show", "j.jsonl")
        assert code == 0
        assert "no front yet: of cost and purity no value has been told" in out
        code, _, err = begun("front", "j.jsonl")
        assert code == 2
        assert "['cost', 'purity'] have none" in err

    @pytest.mark.slow
    def test_the_best_of_one_objective_keeps_the_bounds(self, cli):
        bound = ("--objective", "yield:maximize", "--outcome-constraint", "purity >= 0.2")
        cli("create", "one.jsonl", "space.toml", "--seed", 1, *bound)
        opt = rb.Optimizer.resume("one.jsonl")
        for i in range(9):
            opt.tell(point(i), {name: value for name, value in outcomes(i, **point(i)).items() if name != "cost"})
        best, raw = opt.best(), opt.best(raw=True)
        found = json.loads(cli("best", "one.jsonl")[1])
        assert (found["trial"], found["probability_feasible"]) == (best.trial.number, best.probability_feasible)
        assert found["outcomes"]["purity"] == dict(zip(("mean", "sd"), best.outcomes["purity"], strict=True))
        assert json.loads(cli("best", "one.jsonl", "--raw")[1])["values"] == raw.trial.values
        out = cli("show", "one.jsonl")[1]
        assert f"incumbent: trial {best.trial.number}, yield {best.mean:.6g} (sd {best.sd:.2g}), purity" in out
        assert f"best raw value: trial {raw.trial.number}, yield {raw.mean:.6g}, purity" in out

    def test_a_trial_that_has_failed_as_a_whole_is_said_to(self, begun):
        opt = rb.Optimizer.resume("j.jsonl")
        for i in range(12):
            opt.tell(point(i), {k: v + 25 * (i == WRONG) for k, v in outcomes(-1, **point(i)).items()})
        code, out, _ = begun("show", "j.jsonl")
        assert code == 0
        assert "trial failed" in out
        found = json.loads(begun("show", "j.jsonl", "--format", "json")[1])["outliers"]
        assert {o["outcome"] for o in found if o["trial"] == WRONG and o["trial_failed"] > 0.5} == {
            *opt.history[0].values
        }
