"""Exceptions: the sentence of the library; the class says what the caller can do about it."""
from __future__ import annotations

import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class TaperError(Exception):
    """A failure of the library. `fact` and `needed` are those of taper_error."""

    def __init__(self, text: str, fact: int = 0, needed: int = 0) -> None:
        super().__init__(text)
        self.fact, self.needed = fact, needed


class ArgumentError(TaperError, ValueError):
    """An argument is out of range: correct the call."""


class OutOfMemory(TaperError, MemoryError):
    """Memory is lacking."""


class Truncated(TaperError, EOFError):
    """The file ends within its front matter: supply more bytes."""


class Corrupt(TaperError, ValueError):
    """The file is damaged, or of another kind: fetch it again."""


class NewerVersion(TaperError):
    """The file is of a version that this library cannot read: update."""


class AboveLimit(TaperError, MemoryError):
    """The file needs more than a limit allows: raise the limit if the source is trusted."""


class ModelMissing(TaperError, LookupError):
    """The container needs a model that it does not carry: give `model`."""


class Unsupported(TaperError, ValueError):
    """The library does not support this input or operation."""


class DeviceError(TaperError):
    """The driver of the device reported an error."""


class ReadError(TaperError, OSError):
    """The system, or the server, refused a read or write."""


class Exists(TaperError, FileExistsError):
    """The file exists, and overwriting was not requested."""


OF_STATUS = {1: ArgumentError, 2: OutOfMemory, 10: Truncated, 11: Corrupt, 12: NewerVersion, 13: AboveLimit,
             20: ModelMissing, 30: Unsupported, 31: DeviceError, 40: ReadError, 41: Exists}


# What to do about it, by the number of taper_fact, where the library's sentence does not say so.
REMEDIES = {6: "give it as `model`", 7: "blend it with a background, or drop it",
            8: "scale it to that size, or train a model on images of its own",
            10: "give `threads` of 1", 16: "taper.train makes one", 17: "taper.Index.build makes one",
            18: "taper.encode makes one"}


@contextlib.contextmanager
def naming(path: str | None) -> Iterator[None]:
    """Errors begin with the path that they are about."""
    try:
        yield
    except TaperError as error:
        if not path or str(error).startswith(path):
            raise
        raise type(error)("%s: %s" % (path, error), error.fact, error.needed) from None
