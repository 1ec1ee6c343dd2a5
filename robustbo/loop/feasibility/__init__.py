"""The probability that a trial gives a value, learned from those that failed."""
