"""Trials that were asked for and told, the events that change them, and the journals that keep these."""
