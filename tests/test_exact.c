/* test_exact.c -- the exact layer's coder: any images come back, prefixes never make an image
 * worse, any bytes are read. */
#include "cmocka_all.h"
#include "codec/exact/exact.h"
#include "formats/image.h"
#include "pictures.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const taper_limits limits = {.max_pixels = 1 << 24, .max_memory = 1 << 28};

typedef enum pattern { FLAT, NOISE, SCENE, TEXT, LINES, PATTERNS } pattern;

static uint32_t value_of(pattern kind, uint32_t x, uint32_t y, uint32_t c, uint64_t *state) {
    const uint32_t noise = (uint32_t)(picture_random(state) & 0xFFFF);
    switch (kind) {
    case FLAT: return 40000;
    case NOISE: return noise;
    case SCENE: return 9000 + 300 * x + 500 * y + 2000 * c + (x > 2 * y ? 20000 : 0) + noise / 40;
    case TEXT: return (x * 7 + y * 3) % 11 < 3 ? 0 : 65535;
    default: return x % 5 < 2 ? 0 : 50000 + noise / 64;
    }
}

static taper_image draw(uint32_t width, uint32_t height, unsigned channels, unsigned depth,
                        pattern kind, uint64_t *state) {
    taper_image image;
    assert_int_equal(formats_image_make(&image, width, height, channels, depth, &limits, NULL), 0);
    for (size_t i = 0; i < formats_image_samples(&image); i++) {
        const size_t pixel = i / channels;
        const uint32_t v = value_of(kind, (uint32_t)(pixel % width), (uint32_t)(pixel / width),
                                    (uint32_t)(i % channels), state);
        const uint32_t sample = v > 65535 ? 65535 : v;
        if (depth == 8)
            ((uint8_t *)image.pixels)[i] = (uint8_t)(sample >> 8);
        else
            ((uint16_t *)image.pixels)[i] = (uint16_t)sample;
    }
    return image;
}

/* A lossy version: off by up to `most` of 256 levels. */
static taper_image spoil(const taper_image *image, int most, uint64_t *state) {
    taper_image out;
    assert_int_equal(formats_image_make(&out, image->width, image->height, image->channels,
                                        image->depth, &limits, NULL),
                     0);
    const int top = image->depth == 8 ? 255 : 65535, unit = image->depth == 8 ? 1 : 257;
    for (size_t i = 0; i < formats_image_samples(image); i++) {
        const int was =
            image->depth == 8 ? ((uint8_t *)image->pixels)[i] : ((uint16_t *)image->pixels)[i];
        int v = was + unit * ((int)(picture_random(state) % (2 * (uint64_t)most + 1)) - most);
        v = v < 0 ? 0 : v > top ? top : v;
        if (image->depth == 8)
            ((uint8_t *)out.pixels)[i] = (uint8_t)v;
        else
            ((uint16_t *)out.pixels)[i] = (uint16_t)v;
    }
    return out;
}

enum { MOST = 6 };

/* Images, what is left of them, and their string. */
typedef struct fixture {
    taper_image original[MOST], lossy[MOST];
    size_t n;
    uint32_t width, channels;
    formats_buffer string;
} fixture;

static void add(fixture *f, taper_image image, int most, uint64_t *state) {
    f->original[f->n] = image;
    f->lossy[f->n++] = spoil(&image, most, state);
    if (image.width > f->width) f->width = image.width;
    if (image.channels > f->channels) f->channels = image.channels;
}

static codec_exact *open_for(const fixture *f, formats_account *account) {
    codec_exact *exact;
    assert_int_equal(codec_exact_open(&exact, f->width, f->channels, account), TAPER_OK);
    return exact;
}

static void encode(fixture *f) {
    codec_exact *exact = open_for(f, NULL);
    f->string = formats_buffer_make(1 << 26);
    assert_int_equal(codec_exact_encode(exact, f->original, f->lossy, f->n, &f->string), TAPER_OK);
    codec_exact_close(exact);
}

static void drop(fixture *f) {
    for (size_t i = 0; i < f->n; i++)
        formats_image_free(&f->original[i]), formats_image_free(&f->lossy[i]);
    formats_buffer_free(&f->string);
}

static taper_image copy_of(const taper_image *image) {
    taper_image copy = *image;
    copy.pixels = malloc(formats_image_bytes(image));
    assert_non_null(copy.pixels);
    memcpy(copy.pixels, image->pixels, formats_image_bytes(image));
    return copy;
}

static int is_sample_of(const taper_image *a, const taper_image *b, size_t i) {
    const size_t size = a->depth / 8;
    return !memcmp((const char *)a->pixels + i * size, (const char *)b->pixels + i * size, size);
}

/* The first samples are exact, and the others lossy. Returns how many complete rows are exact. */
static void assert_prefix(const taper_image *got, const taper_image *original,
                          const taper_image *lossy, uint32_t rows) {
    const size_t n = formats_image_samples(got);
    size_t i = 0;
    while (i < n && is_sample_of(got, original, i)) i++;
    assert_true(i >= (size_t)rows * got->width * got->channels);
    for (; i < n; i++) assert_true(is_sample_of(got, lossy, i));
}

/* Decode the first `size` bytes. Returns the images that are exact. */
static size_t decode(const fixture *f, codec_exact *exact, size_t size, int whole) {
    size_t complete = 0;
    codec_exact_decode_begin(exact, f->string.data, size, whole);
    for (size_t i = 0; i < f->n; i++) {
        taper_image image = copy_of(&f->lossy[i]);
        const uint32_t rows = codec_exact_decode(exact, &image);
        assert_prefix(&image, &f->original[i], &f->lossy[i], rows);
        complete += rows == image.height;
        formats_image_free(&image);
    }
    return complete;
}

