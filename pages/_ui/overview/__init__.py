"""Pieces of the first page."""
