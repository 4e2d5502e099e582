"""Model: how images become codes; and codes of images for search."""
from __future__ import annotations

import ctypes as c
import os

from . import _arrays
from . import _types as t
from ._errors import naming
from ._library import freed_with, lib, path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._hints import BuiltIn, Data, GivenModel, Images, NDArray, Path
    from .remote import RemoteContainer
    from .sources import Container

FIELDS = ("channels", "window_width", "window_height", "units", "passes", "weights", "id", "file_bytes", "lap", "work",
          "classes", "cells_across", "cells_down", "convolutions")


class Model:
    """A model of a file (.tpm), or a built-in one. It does not change; any number of threads may use it."""

    channels: int
    window_width: int
    window_height: int
    units: int
    passes: int
    weights: int
    id: int
    file_bytes: int
    lap: int
    work: int
    classes: int
    cells_across: int  # of a model of gradient orientations; else 0
    cells_down: int
    convolutions: int  # convolutional layers of an embedding model
    report: dict[str, Any]  # of taper.train

    def __init__(self, handle: int | None, keep: Container | RemoteContainer | None = None, owned: bool = False,
                 opened: str | bytes | None = None) -> None:
        if handle is not None and not isinstance(handle, int):
            raise TypeError("a model of a path or of bytes is Model.load(...), a built-in one Model.builtin(...)")
        self.handle, self._keep, self._opened = handle, keep, opened
        if keep is not None:
            keep.lent.add(self)
        if owned:
            freed_with(self, lib.model_free, handle)
        info = t.ModelInfo()
        lib.model_get_info(handle, c.addressof(info))
        self.family = lib.family_name(info.family).decode()
        self.is_binary, self.is_embedding = bool(info.binary), bool(info.embedding)
        self.objective = info.objective.decode()
        for name in FIELDS:
            setattr(self, name, getattr(info, name))

    @classmethod
    def load(cls, source: Path | Data) -> Model:
        """Of a path, or of the bytes of a file. Raises Corrupt, NewerVersion, ReadError, AboveLimit."""
        out = c.c_void_p()
        if isinstance(source, (bytes, bytearray, memoryview)):
            source = bytes(source)
            lib.model_load(c.addressof(out), source, len(source), None)
        else:
            source = os.path.abspath(os.fspath(source))
            with naming(source):
                lib.model_load_file(c.addressof(out), path(source), None)
        return cls(out.value, owned=True, opened=source)

    @classmethod
    def builtin(cls, name: BuiltIn | str) -> Model:
        """ "photo", for photographs and other large images; "tiny", for images of about 32 x 32 pixels; or "search",
        whose codes of bits are for taper.Index."""
        out = c.c_void_p()
        lib.model_builtin(c.addressof(out), name.encode())
        return cls(out.value, owned=True, opened="builtin:" + name)

    @property
    def file(self) -> bytes:
        """The contents of its file, for containers that carry it."""
        if isinstance(self._opened, bytes):
            return self._opened
        if self._opened and self._opened.startswith("builtin:"):
            size = c.c_size_t()
            start = lib.model_builtin_bytes(self._opened[8:].encode(), c.addressof(size))
            return c.string_at(start, size.value)
        if self._opened:
            with open(self._opened, "rb") as file:
                return file.read()
        raise ValueError("the file of a model that a container carries is not kept")

    def embed(self, images: Images, *, threads: int = 0, margins: bool = False) -> NDArray[Any]:
        """Codes of images, one a row: (n, units) float32.

        images: arrays of the size of the model's window, (window_height, window_width) or with channels; for embedding
        models of any size. margins: of binary models how far each value is above its threshold, instead of its bit.
        """
        np = _arrays.numpy()
        pairs = [_arrays.image_of(image) for image in images]
        structs = (t.Image * len(pairs))(*(image for image, _ in pairs))
        codes, out = np.empty((len(pairs), self.units), np.float32), c.c_void_p()
        lib.embedder_new(c.addressof(out), self.handle, threads)
        try:
            compute = lib.embedder_margins if margins else lib.embedder_codes
            if pairs:
                compute(out.value, c.addressof(structs), len(pairs), _arrays.pointer(codes))
        finally:
            lib.embedder_free(out.value)
        return codes

    def __repr__(self) -> str:
        kind = "bits" if self.is_binary else "embedding" if self.is_embedding else self.family
        return "<taper.Model: %s, windows of %d x %d, %d units>" % (
            kind, self.window_width, self.window_height, self.units)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._opened is None:
            raise TypeError("a model that a container carries cannot be sent to another process alone")
        return given_model, (self._opened,)


def given_model(model: GivenModel) -> Model:
    """Of a Model, a path, the bytes of a file, or a name of a built-in model."""
    if isinstance(model, Model):
        return model
    if isinstance(model, str) and model.startswith("builtin:"):
        return Model.builtin(model[8:])
    if isinstance(model, str) and model in builtin_names() and not os.path.exists(model):
        return Model.builtin(model)
    return Model.load(model)


def builtin_names() -> list[str]:
    names: list[bytes] = []
    while lib.model_builtin_name(len(names)):
        names.append(lib.model_builtin_name(len(names)))
    return [name.decode() for name in names]


def embed(images: Images, model: GivenModel | None = None, **options: Any) -> NDArray[Any]:
    """The codes of images by a model, a Model or its path, by default the built-in "search": see Model.embed."""
    return (Model.builtin("search") if model is None else given_model(model)).embed(images, **options)
