"""Model of failures: a Gaussian process with a probit likelihood that knows flakes, by expectation propagation."""
