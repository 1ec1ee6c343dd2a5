"""Files read by the workers of a real scheduler; in a slow test each a process of its own."""

import math
import os
import pickle
from functools import reduce

import numpy as np
import pytest
import torch

from robustbo.numerics.committee import evidence, partition
from robustbo.numerics.committee.aggregation import COMBINE, Sums, latent
from robustbo.numerics.gp.kernels_tiled import kernel_matrix
from robustbo.surrogates.committee.cluster import parts_of
from robustbo.surrogates.committee.files import MemoryMap
from robustbo.surrogates.committee.parts import SampleScaling
from robustbo.surrogates.committee.streamed import StreamedCommittee

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, of ports and unclosed files

WRONG = [7, 300, 555, 1024, 1199]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, generator = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    X = generator.uniform(10, 20, (1200, 2))
    y = 100 + 5 * np.sin(X[:, 0]) + 0.1 * generator.standard_normal(1200)
    y[WRONG] += 1e4
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return MemoryMap(folder / "X.npy", folder / "y.npy")


@pytest.fixture(scope="module")
def fitted(files, workers):
    told = []
    with StreamedCommittee(files, workers, expert_size=50, memory_mib=1) as model:
        found = model.fit(lambda *given: told.append(given))
        assert [count for count, _ in told] == list(range(1, found.num_evaluations + 1))
        yield model


def test_every_row_is_read_once_and_parts_are_scattered():
    n = 2000
    parts = [
        partition.rows_of(blocks, n, 50) for blocks in partition.scatter_blocks(n, 3, torch.Generator().manual_seed(0))
    ]
    assert sorted(torch.cat([row for part in parts for row in part]).tolist()) == list(range(n))
    assert all(max(map(len, part)) - min(map(len, part)) <= 1 and len(part[0]) <= 50 for part in parts)
    assert max(rows.max() - rows.min() for rows in parts[0]) > n / 3


@pytest.mark.slow
def test_it_predicts_in_the_outcomes_units_and_wild_values_are_named_by_falling_evidence(fitted, files):
    X = torch.rand(600, 2, generator=torch.Generator().manual_seed(1)) * 10 + 10
    mean, variance = fitted.predict(X)
    assert (mean - (100 + 5 * torch.sin(X[:, 0]))).abs().max() < 0.5
    assert variance.max() < 0.5**2
    assert (fitted.predict(X, observation_noise=True).variance > variance).all()
    worst = fitted.outliers()
    assert sorted(suspect.row for suspect in worst[:5]) == WRONG
    evidence = [suspect.evidence for suspect in worst]
    assert evidence == sorted(evidence, reverse=True)
    for suspect in worst[:5]:
        assert suspect.value == pytest.approx(np.load(files.y)[suspect.row])
        assert abs(suspect.expected - (suspect.value - 1e4)) < 5 * suspect.sd < 5.0
        assert suspect.evidence > 5
        assert suspect.weight < 1e-3
    assert len(worst) < 20


def test_what_the_workers_say_together_is_what_experts_in_one_place_say(fitted):
    part, shared, rule = fitted._parts[0], fitted.shared, COMBINE["rbcm"]
    held = part.read()
    found = evidence.build_experts(held, shared)
    X = torch.rand(6, 2, generator=torch.Generator().manual_seed(1))
    together = torch.cat([X.expand(len(held.y), -1, -1), held.X], -2)
    k = kernel_matrix(shared.kernel, together, shared.l, shared.s2f).K[:, :6, 6:] * held.mask.unsqueeze(-2)
    v0 = shared.s2f.expand(6)
    for one, other in zip(
        evidence.sum_predictions(held, found, shared, X, rule), rule.sums(*latent(k, found, v0), v0), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-9)


