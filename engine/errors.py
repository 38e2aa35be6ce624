"""Every error the product raises on purpose.

WhetstoneError              shown to the user as is: what is wrong, the value seen, what to do
├── BadInput                something the user gave cannot be used
│   ├── BadModel            a model file: unknown, damaged, refused, or made for another version
│   ├── BadData             an evaluation set: unreadable, empty, wrong columns, wrong values
│   ├── Mismatch            model and data do not belong together
│   ├── InvalidRecipe       unknown lever, bad parameter, formats that do not meet
│   └── InvalidRequest      any other value out of its range (a promise, a batch, a name)
├── DoesNotFit              a lever or runtime cannot handle this artefact on this machine
├── NotFound                no study, experiment or artefact has this id
├── ParityFailed            a converted artefact does not give the original's answers
├── Contained               the confined child was stopped: memory, time, signal
├── NoSpace                 the disk is full; nothing half-written is left
├── Conflict                somebody else changed it first, or it is frozen
├── SchemaTooNew            the history was written by a newer Whetstone
└── HistoryUnavailable      the database cannot be reached or stays busy; trying again later may help
"""


class WhetstoneError(Exception):
    """A problem the user can act on. The message says what, the value seen and what to do."""


class BadInput(WhetstoneError):
    """Something the user gave cannot be used."""


class BadModel(BadInput):
    """A model file that is unknown, damaged, refused, or made for another version."""


class BadData(BadInput):
    """An evaluation set that cannot be read or used."""


class Mismatch(BadInput):
    """Model and evaluation set do not belong together."""


class InvalidRecipe(BadInput):
    """The chain cannot be built: unknown lever, bad parameter, formats that do not meet."""


class InvalidRequest(BadInput):
    """A value outside its range: a promise, a batch size, a name."""


class DoesNotFit(WhetstoneError):
    """A lever or runtime cannot handle this artefact on this machine."""


class NotFound(WhetstoneError):
    """No study, experiment or artefact has this id."""


class ParityFailed(WhetstoneError):
    """A converted artefact does not give the original's answers."""


class Contained(WhetstoneError):
    """The confined child was stopped. `reason` is memory, timeout, signal or exit."""

    def __init__(self, message: str, reason: str = "exit") -> None:
        super().__init__(message)
        self.reason = reason


class NoSpace(WhetstoneError):
    """The disk is full; nothing half-written is left."""


class Conflict(WhetstoneError):
    """Somebody else changed it first, or it is frozen."""


class SchemaTooNew(WhetstoneError):
    """The history was written by a newer Whetstone; it was not touched."""


class HistoryUnavailable(WhetstoneError):
    """The database cannot be reached or stays busy; trying again later may help."""
