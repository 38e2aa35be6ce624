"""Pieces of the page that compares the variants of a study."""
