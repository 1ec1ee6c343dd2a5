"""Charts and page section of each kind of run."""
