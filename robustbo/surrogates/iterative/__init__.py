"""The computation-aware surrogate, robust or not."""
