"""Laplace's approximation of a Gaussian process under any likelihood of single observations: what is alike for all."""
