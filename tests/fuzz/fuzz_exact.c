/* fuzz_exact.c -- any bytes as the string of an exact layer, of images of every kind. The first
 * byte says whether it is whole, and draws the lossy images. What a prefix tells is what all bytes tell,
 * and coding the decoded images gives a string that decodes to the same. */
#include "codec/exact/exact.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { IMAGES = 5, WIDEST = 12, SAMPLES = 12 * 9 * 4 };
static const struct {
    uint32_t width, height;
    uint8_t channels, depth;
} shape[IMAGES] = {{9, 7, 3, 8}, {8, 5, 1, 16}, {1, 1, 2, 8}, {12, 9, 4, 16}, {7, 6, 3, 8}};

typedef struct images {
    taper_image of[IMAGES];
    uint16_t samples[IMAGES][SAMPLES];
    uint32_t rows[IMAGES]; /* exact ones */
} images;

static void must(int holds) {
    if (!holds) abort();
}

/* The lossy images: smooth, or few levels, with a little noise. */
static void draw(images *to, uint8_t seed) {
    memset(to, 0, sizeof *to);
    for (size_t i = 0; i < IMAGES; i++) {
        to->of[i] = (taper_image){shape[i].width, shape[i].height, shape[i].channels,
                                  shape[i].depth, to->samples[i]};
        const size_t count = (size_t)shape[i].width * shape[i].height * shape[i].channels;
        for (size_t k = 0; k < count; k++) {
            const uint32_t v = (uint32_t)(k * (seed / 16u) + k * k * seed / 7 % 5);
            if (shape[i].depth == 16)
                to->samples[i][k] = (uint16_t)(v * 200);
            else
                ((uint8_t *)to->samples[i])[k] = (uint8_t)v;
        }
    }
}

static void decode(images *to, const uint8_t *bytes, size_t n, int whole) {
    codec_exact *exact;
    must(codec_exact_open(&exact, WIDEST, 4, NULL) == TAPER_OK);
    codec_exact_decode_begin(exact, bytes, n, whole);
    for (size_t i = 0; i < IMAGES; i++) to->rows[i] = codec_exact_decode(exact, &to->of[i]);
    codec_exact_close(exact);
}

/* Exact rows of a prefix are those of all bytes; a row of which a part is known differs nowhere
 * else from the lossy one. */
static void prefix_tells_the_same(const images *all, uint8_t seed, const uint8_t *bytes, size_t n) {
    images some;
    draw(&some, seed);
    decode(&some, bytes, n / 2, 0);
    for (size_t i = 0; i < IMAGES; i++) {
        const size_t row = (size_t)shape[i].width * shape[i].channels * (shape[i].depth / 8u);
        must(some.rows[i] <= all->rows[i]);
        must(!memcmp(some.samples[i], all->samples[i], row * some.rows[i]));
    }
}

static void code_again(const images *exact, uint8_t seed) {
    images lossy;
    codec_exact *coder;
    formats_buffer out = formats_buffer_make(1 << 20);
    draw(&lossy, seed);
    must(codec_exact_open(&coder, WIDEST, 4, NULL) == TAPER_OK);
    must(codec_exact_encode(coder, exact->of, lossy.of, IMAGES, &out) == TAPER_OK);
    codec_exact_close(coder);
    decode(&lossy, out.data, out.size, 1);
    for (size_t i = 0; i < IMAGES; i++) must(lossy.rows[i] == shape[i].height);
    must(!memcmp(lossy.samples, exact->samples, sizeof lossy.samples));
    formats_buffer_free(&out);
}

/* A string that begins with eight bytes FF is beyond the first interval: there, any bits do. */
static int is_legal(const uint8_t *bytes, size_t n) {
    static const uint8_t beyond[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    return n < sizeof beyond || memcmp(bytes, beyond, sizeof beyond) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 1 || n > 1 << 12) return 0;
    const uint8_t seed = bytes[0];
    images all;
    draw(&all, seed);
    decode(&all, bytes + 1, n - 1, seed & 1);
    code_again(&all, seed);
    if (!is_legal(bytes + 1, n - 1)) return 0;
    draw(&all, seed);
    decode(&all, bytes + 1, n - 1, 0);
    prefix_tells_the_same(&all, seed, bytes + 1, n - 1);
    return 0;
}
