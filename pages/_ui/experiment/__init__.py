"""Pieces of the page about one run."""
