"""Surrogates that robust ones are measured against.

A new one is a file here, its name in `surrogates.registry` and `surrogates.names`, and its mathematics, if it has any,
in `numerics.baselines`.
"""
