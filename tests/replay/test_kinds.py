import pytest

from robustbo.errors import SpecError
from robustbo.replay.cells.engine import ENGINES
from robustbo.replay.kinds import KINDS, kind_of, read_cells, rows_of
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.spec.reading import SPECS
from robustbo.replay.spec.regression import RegressionSpec

GIVEN = {
    "optimization": {"problem": "branin", "methods": ["sobol", "ax-default"], "trials": 3},
    "regression": {"kind": "regression", "tasks": ["neal"], "corruptions": ["none"], "methods": ["standard"]},
}


def test_each_kind_of_spec_is_a_kind_of_run():
    assert {"optimization": RunSpec, "regression": RegressionSpec} == SPECS
    assert set(KINDS) == set(SPECS) == set(GIVEN)


@pytest.mark.parametrize("name", GIVEN)
def test_a_spec_and_its_cells_are_of_one_kind_and_somebody_runs_them(name, tmp_path):
    spec = SPECS[name].model_validate(GIVEN[name] | {"replications": 2})
    kind = kind_of(spec)
    made = kind.cells(spec, tmp_path)
    assert kind is KINDS[name]
    assert [(cell.replication, cell.method) for cell in made] == [(r, m) for r in range(2) for m in spec.methods]
    assert all(kind_of(cell) is kind and cell.engine in ENGINES and cell.entries() == [] for cell in made)
    assert all(cell.record.name.endswith(kind.cell.suffix) for cell in made)


def test_the_kind_of_an_optimization_need_not_be_said_and_is_in_no_hash():
    spec = RunSpec.model_validate(GIVEN["optimization"] | {"replications": 2, "kind": "optimization"})
    assert spec == RunSpec.model_validate(GIVEN["optimization"] | {"replications": 2})
    assert "kind" not in spec.cell("sobol")


def test_where_nothing_is_recorded_that_is_said(tmp_path):
    with pytest.raises(SpecError, match="expected a recorded run"):
        read_cells(tmp_path)


def test_cells_that_have_begun_and_hold_nothing_are_called_that(tmp_path):
    spec = SPECS["regression"].model_validate(GIVEN["regression"] | {"replications": 1})
    with pytest.raises(SpecError, match="have started, but none is recorded yet"):
        rows_of(KINDS["regression"].cells(spec, tmp_path))
