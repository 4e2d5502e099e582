"""Sets for training loops of PyTorch.

    import taper.torch
    data = taper.torch.Batches("set.taper", 256, fidelity=80, shuffle=True)
    for epoch in range(10):
        data.set_epoch(epoch)
        for images, labels in torch.utils.data.DataLoader(data, batch_size=None, num_workers=2):
            ...

Workers that are spawned open the file themselves. Those that are forked use it as it is open: create them while no
other thread decodes from the set.
"""
from __future__ import annotations

import hashlib

import torch
import torch.utils.data as data

from . import containers
from ._library import MOST_THREADS, whole
from .batches import checked_channels, gains_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, Literal

    from ._hints import NDArray, PerChannel, Source

MAXIMUM = 2**63 - 1


class Images(data.Dataset):
    """Images one by one: (tensor, label), the tensor uint8 of shape (channels, height, width).

    source: as of taper.open, or a Set. fidelity: bytes an image that are read; None: all. transform: called with the
    tensor. A DataLoader with shuffle=True decodes a whole group for most images of a set of layout `set`: use layout
    `image`, or Batches.
    """

    def __init__(self, source: Source | containers.Set, *, fidelity: int | None = None,
                 transform: Callable[[torch.Tensor], Any] | None = None, channels: int = 3) -> None:
        self._set, self._transform, self._channels = opened(source, fidelity), transform, channels

    def __len__(self) -> int:
        return len(self._set)

    def __getitem__(self, i: int) -> tuple[Any, int]:
        image = torch.from_numpy(self._set.batch([i], channels=self._channels, channels_first=True)[0])
        return (self._transform(image) if self._transform else image), self._set.info(i)["label"]


