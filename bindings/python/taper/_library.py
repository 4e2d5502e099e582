"""Finds and loads libtaper, and calls its functions: a status that is not 0 becomes an exception.

ctypes releases the interpreter lock during every call.
"""
from __future__ import annotations

import ctypes as c
import operator
import os
import weakref

from . import _errors
from . import _types as t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, NoReturn

    from ._hints import Path

STATUS, HANDLE, OUT, TEXT, NOTHING = "status", c.c_void_p, c.c_void_p, c.c_char_p, None
U32, U64, SIZE = t.U32, t.U64, t.SIZE

# Functions with a status, without the pointer to the error, which comes last.
CHECKED: dict[str, tuple[Any, ...]] = {
    "encoder_new": (OUT, HANDLE, c.c_void_p),
    "encoder_add": (HANDLE, c.c_void_p, TEXT, c.c_int32),
    "encoder_set_aim": (HANDLE, c.c_double),
    "encoder_set_classes": (HANDLE, c.c_void_p, SIZE),
    "encoder_finish": (HANDLE, U64, c.c_void_p),
    "encoder_finish_file": (HANDLE, U64, TEXT),
    "container_open": (OUT, c.c_void_p, c.c_void_p),
    "container_open_file": (OUT, TEXT, c.c_void_p),
    "container_open_memory": (OUT, TEXT, SIZE, c.c_void_p),
    "container_get_info": (HANDLE, OUT),
    "container_get_image": (HANDLE, U64, OUT),
    "container_group": (HANDLE, U32, OUT, OUT),
    "container_layer": (HANDLE, U64, U32, OUT, OUT),
    "container_search_code": (HANDLE, U64, OUT),
    "decoder_new": (OUT, HANDLE, c.c_void_p),
    "decoder_new_streaming": (OUT, c.c_void_p),
    "decoder_plan": (HANDLE, U64, U64, OUT, SIZE, OUT),
    "decoder_plan_name": (HANDLE, TEXT, U64, OUT, SIZE, OUT, OUT),
    "decoder_plan_images": (HANDLE, c.c_void_p, OUT, SIZE, OUT),
    "decoder_supply": (HANDLE, U64, c.c_void_p, SIZE),
    "decoder_set_threads": (HANDLE, c.c_uint),
    "decoder_set_scale": (HANDLE, U32),
    "decoder_render": (HANDLE, U64, OUT, OUT),
    "decoder_render_scaled": (HANDLE, U64, U32, OUT, OUT),
    "decoder_render_crop": (HANDLE, U64, U32, c.c_void_p, OUT, OUT),
    "decoder_render_batch": (HANDLE, c.c_void_p),
    "decoder_codes": (HANDLE, U64, U32, U32, OUT, OUT, OUT),
    "model_load": (OUT, c.c_void_p, SIZE, c.c_void_p),
    "model_load_file": (OUT, TEXT, c.c_void_p),
    "model_builtin": (OUT, TEXT),
    "model_get_info": (HANDLE, OUT),
    "embedder_new": (OUT, HANDLE, c.c_uint),
    "embedder_codes": (HANDLE, c.c_void_p, SIZE, OUT),
    "embedder_margins": (HANDLE, c.c_void_p, SIZE, OUT),
    "index_pack": (c.c_void_p, SIZE, SIZE, U32, OUT),
    "index_build": (c.c_void_p, c.c_uint, c.c_void_p),
    "index_open": (OUT, c.c_void_p, U64, c.c_void_p),
    "index_open_file": (OUT, TEXT, c.c_void_p),
    "index_join": (OUT, c.c_void_p, SIZE, c.c_void_p),
    "index_get_info": (HANDLE, OUT),
    "index_nearest": (HANDLE, c.c_void_p, OUT, OUT, OUT),
    "index_image_code": (HANDLE, U64, OUT),
    "image_scale": (c.c_void_p, U32, U32, OUT),
    "quality_measure": (c.c_void_p, c.c_void_p, OUT),
}
# The other functions: the type that they return, and their arguments.
OTHER: dict[str, tuple[Any, ...]] = {
    "version": (TEXT,),
    "encoder_free": (NOTHING, HANDLE),
    "container_close": (NOTHING, HANDLE),
    "container_model": (HANDLE, HANDLE),
    "container_class_name": (TEXT, HANDLE, U32),
    "container_image_at": (U64, HANDLE, U64),
    "container_layer_stage": (U32, HANDLE, U32),
    "decoder_container": (HANDLE, HANDLE),
    "decoder_bytes_needed": (U64, HANDLE),
    "decoder_free": (NOTHING, HANDLE),
    "model_free": (NOTHING, HANDLE),
    "model_builtin_name": (TEXT, SIZE),
    "model_builtin_of": (TEXT, U64),
    "model_builtin_bytes": (c.c_void_p, TEXT, c.c_void_p),
    "family_name": (TEXT, c.c_int),
    "embedder_free": (NOTHING, HANDLE),
    "index_close": (NOTHING, HANDLE),
    "index_name": (TEXT, HANDLE, U64),
    "index_label": (c.c_int32, HANDLE, U64),
    "index_class_name": (TEXT, HANDLE, U32),
    "image_free": (NOTHING, c.c_void_p),
}
MOST_THREADS = 4096
NAMES = ("libtaper.so.1", "libtaper.so")


