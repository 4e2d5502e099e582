/* picture.h -- an image of a container as PNG or JPEG, at any size and from any prefix. */
#ifndef SERVE_CONTENT_PICTURE_H
#define SERVE_CONTENT_PICTURE_H
#include "serve/content/sets.h"
#include "serve/request/iiif.h"
#include <stdbool.h>

typedef struct serve_picture {
    uint64_t image;        /* not a further name: taper_image_info.same_as */
    serve_iiif_picture at; /* region and size; the size is at most that of the region */
    uint64_t cut;          /* a prefix of the container in bytes; 0: all of it */
    bool is_png;           /* else JPEG */
    int quality;           /* of JPEG, 1..100 */
    /* A small picture is decoded as far as shows at its size: to the layer that has two bits for
     * each of its pixels. */
    bool is_quick;
} serve_picture;

/* Renders for one thread. It keeps the decoder of its last picture: the next one of the same
 * container and cut is faster. */
typedef struct serve_renderer serve_renderer;
/* max_memory: of a decoder, without the front matter of its container, and of pixels. NULL: no
 * memory. */
serve_renderer *serve_renderer_open(uint64_t max_memory);
void serve_renderer_close(serve_renderer *renderer); /* NULL is fine */
/* Free the decoder that is kept. */
void serve_renderer_rest(serve_renderer *renderer);

/* Render a picture and encode it. Pixels are those of the decoder: of the whole image, or reduced
 * by 2, 4, 8 or 16 (taper_decoder_render_scaled). Any other size is made from the next larger of
 * these by taper_image_scale. 16 bits stay in a PNG of such a size, else become 8; so does alpha,
 * and is blended onto white otherwise. *bytes is malloc'd and the caller's.
 *
 * TAPER_ERR_CORRUPT with bytes: data of the image are damaged; the picture is made from those
 * before. Other errors are those of taper_decoder_new and taper_decoder_render_crop. */
taper_status serve_render(serve_renderer *renderer, serve_set *set, const serve_picture *picture,
                          uint8_t **bytes, size_t *size, taper_error *error);

#endif
