"""A command group whose commands are files of one folder, loaded when they are used."""

from __future__ import annotations

import importlib
from typing import Any

import click


class Lazy(click.Group):
    """Finds the command `name` in the module `package.name`, and lists the commands without importing them."""

    def __init__(self, *args: Any, package: str, overview: dict[str, str], **kwargs: Any) -> None:
        """overview: command -> one line; the module has the same name and holds `command`."""
        super().__init__(*args, **kwargs)
        self.package = package
        self.overview = overview

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order of a first session."""
        return list(self.overview)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in self.overview:
            return None
        command: click.Command = importlib.import_module(f"{self.package}.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, without importing every command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.overview.items()))
