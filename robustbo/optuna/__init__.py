"""Inside Optuna: a sampler that believes no single value, and its word on what a study has measured."""
