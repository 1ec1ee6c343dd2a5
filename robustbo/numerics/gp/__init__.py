"""Gaussian processes: kernels, evidence, hyperparameters, leave-one-out, posteriors."""
