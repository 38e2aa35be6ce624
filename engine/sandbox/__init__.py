"""Run one function in a limited child process.

`run` asks once, `conversation` keeps the child and asks many times, `held` says which limits hold on this machine.

The confined function is ``f(request: dict, talk: Talk) -> dict``, named "module.path:function". JSON goes in and out
over private pipes; arrays travel as files in the folder given as `write`. The sandbox is the boundary behind which a
model file or an evaluation set is opened; the static checks in front of it are only the first door.
"""

from engine.sandbox.parent import Child, conversation, run
from engine.sandbox.probe import held
from engine.sandbox.start import Limits
from engine.sandbox.talk import Talk

__all__ = ["Child", "Limits", "Talk", "conversation", "held", "run"]