def test_the_correlation_of_errors_is_that_of_experts_in_one_place(fitted, files):
    """The default rule's prediction, put together from the experts of all parts at once."""
    shared, X = fitted.shared, torch.rand(6, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    v0, rule = shared.s2f.expand(6), COMBINE["calibrated"]
    parts = [part.read() for part in fitted._parts]
    experts = [evidence.build_experts(part, shared) for part in parts]
    sums = [evidence.sum_predictions(*one, shared, X, rule) for one in zip(parts, experts, strict=True)]
    rho = evidence.error_correlation(parts[0], experts[0], shared, X)
    assert (rho > 0).all()
    wanted = rule.finish(reduce(Sums.plus, sums), v0, rho)
    scaling = fitted._scaling
    units = X * scaling.spread + scaling.low
    mean, variance = fitted.predict(units)
    torch.testing.assert_close(mean, scaling.center + scaling.scale * (shared.m + wanted.mean))
    torch.testing.assert_close(variance, scaling.scale.square() * wanted.variance)
    by_rbcm = COMBINE["rbcm"].finish(reduce(Sums.plus, sums), v0)
    assert (wanted.variance > 1.5 * by_rbcm.variance).all()


@pytest.mark.slow
def test_few_parts_may_do_for_the_fit(files, worker_processes):
    with StreamedCommittee(
        files, worker_processes, expert_size=50, memory_mib=1, fit_experts=1, noise="normal"
    ) as model:
        model.fit()
        assert model.predict(torch.full((1, 2), 15.0)).mean.isfinite().all()


def test_before_the_fit_and_after_the_end_it_says_so(files):
    model = StreamedCommittee(files, "tcp://nowhere:1")
    with pytest.raises(ValueError, match=r"call fit\(\) first"):
        model.predict(torch.zeros(1, 2))
    with pytest.raises(ValueError, match="kernel must be one of"):
        StreamedCommittee(files, "tcp://nowhere:1", kernel="cubic")


def test_points_of_another_dimension_are_refused(fitted):
    with pytest.raises(ValueError, match=r"X must be q x 2 finite numbers, got \(1, 3\)"):
        fitted.predict(torch.zeros(1, 3))


def test_a_constant_input_and_equal_outcomes_have_a_scale():
    scaling = SampleScaling.of(torch.ones(4, 2), torch.full((4,), 3.0))
    X, y = scaling.to(torch.ones(4, 2), torch.full((4,), 3.0))
    assert (X == 0).all()
    assert (y == 0).all()


@pytest.mark.slow
def test_gross_values_and_inputs_are_known_for_what_they_are(tmp_path, workers):
    """Beyond what squares fit into; and one wild input leaves the scale of all others as it is."""
    generator = np.random.default_rng(1)
    X = generator.random((600, 1))
    y = np.sin(6 * X[:, 0]) + 0.05 * generator.standard_normal(600)
    y[[5, 6]], X[300] = [1e300, -1e160], 1e300
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    with StreamedCommittee(MemoryMap(tmp_path / "X.npy", tmp_path / "y.npy"), workers, expert_size=100) as model:
        model.fit()
        mean, _ = model.predict(np.array([[0.2], [0.6]]))
        assert (mean - torch.sin(6 * torch.tensor([0.2, 0.6]))).abs().max() < 0.2
        assert {5, 6} <= {suspect.row for suspect in model.outliers()}
        assert model.predict(torch.empty(0, 1)).mean.shape == (0,)


def test_a_part_travels_alone(files):
    """Not with all that it is a view of."""
    parts = partition.scatter_blocks(100_000, 40, torch.Generator().manual_seed(0))
    assert len(pickle.dumps(parts[0])) < 1000
    whole = partition.shard(torch.rand(1000, 2), torch.rand(1000), list(torch.arange(1000).split(50)))
    assert max(len(pickle.dumps(part)) for part in parts_of(whole, 1.0)) < 0.5 * len(pickle.dumps(whole))
    assert len(partition.scatter_blocks(300, 50, torch.Generator().manual_seed(0))) == 2


def test_paths_mean_the_same_elsewhere(files, monkeypatch, tmp_path):
    monkeypatch.chdir(files.X.parent)
    relative = MemoryMap("X.npy", "y.npy")
    monkeypatch.chdir(tmp_path)
    assert relative.shape == files.shape


@pytest.mark.parametrize("cluster", [None, "nowhere", 8786])
def test_what_is_no_address_is_refused(files, cluster):
    with pytest.raises(ValueError, match="cluster must be the address"):
        StreamedCommittee(files, cluster)


def test_files_that_are_none_are_named(tmp_path):
    np.savez(tmp_path / "X.npz", X=np.zeros((3, 1)))
    (tmp_path / "y.npy").write_text("1 2 3")
    with pytest.raises(ValueError, match=r"X.npz: must be a NumPy file"):
        _ = MemoryMap(tmp_path / "X.npz", tmp_path / "y.npy").shape
    np.save(tmp_path / "X.npy", np.zeros((3, 1)))
    with pytest.raises(ValueError, match=r"y.npy: must be a NumPy file"):
        _ = MemoryMap(tmp_path / "X.npy", tmp_path / "y.npy").shape
    with pytest.raises(FileNotFoundError, match=r"z.npy: no such file exists"):
        _ = MemoryMap(tmp_path / "X.npy", tmp_path / "z.npy").shape


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_number_that_is_none_is_named_by_its_row(tmp_path, bad):
    y = np.zeros(300)
    y[277] = bad
    np.save(tmp_path / "X.npy", np.zeros((300, 1)))
    np.save(tmp_path / "y.npy", y)
    with pytest.raises(ValueError, match="row 277 of"):
        StreamedCommittee(MemoryMap(tmp_path / "X.npy", tmp_path / "y.npy"), "tcp://nowhere:1")


@pytest.mark.parametrize(
    ("X", "y"), [(np.zeros((3, 1)), np.zeros(4)), (np.zeros(3), np.zeros(3)), (np.array([["a"]]), np.zeros(1))]
)
def test_files_that_do_not_belong_together_are_refused(tmp_path, X, y):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    with pytest.raises(ValueError, match="must hold n x d and n numbers"):
        _ = MemoryMap(tmp_path / "X.npy", tmp_path / "y.npy").shape


@pytest.mark.slow
def test_only_the_rows_that_are_asked_for_are_read(tmp_path):
    """A file of 8 GiB of holes: it could not be read as a whole here in this time."""
    n = 2**27
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, (n, 8))
    y = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", np.float64, (n,))
    X[n - 1], y[n - 1] = 1.0, 2.0
    found = MemoryMap(tmp_path / "X.npy", tmp_path / "y.npy").read(torch.tensor([n - 1, 0]))
    assert found[0][:, 0].tolist() == [1.0, 0.0]
    assert found[1].tolist() == [2.0, 0.0]
    assert os.stat(tmp_path / "X.npy").st_blocks * 512 < 2**20
