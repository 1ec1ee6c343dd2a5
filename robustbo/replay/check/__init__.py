"""What is recorded, compared bit for bit with what is computed once more."""
