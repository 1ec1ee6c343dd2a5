"""The maximum of an acquisition function over a space."""
