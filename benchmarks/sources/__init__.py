"""Values measured by several sources: which errs is found, and what its finding is worth in the loop."""
