"""One file per model format."""
