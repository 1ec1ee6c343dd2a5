"""The commands as one: how they end when they are interrupted, and by which names they tell what is wrong."""

from typing import Any

import typer
from typer.core import TyperGroup

from robustbo.cli import terminal
from robustbo.errors import RobustBOError
from robustbo.trials.storage.passwords import hide_passwords

USAGE_ERROR: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "UsageError")  # typer hides it
INTERRUPTED = 130  # as shells have it of what Ctrl-C ended


class Commands(TyperGroup):
    """Commands that end with a line when they are interrupted, and name what was typed in place of arguments."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was typed."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            terminal.log("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except USAGE_ERROR as error:  # which has what was typed
            error.message = hide_passwords(error.message)
            raise
        except RobustBOError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            raise RobustBOError(name_option(str(error), command.params if command else ())) from error


def name_option(message: str, parameters: Any) -> str:
    """A message that begins with the name of an argument of ours, with the option that it was typed as in its place."""
    name, space, rest = message.partition(" ")
    for parameter in parameters:
        if parameter.name == name and parameter.param_type_name == "option":
            return f"{parameter.opts[0]}{space}{rest}"
    return message
