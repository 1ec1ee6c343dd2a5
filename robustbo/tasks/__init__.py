"""What a surrogate or a loop is tried on: problems, regression tasks, and what goes wrong in them."""
