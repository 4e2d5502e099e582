/* row_codes.c -- see row_codes.h. */
#include "train/embedding/row_codes.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 };

taper_status train_take_codes(const codec_network *net, codec_backend *be,
                              const train_pixels *pixels, const uint32_t *rows, size_t n,
                              train_take_codes_fn *take, void *user) {
    const size_t d = pixels->inputs;
    float *block = malloc(BLOCK * d * sizeof *block);
    float *code = malloc(BLOCK * (size_t)net->units * sizeof *code);
    taper_status status = block && code ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n && status == TAPER_OK; i += BLOCK) {
        const size_t count = formats_smaller(n - i, BLOCK);
        for (size_t k = 0; k < count; k++) {
            const uint8_t *row = pixels->pixels + (rows ? rows[i + k] : i + k) * d;
            for (size_t p = 0; p < d; p++) block[k * d + p] = row[p];
        }
        status = codec_network_encode(net, be, block, count, code);
        if (status == TAPER_OK) take(user, i, count, code);
    }
    free(block), free(code);
    return status;
}

typedef struct array {
    size_t units;
    float *codes;
} array;

static void put(void *user, size_t first, size_t n, const float *codes) {
    const array *to = user;
    memcpy(to->codes + first * to->units, codes, n * to->units * sizeof *codes);
}

taper_status train_row_codes(const codec_network *net, codec_backend *be,
                             const train_pixels *pixels, const uint32_t *rows, size_t n,
                             float *codes) {
    array to = {net->units, codes};
    return train_take_codes(net, be, pixels, rows, n, put, &to);
}
