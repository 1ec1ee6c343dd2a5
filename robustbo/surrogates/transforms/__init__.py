"""Outcomes as a Gaussian process likes them."""
