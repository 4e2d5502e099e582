"""Index: nearest neighbours of codes of bits, in a file (.tpx) that is mapped."""
import ctypes as c
import os
import weakref

from . import _arrays
from . import _types as t
from ._errors import naming
from ._library import lib, path as path_of, texts


def pack_bits(codes, bits=None):
    """(n, width) numbers to codes of bits, (n, (bits + 63) // 64) uint64: a bit is 1 where the number is above 0."""
    np = _arrays.numpy()
    codes = np.ascontiguousarray(codes, np.float32)
    if codes.ndim != 2:
        raise ValueError("codes are (n, width), not %s" % (codes.shape,))
    bits = codes.shape[1] if bits is None else int(bits)
    if not 1 <= bits <= codes.shape[1]:
        raise ValueError("bits are 1 to %d, not %d" % (codes.shape[1], bits))
    words = np.zeros((len(codes), (bits + 63) // 64), np.uint64)
    lib.index_pack(_arrays.pointer(codes), len(codes), codes.shape[1], bits, _arrays.pointer(words))
    return words


class Index:
    """An index of codes of bits; any number of threads may search it at once."""

    def __init__(self, path):
        """Open an index file. Raises Corrupt, Truncated, NewerVersion, ReadError."""
        self._path, out, info = os.path.abspath(os.fspath(path)), c.c_void_p(), t.IndexInfo()
        with naming(self._path):
            lib.index_open_file(c.addressof(out), path_of(self._path), None)
        self._open = out.value
        self._close = weakref.finalize(self, lib.index_close, self._open)
        lib.index_get_info(self._handle, c.addressof(info))
        self.bits, self._images, self.model_id = info.bits, info.images, info.model_id

    @property
    def _handle(self):
        if not self._close.alive:
            raise ValueError("the index is closed")
        return self._open

    def __len__(self):
        return self._images

    def name(self, i):
        """The name of image i, or None."""
        name = lib.index_name(self._handle, i)
        return name.decode() if name else None

    def label(self, i):
        """The class of image i, or -1."""
        return lib.index_label(self._handle, i)

    def code(self, i):
        """The code of image i: ((bits + 63) // 64,) uint64."""
        code = _arrays.numpy().empty((self.bits + 63) // 64, "uint64")
        lib.index_image_code(self._handle, i, _arrays.pointer(code))
        return code

    def nearest(self, queries, k=10, *, recall=None, within=None, threads=0):
        """The k nearest images of each query, nearest first: (images, distances), both (queries, k) uint32.

        queries: codes (n, (bits + 63) // 64) uint64, or one. recall: the share of true neighbours to find, 0.95 by
        default; 1: exact. within: the largest distance. Places without an image are 2**32 - 1.
        """
        np = _arrays.numpy()
        queries = np.ascontiguousarray(np.atleast_2d(queries), np.uint64)
        if queries.ndim != 2 or queries.shape[1] != (self.bits + 63) // 64:
            raise ValueError("codes of this index have %d words, not %d" % ((self.bits + 63) // 64, queries.shape[-1]))
        if not 1 <= k <= len(self):
            raise ValueError("k is 1 to %d, the images of the index, not %r" % (len(self), k))
        images, distances = np.empty((len(queries), k), np.uint32), np.empty((len(queries), k), np.uint32)
        most = t.U32(within) if within is not None else None
        search = t.IndexSearch(queries=_arrays.pointer(queries), n_queries=len(queries), k=k, recall=recall or 0,
                               within=c.cast(c.pointer(most), c.c_void_p) if most is not None else None,
                               threads=threads)
        lib.index_nearest(self._handle, c.addressof(search), _arrays.pointer(images), _arrays.pointer(distances), None)
        return images, distances

    @classmethod
    def build(cls, codes, path, *, bits=None, names=None, labels=None, classes=None, model_id=0, threads=0):
        """Write an index of codes (n, (bits + 63) // 64) uint64 to a path, and open it. bits: 64 a word by default."""
        np = _arrays.numpy()
        codes = np.ascontiguousarray(codes, np.uint64)
        if codes.ndim != 2:
            raise ValueError("codes are (n, words), not %s" % (codes.shape,))
        index = t.IndexSet(codes=_arrays.pointer(codes), n=len(codes), bits=bits or 64 * codes.shape[1],
                           model_id=model_id)
        held = []
        if names is not None:
            held.append(texts(names, "names", len(codes)))
            index.names = c.cast(held[-1], c.c_void_p)
        if labels is not None:
            held.append(np.ascontiguousarray(labels, np.int32))
            if held[-1].shape != (len(codes),):
                raise ValueError("there are %s labels for %d images" % (held[-1].shape, len(codes)))
            index.labels = _arrays.pointer(held[-1])
            classes = classes or ["%d" % k for k in range(int(held[-1].max()) + 1)]
            held.append(texts(classes, "classes"))
            index.class_names, index.classes = c.cast(held[-1], c.c_void_p), len(classes)
        write_file(path, lambda sink: lib.index_build(c.addressof(index), threads, sink))
        return cls(path)

    def close(self):
        self._close()

    def __repr__(self):
        return "<taper.Index: %d images, %d bits>" % (len(self), self.bits)

    def __reduce__(self):
        return Index, (self._path,)


def write_file(path, write):
    """Let the library write a file, which appears whole or not at all."""
    path = os.fspath(path)
    part = "%s.part-%d" % (path, os.getpid())
    try:
        with open(part, "wb") as file:
            @t.WRITE
            def append(_, data, n):
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
