/* group_writer.h -- encoding one group: network, quantiser, chunks. The inverse is group_reader.h.
 *
 * The directory codec/groups/: a group of images to chunks.
 *   group_writer   encodes one group; group_quality: measures how well its images are kept
 *   strip_codes    the codes of a large image, in a file until all are known; strip_writer: encodes
 *                  it strip by strip; strip_quality: measures it so
 *   clipping       which planes above the model's the images of a group need
 *   group_exact    its exact layer
 *   aim            the passes that an image needs for a PSNR
 *   allocation     the distribution of bits over the images of a set
 *   assemble       chunks of groups to a container
 *   chunk_padding  what is appended to a complete chunk that is marked as cut
 *   stage_layers   layers with the stages of a model that the container carries */
#ifndef CODEC_GROUP_WRITER_H
#define CODEC_GROUP_WRITER_H
#include "codec/bitplane/strips.h"
#include "codec/groups/clipping.h"
#include "codec/groups/group_exact.h"
#include "codec/groups/group_quality.h"
#include "codec/model/model.h"
#include "codec/pixels/pixel_group.h"

typedef struct codec_group_images {
    /* [n]; may have alpha. If there are only codes, pixels are NULL, but for images with pixels in
     * pixel layers, of which these need only what is there. */
    taper_image *image;
    /* [n] arrays [windows][units] as codec_quantise_wide; of indexed images NULL. NULL: computed
     * from the pixels. */
    int16_t **code;
    uint8_t *indexed; /* [n] nonzero: an indexed image, without windows */
    int is_codes;     /* nonzero: there are only codes */
    size_t n;
} codec_group_images;

/* Where the layers of a group end: layer l at pass end[l * stride] of the model. */
typedef struct codec_layer_ends {
    const uint32_t *end; /* borrowed */
    uint32_t stride, n;
} codec_layer_ends;

/* Parameters of all groups of a container; borrowed. */
typedef struct codec_group_writer {
    const taper_model *model;
    /* The model's, with an analysis matrix even if it is tied (pseudo_inverse.h). */
    const codec_network *network;
    /* Without a pool: several groups may be written at once. */
    const codec_backend *backend;
    codec_layer_ends layers;
    int measure; /* nonzero: measure the quality */
    int exact;   /* nonzero: with the exact layer; the images have all their pixels */

    /* At most this many bytes of the group's data will be kept; 0: all. If there are more, coding
     * may end early, where there are some bytes more than these: the chunk is then incomplete and
     * later ones are empty. The first `most` bytes do not depend on that. Not with `measure`. */
    uint64_t most;
    /* The layers that are written instead if `layers` take fewer than `least` bytes; n 0: none. */
    codec_layer_ends longer;
    uint64_t least;
} codec_group_writer;

/* A group as it was written. */
typedef struct codec_written_group {
    /* [layers.n + 1], or [longer.n + 1] if that is more: bounds of its layers in the output. The
     * caller allocates the array and sets its first entry. */
    uint64_t *chunk_at;
    int is_longer; /* nonzero: the layers are codec_group_writer.longer */
    /* The chunk of each pixel layer is behind all layers of passes: that of kind k at
     * pixel_at[k - 1] .. pixel_at[k] - 1. */
    uint64_t pixel_at[FORMATS_LAYER_KINDS];
    /* [n_raised] units with raised planes; owned; or NULL. */
    formats_raised *raised;
    uint32_t n_raised;
    /* If it was measured; groups of codes are not. */
    codec_least_quality least;
} codec_written_group;

/* Free its arrays and zero it. */
void codec_written_group_free(codec_written_group *written);

/* The numbers that determine how much memory it takes to write a group. */
typedef struct codec_group_size {
    codec_group_shape shape;
    /* Of the largest image: windows, and bytes of its pixels. */
    uint64_t most_windows, most_bytes;
    int has_codes; /* nonzero: codes are given */
    int measured;  /* nonzero: the quality is measured */
    /* With the exact layer: the pixels of all images, and the widest. */
    int exact;
    uint64_t all_bytes;
    uint32_t width;
    /* Of images with pixels in pixel layers: their number, their planes, and their chunks at most.
     */
    uint64_t pixels, plane_bytes, pixel_chunk_bytes;
    uint64_t images; /* with indexed ones, which are not in the shape */
} codec_group_size;

/* Add an image of this grid, unless it is indexed, and bytes of pixels. */
void codec_group_size_add(codec_group_size *size, const formats_geometry *of, codec_grid grid,
                          uint64_t bytes);
/* Upper bound of the size of the group's chunks. A value of a code has 16 bits. */
uint64_t codec_group_chunk_bytes(const taper_model *model, const codec_group_size *size);
/* Upper bound of the memory of codec_group_write, including the output and without the images.
 * Saturates. */
uint64_t codec_group_write_bytes(const taper_model *model, const codec_group_size *size);

/* Append all layers of a group to out. TAPER_ERR_NOMEM: the caller frees only *out. */
taper_status codec_group_write(const codec_group_writer *writer, const codec_group_images *images,
                               formats_buffer *out, codec_written_group *written,
                               taper_error *error);

#endif