class Batches(data.IterableDataset):
    """Batches: (tensor, labels). Use a DataLoader with batch_size=None.

    batch_size: images of a batch. The last one of a worker may have fewer, unless drop_last.
    fidelity: bytes an image that are read: the file is taken as cut to so many, on average. None: all. set_fidelity
        changes it.
    shuffle: groups come in random order, and the images of `mix` groups at a time are permuted together: they are in
        memory, as many bytes as their batches. Without it images come in the order of the set. Of n workers each has
        one n-th of the order, in whole batches. With a `seed`, the order depends on it and on set_epoch alone;
        without, on torch.manual_seed.
    width, height, crop: crops of this size, at random places with crop="random", else in the middle; None: whole
        images.
    float32: values (value - mean) / std, from values of 0 to 1; else uint8. channels_first: NCHW, else NHWC.
    pin_memory: tensors are in pinned memory, for copies to a GPU.
    """

    def __init__(self, source: Source | containers.Set, batch_size: int, *, fidelity: int | None = None,
                 shuffle: bool = False, seed: int | None = None, mix: int = 4, drop_last: bool = False,
                 width: int | None = None, height: int | None = None, crop: Literal["middle", "random"] = "middle",
                 float32: bool = False, mean: PerChannel = None, std: PerChannel = None, channels: int = 3,
                 channels_first: bool = True, pin_memory: bool = False, threads: int = 1) -> None:
        if crop not in ("middle", "random"):
            raise ValueError("crop is 'middle' or 'random', not %r" % (crop,))
        self._set, self._batch_size, self._drop_last = opened(source, None), whole("batch_size", batch_size), drop_last
        if not len(self._set):
            raise ValueError("the set has no images")
        self._shuffle, self._mix = shuffle, whole("mix", mix)
        self._seed = None if seed is None else whole("seed", seed, -MAXIMUM, MAXIMUM)
        if (mean is not None or std is not None) and not float32:
            raise ValueError("mean and std are of float32=True")
        gains_of(mean, std, checked_channels(channels))
        whole("threads", threads, 0, MOST_THREADS)
        self._kind: dict[str, Any] = {"float32": float32, "mean": mean, "std": std, "channels": channels,
                                      "channels_first": channels_first, "threads": threads}
        first = self._set.info(0)
        self._size = (first["width"] if width is None else whole("width", width),
                      first["height"] if height is None else whole("height", height))
        self._crop, self._pin = crop, pin_memory
        self._state = torch.tensor([0, checked(fidelity) or 0], dtype=torch.int64)  # epoch and fidelity
        self._state.share_memory_()  # workers see them change
        self._begun = 0, 0  # a seed of this worker, and how often it was used

    def set_epoch(self, epoch: int) -> None:
        """Another order with a seed. Call it between epochs: each worker reads it when it begins one."""
        self._state[0] = whole("epoch", epoch, 0, MAXIMUM)

    def set_fidelity(self, fidelity: int | None) -> None:
        """Bytes an image from the next epoch on; None: all. Call it between epochs, as set_epoch."""
        self._state[1] = checked(fidelity) or 0

    def __len__(self) -> int:
        return len(self._set) // self._batch_size if self._drop_last else -(-len(self._set) // self._batch_size)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, ...]]:
        worker = data.get_worker_info()
        k, n = (worker.id, worker.num_workers) if worker else (0, 1)
        images = with_fidelity(self._set, int(self._state[1]) or None)
        random = torch.Generator().manual_seed(self._seed_of_epoch(worker))
        labels = torch.from_numpy(self._set.labels).long()
        pool, known = torch.empty(0), torch.empty(0, dtype=torch.int64)  # images that are still to be in a batch
        first, end = self._part(k, n)
        if self._shuffle:
            groups = part_of(permuted(self._set._groups, random), first, end)
        # all workers share the order of groups; what is drawn from here on is a worker's own
        random.manual_seed(int(torch.randint(MAXIMUM, (n,), generator=random)[k]))
        if self._shuffle:
            parts = mixed(groups, self._mix, random)
        else:
            parts = in_order(first, end, self._batch_size)
        for places in parts:
            pool, known = self._render(images, places, random, pool), torch.cat((known, labels[places]))
            whole = len(pool) - len(pool) % self._batch_size
            for first in range(0, whole, self._batch_size):
                yield self._out(part[first:first + self._batch_size] for part in (pool, known))
            pool, known = pool[whole:], known[whole:]
        if len(pool) and not self._drop_last:
            yield self._out((pool, known))

    def _part(self, worker: int, workers: int) -> tuple[int, int]:
        """The places in the order from the first of a worker to behind its last: whole batches, so that all workers
        together have as many as one."""
        first, end = (len(self) * k // workers * self._batch_size for k in (worker, worker + 1))
        return first, min(end, len(self._set))

    def _out(self, parts: Iterable[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """A batch on its own, so that the pool of its group can be freed."""
        return tuple(part.clone().pin_memory() if self._pin else part.clone() for part in parts)

    def _seed_of_epoch(self, worker: Any) -> int:
        if self._seed is not None:
            words = b"%d %d" % (self._seed, int(self._state[0]))
            return int.from_bytes(hashlib.blake2b(words, digest_size=4).digest(), "little")  # as many as torch uses
        if not worker:
            return int(torch.randint(MAXIMUM, (1,)))
        first, count = worker.seed - worker.id, 0  # persistent workers keep it for all epochs
        if self._begun[0] == first:
            count = self._begun[1]
        self._begun = first, count + 1
        return (first + count) & MAXIMUM

    def _render(self, images: containers.Set, places: list[int], random: torch.Generator,
                before: torch.Tensor) -> torch.Tensor:
        """These images after those that are there; the library writes into one array."""
        (width, height), channels = self._size, self._kind["channels"]
        shape = (channels, height, width) if self._kind["channels_first"] else (height, width, channels)
        pool = torch.empty((len(before) + len(places), *shape),
                           dtype=torch.float32 if self._kind["float32"] else torch.uint8)
        pool[:len(before)] = before if len(before) else 0
        images.batch(places, width=width, height=height, crops=self._crops(places, random),
                     out=pool[len(before):].numpy(), **self._kind)
        return pool

    def _crops(self, places: list[int], random: torch.Generator) -> Any:
        """[images][2] the upper left pixels of the crops."""
        room = torch.from_numpy(self._set._sizes[places]) - torch.tensor(self._size)
        if self._crop == "middle":
            return torch.div(room, 2, rounding_mode="floor").numpy()
        drawn = (torch.rand(room.shape, generator=random, dtype=torch.float64) * (room.abs() + 1)).long()
        return (drawn * room.sign()).numpy()


def opened(source: Source | containers.Set, fidelity: int | None) -> containers.Set:
    view = source if isinstance(source, containers.Set) else containers.open(source)
    return with_fidelity(view, fidelity)


def with_fidelity(view: containers.Set, fidelity: int | None) -> containers.Set:
    return view.at(bytes=fidelity * view._info.images) if checked(fidelity) else view


def checked(fidelity: int | None) -> int | None:
    return None if fidelity is None else whole("fidelity, bytes an image,", fidelity, 1, MAXIMUM >> 32)


def permuted(groups: list[list[int]], random: torch.Generator) -> list[list[int]]:
    return [groups[g] for g in torch.randperm(len(groups), generator=random).tolist()]


def part_of(groups: list[list[int]], first: int, end: int) -> list[list[int]]:
    """The images from place `first` to before `end` of these groups; the groups at both ends are cut."""
    mine, at = [], 0
    for group in groups:
        mine.append(group[max(first - at, 0):max(end - at, 0)])
        at += len(group)
    return [group for group in mine if group]


def mixed(mine: list[list[int]], mix: int, random: torch.Generator) -> Iterator[list[int]]:
    """Lists of places: the images of `mix` groups are permuted. Each group is decoded once."""
    for first in range(0, len(mine), mix):
        places = [place for group in mine[first:first + mix] for place in group]
        yield [places[k] for k in torch.randperm(len(places), generator=random).tolist()]


def in_order(first: int, end: int, step: int) -> Iterator[list[int]]:
    for first in range(first, end, step):
        yield list(range(first, min(first + step, end)))
