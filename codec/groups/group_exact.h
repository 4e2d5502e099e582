/* group_exact.h -- the exact layer of a group, when it is encoded. */
#ifndef CODEC_GROUP_EXACT_H
#define CODEC_GROUP_EXACT_H
#include "codec/backend/backend.h"
#include "codec/bitplane/strips.h"
#include "codec/model/model.h"

/* Images of a group as decoders have them without the exact layer. */
typedef struct codec_lossy_images {
    taper_image *image; /* [n] */
    size_t n;
} codec_lossy_images;

/* Make memory for images like those. TAPER_ERR_NOMEM: *out is zeroed. */
taper_status codec_lossy_images_make(codec_lossy_images *out, const taper_image *original,
                                     size_t n);
void codec_lossy_images_free(codec_lossy_images *images); /* leaves it zeroed */

/* Render the images that have windows: those numbered number[0] .. number[n - 1], in the order of
 * the strips, which are coded. Alpha is the original's. TAPER_ERR_NOMEM. */
taper_status codec_lossy_images_render(const codec_lossy_images *images,
                                       const taper_image *original, const size_t *number, size_t n,
                                       const taper_model *model, const codec_backend *backend,
                                       const codec_strips *strips);
/* Set an indexed image: the original, with colours of 0 where alpha is 0. */
void codec_lossy_image_index(const taper_image *lossy, const taper_image *original);

/* Append the chunk of the exact layer to out: at least a byte. TAPER_ERR_NOMEM, _LIMIT. */
taper_status codec_lossy_images_encode(const codec_lossy_images *images,
                                       const taper_image *original, formats_buffer *out);

#endif
