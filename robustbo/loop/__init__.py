"""The decision on the next point: fit, judge, propose, replicate."""
