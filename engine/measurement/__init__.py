"""Timing protocol and its statistics."""
