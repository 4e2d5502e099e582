"""The structs of taper.h for ctypes. Names and members are those of the header, which says what they mean.

tests/python/test_types.py compares their sizes and offsets with those of the C compiler.
"""
from __future__ import annotations

import ctypes as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIZE, INT, PTR, TEXT = c.c_size_t, c.c_int, c.c_void_p, c.c_char_p
U8, U16, U32, U64, I32, I64 = c.c_uint8, c.c_uint16, c.c_uint32, c.c_uint64, c.c_int32, c.c_int64
F32, F64 = c.c_float, c.c_double


class Struct(c.Structure):
    """If the first member is `size`, the constructor sets it to that of the struct."""

    def __init__(self, **members: object) -> None:
        super().__init__(**members)
        if self._fields_[0][0] == "size":
            self.size = c.sizeof(self)


def struct(name: str, *fields: tuple[Any, str]) -> Any:
    """The class of struct taper_<name>. fields: a type, and names that are separated by spaces."""
    listed = [(member, kind) for kind, members in fields for member in members.split()]
    return type("taper_" + name, (Struct,), {"_fields_": listed})


READ = c.CFUNCTYPE(INT, PTR, U64, PTR, SIZE)
WRITE = c.CFUNCTYPE(INT, PTR, PTR, SIZE)

Error = struct("error", (INT, "status fact"), (U64, "needed item"), (U64 * 4, "reserved"), (c.c_char * 256, "text"))
Image = struct("image", (U32, "width height"), (U8, "channels depth"), (PTR, "pixels"))
Limits = struct("limits", (SIZE, "size"), (U64, "max_pixels max_images max_memory max_model_bytes max_work taken"))
Source = struct("source", (PTR, "user"), (U64, "size"), (READ, "read"))
Sink = struct("sink", (PTR, "user"), (WRITE, "write"))

ModelInfo = struct(
    "model_info", (SIZE, "size"), (INT, "family"), (U32, "channels window_width window_height units passes"),
    (U64, "weights id file_bytes"), (U32, "binary lap conditional_hidden head_hidden restoration_hidden"),
    (U64, "work most_work"), (U32, "feedback embedding"), (c.c_char * 32, "objective"), (F32, "alpha"),
    (U32, "classes stages stages_known passes_known layers"), (F32, "centre"),
    (U32, "cells_across cells_down convolutions"))

EncodeOptions = struct(
    "encode_options", (SIZE, "size"), (INT, "layout allocation"), (U32, "group_images"),
    (U64, "target_bytes_per_megapixel"), (INT, "embed_model"), (PTR, "model_bytes"), (SIZE, "model_size"),
    (c.c_uint, "threads"), (PTR, "spool limits"), (INT, "quick measure beyond_aims drawings lossless for_merge"))
OpenOptions = struct("open_options", (SIZE, "size"), (PTR, "model limits"), (INT, "without_model"))
DecodeOptions = struct("decode_options", (SIZE, "size"), (U64, "cut max_memory"), (U32, "passes"))

ContainerInfo = struct(
    "container_info", (SIZE, "size"), (U64, "model_id model_bytes"), (INT, "layout"), (U64, "images pixels"),
    (U32, "groups layers rate_classes passes"), (U64, "front_bytes file_bytes"),
    (INT, "was_truncated has_names has_labels"),
    (U32, "classes search_bits"),
    (U64, "search_model_id search_model_bytes memory metadata_bytes further_names"))
ImageInfo = struct(
    "image_info", (SIZE, "size"), (U32, "width height"), (U8, "channels depth"), (U64, "bytes"), (U32, "group"),
    (I32, "label"), (TEXT, "name"), (U32, "columns rows"), (INT, "is_indexed"), (U64, "same_as"), (INT, "is_exact"))
Completeness = struct(
    "completeness", (U32, "passes passes_in_file"), (U64, "bytes"), (INT, "complete"),
    (U32, "exact_rows stages"), (U32 * 3, "reserved"))

Range = struct("range", (U64, "offset"), (U64, "size"))
PlanOptions = struct(
    "plan_options", (SIZE, "size"), (PTR, "image"), (SIZE, "n"), (U64, "cut max_bytes max_gap"), (U32, "passes"))
Crop = struct("crop", (U32, "x y width height"))
BatchItem = struct("batch_item", (U64, "image"), (I32, "x y"))
Batch = struct(
    "batch", (SIZE, "size"), (PTR, "item"), (SIZE, "n"), (U32, "width height scale channels"), (INT, "sample"),
    (PTR, "to"), (SIZE, "image_stride channel_stride row_stride column_stride"), (PTR, "gain offset status"))

IndexSet = struct(
    "index_set", (SIZE, "size"), (PTR, "codes"), (SIZE, "n"), (U32, "bits"), (U64, "model_id"),
    (PTR, "weights names labels class_names"), (U32, "classes"), (PTR, "part"))
IndexInfo = struct(
    "index_info", (SIZE, "size"), (U64, "images model_id"), (U32, "bits classes"),
    (U64, "code_bytes other_bytes name_bytes"), (INT, "is_weighted"), (F64, "recall"),
    (INT, "has_names has_labels"), (U64, "memory"))
IndexSearch = struct(
    "index_search", (SIZE, "size"), (PTR, "queries"), (SIZE, "n_queries"), (PTR, "known_bits"), (SIZE, "k"),
    (F64, "recall"), (PTR, "within wanted"), (c.c_uint, "threads"))
Quality = struct("quality", (SIZE, "size"), (F64, "mse psnr_db ssim ms_ssim"), (INT, "scales"))
EncodeQuality = struct(
    "encode_quality", (SIZE, "size"), (F64, "least_psnr_db"), (U64, "least_image"), (TEXT, "least_name"), (U64, "poor"),
    (F64, "mean_psnr_db"), (U64, "exact"))
