"""Methods that robust ones are compared with: trimmed likelihood, box plots."""
