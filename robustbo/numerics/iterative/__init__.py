"""Computation-aware Gaussian processes: so many looks at the data, and a variance that counts what was not seen."""
