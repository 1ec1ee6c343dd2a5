"""The next point: of the initial design, by the acquisition function, a replicate, or a failed one again."""