static void images_of_every_kind_come_back(void **unused) {
    (void)unused;
    uint64_t state = 1;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 5}, {40, 31}, {67, 80}};
    for (unsigned kind = 0; kind < PATTERNS * 8; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            fixture f = {.n = 0};
            add(&f,
                draw(sizes[s][0], sizes[s][1], 1 + kind % 4, kind / 4 % 2 ? 8 : 16,
                     (pattern)(kind / 8), &state),
                (int)(s % 3 * 10), &state);
            encode(&f);
            codec_exact *exact = open_for(&f, NULL);
            assert_int_equal(decode(&f, exact, f.string.size, 1), 1);
            codec_exact_close(exact);
            drop(&f);
        }
}

static fixture mixed_group(void) {
    uint64_t state = 5;
    fixture f = {.n = 0};
    add(&f, draw(20, 15, 3, 8, SCENE, &state), 6, &state);
    add(&f, draw(11, 3, 1, 16, NOISE, &state), 200, &state);
    add(&f, draw(17, 13, 4, 8, TEXT, &state), 0, &state);
    add(&f, draw(50, 41, 3, 8, SCENE, &state), 3, &state);
    add(&f, draw(9, 8, 2, 16, LINES, &state), 40, &state);
    encode(&f);
    return f;
}

static void every_prefix_is_right_as_far_as_it_goes(void **unused) {
    (void)unused;
    fixture f = mixed_group();
    codec_exact *exact = open_for(&f, NULL);
    size_t before = 0;
    for (size_t size = 0; size <= f.string.size; size++) {
        const size_t complete = decode(&f, exact, size, 0);
        assert_true(complete >= before);
        before = complete;
    }
    assert_true(before + 1 >= f.n);
    assert_int_equal(decode(&f, exact, f.string.size, 1), f.n);
    codec_exact_close(exact);
    drop(&f);
}

static void any_bytes_are_read(void **unused) {
    (void)unused;
    uint64_t state = 7;
    fixture f = mixed_group();
    codec_exact *exact = open_for(&f, NULL);
    for (int round = 0; round < 300; round++) {
        for (size_t i = round % 3 ? picture_random(&state) % f.string.size : 0; i < f.string.size;
             i += 1 + picture_random(&state) % 40)
            f.string.data[i] = (uint8_t)picture_random(&state);
        codec_exact_decode_begin(exact, f.string.data, f.string.size, round & 1);
        for (size_t i = 0; i < f.n; i++) {
            taper_image image = copy_of(&f.lossy[i]);
            assert_true(codec_exact_decode(exact, &image) <= image.height);
            formats_image_free(&image);
        }
    }
    codec_exact_close(exact);
    drop(&f);
}

/* Noise has nothing to predict: the string is hardly longer than what the lossy image leaves. */
static void noise_hardly_grows(void **unused) {
    (void)unused;
    uint64_t state = 9;
    for (unsigned depth = 8; depth <= 16; depth += 8) {
        fixture f = {.n = 0};
        add(&f, draw(256, 256, 3, depth, NOISE, &state), 0, &state);
        memset(f.lossy[0].pixels, 127, formats_image_bytes(&f.lossy[0]));
        encode(&f);
        const double share = (double)f.string.size / (double)formats_image_bytes(&f.original[0]);
        printf("%u bits of noise: %.4f\n", depth, share);
        assert_true(share < 1.01);
        drop(&f);
    }
}

static void channels_that_are_exact_cost_nothing(void **unused) {
    (void)unused;
    uint64_t state = 11;
    fixture f = {.n = 0};
    for (int i = 0; i < MOST; i++) add(&f, draw(32, 32, 3, 8, NOISE, &state), 0, &state);
    encode(&f);
    assert_true(f.string.size <= 4);
    drop(&f);
}

/* Weights are fitted anew within a large image, and pay. */
static void bands_of_a_large_image_come_back(void **unused) {
    (void)unused;
    uint64_t state = 13;
    fixture f = {.n = 0};
    add(&f, draw(700, 800, 1, 8, SCENE, &state), 3, &state);
    encode(&f);
    codec_exact *exact = open_for(&f, NULL);
    assert_int_equal(decode(&f, exact, f.string.size, 1), 1);
    codec_exact_close(exact);
    drop(&f);
}

static void memory_is_charged(void **unused) {
    (void)unused;
    codec_exact *exact;
    formats_account account = {.limit = 1 << 20};
    assert_int_equal(codec_exact_open(&exact, 100, 3, &account), TAPER_ERR_LIMIT);
    assert_null(exact);
    assert_int_equal(account.used, 0);
    account.limit = 1 << 26;
    assert_int_equal(codec_exact_open(&exact, 100, 3, &account), TAPER_OK);
    assert_true(account.used > 1 << 20 && account.used <= codec_exact_bytes(100, 3));
    codec_exact_close(exact);
    assert_int_equal(account.used, 0);
    assert_int_equal(codec_exact_open(&exact, UINT32_MAX, 4, &account), TAPER_ERR_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_of_every_kind_come_back),
        cmocka_unit_test(every_prefix_is_right_as_far_as_it_goes),
        cmocka_unit_test(any_bytes_are_read),
        cmocka_unit_test(noise_hardly_grows),
        cmocka_unit_test(channels_that_are_exact_cost_nothing),
        cmocka_unit_test(bands_of_a_large_image_come_back),
        cmocka_unit_test(memory_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
