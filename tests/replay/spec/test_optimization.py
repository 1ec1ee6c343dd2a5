from pathlib import Path

import pytest

from robustbo.errors import SpecError
from robustbo.foreign import reading
from robustbo.replay.cells.digest import differences, digest
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.plan import plan_all
from robustbo.replay.spec.reading import find, load

SPEC = """
problem = "hartmann6"
methods = ["sobol", "standard", "oracle"]
trials = 8
replications = 2

[corruption]
kind = "uniform"
probability = 0.25
"""


@pytest.fixture
def spec_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SPEC)
    return path


def test_names_say_what_methods_are(spec_file):
    spec = load(spec_file)
    assert {name: (m.surrogate, m.acquisition, m.sees) for name, m in spec.methods.items()} == {
        "sobol": ("standard", "sobol", "measured"),
        "standard": ("standard", "auto", "measured"),
        "oracle": ("standard", "auto", "clean"),
    }
    assert spec.num_initial == 14


def test_a_method_can_have_a_table_of_its_own(spec_file):
    text = SPEC.replace('methods = ["sobol", "standard", "oracle"]\n', "")
    spec_file.write_text(text + '[methods.mine]\nsurrogate = "relevance-pursuit"\noptions = {outlier_rate = 0.2}\n')
    assert load(spec_file).methods["mine"].options == {"outlier_rate": 0.2}


def test_what_a_value_may_be_off_is_the_settings_of_a_cell(spec_file, tmp_path):
    spec_file.write_text(SPEC.replace('methods = ["sobol", "standard", "oracle"]\n', "") + ERROR)
    spec = load(spec_file)
    assert "negligible_error" not in spec.cell("usual")
    settings = {name: OptimizationCell.of(spec, name, 0, tmp_path).settings for name in spec.methods}
    assert {name: of.quantity.negligible_error for name, of in settings.items()} == {"usual": 0.0, "mine": 0.2}


ERROR = """
[methods.usual]
surrogate = "relevance-pursuit"
[methods.mine]
surrogate = "relevance-pursuit"
negligible_error = 0.2
"""


def test_a_run_is_found_by_file_by_folder_and_without_its_suffix(spec_file, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "spec.toml").write_text(SPEC)
    assert find(spec_file) == find(tmp_path / "small") == spec_file
    assert find(folder) == folder / "spec.toml"
    with pytest.raises(SpecError, match=r"nowhere: expected a TOML file or a folder with spec.toml"):
        find("nowhere")


@pytest.mark.parametrize(
    ("override", "get", "value"),
    [
        ("trials=12", lambda s: s.trials, 12),
        ("corruption.probability=0.5", lambda s: s.corruption.probability, 0.5),
        ("corruption.high = 9.0", lambda s: s.build_corruption().high, 9.0),
        ("title=plain text", lambda s: s.title, "plain text"),
        ("methods.standard.acquisition=LogEI", lambda s: s.methods["standard"].acquisition, "LogEI"),
    ],
)
def test_an_entry_can_be_overridden(spec_file, override, get, value):
    assert get(load(spec_file, [override])) == value


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("trials=0", r"small.toml --set .*: trials: must be at least 1, got 0"),
        ("problem=hartmann7", r"small.toml .*: problem: there is no problem 'hartmann7'; did you mean 'hartmann"),
        ("corruption.kind=gremlins", r"small.toml .*: corruption: kind must be one of .*got 'gremlins'"),
        (
            "corruption.probability=2",
            r"small.toml .*: corruption.probability: must be at most 1, got 2",
        ),
        ("corruption.colour=1", r"small.toml .*: corruption: uniform has the options .*, got 'colour'"),
        ("colour=1", r"small.toml .*: colour: no such key, expected one of kind, title, problem,.*got 1"),
        ('methods=["gp"]', r"small.toml .*: methods: method must be one of .*, got 'gp'"),
        ("methods=[]", r"small.toml .*: methods: .*at least 1"),
        ("methods.standard.options.depth=3", r"small.toml .*: methods.standard.options: .*has the options"),
        ("trials", r"--set: expected key=value, got 'trials'"),
        ("trials.x=1", r"--set trials.x=1: trials is no table"),
    ],
)
def test_a_wrong_spec_is_answered_with_file_key_and_expectation(spec_file, override, message):
    with pytest.raises(SpecError, match=message):
        load(spec_file, [override])


