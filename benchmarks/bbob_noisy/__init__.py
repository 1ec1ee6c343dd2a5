"""COCO's bbob-noisy suite."""
