"""The search over sets of error atoms and of wrong values."""

import numpy as np
import pytest
import torch

from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.log_posterior import gradient, log_posterior
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.support_fit import empty, refit
from robustbo.numerics.sources import search as search_module
from robustbo.numerics.sources.atoms import block_effects, timelines
from robustbo.numerics.sources.covariance import with_shared_errors
from robustbo.numerics.sources.labels import SourceLabels
from robustbo.numerics.sources.overlap import Overlap
from robustbo.numerics.sources.place import Problem
from robustbo.numerics.sources.search import search_atoms

N = 48
X = torch.quasirandom.SobolEngine(2, scramble=True, seed=3).draw(N, dtype=torch.float64)
CODES = np.random.default_rng(1).permutation(np.arange(N) % 4)[:, None]
CLEAN = (3 * X[:, 0]).sin() + X[:, 1].square() + 0.02 * torch.from_numpy(np.random.default_rng(2).normal(size=N))


def model_of(y):
    covariance = stationary(X, "matern52", LogNormal(0.5, 1.0), LogNormal(0.0, 1.0))
    return Model((y - y.median()) / y.std(), covariance, LogNormal(-4.0, 1.0))


def search(y, codes=CODES, support=()):
    labels = SourceLabels(("lab",), (("A", "B", "C", "D"),), codes, np.arange(float(N)))
    model = model_of(y)
    level = empty(model)
    level = refit(model, level, support) if support else level

    overlap = Overlap(X)

    def is_told_apart(fit, A):
        return overlap.is_distinguishable(fit.theta[:2].exp(), A)

    problem = Problem(model, Penalty(lambda k: 3.0 * k), list(timelines(labels)), block_effects(labels), is_told_apart)
    return search_atoms(problem, level)


def off(rows, error=0.8):
    y = CLEAN.clone()
    y[torch.as_tensor(rows)] += error
    return y


def test_nothing_is_found_where_nothing_is_wrong():
    state, (others, _) = search(CLEAN)
    assert state.atoms == ()
    assert {c.atom.key[:2] for c in others} == {(0, 0), (0, 1), (0, 2), (0, 3), (0, -1), (-1, -1)}
    assert all(c.score < 0 for c in others)


def test_an_offset_is_found():
    state, _ = search(off(CODES[:, 0] == 2))
    assert [atom.key for atom in state.atoms] == [(0, 2, "offset")]
    assert state.gains[0] > 3


def test_a_step_is_found_with_its_beginning():
    rows = (CODES[:, 0] == 1) & (np.arange(N) >= 20)
    state, _ = search(off(rows))
    (atom,) = state.atoms
    assert atom.key == (0, 1, "step")
    assert len(set(atom.rows) ^ set(np.flatnonzero(rows).tolist())) <= 1


def test_an_error_of_everything_since_a_time_is_found():
    state, _ = search(off(np.arange(N) >= 30))
    (atom,) = state.atoms
    assert atom.key == (-1, -1, "step")
    assert abs(atom.since - 30) <= 2


def test_errors_that_wander_are_no_error_of_everything(monkeypatch):
    y, generator = CLEAN.clone(), np.random.default_rng(0)
    wandering = np.zeros(N)
    for i in range(1, N):
        wandering[i] = 0.9 * wandering[i - 1] + 0.15 * generator.normal()
    state, (rest, _) = search(y + torch.from_numpy(wandering))
    assert not [atom for atom in state.atoms if atom.source < 0]
    assert all(c.score < 0 for c in rest if c.atom.source < 0)
    monkeypatch.setattr(search_module, "wander_factor", lambda precision, rows: -np.inf)
    state, _ = search(y + torch.from_numpy(wandering))
    assert [atom for atom in state.atoms if atom.source < 0]


def test_an_error_of_everything_that_is_one_source_s_is_that_source_s():
    codes = np.where(np.arange(N) < 8, 3, CODES[:, 0] % 3)[:, None]  # the last source measured the first eight
    labels = SourceLabels(("lab",), (("A", "B", "C", "D"),), codes, np.arange(float(N)))
    *_, everything = timelines(labels)
    assert 8 in everything.owned_steps
    assert 30 not in everything.owned_steps
    state, _ = search(off(np.arange(N) < 8), codes)
    assert all(atom.source >= 0 for atom in state.atoms)


def test_values_of_a_source_that_is_off_are_not_wrong_as_well():
    rows = np.flatnonzero(CODES[:, 0] == 2)
    state, _ = search(off(rows, 3.0), support=tuple(rows[:6].tolist()))
    assert [atom.key for atom in state.atoms] == [(0, 2, "offset")]
    assert state.level.support == ()


def test_a_wrong_value_stays_one_beside_a_source_that_is_off():
    y = off(CODES[:, 0] == 2)
    alone = int(np.flatnonzero(CODES[:, 0] == 0)[4])
    y[alone] -= 6.0
    state, _ = search(y, support=(alone,))
    assert [atom.key for atom in state.atoms] == [(0, 2, "offset")]
    assert state.level.support == (alone,)


def test_two_errors_are_found_one_after_the_other():
    y = off(CODES[:, 0] == 2)
    y[torch.from_numpy(CODES[:, 0] == 3)] -= 0.7
    state, _ = search(y)
    assert {atom.key for atom in state.atoms} in ({(0, 2, "offset"), (0, 3, "offset")}, {(0, -1, "block")})


def test_a_source_of_one_region_is_not_believed_to_be_off():
    is_there = (X[:, 0] > 0.7).numpy()
    codes = np.where(is_there, 3, np.arange(N) % 3)[:, None]
    state, (others, _) = search(off(is_there, 2.0), codes)
    assert not any(atom.key[:2] == (0, 3) for atom in state.atoms)
    assert any(c.atom.key[:2] == (0, 3) for c in others)


def test_shared_errors_add_a_term_of_low_rank():
    model, A = model_of(CLEAN), torch.from_numpy(np.random.default_rng(4).normal(size=(N, 2)))
    theta, rho = model.starts[0], torch.zeros(N, dtype=torch.float64)
    both = log_posterior(with_shared_errors(model, A), theta, rho)
    Sg = log_posterior(model, theta, rho).covariance.K + A @ A.mT + torch.diag(both.s2)
    expected = torch.distributions.MultivariateNormal(both.evidence.m.expand(N), Sg).log_prob(model.y)
    assert both.evidence.L.item() == pytest.approx(expected.item())
    slopes, _ = gradient(model, both)
    for i in range(len(theta)):
        step = torch.zeros_like(theta).index_fill(0, torch.tensor(i), 1e-5)
        sides = [log_posterior(with_shared_errors(model, A), theta + sign * step, rho).F for sign in (1, -1)]
        assert slopes[i].item() == pytest.approx((sides[0] - sides[1]) / 2e-5, abs=1e-4)


def test_an_atom_is_not_believed_for_a_better_climb(monkeypatch):
    rows = CODES[:, 0] == 2
    assert len(search(off(rows))[0].atoms) == 1
    monkeypatch.setattr(search_module, "_without_it", lambda problem, state, place: place._replace(score=1e6))
    state, (others, _) = search(off(rows))
    assert state.atoms == ()
    assert others[0].score < -9e5
