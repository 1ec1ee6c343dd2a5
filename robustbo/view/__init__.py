"""An optimization as it stands: what is best of it, what looks wrong, what failed, what is predicted."""
