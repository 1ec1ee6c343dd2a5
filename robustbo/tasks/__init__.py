"""The trials of surrogates and loops: problems, regression tasks, and what goes wrong in them."""
