"""Who runs cells: this process, others, or a Dask cluster."""
