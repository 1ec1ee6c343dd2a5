"""Expected improvement, and what a repeated measurement is worth."""
