"""Student-t noise: the distribution, and Laplace's approximation of a Gaussian process under it."""
