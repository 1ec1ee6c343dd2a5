"""Quality of decisions, flags, predictions and probabilities, paired with other methods."""
