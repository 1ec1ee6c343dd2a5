"""Evaluators of a function: in this process, in worker processes any of which may die, or on a Dask cluster."""
