"""Pieces of the page of a certificate."""
