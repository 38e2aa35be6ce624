"""Where the names of marks go: beside their mark, off each other, off the marks and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages._ui.charts import MUTED

WIDTH_PX, HEIGHT_PX = 560, 340  # of the plot, nearer to a window 800 wide than to one of 1280: room only grows
LETTER_PX, LINE_PX, MARK_PX = 6.3, 16, 8
FAR = 22  # pixels from which on a thin line leads from the name to its mark
N_ROUNDS = 3
TEXT_WEIGHT, OUTSIDE_WEIGHT, DISTANCE_WEIGHT = 5.0, 1000.0, 1.5  # text on text is worse than text on a bar
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Obstacle:
    """A mark with its bars, in parts of the plot's width and height."""

    x: float
    y: float
    left: float
    right: float
    bottom: float
    top: float

    def boxes(self) -> list[Box]:
        """In pixels: the mark, and its two bars."""
        x, y = self.x * WIDTH_PX, self.y * HEIGHT_PX
        return [
            (x - MARK_PX, y - MARK_PX, x + MARK_PX, y + MARK_PX),
            (self.left * WIDTH_PX, y - 2, self.right * WIDTH_PX, y + 2),
            (x - 2, self.bottom * HEIGHT_PX, x + 2, self.top * HEIGHT_PX),
        ]


@dataclass(frozen=True)
class Label:
    """A place beside a mark: which corner of the text is put how many pixels right of and above it."""

    xanchor: str
    yanchor: str
    right: int
    up: int

    @property
    def distance(self) -> float:
        """In pixels, roughly."""
        return max(abs(self.right), abs(self.up))

    def box(self, x: float, y: float, width: float) -> Box:
        """The text in pixels when its mark stands at x, y."""
        left = x + self.right - {"left": 0.0, "center": width / 2, "right": width}[self.xanchor]
        low = y + self.up - {"bottom": 0.0, "middle": LINE_PX / 2, "top": LINE_PX}[self.yanchor]
        return left, low, left + width, low + LINE_PX

    def drawn(self) -> dict[str, Any]:
        """For add_annotation."""
        anchors = {"xanchor": self.xanchor, "yanchor": self.yanchor}
        if self.distance < FAR:
            return {**anchors, "showarrow": False, "xshift": self.right, "yshift": self.up}
        return {
            **anchors, "showarrow": True, "ax": self.right, "ay": -self.up, "arrowhead": 0, "arrowwidth": 1,
            "arrowcolor": MUTED, "standoff": 6,
        }  # fmt: skip


def _candidates() -> tuple[Label, ...]:
    near = [
        Label("left", "bottom", 8, 4),
        Label("right", "bottom", -8, 4),
        Label("left", "top", 8, -4),
        Label("right", "top", -8, -4),
        Label("center", "bottom", 0, 12),
        Label("center", "top", 0, -12),
        Label("left", "middle", 13, 0),
        Label("right", "middle", -13, 0),
    ]
    far = [
        Label(side, "middle", sign * out, up)
        for out, ups in ((16, (26, -26, 42, -42)), (34, (30, -30, 52, -52, 76, -76)), (60, (16, -16, 60, -60, 96, -96)))
        for up in ups
        for side, sign in (("left", 1), ("right", -1))
    ]
    return (*near, *far)


CANDIDATES = _candidates()
DISTANCES = DISTANCE_WEIGHT * np.array([label.distance for label in CANDIDATES])


def place(spots: Sequence[tuple[float, float]], letters: Sequence[int], obstacles: Sequence[Obstacle]) -> list[Label]:
    """One label per spot (in parts of the plot), the first ones best: where they cover least, close to their mark.

    Placed one after the other, then each once more with all others in place.
    """
    marks = np.array([box for one in obstacles for box in one.boxes()]).reshape(-1, 4)
    wanted = [
        np.array([label.box(right * WIDTH_PX, up * HEIGHT_PX, LETTER_PX * n) for label in CANDIDATES])
        for (right, up), n in zip(spots, letters, strict=True)
    ]
    fixed = [overlaps(boxes, marks) + _outside(boxes) + DISTANCES for boxes in wanted]
    chosen: list[int] = []
    for _ in range(N_ROUNDS):
        for at, boxes in enumerate(wanted):
            others = [wanted[other][place] for other, place in enumerate(chosen) if other != at]
            costs = fixed[at] + TEXT_WEIGHT * overlaps(boxes, np.array(others).reshape(-1, 4))
            chosen[at : at + 1] = [int(costs.argmin())]
    return [CANDIDATES[at] for at in chosen]


def overlaps(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n,) square pixels that each of (n, 4) boxes (left, bottom, right, top) shares with all of the (m, 4) others."""
    least, most = boxes[:, None, :2], boxes[:, None, 2:]
    shared = np.minimum(most, others[None, :, 2:]) - np.maximum(least, others[None, :, :2])
    area: np.ndarray = shared.clip(0).prod(axis=2).sum(axis=1)
    return area


def _outside(boxes: np.ndarray) -> np.ndarray:
    """What the plot's edges cost; above its last line stands what the lines of the promise say."""
    low, high = np.array([0.0, 0.0]), np.array([WIDTH_PX, HEIGHT_PX - LINE_PX])
    beyond: np.ndarray = (low - boxes[:, :2]).clip(0).sum(axis=1) + (boxes[:, 2:] - high).clip(0).sum(axis=1)
    return OUTSIDE_WEIGHT * beyond
