"""What a page says, for tests."""


def texts(app):
    """Everything the page says, as Markdown."""
    kinds = ("markdown", "caption", "title", "subheader", "error", "warning")
    found = [element.value for kind in kinds for element in getattr(app, kind)]
    return "\n".join([*found, *(table.value.to_string() for table in app.table)])
