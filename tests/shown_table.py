"""The table of Compare read back from its Markdown, and from its records, to be compared cell by cell."""

import re

from engine.reports import numbers

BADGE = re.compile(r":\w+-badge\[:material/\w+: ([^\]]*)\]")
COLOUR = re.compile(r"^:(green|red|gray)\[(.*)\]$", re.DOTALL)
LINK = re.compile(r"\[(.*)\]\(experiment\?id=\w+\)", re.DOTALL)


def unescaped(text):
    """What a person reads of a text that `plain` made safe, or of a link with such a text."""
    text = LINK.sub(r"\1", text)
    bare = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text).replace("\u2060", "").replace("\u00a0", " ")
    return bare.removeprefix("**").removesuffix("**")


def lines(row, columns, record):
    """Cells of one row of the frame -> the same texts that `written` makes of a record."""
    badges = BADGE.findall(row["Result"])
    said = {"Variant": unescaped(row["Variant"].split("  \n")[0]), "Result": badges[0]}
    if "Certificate" in record:
        said["Certificate"] = badges[1] if len(badges) > 1 else ""
    if "Reason" in record:
        reason = row["Result"].split("  \n")[1] if "  \n" in row["Result"] else ":gray[]"
        said["Reason"] = unescaped(COLOUR.match(reason)[2])
    for column, cell in zip(columns, list(row)[2:], strict=True):
        first, *more = cell.split("  \n")
        said[column.key] = [unescaped(first).strip(numbers.FIGURE_SPACE), *map(unescaped, more)]
    return said


def written(record, columns, places):
    """A record -> what the screen should say, by the rules of look.md written down once more."""
    said = {"Variant": short(record["Variant"], 90), "Result": record["Result"]}
    if "Certificate" in record:
        said["Certificate"] = record["Certificate"] or ""
    if "Reason" in record:
        said["Reason"] = short(record["Reason"] or "", 120)
    for column in columns:
        said[column.key] = cell_of(record, column, places)
    return said


def cell_of(record, column, places):
    """Value, interval and change of one column of a record as the lines of a cell."""
    head = f"{column.title}, {column.unit}" if column.unit else column.title
    value = record[head]
    if value is None:
        return [
            "–",
            *bounds_of(record, column, places),
            *change_of(record, column),
        ]  # the screen has a dash and no more
    first = number(value, places.get(head)) if not isinstance(value, str) else short(value, 60)
    if not isinstance(value, str) and column.places is not None:
        first = column.symbol + first if column.symbol else first + tail(column.unit)
    return [first, *bounds_of(record, column, places), *change_of(record, column)]


def bounds_of(record, column, places):
    """The line of the interval, where the record has one."""
    tail_of = f", {column.bounds_unit}" if column.bounds_unit else ""
    low, high = (f"{column.title} {name}{tail_of}" for name in column.bounds_names)
    ends = [number(record[head], places[head]) for head in (low, high) if record.get(head) is not None]
    if not ends:
        return []
    if len(ends) == 2:
        return [f":gray[{ends[0]} to {ends[1]}]"]
    return [f":gray[{column.bounds_names[0]} {ends[0]}]"]


def change_of(record, column):
    """The line of the change: arrow and colour where it is one, a grey word where not."""
    call = record.get(f"{column.title} change is")
    if call is None:
        return []
    change = record[f"{column.title} change, {column.change_unit}"]
    if call == "open":
        return [f":gray[{numbers.signed(change, column.change_places)}{tail(column.change_unit)}]"]
    if call not in ("better", "worse"):
        return [f":gray[{call}]"]
    arrow = "▲" if change > 0 else "▼"
    colour = "green" if call == "better" else "red"
    return [f":{colour}[{arrow}\u202f{abs(change):,.{column.change_places}f}{tail(column.change_unit)}]"]


def number(value, places):
    """A number as the screen writes it."""
    return f"{value:g}" if places is None else f"{value:,.{places}f}".replace("-", "−")


def tail(unit):
    """The unit behind a number."""
    return unit if unit in ("", "%", "×") else f"\u202f{unit}"


def short(text, limit):
    """A text on one line, cut as the screen cuts it."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
