"""Surrogates fitted to observations: their subset, warm starts, cache, and the fallbacks where one cannot be fitted."""
