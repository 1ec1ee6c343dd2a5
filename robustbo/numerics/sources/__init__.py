"""Sources of measurements, and the errors that all values of one have in common."""
