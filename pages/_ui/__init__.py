"""Helpers of the pages."""
