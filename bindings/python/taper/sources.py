"""Where the bytes of a container come from: files, memory, file objects, and, in remote.py, addresses."""
from __future__ import annotations

import contextlib
import ctypes as c
import os
import threading
import weakref

from . import _types as t
from ._errors import naming
from ._gate import Gate
from ._library import free_in, freed_with, lib, path as encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO

    from ._hints import Data, Path, Source
    from .containers import Set
    from .models import Model
    from .remote import RemoteContainer


class Container:
    """An open container of the library, which any number of threads share. Closed when nothing refers to it.

    model: that which was given; keep: what must stay; opened: how to open it again in another process, or None. Each
    thread of each process has decoders of its own. The container refers to their handles, not to their objects, so
    that no cycle keeps the file open.
    """

    def __init__(self, handle: int | None, model: Model | None, keep: object = None,
                 opened: str | bytes | None = None) -> None:
        self._handle, self.model, self.keep, self.opened = handle, model, keep, opened
        self.name = opened if isinstance(opened, str) else None
        self._local, self.gate = threading.local(), Gate("set")
        self.decoders: set[int | None] = set()
        self.lent: weakref.WeakSet[Model] = weakref.WeakSet()  # its models, which must not outlive it
        self._close = freed_with(self, close_all, handle, self.decoders)
        self._process = os.getpid()

    @property
    def handle(self) -> int | None:
        if self.gate.closed:
            raise ValueError("the set is closed")
        return self._handle

    @contextlib.contextmanager
    def decoding(self, view: Set, numbers: Sequence[int], scale: int = 1) -> Iterator[int | None]:
        """The handle of this thread's decoder for the images of these numbers; it keeps those of its last four uses."""
        held = self._local.__dict__.setdefault("held", {})
        key = os.getpid(), view._cut, view._passes, view._threads
        with self.gate, naming(self.name):
            if key not in held:
                while len(held) >= 4:
                    held.pop(next(iter(held)))
                held[key] = Decoder(self, *key[1:])
            yield held[key].at_scale(scale)

    def fetch_front(self, number: int) -> None:
        """The front matter is there."""

    def close_all(self) -> None:
        self.gate.close()
        free_in(self._process, free_decoders, (self.decoders,))
        if not self.lent:
            self._close()


def free_decoder(handle: int | None, decoders: set[int | None]) -> None:
    """Unless that has happened already."""
    try:
        decoders.remove(handle)
    except KeyError:
        return
    lib.decoder_free(handle)


def free_decoders(decoders: set[int | None]) -> None:
    for decoder in list(decoders):
        free_decoder(decoder, decoders)


def close_all(handle: int | None, decoders: set[int | None]) -> None:
    """The container after its decoders, which use it."""
    free_decoders(decoders)
    lib.container_close(handle)


class Decoder:
    """A decoder of the library, for use while its container is open."""

    def __init__(self, container: Container, cut: int, passes: int, threads: int) -> None:
        out, options = c.c_void_p(), t.DecodeOptions(cut=cut, passes=passes)
        lib.decoder_new(c.addressof(out), container.handle, c.addressof(options))
        self.handle, self._scale = out.value, 1
        container.decoders.add(self.handle)
        freed_with(self, free_decoder, self.handle, container.decoders)
        if threads != 1:
            lib.decoder_set_threads(self.handle, threads)

    def at_scale(self, scale: int) -> int | None:
        """Its handle, once it decodes no more passes than show at 1 / scale."""
        if scale != self._scale:
            lib.decoder_set_scale(self.handle, scale)
            self._scale = scale
        return self.handle


def options_of(model: Model | None) -> Any:
    return t.OpenOptions(model=model.handle if model else None)


def open_path(path: Path, model: Model | None) -> Container:
    out, options = c.c_void_p(), options_of(model)
    path = os.path.abspath(os.fspath(path))
    with naming(path):
        lib.container_open_file(c.addressof(out), encoded(path), c.addressof(options))
    return Container(out.value, model, opened=path)


def open_bytes(data: Data, model: Model | None) -> Container:
    """`bytes` are not copied; others, which may change, are."""
    data = bytes(data)
    out, options = c.c_void_p(), options_of(model)
    lib.container_open_memory(c.addressof(out), data, len(data), c.addressof(options))
    return Container(out.value, model, keep=data, opened=data)


def open_file_object(file: BinaryIO, model: Model | None) -> Container:
    """Anything with read and seek. One thread at a time reads."""
    lock = threading.Lock()
    with lock:
        file.seek(0, os.SEEK_END)
        size = file.tell()

    @t.READ
    def read(_: object, offset: int, to: int, n: int) -> int:
        try:
            with lock:
                file.seek(offset)
                while n:
                    part = file.read(n)
                    if not part:
                        return 40
                    c.memmove(to, bytes(part), len(part))
                    to, n = to + len(part), n - len(part)
            return 0
        except Exception:  # a call from C cannot raise; the library tells that reading failed
            return 40

    source, out, options = t.Source(size=size, read=read), c.c_void_p(), options_of(model)
    lib.container_open(c.addressof(out), c.addressof(source), c.addressof(options))
    return Container(out.value, model, keep=(file, read))


def open_source(source: Source, model: Model | None) -> Container | RemoteContainer:
    if isinstance(source, str) and "://" in source:
        from . import remote
        return remote.open_address(source, model)
    if isinstance(source, (str, os.PathLike)):
        return open_path(source, model)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return open_bytes(source, model)
    if hasattr(source, "read") and hasattr(source, "seek"):
        return open_file_object(source, model)
    raise TypeError("a container is a path, an address, bytes or a file object, not %s" % type(source).__name__)
