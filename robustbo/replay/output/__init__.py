"""Tables, pictures and pages of a run."""
