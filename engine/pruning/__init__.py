"""Levers that remove parts."""
