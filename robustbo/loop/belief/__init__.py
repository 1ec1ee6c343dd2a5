"""Beliefs about measured values: which are wrong, which point is best, and the front of several objectives."""
