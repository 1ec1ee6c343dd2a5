"""The table of what was asked and measured, which every decision is made of."""
