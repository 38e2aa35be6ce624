"""A digest of each row's inputs that does not depend on how the row was written down (METHODS §2.1).

Inputs in the order of their names; floats of tables rounded to 6 significant digits, -0 as 0; whole numbers exact; text
in Unicode form NFC. Inputs with two or more axes per row (images, sequences) come as arrays and not through text, so
their floats are taken as float32 without rounding.
"""

from __future__ import annotations

import hashlib
import unicodedata

import numpy as np

DIGEST_BYTES = 16
_POWERS_OF_TEN = 10.0 ** np.arange(-300, 309)


def row_digests(inputs: dict[str, np.ndarray]) -> np.ndarray:
    """(m, 2) uint64 from inputs name -> (m, ...): 128 bits of SHA-256 over the canonical bytes of each row."""
    parts = [_canonical(inputs[name]) for name in sorted(inputs)]
    rows = np.ascontiguousarray(np.concatenate(parts, axis=1))
    digests = b"".join(hashlib.sha256(row.data).digest()[:DIGEST_BYTES] for row in rows)
    return np.frombuffer(digests, np.uint64).reshape(-1, 2)


def text_digests(texts: list[str]) -> np.ndarray:
    """(m, 2) uint64: one digest per text, equal for equal texts in NFC."""
    known: dict[str, bytes] = {}
    for text in texts:
        if text not in known:
            known[text] = hashlib.sha256(unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")).digest()
    joined = b"".join(known[text][:DIGEST_BYTES] for text in texts)
    return np.frombuffer(joined, np.uint64).reshape(-1, 2)


def _canonical(values: np.ndarray) -> np.ndarray:
    """(m, bytes) uint8."""
    n_rows = len(values)
    if values.dtype.kind == "U":
        return text_digests(values.ravel().tolist()).view(np.uint8).reshape(n_rows, -1)
    if values.dtype.kind != "f":
        return np.ascontiguousarray(values.astype(np.int64)).view(np.uint8).reshape(n_rows, -1)
    if values.ndim > 2:
        plain = np.ascontiguousarray(values.astype(np.float32) + np.float32(0))  # -0 + 0 is 0
        plain[np.isnan(plain)] = np.float32(np.nan)
        return plain.view(np.uint8).reshape(n_rows, -1)
    return _rounded(values.astype(np.float64)).view(np.uint8).reshape(n_rows, -1)


def _rounded(values: np.ndarray) -> np.ndarray:
    """float64 of six significant digits; the last 12 bits of the fraction cleared, as they depend on the way there."""
    ordinary = np.isfinite(values) & (values != 0)
    power = np.floor(np.log10(np.where(ordinary, np.abs(values), 1.0))).astype(np.int64)
    step = _POWERS_OF_TEN[np.maximum(power - 5, -300) + 300]
    rounded = np.where(ordinary, np.rint(values / step) * step, np.where(np.isnan(values), np.nan, values + 0.0))
    bits = np.ascontiguousarray(rounded).view(np.int64)
    return (bits + (1 << 11)) & ~np.int64((1 << 12) - 1)
