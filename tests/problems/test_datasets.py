import numpy as np
import pytest

from robustbo_problems.data_source import digest
from robustbo_problems.datasets import TABLES, table
from robustbo_problems.mnist import mnist


@pytest.fixture(autouse=True)
def apart():
    """Nothing kept between tests."""
    table.cache_clear()
    mnist.cache_clear()


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"data set must be one of \['boston', .*got 'mars'"):
        table("mars")


SHAPES = {"boston": (506, 13), "concrete": (1030, 8), "energy": (768, 8), "yacht": (308, 6), "california": (20640, 8)}
SHAPES |= {"neal": (200, 1), "ct-slices-partial": (682, 385), "djia": (809, 1)}


@pytest.mark.usefixtures("real_data")
class TestRealData:
    @pytest.mark.parametrize("name", SHAPES)
    def test_every_table_is_what_it_should_be(self, name):
        X, y = table(name)
        assert X.shape == SHAPES[name]
        assert y.shape == SHAPES[name][:1]
        assert np.isfinite(X).all()
        assert np.isfinite(y).all()

    def test_first_rows(self):
        assert table("boston").y[0] == 24.0
        assert table("california").X[0].tolist() == [-122.23, 37.88, 41, 880, 129, 322, 126, 8.3252]
        assert table("djia").y[0] == 14566.8

    def test_digits(self):
        found = mnist()
        assert found.X.shape == (60000, 28, 28)
        assert found.X_test.shape == (10000, 28, 28)
        assert found.y[:5].tolist() == [5, 0, 4, 1, 9]
        assert found.y_test[:5].tolist() == [7, 2, 1, 0, 4]
        assert np.bincount(found.y).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]

    def test_the_slices_are_known_by_their_targets_and_the_first_rows(self, real_data):
        """All 53,500 real targets, and the features of the first 682; the others cannot be had here, and may be any."""
        with np.load(real_data / "ct_slice_PARTIAL_682rows.npz") as partial_:
            known, y = partial_["X"].astype("<f8"), partial_["y_all_53500"]
        X = np.vstack([known, np.full((53500 - len(known), 385), 0.5)])
        source = TABLES["ct-slices"]
        assert digest(source.to_digest((X, y))) == source.digest
        X[681, 384] += 0.001
        assert digest(source.to_digest((X, y))) != source.digest
        X[681, 384] = known[681, 384]
        y = y.copy()
        y[-1] += 1e-6
        assert digest(source.to_digest((X, y))) != source.digest

    def test_all_have_a_test(self):
        assert set(SHAPES) == set(TABLES) - {"ct-slices"}
