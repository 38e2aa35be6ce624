"""Evaluation sets: read, roles, mapping to inputs, splits, slices."""