def test_a_missing_key_and_broken_toml_are_named(spec_file):
    spec_file.write_text(SPEC.replace("trials = 8", ""))
    with pytest.raises(SpecError, match=r"small.toml: trials: must be given"):
        load(spec_file)
    spec_file.write_text("trials = = 8")
    with pytest.raises(SpecError, match=r"small.toml: expected TOML: .*line 1"):
        load(spec_file)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "options = { detector_options = { dofs = 4.0 } }",
            r"\{'dofs': 4.0\}\}: .* mean 'dof'\?",
        ),
        ("options = { '{nu}' = 4.0 }", r"\{nu\}"),
    ],
)
def test_braces_in_what_is_wrong_are_braces(tmp_path, written, message):
    path = tmp_path / "braces.toml"
    path.write_text(f'problem = "branin"\ntrials = 4\n[methods.filtered]\n{written}\n')
    with pytest.raises(SpecError, match=message):
        load(path)


def test_the_hash_is_of_the_cell_and_not_of_how_many_there_are(spec_file):
    spec = load(spec_file)
    assert digest(load(spec_file, ["trials=20", "replications=9", "title=x"]).cell("standard")) == digest(
        spec.cell("standard")
    )
    other = load(spec_file, ["corruption.probability=0.1", "seed=4"])
    assert digest(other.cell("standard")) != digest(spec.cell("standard"))
    assert differences(spec.cell("standard"), other.cell("standard")) == [
        "corruption.probability: recorded 0.25, now 0.1",
        "seed: recorded 0, now 4",
    ]


def test_a_run_may_be_the_folder_itself(tmp_path, monkeypatch):
    """Its results go to a folder of its name, and never beside `results`."""
    (tmp_path / "levels" / "inner").mkdir(parents=True)
    (tmp_path / "levels" / "spec.toml").write_text(SPEC)
    for folder, run in (("levels", "."), ("levels/inner", "..")):
        monkeypatch.chdir(tmp_path / folder)
        (plan,) = plan_all([Path(run)], [], [], None, resume=True)
        assert plan.folder == Path("results/levels")
    monkeypatch.chdir(tmp_path)
    for run in (".", "..", "/"):
        with pytest.raises(SpecError, match="found neither"):
            find(run)


