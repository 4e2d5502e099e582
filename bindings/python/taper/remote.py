"""Containers at an address: http and https by ranges, others by fsspec. The decoder plans the ranges that images need;
several are fetched at once, and supplied."""
from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes as c
import functools
import http.client
import os
import re
import threading
import time
import urllib.error
import urllib.request
import weakref

from . import _types as t
from ._errors import ReadError, naming
from ._gate import Gate
from ._library import freed_with, lib
from .sources import options_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, Union

    from .containers import Set
    from .models import Model

    Reader = Union["Http", "FileSystem", "Beginning"]
    Plan = Callable[..., int]  # of where to store ranges, how many at most, and where to store their number

FIRST = 20000  # bytes that mostly hold the front matter, or its root
GAP = 16384  # bytes that a line carries during the latency of a request
IN_FLIGHT = 6
PIECE = 1 << 20  # Python 3.9 takes as much memory as it is asked to read
ALL = 2**64 - 1
TRUNCATED = 10


class Http:
    """The ranges of a file at http:// or https://. It must not change: its ETag, date and length are compared."""

    TRIES, SECONDS, MOST_WHOLE = 3, 60, 1 << 32

    def __init__(self, address: str) -> None:
        self.address = address
        self.size: int | None = None
        self._is: dict[str, str] = {}
        self._whole: bytes | None = None
        self.bytes_read = 0  # by all requests
        self._lock = threading.Lock()

    def read(self, offset: int, size: int) -> bytes:
        """`size` bytes from offset on; fewer at the end of the file."""
        data, failed = b"", 0
        while self._whole is None and len(data) < size and (self.size is None or offset + len(data) < self.size):
            try:
                part = self._read(offset + len(data), size - len(data))
                failed = 0 if part else failed + 1
                data += part
                with self._lock:
                    self.bytes_read += len(part)
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, ReadError):
                    raise
                failed += 1
                if failed == self.TRIES:
                    raise ReadError("%s: %s" % (self.address, str(error) or type(error).__name__)) from error
                time.sleep(0.1 * 2 ** failed)
            if failed == self.TRIES:
                raise ReadError("%s: the answers end early" % self.address)
        return self._whole[offset:offset + size] if self._whole is not None else data

    def _read(self, offset: int, size: int) -> bytes:
        last = offset + size - 1 if self.size is None else min(offset + size, self.size) - 1
        request = urllib.request.Request(self.address, headers={"Range": "bytes=%d-%d" % (offset, last),
                                                                "Accept-Encoding": "identity"})
        try:
            with urllib.request.urlopen(request, timeout=self.SECONDS) as answer:
                return self._whole_file(answer) if answer.status == 200 else self._part(answer, offset, last)
        except urllib.error.HTTPError as error:
            error.close()  # it has the connection
            if error.code in (408, 425, 429) or error.code >= 500:
                raise OSError("the server answers %d" % error.code) from error
            raise ReadError("%s: the server answers %d %s" % (self.address, error.code, error.reason)) from error

    def _part(self, answer: Any, offset: int, last: int) -> bytes:
        """The bytes of an answer, which may be the first of those that were asked for."""
        found = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", answer.headers.get("Content-Range", ""))
        if answer.status != 206 or not found or answer.headers.get_content_maintype() == "multipart":
            raise ReadError("%s: the answer to a range does not say which it is" % self.address)
        first, end, size = map(int, found.groups())
        if first != offset or end > last or end < first or size <= end:
            raise ReadError("%s: the answer is of another range" % self.address)
        self._compare(answer, size)
        try:
            return answer.read(end - first + 1)
        except http.client.IncompleteRead as error:
            return error.partial

    def _whole_file(self, answer: Any) -> bytes:
        """A server without ranges: the file is read once."""
        length = answer.headers.get("Content-Length", "")
        if length.isdigit() and int(length) > self.MOST_WHOLE:
            raise ReadError("%s: the server has no ranges, and the file has %s bytes" % (self.address, length))
        data, part = bytearray(), answer.read(PIECE)
        while part and len(data) < self.MOST_WHOLE:
            data += part
            part = answer.read(PIECE)
        if length.isdigit() and len(data) < int(length):
            raise OSError("the answer ends early")
        self._compare(answer, len(data))
        self._whole = bytes(data)
        return self._whole

    def _compare(self, answer: Any, size: int) -> None:
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise ReadError("%s: the server compresses what it sends" % self.address)
        told = {name: answer.headers.get(name) for name in ("ETag", "Last-Modified")}
        with self._lock:
            changed = [name for name, value in told.items() if value and self._is.get(name, value) != value]
            if changed or self.size not in (None, size):
                raise ReadError("%s: the file has changed since it was opened; open it again" % self.address)
            self._is.update({name: value for name, value in told.items() if value})
            self.size = size


