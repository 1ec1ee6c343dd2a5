"""Execution of cells: in this process, in others, or on a Dask cluster."""
