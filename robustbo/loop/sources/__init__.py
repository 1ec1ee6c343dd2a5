"""Reports on sources of values: which is in error, and what others say of the target."""
