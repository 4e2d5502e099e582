"""Types that several signatures name. Only type checkers import this module: annotations are never evaluated."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Union

from numpy.typing import ArrayLike as ArrayLike, NDArray as NDArray

if TYPE_CHECKING:
    from .models import Model

Path = Union[str, "os.PathLike[str]"]
Data = Union[bytes, bytearray, memoryview]
Source = Union[Path, Data, BinaryIO]
GivenModel = Union["Model", Path, Data]
Image = NDArray[Any]  # (height, width) or (height, width, channels), uint8 or uint16
Images = Iterable[ArrayLike]
Pictures = Union[Path, Iterable[Union[Path, ArrayLike]]]  # what verbs of the program take
PerChannel = Union[float, Sequence[float], NDArray[Any], None]
Progress = Callable[[int], object]
Told = Callable[[str], object]
Layout = Literal["set", "image", "gallery"]
Drawings = Literal["auto", "exact", "lossy"]
Damaged = Literal["raise", "keep"]
BuiltIn = Literal["photo", "tiny", "search"]
