"""What the runtime of binned trees has to reach, beside what it reached."""

from __future__ import annotations

FIRST, DEEP, CATEGORIES = (
    "1,500 trees of 31 leaves",
    "200 trees of 255 leaves",
    "500 trees, categories of 12 and 200 levels",
)
Ratios = dict[str, dict[int, float]]


def goals(found: dict[str, Ratios]) -> list[str]:
    """Markdown lines: floor, goal and figure, the lowest of the batch sizes meant."""
    main, deep, sets = (found[name] for name in (FIRST, DEEP, CATEGORIES))
    many = [n for n in main["ours"] if n >= 1024]
    rivals = {name: sizes[1] for name, sizes in main.items() if name not in ("ours", "LightGBM") and 1 in sizes}
    best = max(rivals, key=lambda name: rivals[name])
    lines = [
        _line("LightGBM, 1,024 rows and more", 40, 65, min(main["ours"][n] for n in many)),
        _line("LightGBM, one row", 4, 5.5, main["ours"][1]),
        _line("lleaves, 1,024 rows and more", 8, 12, _against(main, "lleaves", many)),
        _line(f"the best rival at one row ({best})", 2, 3, main["ours"][1] / rivals[best]),
        _line("LightGBM, 1,024 rows and more, categories", 20, 30, min(sets["ours"][n] for n in (1024, 8192))),
        _line("LightGBM, 1,024 rows and more, 255 leaves", 12, 20, min(deep["ours"][n] for n in (1024, 8192))),
    ]
    return ["| ours against | floor | goal | measured | |", "|---|---|---|---|---|", *lines]


def _against(main: Ratios, rival: str, batches: list[int]) -> float | None:
    if rival not in main:
        return None
    return min(main["ours"][n] / main[rival][n] for n in batches)


def _line(name: str, floor: float, goal: float, value: float | None) -> str:
    if value is None:
        return f"| {name} | {floor:g} | {goal:g} | not measured | |"
    verdict = "goal" if value >= goal else "floor" if value >= floor else "below the floor"
    return f"| {name} | {floor:g} | {goal:g} | {value:.3g} | {verdict} |"
