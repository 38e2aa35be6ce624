"""axe-core on a page: what keeps people out who read with a screen reader, a keyboard, or weak eyes.

Serious and critical violations count. KNOWN lists, one by one, those of Streamlit's own elements, beyond our reach.
"""

from __future__ import annotations

from dataclasses import dataclass

from axe_playwright_python.sync_playwright import Axe

COUNTED = ("serious", "critical")
AXE = Axe()


@dataclass(frozen=True)
class Known:
    """rule: of axe-core; inside: selector of Streamlit's element in which it lies; why: what is wrong in it."""

    rule: str
    inside: str
    why: str


KNOWN: tuple[Known, ...] = ()


def violations(page, *, only: str | None = None) -> list[str]:
    """What axe-core finds serious, a line per element; `only`: one rule alone."""
    options = {"resultTypes": ["violations"]}
    if only:
        options["runOnly"] = {"type": "rule", "values": [only]}
    found = AXE.run(page, options=options).response["violations"]
    return [
        f"{one['id']}: {_place(node)} {_said(node)}"
        for one in found
        if one["impact"] in COUNTED
        for node in one["nodes"]
        if not _known(page, one["id"], node)
    ]


def _known(page, rule, node) -> bool:
    """True for a fault of KNOWN that lies in the element of Streamlit which has it."""
    inside = "([target, element]) => !!document.querySelector(target)?.closest(element)"
    places = [known.inside for known in KNOWN if known.rule == rule]
    return any(page.evaluate(inside, [node["target"][-1], place]) for place in places)


def _place(node) -> str:
    return f"{node['target'][-1]} {' '.join(node['html'].split())[:200]}"


def _said(node) -> str:
    return "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])[:300]
