"""Containers at an address: http and https by ranges, others by fsspec. The decoder plans the ranges that images need; several
are fetched at once, and supplied."""
import concurrent.futures
import contextlib
import ctypes as c
import threading
import weakref

from . import _types as t
from ._errors import ReadError
from ._library import lib
from .sources import options_of

FIRST = 20000  # bytes that mostly hold the front matter, or its root
GAP = 16384  # bytes that a line carries during the latency of a request
IN_FLIGHT = 6
ALL = 2**64 - 1


class Http:
    """The ranges of a file at http:// or https://. It must not change meanwhile: its ETag and length are compared."""

    TRIES, SECONDS = 3, 60

    def __init__(self, address):
        self.address, self.size, self._etag, self._whole = address, None, None, None

    def read(self, offset, size):
        """`size` bytes from offset on; fewer at the end of the file."""
        if self._whole is not None:
            return self._whole[offset:offset + size]
        for attempt in range(self.TRIES):
            try:
                return self._read(offset, size)
            except ReadError:
                raise
            except OSError as error:
                if attempt == self.TRIES - 1:
                    raise ReadError("%s: %s" % (self.address, error)) from error

    def _read(self, offset, size):
        import urllib.error
        import urllib.request
        last = offset + size - 1 if self.size is None else min(offset + size, self.size) - 1
        request = urllib.request.Request(self.address, headers={"Range": "bytes=%d-%d" % (offset, last),
                                                                "Accept-Encoding": "identity"})
        try:
            with urllib.request.urlopen(request, timeout=self.SECONDS) as answer:
                return self._take(answer, offset, last)
        except urllib.error.HTTPError as error:
            if error.code in (408, 425, 429) or error.code >= 500:
                raise OSError("the server answers %d" % error.code) from error
            raise ReadError("%s: the server answers %d %s" % (self.address, error.code, error.reason)) from error

    def _take(self, answer, offset, last):
        if answer.status == 200:  # no ranges
            self._same(answer, None)
            self._whole = answer.read()
            self.size = len(self._whole)
            return self._whole[offset:last + 1]
        total = answer.headers.get("Content-Range", "").rpartition("/")[2]
        if answer.status != 206 or not total.isdigit():
            raise ReadError("%s: the answer to a range has no length" % self.address)
        self._same(answer, int(total))
        data = answer.read()
        if len(data) != min(last + 1, self.size) - offset:
            raise OSError("the answer ends early")
        return data

    def _same(self, answer, size):
        etag = answer.headers.get("ETag")
        if self._etag and etag and etag != self._etag or self.size and size and size != self.size:
            raise ReadError("%s: the file has changed; open it again" % self.address)
        self._etag, self.size = etag or self._etag, size or self.size


class FileSystem:
    """The ranges of a file of fsspec."""

    def __init__(self, address):
        try:
            import fsspec
        except ImportError as error:
            raise ImportError("%s: addresses other than http and https need fsspec (pip install fsspec)" % address) from error
        self.address = address
        self._system, self._path = fsspec.core.url_to_fs(address)
        self.size = self._system.size(self._path)

    def read(self, offset, size):
        try:
            return self._system.cat_file(self._path, start=offset, end=min(offset + size, self.size))
        except OSError as error:
            raise ReadError("%s: %s" % (self.address, error)) from error


class RemoteContainer:
    """As sources.Container, with one decoder, which threads use by turns. Its bytes stay in memory until it is closed."""

    def __init__(self, reader, model):
        self._reader, self.model, self.opened = reader, model, reader.address
        self._lock, self._scale, self.handle = threading.RLock(), 1, None
        self._pool = concurrent.futures.ThreadPoolExecutor(IN_FLIGHT, "taper")
        out, options = c.c_void_p(), options_of(model)
        lib.decoder_new_streaming(c.addressof(out), c.addressof(options))
        self._decoder = out.value
        self._free = weakref.finalize(self, lib.decoder_free, self._decoder)
        self._supply([(0, FIRST)])
        while not lib.decoder_container(self._decoder):
            self._supply(self._planned(lambda *to: lib.decoder_plan(self._decoder, 0, 0, *to)))
        self.handle = lib.decoder_container(self._decoder)

    def _planned(self, plan, most=4096):
        ranges, count = (t.Range * most)(), c.c_size_t()
        plan(c.addressof(ranges), most, c.addressof(count))
        return [(r.offset, r.size) for r in ranges[:min(count.value, most)]]

    def _supply(self, ranges):
        fetched = [(offset, self._pool.submit(self._reader.read, offset, size)) for offset, size in ranges]
        for offset, future in fetched:
            data = future.result()
            if not data:
                raise ReadError("%s: the file ends before byte %d" % (self._reader.address, offset))
            lib.decoder_supply(self._decoder, offset, data, len(data))

    def _complete(self, plan):
        """Fetch and supply until nothing is missing that the server has."""
        seen = None
        while True:
            size = self._reader.size
            ranges = [r for r in self._planned(plan) if size is None or r[0] < size]
            if not ranges or ranges == seen:  # what a cut file lacks
                return
            self._supply(ranges)
            seen = ranges

    def fetch_front(self, number):
        with self._lock:
            self._complete(lambda *to: lib.decoder_plan(self._decoder, number, 1, *to))

    @contextlib.contextmanager
    def decoding(self, view, numbers, scale=1):
        if view._passes:
            raise ValueError("of a set at an address, limit bytes rather than passes")
        with self._lock:
            if scale != self._scale:
                lib.decoder_set_scale(self._decoder, scale)
                self._scale = scale
            listed = (c.c_uint64 * len(numbers))(*(int(number) for number in numbers))
            options = t.PlanOptions(image=c.cast(listed, c.c_void_p), n=len(listed), cut=view._cut or ALL, max_gap=GAP)
            self._complete(lambda *to: lib.decoder_plan_images(self._decoder, c.addressof(options), *to))
            yield self._decoder

    def close_all(self):
        self._pool.shutdown()
        self._free()


def open_address(address, model):
    plain = address.startswith(("http://", "https://"))
    return RemoteContainer(Http(address) if plain else FileSystem(address), model)
