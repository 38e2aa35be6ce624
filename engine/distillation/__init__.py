"""Levers that train a smaller model on the answers of the original."""
