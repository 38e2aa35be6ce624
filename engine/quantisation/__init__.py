"""Levers that lower precision."""
