"""Real measurements that were repeated, none of them corrupted by us."""
