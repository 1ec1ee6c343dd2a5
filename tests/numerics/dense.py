"""Derivatives of kernels as the formulas stand: d K / d log l_j = -2 K_u2 D_j / l_j^2 and d K / d log s2f = K."""

import torch

from robustbo.numerics.gp.kernels import KernelGradient


def pullback(G, D, l, kernel):
    log_l = torch.einsum("...nm,...nm,...dnm->...d", G, kernel.K_u2, D)
    return KernelGradient(-2 * log_l / l.square(), (G * kernel.K).sum((-2, -1)))


def tangents(w, D, l, kernel):
    return -2 * torch.einsum("...dnm,...nm,...m->...dn", D, kernel.K_u2, w) / l.square().unsqueeze(-1)
