"""Replay: benchmark runs from a TOML spec, recorded trial by trial, scored, and verified."""
