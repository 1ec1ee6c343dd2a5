"""A search for scikit-learn's hyperparameters that believes no single score."""
