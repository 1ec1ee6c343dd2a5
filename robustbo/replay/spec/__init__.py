"""A run's specification: what is run, how its competitors decide."""
