"""Metrics, agreement, non-inferiority, slices."""
