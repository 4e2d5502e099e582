/* planned.h -- the ranges of a supplied container that are missing: what taper_decoder_plan and
 * taper_decoder_plan_images have in common. */
#ifndef CODEC_PLANNED_H
#define CODEC_PLANNED_H
#include "codec/decoder/decoder.h"

/* The missing ranges, ascending. All are counted; the first `capacity` are written. Zeroed but for
 * the first members, it is empty. */
typedef struct codec_plan {
    taper_range *range;
    size_t capacity;
    /* Ranges with at most so many bytes between them are one. */
    uint64_t max_gap;
    size_t count;
    uint64_t end;   /* end of the last range */
    uint64_t bytes; /* of all ranges */
} codec_plan;

/* List the bytes at .. end - 1, but for those before the end of the last range; or of these the
 * ones that were not supplied. */
void codec_plan_add(codec_plan *plan, uint64_t at, uint64_t end);
void codec_plan_missing(const taper_decoder *decoder, codec_plan *plan, uint64_t at, uint64_t end);

/* Nonzero: a layer has something of this group of a front that the decoder's passes need. */
int codec_plan_wants(const taper_decoder *decoder, const formats_front *front, uint32_t layer,
                     uint32_t group);
/* A chunk of this layer and group of a front, or its first part, 0..1. */
typedef struct codec_chunk_part {
    const formats_front *front;
    uint32_t layer, group;
    double part;
} codec_chunk_part;
/* List what is missing of it, which may be a stage of the model; or the whole checksum block, if
 * that is damaged: the result is then nonzero. */
int codec_plan_chunk(const taper_decoder *decoder, const codec_chunk_part *of, codec_plan *plan);
/* Returns TAPER_ERR_CORRUPT: a block of this group, or a stage of the model, is damaged. */
taper_status codec_plan_damage(const taper_decoder *decoder, uint32_t group, taper_error *error);

/* Check the arguments of a plan, and set the cut. */
taper_status codec_plan_begin(taper_decoder *decoder, uint64_t cut, const taper_range *ranges,
                              size_t capacity, size_t *count, taper_error *error);
/* List what is missing of the front matter or its root; the error in what was supplied. */
taper_status codec_plan_front(const taper_decoder *decoder, codec_plan *plan, taper_error *error);
/* List what is missing of leaf k, or all of it if it is damaged; *ready: nonzero if it is here. */
taper_status codec_plan_leaf(taper_decoder *decoder, uint32_t k, codec_plan *plan, int *ready,
                             taper_error *error);
#endif
