/* group_writer.h -- coding one group whole: network, quantiser, chunks. The counterpart of
 * group_reader.h. */
#ifndef CODEC_GROUP_WRITER_H
#define CODEC_GROUP_WRITER_H
#include "chunk_coder.h"
#include "model.h"

/* The images of a group. */
typedef struct codec_group_images {
    taper_image *image; /* [n]; pixels: the image's, or codes: int16_t [windows][units], signed
                           magnitudes at the finest step */
    size_t n;
    int holds_codes;
} codec_group_images;

/* What all groups of a container share; borrowed. */
typedef struct codec_group_writer {
    const taper_model *model;
    const codec_network *network; /* the model's, with a true analysis (pseudo_inverse.h) */
    const codec_backend *backend; /* without a pool: many groups may be written at once */
    const uint32_t *layer_end;    /* [n_layers * stride], the group's at every stride-th */
    uint32_t stride, n_layers;
} codec_group_writer;

/* Append all layers to out; chunk_at[n_layers + 1] gets their bounds in it (chunk_at[0] = 0 is the
 * caller's). TAPER_ERR_NOMEM. */
taper_status codec_group_write(const codec_group_writer *writer, const codec_group_images *images,
                               formats_buffer *out, uint64_t *chunk_at, taper_error *error);

#endif
