"""Robust conjugate Gaussian processes: each observation counts by a weight."""
