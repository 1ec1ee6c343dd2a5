"""The slow twin of a diagnosis: each observation left out in turn, and the others' equations solved densely.

The hyperparameters, the weights and the sites of the others stay as they are, as in every leave-one-out formula.
"""

import torch

from robustbo.numerics.student_t.likelihood import em_variance
from robustbo.surrogates.baselines.botorch_relevance_pursuit import BoTorchRelevancePursuitGP as Peer
from robustbo.surrogates.committee.model import CommitteeGP
from robustbo.surrogates.iterative.model import ComputationAwareGP
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.student_t_process.model import StudentTProcess
from robustbo.surrogates.weighted.model import ConjugateGP


def left_out(model):
    """``n`` means and standard deviations of each observation by the others, in the model's own units."""
    with torch.no_grad():
        X, y = model.train_inputs[0], model.train_targets
        K, m = model.covar_module(X).to_dense(), model.mean_module(X)
        if isinstance(model, StudentTGP):
            found = [by_the_sites_of_others(K, model.laplace, i) for i in range(len(y))]
        else:
            noise, own, target = noises(model, K)
            process = model if isinstance(model, StudentTProcess) else None
            found = [by_others(K, noise, own, target - m, i, process) for i in range(len(y))]
        mean, variance = torch.tensor(found, dtype=y.dtype).T
        return m + mean, variance.sqrt()


def by_others(K, noise, own, r, i, process):
    others = [j for j in range(len(r)) if j != i]
    Sg = K[others][:, others] + torch.diag(noise[others])
    solved = torch.linalg.solve(Sg, torch.stack([K[others, i], r[others]], -1))
    variance = K[i, i] + own[i] - K[i, others] @ solved[:, 0]
    if process is not None:  # equations.md section 4: as much wider as the others surprise
        nu = process.dof
        variance = variance * (nu - 2 + r[others] @ solved[:, 1]) / (nu + len(others) - 2)
    return K[i, others] @ solved[:, 1], variance


def by_the_sites_of_others(K, at, i):
    """Laplace's approximation with the likelihood of one observation away: a Gaussian site each, in natural units."""
    W, pull = at.W.clone(), at.W * at.f + at.a
    W[i], pull[i] = 0.0, 0.0
    S = torch.linalg.inv(torch.linalg.inv(K) + torch.diag(W))
    s2, nu = at.noise
    return S[i] @ pull, S[i, i] + s2.max() * nu / (nu - 2)


def noises(model, K):
    """Variances of the observations, those of new measurements there, and what stands for their values."""
    X, y = model.train_inputs[0], model.train_targets
    if isinstance(model, ConjugateGP):
        given = model.conjugate
        return given.s2 * given.weighting.J, given.s2, y + given.s2 * given.weighting.b
    if isinstance(model, ComputationAwareGP):
        seen = model.solution
        return seen.s2 * seen.weighting.J, seen.s2, y + seen.s2 * seen.weighting.b
    if isinstance(model, CommitteeGP):  # of one expert: each value with the normal noise that pulls as much at the mode
        at = one_expert(model).laplace
        s2, nu = at.noise
        return em_variance(at.r, s2, nu), (s2 * nu / (nu - 2)).expand_as(y), y
    noise = model.likelihood(model.forward(X), [X]).covariance_matrix.diagonal() - K.diagonal()
    base = model.likelihood.noise_covar.base_noise.noise if isinstance(model, Peer) else model.likelihood.noise
    return noise, base.expand_as(y), y


def one_expert(model):
    X, y = model.train_inputs[0], model.train_targets
    expert = StudentTGP(X, y.unsqueeze(-1), outcome_transform=None)
    state = {key: value for key, value in model.state_dict().items() if not key.startswith("outcome_transform")}
    expert.load_state_dict(state)
    return expert.eval()
