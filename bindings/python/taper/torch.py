"""Sets for training loops of PyTorch.

    import taper.torch
    data = taper.torch.Batches("set.taper", 256, fidelity=80, shuffle=True)
    for epoch in range(10):
        data.set_epoch(epoch)
        for images, labels in torch.utils.data.DataLoader(data, batch_size=None, num_workers=2):
            ...

Workers open the file themselves, whether they are forked or spawned.
"""
from __future__ import annotations

import torch
import torch.utils.data as data

from . import containers

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
        memory, as many bytes as their batches. Each worker has its own groups. Else each has a part of the set, in
        order. With a `seed`, the order depends on it and on set_epoch alone; without, on torch.manual_seed.
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
        if batch_size < 1 or mix < 1 or crop not in ("middle", "random") or (fidelity or 0) < 0:
            raise ValueError("batch_size and mix are 1 or more, crop is 'middle' or 'random', fidelity is above 0")
        self._set, self._batch_size, self._drop_last = opened(source, None), batch_size, drop_last
        self._shuffle, self._seed, self._mix = shuffle, seed, mix
        self._kind: dict[str, Any] = {"float32": float32, "mean": mean, "std": std, "channels": channels,
                                      "channels_first": channels_first, "threads": threads}
        first = self._set.info(0)
        self._size, self._crop, self._pin = (width or first["width"], height or first["height"]), crop, pin_memory
        self._state = torch.tensor([0, fidelity or 0]).share_memory_()  # epoch and fidelity, which workers see change

    def set_epoch(self, epoch: int) -> None:
        """Another order with a seed; call it before each epoch."""
        self._state[0] = epoch

    def set_fidelity(self, fidelity: int | None) -> None:
        """Bytes an image from the next epoch on; None: all."""
        self._state[1] = fidelity or 0

    def __len__(self) -> int:
        return len(self._set) // self._batch_size if self._drop_last else -(-len(self._set) // self._batch_size)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, ...]]:
        worker = data.get_worker_info()
        k, n = (worker.id, worker.num_workers) if worker else (0, 1)
        images = with_fidelity(self._set, int(self._state[1]))
        random = torch.Generator().manual_seed(self._seed_of_epoch(worker))
        labels = torch.from_numpy(self._set.labels).long()
        pool, known = torch.empty(0), torch.empty(0, dtype=torch.int64)  # images that are still to be in a batch
        if self._shuffle:
            parts = mixed(self._set, k, n, self._mix, random)
        else:
            parts = in_order(len(self._set), k, n, self._batch_size)
        for places in parts:
            pool, known = self._render(images, places, random, pool), torch.cat((known, labels[places]))
            whole = len(pool) - len(pool) % self._batch_size
            for first in range(0, whole, self._batch_size):
                yield self._out(part[first:first + self._batch_size] for part in (pool, known))
            pool, known = pool[whole:], known[whole:]
        if len(pool) and not self._drop_last:
            yield self._out((pool, known))

    def _out(self, parts: Iterable[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """A batch on its own, so that the pool of its group can be freed."""
        return tuple(part.clone().pin_memory() if self._pin else part.clone() for part in parts)

    def _seed_of_epoch(self, worker: Any) -> int:
        if self._seed is not None:
            return (self._seed * 1000003 + int(self._state[0])) & MAXIMUM
        return worker.seed - worker.id if worker else int(torch.randint(MAXIMUM, (1,)))

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
    return view.at(bytes=fidelity * view._info.images) if fidelity else view


def mixed(view: containers.Set, worker: int, workers: int, mix: int, random: torch.Generator) -> Iterator[list[int]]:
    """Lists of places: a worker's groups come in random order, and the images of `mix` groups are permuted. Each group
    is decoded once."""
    groups = view._groups
    mine = [groups[g] for g in torch.randperm(len(groups), generator=random).tolist()[worker::workers]]
    for first in range(0, len(mine), mix):
        places = [place for group in mine[first:first + mix] for place in group]
        yield [places[k] for k in torch.randperm(len(places), generator=random).tolist()]


def in_order(count: int, worker: int, workers: int, step: int) -> Iterator[list[int]]:
    """Lists of places: a worker has a part of the set, in order."""
    end = count * (worker + 1) // workers
    for first in range(count * worker // workers, end, step):
        yield list(range(first, min(first + step, end)))
