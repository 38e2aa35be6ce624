"""What the README claims, measured: `make bench` writes RESULTS.md."""