def find() -> list[str]:
    """The library that TAPER_LIBRARY names, that of the package, or that of the system."""
    named = os.environ.get("TAPER_LIBRARY")
    if named:
        return [named]
    here = os.path.dirname(os.path.abspath(__file__))
    return [os.path.join(here, name) for name in NAMES if os.path.exists(os.path.join(here, name))] + list(NAMES)


def load() -> c.CDLL:
    reasons = []
    for path in find():
        try:
            return c.CDLL(path)
        except OSError as error:
            reasons.append(str(error))
    raise ImportError("libtaper cannot be loaded: install it (Debian: libtaper1), or name it in the environment "
                      "variable TAPER_LIBRARY. " + "; ".join(reasons))


class Library:
    """The functions of the library, without their prefix: those with a status raise TaperError."""

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...

    def __init__(self) -> None:
        self._c = load()
        for name, (returns, *takes) in OTHER.items():
            function = getattr(self._c, "taper_" + name)
            function.restype, function.argtypes = returns, takes
            setattr(self, name, function)
        for name, arguments in CHECKED.items():
            function = getattr(self._c, "taper_" + name)
            function.restype, function.argtypes = c.c_int, [*arguments, c.c_void_p]
            setattr(self, name, checked(function))


def checked(function: Callable[..., int]) -> Callable[..., int]:
    def call(*arguments: object, allow: tuple[int, ...] = ()) -> int:
        """allow: statuses that are returned rather than raised."""
        error = t.Error()
        status = function(*arguments, c.addressof(error))
        if status and status not in allow:
            fail(status, error)
        return status
    return call


def fail(status: int, error: Any) -> NoReturn:
    said = error.text.decode("utf-8", "replace") or "status %d" % status
    if error.fact in _errors.REMEDIES:
        said += "; " + _errors.REMEDIES[error.fact]
    raise _errors.OF_STATUS.get(status, _errors.TaperError)(said, error.fact, error.needed)


def text(value: str, what: str) -> bytes:
    """A name as bytes. TypeError, ValueError: it is no str, or has a NUL, which would end it."""
    if not isinstance(value, str):
        raise TypeError("%s is a str, not %s" % (what, type(value).__name__))
    if "\0" in value:
        raise ValueError("%s has a NUL: %r" % (what, value))
    return value.encode()


def path(value: Path) -> bytes:
    """A path as bytes."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError("a path has a NUL: %r" % (value,))
    return encoded


def texts(values: Iterable[str], what: str, count: int | None = None) -> c.Array[c.c_char_p]:
    """An array of char * for the library; ValueError: there are not `count`."""
    values = list(values)
    if count is not None and len(values) != count:
        raise ValueError("there are %d of %s for %d images" % (len(values), what, count))
    return (c.c_char_p * len(values))(*(text(value, what) for value in values))


def whole(what: str, value: Any, low: int = 1, high: int = 2**31 - 1) -> int:
    """A whole number within a range. TypeError, ValueError: it is none."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError("%s is a whole number, not %r" % (what, value)) from None
    if not low <= number <= high:
        raise ValueError("%s is %d to %d, not %d" % (what, low, high, number))
    return number


def freed_with(owner: object, free: Callable[..., object], *arguments: object) -> weakref.finalize:
    """Calls free(*arguments) when the owner is gone, or when the result is called. Not at the end of the interpreter:
    other threads may still be in the library. Not in a forked process: it lacks the threads of the library."""
    made = weakref.finalize(owner, free_in, os.getpid(), free, arguments)
    made.atexit = False
    return made


def free_in(process: int, free: Callable[..., object], arguments: tuple[object, ...]) -> None:
    if os.getpid() == process:
        free(*arguments)


def choice(name: str, value: str, choices: Mapping[str, int]) -> int:
    if value not in choices:
        raise ValueError("%s is one of %s, not %r" % (name, ", ".join(choices), value))
    return choices[value]


lib = Library()
