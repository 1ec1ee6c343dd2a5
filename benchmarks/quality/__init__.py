"""How good decisions, flags, predictions and probabilities are, paired with other methods."""
