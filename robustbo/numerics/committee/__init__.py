"""Committees of small Gaussian processes: who has which observations, and what they say together."""
