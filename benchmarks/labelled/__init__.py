"""Real measurements whose owners labelled the errors: how often a belief in an error is right."""
