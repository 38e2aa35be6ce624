"""Pieces of the page that finds runs and studies again."""
