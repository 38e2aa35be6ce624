"""Pieces of the pages that plan how to serve a model."""
