"""Beliefs about measured values: which are wrong, and by which fits."""
