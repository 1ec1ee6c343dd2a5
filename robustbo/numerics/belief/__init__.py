"""Probability that each measurement is wrong: densities of right and of wrong values, and sampling over both."""
