"""The search space: its parameters and constraints, its points as a model's inputs and as people's tables."""
