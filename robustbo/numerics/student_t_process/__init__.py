"""Student-t processes: a Gaussian process whose overall scale is unknown."""
