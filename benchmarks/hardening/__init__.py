"""Behaviour under kills, interrupts, many processes, odd spaces and other processors."""
