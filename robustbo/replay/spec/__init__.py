"""A run's specification: what is run, how its competitors decide."""

SPEC_FILE = "spec.toml"  # in a run's folder
