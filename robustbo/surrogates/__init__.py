"""Surrogates: each class is a BoTorch model; `robustbo.surrogates.registry` has them by name."""
