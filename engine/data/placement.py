"""Place every row: as the split column says, else by content; keep what trains apart from what is judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.data.limits import names_text
from engine.data.split_names import SPLIT_NAMES
from engine.data.splits import (
    CODES,
    EVALUATED,
    LEFT_OUT,
    TEST_SHARES,
    Identity,
    draw_calibration,
    identify,
    place,
    strata_of,
)
from engine.errors import BadData
from engine.records import SplitName

_EVALUATED = [CODES[name] for name in EVALUATED]


@dataclass(frozen=True)
class Rows:
    """What placing needs to know of every row: (n, 2) uint64 digests, labels and the cells of the split column."""

    digests: np.ndarray
    labels: np.ndarray | None
    groups: np.ndarray | None = None
    ids: np.ndarray | None = None
    split: pa.Array | None = None
    split_name: str = ""


@dataclass(frozen=True)
class Placement:
    """codes: (n,) int8 split of each row, -1 left out. calibration: row numbers, part of train or a split itself."""

    codes: np.ndarray
    identity: Identity
    notes: tuple[str, ...] = ()
    calibration: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def rows(self, split: SplitName) -> np.ndarray:
        """Row numbers of a split, in the order of the file."""
        return self.calibration if split == "calibration" else np.flatnonzero(self.codes == CODES[split])


def arrange(rows: Rows, seed: int) -> Placement:
    """Split the rows. Raises BadData when a split cell says something unknown or nothing is left to compare on."""
    identity = identify(rows.digests, rows.groups, rows.ids)
    strata = strata_of(rows.labels, len(rows.digests))
    notes: list[str] = []
    if rows.split is None:
        codes = place(identity, strata, seed)
        if rows.labels is not None and rows.labels.ndim == 2:
            notes.append("Rows are split in proportion to the rarest label that each has")
    else:
        codes = _from_column(rows, notes)
        _divide_test_rows(codes, identity, strata, seed, notes)
        codes[np.isin(codes, _EVALUATED) & (strata < 0)] = LEFT_OUT
        if rows.groups is not None:
            _keep_groups_apart(codes, identity, notes)
    if identity.by_row:
        notes.append(
            f"{identity.duplicate_fraction:.0%} of the rows repeat another row's inputs; rows are told apart by their "
            f"{'id' if rows.ids is not None else 'place in the file'}, and equal inputs on both sides are not leakage"
        )
    else:
        _keep_inputs_apart(codes, rows.digests, notes)
    if not np.any(codes == CODES["selection"]):
        raise BadData(
            f"of {len(codes):,} rows none is left to compare variants on; bring more rows"
            + (", or more groups" if rows.groups is not None else "")
        )
    return Placement(codes, identity, tuple(notes))


def with_calibration(placement: Placement, labels: np.ndarray | None, digests: np.ndarray, seed: int) -> Placement:
    """The rows that set number ranges: those of the split column, else up to 2,000 of the train rows."""
    chosen = np.flatnonzero(placement.codes == CODES["calibration"])
    if not len(chosen):
        train = np.flatnonzero(placement.codes == CODES["train"])
        strata = strata_of(labels, len(placement.codes))
        chosen = draw_calibration(train, strata[train], digests[train], seed)
    return replace(placement, calibration=chosen)


def with_train_rows(placement: Placement, n_more: int) -> Placement:
    """The same places, and n_more further rows behind them that train."""
    more = np.full(n_more, CODES["train"], placement.codes.dtype)
    return replace(placement, codes=np.concatenate([placement.codes, more]))


def _from_column(rows: Rows, notes: list[str]) -> np.ndarray:
    """Split codes as the cells say; an empty cell leaves its row out."""
    assert rows.split is not None
    encoded = rows.split.dictionary_encode()
    said = encoded.dictionary.to_pylist()
    names = [SPLIT_NAMES.get(text.strip().lower()) for text in said]
    unknown = [text for text, name in zip(said, names, strict=True) if name is None]
    if unknown:
        raise BadData(
            f"split column {rows.split_name} holds {names_text(unknown)}; it may say train, calibration, selection (or "
            "validation) and certification (or test)"
        )
    table = np.array([*(CODES[name] for name in names if name), LEFT_OUT], np.int8)
    codes: np.ndarray = table[np.asarray(pc.fill_null(encoded.indices, len(said)))]
    synonyms = [f"{text} as {name}" for text, name in zip(said, names, strict=True) if name != text]
    if synonyms:
        notes.append(f"Split column {rows.split_name}: {names_text(synonyms)}")
    if rows.split.null_count:
        notes.append(f"Split column {rows.split_name}: {rows.split.null_count:,} rows with an empty cell left out")
    return codes


def _divide_test_rows(codes: np.ndarray, identity: Identity, strata: np.ndarray, seed: int, notes: list[str]) -> None:
    """Without rows for selection two sevenths of the certification rows are taken, as an automatic split would."""
    test = codes == CODES["certification"]
    if np.any(codes == CODES["selection"]):
        if not test.any():
            notes.append("No certification rows: variants can be compared, none can be certified")
        return
    if not test.any():
        raise BadData("the split column has no rows for selection or certification, so nothing can be judged")
    codes[test] = place(identity, np.where(test, strata, -1), seed, TEST_SHARES)[test]
    n_taken = int((codes == CODES["selection"]).sum())
    notes.append(
        f"No selection rows: {n_taken:,} of {int(test.sum()):,} certification rows are used to compare variants"
    )


def _keep_groups_apart(codes: np.ndarray, identity: Identity, notes: list[str]) -> None:
    judged = np.zeros(len(identity.keys), bool)
    judged[identity.units[np.isin(codes, _EVALUATED)]] = True
    shared = judged[identity.units] & np.isin(codes, (CODES["train"], CODES["calibration"]))
    if shared.any():
        codes[shared] = LEFT_OUT
        notes.append(f"{int(shared.sum()):,} train rows left out: their group is among the evaluation rows")


def _keep_inputs_apart(codes: np.ndarray, digests: np.ndarray, notes: list[str]) -> None:
    train = np.isin(codes, (CODES["train"], CODES["calibration"]))
    shared = train & among(digests, digests[np.isin(codes, _EVALUATED)])
    if shared.any():
        codes[shared] = LEFT_OUT
        notes.append(f"{int(shared.sum()):,} train rows left out: the same inputs are among the evaluation rows")


def among(digests: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n,) bool: digests (n, 2) that occur in others (m, 2)."""
    pair = [("a", np.uint64), ("b", np.uint64)]
    ours, theirs = (np.ascontiguousarray(part).view(pair).ravel() for part in (digests, others))
    theirs = np.unique(theirs)
    if not len(theirs):
        return np.zeros(len(ours), bool)
    place = np.minimum(np.searchsorted(theirs, ours), len(theirs) - 1)
    found: np.ndarray = theirs[place] == ours
    return found
