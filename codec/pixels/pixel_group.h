/* pixel_group.h -- the pixels that pixel layers hold of the images of a group: the colours of
 * indexed images, and alpha. Encoder and decoder have the same planes. */
#ifndef CODEC_PIXEL_GROUP_H
#define CODEC_PIXEL_GROUP_H
#include "codec/pixels/colour_plane.h"
#include "formats/front.h"

/* An image of the group. Of one that is neither indexed nor has alpha, there is no plane. */
typedef struct codec_pixel_image {
    formats_geometry of;
    /* Colours of an indexed image; else alpha without its lowest `shift` bits. */
    codec_colour_plane plane;
    uint8_t shift;     /* bits of alpha in layer FORMATS_LAYER_ALPHA; 0: none */
    uint64_t lows;     /* pixels whose lowest bits are known */
    uint16_t *low;     /* [pixels] those bits; NULL: none was coded */
    formats_block own; /* low */
} codec_pixel_image;

typedef struct codec_pixel_group {
    size_t n;
    codec_pixel_image *image; /* [n] */
    uint64_t colours, alphas; /* pixels of indexed images; of alpha planes */
    formats_account *account; /* borrowed; charged with all memory */
    formats_block block;
} codec_pixel_group;

/* Does the image have a plane? */
static inline int codec_pixels_has_plane(const formats_geometry *of) {
    return of->indexed || of->alpha;
}

/* Memory of the planes of an image, and of coding a group of so many pixels; saturates. */
uint64_t codec_pixel_image_bytes(const formats_geometry *of);
uint64_t codec_pixel_coding_bytes(uint64_t pixels);
/* The most bytes that the chunks of an image can have, about. */
uint64_t codec_pixel_chunk_bytes(const formats_geometry *of);

/* Make the planes of images, of which nothing is known. geometry(user, i): that of image i.
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM: *group is zeroed. */
typedef const formats_geometry *codec_pixel_geometry(const void *user, size_t i);
taper_status codec_pixel_group_open(codec_pixel_group *group, size_t n,
                                    codec_pixel_geometry *geometry, const void *user,
                                    formats_account *account);
void codec_pixel_group_close(codec_pixel_group *group); /* leaves it zeroed */

/* Encoding: copy what an image has to its plane. pixels: with the channels of its geometry and
 * alpha. */
taper_status codec_pixel_image_take(codec_pixel_group *group, size_t i, const taper_image *pixels);

/* Append the chunk of a layer of this kind to out; nothing, if no image needs it. TAPER_ERR_LIMIT,
 * TAPER_ERR_NOMEM. */
taper_status codec_pixel_group_encode(codec_pixel_group *group, formats_layer_kind kind,
                                      formats_buffer *out);
/* Decode what is there of a chunk, from its beginning. whole: all of it. *plausible: 0 if a whole
 * chunk stands for more than its bytes can hold; then nothing of it is known. */
taper_status codec_pixel_group_decode(codec_pixel_group *group, formats_layer_kind kind,
                                      const uint8_t *bytes, size_t size, int whole, int *plausible);
/* Forget what layers of this kind told. */
void codec_pixel_group_forget(codec_pixel_group *group, formats_layer_kind kind);

#endif
