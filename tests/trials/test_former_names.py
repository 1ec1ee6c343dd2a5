"""What was called otherwise before is still read: with a warning where somebody wrote it, in silence in journals."""

import optuna
import pytest

import robustbo as rb
from robustbo.optuna import RobustSampler
from robustbo.replay.spec.reading import load
from robustbo.trials.former_names import former_name, in_new_names, in_old_names
from robustbo.trials.settings import Settings

SPACE = rb.Space(x=rb.Float(0, 1))
FORMER = {"remeasure": "suspicious", "max_repeats": 3, "set_aside": False}
NOW = {"replicate": "any", "max_replicates": 3, "quarantine": False}


def test_both_ways():
    assert in_new_names(FORMER) == NOW
    assert in_old_names(NOW) == FORMER
    assert in_new_names({"remeasure": "promising"}) == {"replicate": "flagged"}
    assert in_new_names({"replicate": "never", "seed": 1}) == {"replicate": "never", "seed": 1}
    assert in_old_names({"seed": 1}) == {"seed": 1}


def optimizer(**options):
    return rb.Optimizer(SPACE, direction="minimize", **options)


@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        ({"remeasure": "never"}, "remeasure is called replicate now"),
        ({"replicate": "suspicious"}, "'suspicious' is called 'any' now"),
        ({"replicate": "promising"}, "'promising' is called 'flagged' now"),
        ({"max_repeats": 3}, "max_repeats is called max_replicates now"),
        ({"set_aside": False}, "set_aside is called quarantine now"),
    ],
)
@pytest.mark.parametrize("callee", [optimizer, RobustSampler])
def test_a_call_warns(callee, arguments, warning):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with pytest.warns(DeprecationWarning, match=warning) as caught:
        callee(seed=0, **arguments)
    assert caught[0].filename == __file__


def test_a_call_means_the_same():
    with pytest.warns(DeprecationWarning, match="now, and a later version will refuse"):
        before = rb.Optimizer(SPACE, direction="minimize", seed=0, **FORMER)
    assert before.settings == rb.Optimizer(SPACE, direction="minimize", seed=0, **NOW).settings


def test_both_names_at_once_are_refused():
    with (
        pytest.warns(DeprecationWarning, match="called"),
        pytest.raises(TypeError, match="max_repeats is called max_replicates now"),
    ):
        rb.Optimizer(SPACE, direction="minimize", max_repeats=2, max_replicates=2)


def test_what_fits_neither_is_explained():
    with pytest.raises(TypeError, match="has no argument 'rng'; write seed="):
        rb.Optimizer(SPACE, direction="minimize", rng=2)


def test_journals_have_the_former_names_and_are_read_in_silence():
    settings = Settings(SPACE, **NOW)
    written = settings.to_dict()
    assert FORMER.items() <= written.items()
    assert not NOW.keys() & written.keys()
    assert Settings.from_dict(written) == settings


def test_a_run_file_warns_and_its_cells_stay_the_same(tmp_path):
    path = tmp_path / "run.toml"
    head = 'problem = "branin"\ntrials = 2\nreplications = 1\n[methods.standard]\n'
    path.write_text(head + 'replicate = "any"\nquarantine = false\n')
    now = load(path)
    path.write_text(head + 'remeasure = "suspicious"\nset_aside = false\n')
    with pytest.warns(DeprecationWarning, match="called"):
        before = load(path)
    assert before == now == load(path, is_recorded=True)
    assert now.cell("standard")["remeasure"] == "suspicious"


def test_a_function_under_its_former_name_does_the_same_and_warns():
    def total(first, *, second=1):
        return first + second

    plus = former_name("plus", total)
    with pytest.warns(DeprecationWarning, match="^plus is called total now, and a later version will refuse"):
        assert plus(1, second=2) == 3
    assert plus.__name__ == "plus"
