"""What robust methods are measured against: trimmed likelihood, box plots."""
