/* group_writer.h -- coding one group whole: network, quantiser, chunks. See group_reader.h. */
#ifndef CODEC_GROUP_WRITER_H
#define CODEC_GROUP_WRITER_H
#include "codec/bitplane/chunk_coder.h"
#include "codec/bitplane/clipping.h"
#include "codec/container/group_quality.h"
#include "codec/model/model.h"

typedef struct codec_group_images {
    taper_image *image; /* [n]; the pixels of all are NULL where there are codes alone */
    int16_t **code;     /* [n] of each its [windows][units] as by codec_quantise_wide; NULL: they
                           are made of the pixels */
    size_t n;
} codec_group_images;

/* What all groups of a container share; borrowed. */
typedef struct codec_group_writer {
    const taper_model *model;
    const codec_network *network; /* the model's, with a true analysis (pseudo_inverse.h) */
    const codec_backend *backend; /* without a pool: many groups may be written at once */
    const uint32_t *layer_end;    /* [n_layers * stride], the group's at every stride-th */
    uint32_t stride, n_layers;
    int measure; /* nonzero: find the least quality, too */
} codec_group_writer;

/* A group as it was written. */
typedef struct codec_written_group {
    uint64_t *chunk_at; /* [n_layers + 1] bounds of its layers in what was appended; the array and
                           its first entry are the caller's */
    formats_raised *raised; /* [n_raised] units with raised planes, allocated; or NULL */
    uint32_t n_raised;
    codec_least_quality least; /* where measured, which codes are not: else of no image */
} codec_written_group;

void codec_written_group_free(codec_written_group *written); /* its arrays; leaves it zeroed */

/* What decides how much memory a group takes while it is written. */
typedef struct codec_group_size {
    uint64_t windows, images;
    uint64_t most_windows, most_bytes; /* of an image, and of its pixels */
    int has_codes, measured;           /* nonzero: codes are not made; quality is measured */
} codec_group_size;

/* The most bytes of its chunks: a code has 16 bits. */
uint64_t codec_group_chunk_bytes(const taper_model *model, uint64_t windows);
/* The most memory that codec_group_write takes, what is appended to *out included, but not the
 * images; saturates. */
uint64_t codec_group_write_bytes(const taper_model *model, const codec_group_size *size);

/* Append all layers to out. TAPER_ERR_NOMEM: nothing is to be freed but *out. */
taper_status codec_group_write(const codec_group_writer *writer, const codec_group_images *images,
                               formats_buffer *out, codec_written_group *written,
                               taper_error *error);

#endif
