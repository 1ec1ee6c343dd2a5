"""The region of points that may be asked for, as unit-cube rows: tests of membership, and points spread over it."""
