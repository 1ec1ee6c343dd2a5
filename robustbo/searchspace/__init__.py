"""What may be asked: parameters, the space that they span, its points as a model's inputs and as people's tables."""
