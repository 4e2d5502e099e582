/* row_codes.h -- codes of rows of bytes, computed by the processor as in the library, a block of
 * rows at a time. */
#ifndef TRAIN_ROW_CODES_H
#define TRAIN_ROW_CODES_H
#include "codec/backend/backend.h"
#include "codec/transform/network.h"
#include "train/sampling/dataset.h"

/* Called with codes[n][net->units] of rows first .. first + n - 1, in order. */
typedef void train_take_codes_fn(void *user, size_t first, size_t n, const float *codes);

/* Codes of rows[0 .. n - 1] of pixels, which are places (dataset.h); rows NULL: the first n. net
 * takes pixels of 0..255. Uses memory for 512 rows. TAPER_ERR_NOMEM. */
taper_status train_take_codes(const codec_network *net, codec_backend *be,
                              const train_pixels *pixels, const uint32_t *rows, size_t n,
                              train_take_codes_fn *take, void *user);

/* The same into codes[n][net->units]. */
taper_status train_row_codes(const codec_network *net, codec_backend *be,
                             const train_pixels *pixels, const uint32_t *rows, size_t n,
                             float *codes);

#endif
