from pathlib import Path

import pytest

from robustbo.replay.spec.reading import load as load_spec

RUNS = Path(__file__).parents[2] / "runs"


@pytest.mark.parametrize(("name", "counts"), [("figure-12-constant", {2, 3}), ("loop-clean", {0})])
def test_the_best_of_a_design_is_wrong_where_a_fifth_are_far_too_good_and_right_where_none_is(load, name, counts):
    found = [load("best_initial").design(load_spec(RUNS / f"{name}.toml"), number) for number in range(3)]
    assert sum(design["wrong"] for design in found) in counts
    assert not any(design["shows"] for design in found)  # Hartmann6 has no value far below the others


def test_a_regression_run_has_no_designs(load):
    with pytest.raises(SystemExit, match="expected an optimization run"):
        load("best_initial").row(RUNS / "figure-5-left.toml", 1)
