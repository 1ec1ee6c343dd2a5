"""Acquisition functions, built for a fitted surrogate."""
