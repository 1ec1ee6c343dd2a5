"""Whether the inputs tell who measured."""

import numpy as np
import pytest
import torch

from robustbo.numerics.sources.overlap import FACTORS, NOISE, Overlap

X = torch.from_numpy(np.random.default_rng(2).random((48, 2)))
LENGTHSCALES = torch.tensor([0.6, 0.8], dtype=torch.float64)
REGION = (X[:, 0] < 0.3).double().numpy()[:, None]
ANYWHERE = (np.arange(48) % 4 == 1).astype(float)[:, None]


def test_a_source_of_one_region_is_told_by_the_inputs():
    assert not Overlap(X).is_distinguishable(LENGTHSCALES, REGION)


def test_a_source_that_measures_anywhere_is_not():
    assert Overlap(X).is_distinguishable(LENGTHSCALES, ANYWHERE)


def test_one_vector_that_the_inputs_tell_is_enough():
    assert not Overlap(X).is_distinguishable(LENGTHSCALES, np.concatenate([ANYWHERE, REGION], axis=1))


def test_rows_are_predicted_by_all_others():
    def share(factor):
        u = (X.unsqueeze(1) - X.unsqueeze(0)) / (factor * LENGTHSCALES)
        r = 5**0.5 * u.square().sum(-1).sqrt()
        R = ((1 + r + r**2 / 3) * (-r).exp()).numpy() + NOISE * np.eye(48)
        errors = []
        for i in range(48):
            rest = np.arange(48) != i
            P = np.linalg.inv(R[np.ix_(rest, rest)])
            a = REGION[rest, 0]
            mean = (P @ a).sum() / P.sum()
            errors.append(REGION[i, 0] - mean - R[i, rest] @ P @ (a - mean))
        without = [REGION[i, 0] - np.delete(REGION[:, 0], i).mean() for i in range(48)]
        return 1 - np.square(errors).sum() / np.square(without).sum()

    expected = max(share(factor) for factor in FACTORS)
    assert Overlap(X).share(LENGTHSCALES, REGION) == pytest.approx(expected, abs=1e-6)


def test_other_length_scales_are_not_taken_for_the_last_ones():
    overlap = Overlap(X)
    first, second = (overlap.share(factor * LENGTHSCALES, REGION) for factor in (1.0, 0.1))
    assert second == Overlap(X).share(0.1 * LENGTHSCALES, REGION) != first


class TestOfManyRows:
    """Only some are looked at, whichever they are."""

    N = 1000
    X = torch.from_numpy(np.random.default_rng(5).random((N, 2)))

    def atom(self, rows):
        a = np.zeros((self.N, 1))
        a[rows] = 1.0
        return a

    def test_an_atom_of_a_few_rows_is_looked_at(self):
        overlap, rng = Overlap(self.X), np.random.default_rng(0)
        corner = np.flatnonzero((self.X < 0.06).all(-1).numpy())
        assert 3 <= len(corner) <= 10
        assert not overlap.is_distinguishable(LENGTHSCALES, self.atom(corner))
        for _ in range(20):
            assert overlap.is_distinguishable(LENGTHSCALES, self.atom(rng.choice(self.N, 5, replace=False)))

    def test_a_vector_for_each_row_of_a_source(self):
        rows = np.arange(3, self.N, 4)
        A = np.zeros((self.N, len(rows)))
        A[rows, np.arange(len(rows))] = 1.0
        assert Overlap(self.X).is_distinguishable(LENGTHSCALES, A)

    def test_sources_in_turn(self):
        assert Overlap(self.X).is_distinguishable(LENGTHSCALES, self.atom(np.arange(1, self.N, 4)))
