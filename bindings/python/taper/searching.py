"""Index: nearest neighbours of codes of bits, in a file (.tpx) that is mapped."""
from __future__ import annotations

import ctypes as c
import os

from . import _arrays
from . import _types as t
from ._errors import naming
from ._gate import Gate
from ._library import freed_with, lib, path as path_of, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ._hints import ArrayLike, NDArray, Path


def pack_bits(codes: ArrayLike, bits: int | None = None) -> NDArray[Any]:
    """(n, width) numbers to codes of bits, (n, (bits + 63) // 64) uint64: a bit is 1 where the number is above 0."""
    np = _arrays.numpy()
    values = np.ascontiguousarray(codes, np.float32)
    if values.ndim != 2:
        raise ValueError("codes are (n, width), not %s" % (values.shape,))
    n, width = values.shape
    bits = width if bits is None else int(bits)
    if not 1 <= bits <= width:
        raise ValueError("bits are 1 to %d, not %d" % (width, bits))
    words = np.zeros((n, (bits + 63) // 64), np.uint64)
    lib.index_pack(_arrays.pointer(values), n, width, bits, _arrays.pointer(words))
    return words


class Index:
    """An index of codes of bits; any number of threads may search it at once."""

    def __init__(self, path: Path | Iterable[Path]) -> None:
        """Open an index file, or several as one: their images are numbered one file after the other.

        Raises Corrupt, Truncated, NewerVersion, ReadError; ValueError if they do not have one model and code length.
        """
        several = not isinstance(path, (str, os.PathLike))
        self.paths = [os.path.abspath(os.fspath(one)) for one in cast_paths(path)]
        self._path, info = self.paths if several else self.paths[0], t.IndexInfo()
        handles = open_all(self.paths, several)
        self._open = handles[0]
        self._close, self._gate = freed_with(self, close_all, handles), Gate("index")
        lib.index_get_info(self._open, c.addressof(info))
        self.bits, self._images, self.model_id = info.bits, info.images, info.model_id

    def __len__(self) -> int:
        return self._images

    def name(self, i: int) -> str | None:
        """The name of image i, or None."""
        with self._gate:
            name = lib.index_name(self._open, i)
            return name.decode() if name else None

    def label(self, i: int) -> int:
        """The class of image i, or -1."""
        with self._gate:
            return lib.index_label(self._open, i)

    def code(self, i: int) -> NDArray[Any]:
        """The code of image i: ((bits + 63) // 64,) uint64."""
        code = _arrays.numpy().empty((self.bits + 63) // 64, "uint64")
        with self._gate:
            lib.index_image_code(self._open, i, _arrays.pointer(code))
        return code

    def nearest(self, queries: ArrayLike, k: int = 10, *, recall: float | None = None, within: int | None = None,
                threads: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
        """The k nearest images of each query, nearest first: (images, distances), both (queries, k) uint32.

        queries: codes (n, (bits + 63) // 64) uint64, or one. recall: the share of true neighbours to find, 0.95 by
        default; 1: exact. within: the largest distance. Places without an image are 2**32 - 1.
        """
        np = _arrays.numpy()
        wanted = np.ascontiguousarray(np.atleast_2d(queries), np.uint64)
        if wanted.ndim != 2 or wanted.shape[1] != (self.bits + 63) // 64:
            raise ValueError("codes of this index have %d words, not %d" % ((self.bits + 63) // 64, wanted.shape[-1]))
        if not 1 <= k <= len(self):
            raise ValueError("k is 1 to %d, the images of the index, not %r" % (len(self), k))
        images, distances = np.empty((len(wanted), k), np.uint32), np.empty((len(wanted), k), np.uint32)
        most = t.U32(within) if within is not None else None
        search = t.IndexSearch(queries=_arrays.pointer(wanted), n_queries=len(wanted), k=k, recall=recall or 0,
                               within=c.cast(c.pointer(most), c.c_void_p) if most is not None else None,
                               threads=threads)
        with self._gate:
            lib.index_nearest(self._open, c.addressof(search), _arrays.pointer(images), _arrays.pointer(distances),
                              None)
        return images, distances

    @classmethod
    def build(cls, codes: ArrayLike, path: Path, *, bits: int | None = None, names: Iterable[str] | None = None,
              labels: ArrayLike | None = None, classes: Iterable[str] | None = None, model_id: int = 0,
              threads: int = 0) -> Index:
        """Write an index of codes (n, (bits + 63) // 64) uint64 to a path, and open it. bits: 64 a word by default."""
        np = _arrays.numpy()
        words = np.ascontiguousarray(codes, np.uint64)
        if words.ndim != 2:
            raise ValueError("codes are (n, words), not %s" % (words.shape,))
        n, width = words.shape
        index = t.IndexSet(codes=_arrays.pointer(words), n=n, bits=bits or 64 * width, model_id=model_id)
        if names is not None:
            held_names = texts(names, "names", n)
            index.names = c.cast(held_names, c.c_void_p)
        if labels is not None:
            held_labels = np.ascontiguousarray(labels, np.int32)
            if held_labels.shape != (n,):
                raise ValueError("there are %s labels for %d images" % (held_labels.shape, n))
            held_classes = texts(classes or ["%d" % k for k in range(int(held_labels.max()) + 1)], "classes")
            index.labels, index.classes = _arrays.pointer(held_labels), len(held_classes)
            index.class_names = c.cast(held_classes, c.c_void_p)
        write_file(path, lambda sink: lib.index_build(c.addressof(index), threads, sink))
        return cls(path)

    def close(self) -> None:
        """Waits for the searches of other threads; what they ask for next is a ValueError."""
        self._gate.close()
        self._close()

    def __repr__(self) -> str:
        return "<taper.Index: %d images, %d bits>" % (len(self), self.bits)

    def __reduce__(self) -> tuple[Any, ...]:
        return Index, (self._path,)


def cast_paths(path: Path | Iterable[Path]) -> Iterable[Path]:
    return [path] if isinstance(path, (str, os.PathLike)) else path


def open_all(paths: list[str], several: bool) -> list[Any]:
    """The handle of the index, then those of the parts that it is joined of."""
    handles: list[Any] = []
    out = c.c_void_p()
    try:
        for path in paths:
            with naming(path):
                lib.index_open_file(c.addressof(out), path_of(path), None)
            handles.append(out.value)
        if several:
            parts = (c.c_void_p * max(1, len(handles)))(*handles)
            lib.index_join(c.addressof(out), c.addressof(parts), len(handles), None)
            handles.insert(0, out.value)
    except BaseException:
        close_all(handles)
        raise
    return handles


def close_all(handles: list[Any]) -> None:
    for handle in handles:
        lib.index_close(handle)


def write_file(path: Path, write: Callable[[int], object]) -> None:
    """Let the library write a file, which appears whole or not at all."""
    path = os.fspath(path)
    part = "%s.part-%d" % (path, os.getpid())
    try:
        with open(part, "wb") as file:
            @t.WRITE
            def append(_: object, data: int, n: int) -> int:
                try:
                    file.write(c.string_at(data, n))
                    return 0
                except OSError:
                    return 40
            sink = t.Sink(write=append)
            write(c.addressof(sink))
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
