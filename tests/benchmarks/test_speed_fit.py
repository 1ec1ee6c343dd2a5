import itertools

import pytest


@pytest.fixture(scope="module")
def speed_fit(load):
    return load("speed_fit")


def test_a_level_is_reached_within_the_tolerance(speed_fit):
    ours, theirs = {0: -5.0, 2: 1.0, 4: 3.0}, {0: -5.005, 2: 1.5, 4: 3.0, 6: 9.0}
    assert speed_fit.reached(ours, theirs) == 2


def test_both_directions_report_a_density_a_level(speed_fit):
    row, levels = speed_fit.compare(12, 0, 1, with_botorch=False)
    assert row["backward_s"] > 0 < row["forward_s"]
    assert [level["size"] for level in levels] == sorted({int(f * 12) for f in speed_fit.FRACTIONS_OF_OUTLIERS})
    densities = [level["backward"] for level in levels]
    assert all(more >= less - 0.01 for less, more in itertools.pairwise(densities))
    assert all(level["botorch"] == "" for level in levels)