def test_two_runs_of_one_name_have_no_folder_for_both(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for parent in ("a", "b"):
        (tmp_path / parent / "q").mkdir(parents=True)
        (tmp_path / parent / "q" / "spec.toml").write_text(SPEC)
    with pytest.raises(SpecError, match=r"names of their own, got two of .*q"):
        plan_all([Path("a/q"), Path("b/q")], [], [], None, resume=True)


DEEP = "[" * 100_000


def test_nesting_without_end_is_answered(spec_file):
    with pytest.raises(SpecError, match=r"--set x: expected a value, got .*nested at most 64 deep"):
        load(spec_file, [f"x={DEEP}"])
    spec_file.write_text(f"x = {DEEP}")
    with pytest.raises(SpecError, match=r"expected TOML: .*nested at most 64 deep"):
        load(spec_file)


def test_a_file_that_cannot_be_read_is_answered(spec_file, monkeypatch):
    def fail(*_, **__):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(reading.os, "open", fail)
    with pytest.raises(SpecError, match="cannot be read: Input/output error"):
        load(spec_file)


@pytest.mark.parametrize("key", ["replications", "trials"])
def test_more_than_anybody_can_run_is_refused_before_it_takes_memory(spec_file, key):
    with pytest.raises(SpecError, match=f"{key}: must be at most"):
        load(spec_file, [f"{key}=1000000000"])


def test_a_problem_takes_its_options(tmp_path):
    path = tmp_path / "levy.toml"
    path.write_text('problem = "levy"\nmethods = ["sobol"]\ntrials = 2\nreplications = 1\n')
    plain, large = load(path), load(path, ["problem_options.d=7"])
    assert (len(plain.load_problem().space), plain.num_initial) == (5, 12)
    assert (len(large.load_problem().space), large.num_initial) == (7, 16)
    assert "problem_options" not in plain.cell("sobol")  # so that cells from before there were any go on
    assert large.cell("sobol")["problem_options"] == {"d": 7}
    with pytest.raises(SpecError, match=r"problem_options: problem 'levy' has the options \['d'\], got 'e'"):
        load(path, ["problem_options.e=1"])
    with pytest.raises(SpecError, match="problem_options: d must be"):
        load(path, ["problem_options.d=0"])


def test_what_is_unsaid_changes_no_cell(tmp_path):
    """So that cells from before there was an engine, a number of repeats, or a choice of trials, go on."""
    path = tmp_path / "run.toml"
    path.write_text(
        'problem = "branin"\nmethods = ["standard", "ax-default"]\ntrials = 2\nreplications = 1\n'
        '[corruption]\nkind = "constant"\nprobability = 0.5\n'
    )
    spec = load(path)
    assert "engine" not in spec.cell("standard")
    assert "max_repeats" not in spec.cell("standard")
    assert spec.cell("ax-default")["engine"] == "ax-default"
    assert spec.cell("standard")["corruption"] == {"kind": "constant", "probability": 0.5}
    hit = load(path, ["corruption.trials=[1, 3]"])
    assert hit.cell("standard")["corruption"]["trials"] == [1, 3]
    hit.build_corruption()
    with pytest.raises(SpecError, match=r"corruption\.trials"):
        load(path, ["corruption.trials=[0.5]"])
    for wrong in ("[]", "[-1]"):
        with pytest.raises(SpecError, match=r"corruption\.trials"):
            load(path, [f"corruption.trials={wrong}"])


class TestNoise:
    def spec(self, tmp_path, *overrides):
        path = tmp_path / "run.toml"
        path.write_text('problem = "branin"\nmethods = ["standard"]\ntrials = 2\nreplications = 1\n')
        return load(path, overrides)

    def test_every_value_has_it_and_none_is_wrong(self, tmp_path):
        plain, noisy = self.spec(tmp_path), self.spec(tmp_path, "noise.share=0.05")
        assert "noise" not in plain.cell("standard")  # so that cells from before there was any go on
        assert noisy.cell("standard")["noise"] == {"share": 0.05}
        found = [noisy.measure(noisy.build_corruption(), {}, 7.0, root=0, number=n) for n in range(20)]
        assert len({value for value, _ in found}) == 20
        assert not any(wrong or value == 7.0 for value, wrong in found)
        assert found == [noisy.measure(noisy.build_corruption(), {}, 7.0, root=0, number=n) for n in range(20)]

    def test_what_is_replaced_has_none(self, tmp_path):
        both = ("noise.share=0.05", "corruption={kind = 'constant', probability = 0.5}")
        spec = self.spec(tmp_path, *both, "corruption.trials=[0,1,2,3,4,5,6,7,8,9]")
        found = [spec.measure(spec.build_corruption(), {}, 7.0, root=0, number=n) for n in range(20)]
        assert 0 < sum(wrong for _, wrong in found[:10]) < 10
        assert not any(wrong for _, wrong in found[10:])
        assert all((value == 100.0) == wrong for value, wrong in found)
        assert all(value != 7.0 for value, _ in found)

    @pytest.mark.parametrize(
        ("overrides", "message"),
        [
            (["noise.share=0"], "noise.share: must be greater than 0"),
            (["noise.share=0.1", "noise.dof=0"], "noise.dof: must be greater than 0"),
            (["noise.share=0.1", "problem=branin-currin"], "noise: noise needs a problem of one outcome"),
            (
                ["noise.share=0.1", "problem=crossed-barrel", "corruption.kind=repeats"],
                "noise: noise must not be set for 'repeats'",
            ),
        ],
    )
    def test_one_that_breaks_a_rule_is_refused(self, tmp_path, overrides, message):
        with pytest.raises(SpecError, match=message):
            self.spec(tmp_path, *overrides)


def test_how_often_a_point_is_measured_again_is_a_method_s_choice(spec_file, tmp_path):
    spec = load(spec_file, ["methods.standard.max_replicates=1"])
    assert spec.cell("standard")["max_repeats"] == 1
    assert [
        OptimizationCell.of(spec, method, 0, tmp_path).settings.max_replicates for method in ("standard", "oracle")
    ] == [1, 2]
    with pytest.raises(SpecError, match=r"max_replicates: must be at least 1"):
        load(spec_file, ["methods.standard.max_replicates=0"])
