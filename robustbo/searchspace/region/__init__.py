"""What may be asked for, as unit-cube rows: which belong to it, and how to find some, spread over it."""
