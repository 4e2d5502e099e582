/* embedder.h -- codes of the images of a run: by a model, or their pixels as numbers. */
#ifndef CLI_EMBEDDER_H
#define CLI_EMBEDDER_H
#include "codec/taper_model.h"
#include <stdbool.h>

/* The size of images, and 1 or 3 channels. */
typedef struct cli_window {
    uint32_t width, height, channels;
} cli_window;

typedef struct cli_embedder {
    const taper_model *model; /* borrowed; NULL: codes are pixels */
    taper_embedder *of;       /* NULL: no image is encoded */
    cli_window window;        /* the size that an image must have */
    bool scales;              /* images of other sizes are scaled to it */
    bool keeps_margins;       /* codes are margins; set after opening */
    size_t width;             /* numbers in a code */
    size_t units;             /* of the model */
    bool is_binary;           /* codes are bits, or margins */
} cli_embedder;

/* Open an embedder for the first `width` units of the codes; 0: all. encodes: false: there are only
 * containers, which have codes. Errors as for taper_embedder_new. TAPER_ERR_ARG also: the model has
 * fewer units. */
taper_status cli_embedder_open(cli_embedder *out, const taper_model *model, size_t width,
                               bool encodes, unsigned threads, taper_error *error);
/* Codes are the pixels, 0..255, channel after channel: the reference for search by codes. */
void cli_embedder_open_pixels(cli_embedder *out, cli_window window);
void cli_embedder_close(cli_embedder *embedder); /* a zeroed one is fine */

/* Check an image; its pixels may be NULL. TAPER_ERR_UNSUPPORTED: it has another size and is not
 * scaled, has alpha, or is in colour for a grey window. */
taper_status cli_embedder_check(const cli_embedder *embedder, const taper_image *image,
                                taper_error *error);
/* Replace a checked image by one of the size of the window, if it has to be scaled.
 * TAPER_ERR_NOMEM: it is unchanged. */
taper_status cli_embedder_fit(const cli_embedder *embedder, taper_image *image, taper_error *error);
/* Compute codes[n][width] of images that fit. Errors as for taper_embedder_codes. */
taper_status cli_embedder_codes(const cli_embedder *embedder, const taper_image *images, size_t n,
                                float *codes, taper_error *error);

#endif
