"""A forest as small whole numbers: each input is replaced by its place among the thresholds of its feature.

Lossless: bin(x) is how many thresholds lie below x, so `x <= t` is `bin(x) <= place of t`, in double precision. Nothing
of the model is rounded. `engine.forest.serve` answers from the file; it is copied to where the model is served.
"""

from engine.forest.binned.pack import Packed, pack, why_not, write

__all__ = ["Packed", "pack", "why_not", "write"]
