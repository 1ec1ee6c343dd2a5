"""The best point by what is believed, and of several objectives the front."""