class FileSystem:
    """The ranges of a file of fsspec."""

    def __init__(self, address: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise ImportError("%s: addresses other than http and https need fsspec (pip install fsspec)" %
                              address) from error
        self.address = address
        self._system, self._path = fsspec.core.url_to_fs(address)
        self.size, self.bytes_read, self._lock = self._system.size(self._path), 0, threading.Lock()

    def read(self, offset: int, size: int) -> bytes:
        try:
            data = self._system.cat_file(self._path, start=offset, end=min(offset + size, self.size))
        except OSError as error:
            raise ReadError("%s: %s" % (self.address, error)) from error
        with self._lock:
            self.bytes_read += len(data)
        return data


class Beginning:
    """The first bytes of a file, as if it ended there."""

    def __init__(self, reader: Reader, cut: int) -> None:
        self._reader, self._cut = reader, cut
        self.address: str = reader.address

    @property
    def size(self) -> int | None:
        return None if self._reader.size is None else min(self._reader.size, self._cut)

    @property
    def bytes_read(self) -> int:
        return self._reader.bytes_read

    def read(self, offset: int, size: int) -> bytes:
        return self._reader.read(offset, max(0, min(size, self._cut - offset)))


def new_pool() -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(IN_FLIGHT, "taper")


class RemoteContainer:
    """As sources.Container, with one decoder, which threads use by turns. Its bytes stay in memory until it closes."""

    def __init__(self, reader: Reader, model: Model | None) -> None:
        self._reader, self.model = reader, model
        self.opened = self.name = reader.address
        self._lock, self._scale, self.gate = threading.RLock(), 1, Gate("set")
        self._cut: dict[int, RemoteContainer] = {}
        self.lent: weakref.WeakSet[Model] = weakref.WeakSet()  # its models, which must not outlive it
        self._pool, self._process = new_pool(), os.getpid()
        out, options = c.c_void_p(), options_of(model)
        lib.decoder_new_streaming(c.addressof(out), c.addressof(options))
        self._decoder = out.value
        self._free = freed_with(self, lib.decoder_free, self._decoder)
        with naming(self.name):
            self._supply([(0, FIRST)])
            while not lib.decoder_container(self._decoder):
                self._supply(self._planned(lambda *to: lib.decoder_plan(self._decoder, 0, 0, *to)))

    @property
    def bytes_read(self) -> int:
        return self._reader.bytes_read

    @property
    def handle(self) -> int | None:
        if self.gate.closed:
            raise ValueError("the set is closed")
        return lib.decoder_container(self._decoder)

    def _planned(self, plan: Plan, most: int = 4096) -> list[tuple[int, int]]:
        ranges, count = (t.Range * most)(), c.c_size_t()
        plan(c.addressof(ranges), most, c.addressof(count))
        return [(r.offset, r.size) for r in ranges[:min(count.value, most)]]

    def _supply(self, ranges: Iterable[tuple[int, int]]) -> None:
        if self._process != os.getpid():  # this one was forked: the threads are in the other
            self._pool, self._process = new_pool(), os.getpid()
        fetched = [(offset, self._pool.submit(self._reader.read, offset, size)) for offset, size in ranges]
        for offset, future in fetched:
            data = future.result()
            if not data:
                raise ReadError("%s: the file ends before byte %d" % (self._reader.address, offset))
            lib.decoder_supply(self._decoder, offset, data, len(data))

    def _complete(self, plan: Plan) -> None:
        """Fetch and supply until nothing is missing that the server has."""
        seen = None
        while True:
            size = self._reader.size
            ranges = [r for r in self._planned(plan) if size is None or r[0] < size]
            if not ranges or ranges == seen:  # what a cut file lacks
                return
            self._supply(ranges)
            seen = ranges

    def fetch_front(self, number: int) -> None:
        """Another cut makes the decoder drop what it has decoded: it is asked only where front matter is missing."""
        info = t.ImageInfo()
        with self._lock:
            if lib.container_get_image(self.handle, number, c.addressof(info), allow=(TRUNCATED,)):
                self._complete(lambda *to: lib.decoder_plan(self._decoder, number, 1, *to))

    @contextlib.contextmanager
    def decoding(self, view: Set, numbers: Sequence[int], scale: int = 1) -> Iterator[int | None]:
        if view._passes:
            raise ValueError("of a set at an address, limit bytes rather than passes")
        with self.gate, self._lock:
            if view._cut and self._has_stages:
                cut = self._cut_to(view._cut)
                with cut.decoding(view._with(cut=0), numbers, scale) as decoder:
                    yield decoder
                return
            if scale != self._scale:
                lib.decoder_set_scale(self._decoder, scale)
                self._scale = scale
            listed = (c.c_uint64 * len(numbers))(*(int(number) for number in numbers))
            options = t.PlanOptions(image=c.cast(listed, c.c_void_p), n=len(listed), cut=view._cut or ALL, max_gap=GAP)
            with naming(self.name):
                self._complete(lambda *to: lib.decoder_plan_images(self._decoder, c.addressof(options), *to))
                yield self._decoder

    @functools.cached_property
    def _has_stages(self) -> bool:
        """The container carries its model in parts. A decoder keeps those that it has got, also for a shorter cut."""
        info = t.ContainerInfo()
        lib.container_get_info(self.handle, c.addressof(info))
        return self.model is None and any(lib.container_layer_stage(self.handle, k) for k in range(info.layers))

    def _cut_to(self, cut: int) -> RemoteContainer:
        """One with a decoder that gets no byte behind the cut; the last four are kept."""
        if cut not in self._cut:
            while len(self._cut) >= 4:
                self._cut.pop(next(iter(self._cut))).close_all()
            self._cut[cut] = RemoteContainer(Beginning(self._reader, cut), None)
        return self._cut[cut]

    def close_all(self) -> None:
        self.gate.close()
        for cut in self._cut.values():
            cut.close_all()
        self._pool.shutdown()
        if not self.lent:
            self._free()


def open_address(address: str, model: Model | None) -> RemoteContainer:
    plain = address.startswith(("http://", "https://"))
    return RemoteContainer(Http(address) if plain else FileSystem(address), model)
