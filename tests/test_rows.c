/* test_rows.c -- rows and rectangles of images (taper_decoder_render_rows, _crop), decoded as a
 * whole or strip by strip, against the whole image. */
#include "open_decoder.h"
#include "cmocka_all.h"
#include "pictures.h"
#include "codec/taper_model.h"
#include <math.h>
#include <string.h>

enum { WIDTH = 701, HEIGHT = 1601, STRIPS_MEMORY = 34 << 20 };

typedef struct memory {
    const uint8_t *bytes;
    size_t size;
} memory;

static taper_status read_memory(void *user, uint64_t at, void *to, size_t n) {
    const memory *m = user;
    if (at + n > m->size) return TAPER_ERR_IO;
    memcpy(to, m->bytes + at, n);
    return TAPER_OK;
}

static taper_status write_memory(void *user, const void *bytes, size_t n) {
    return formats_write_bytes(user, bytes, n);
}

/* Smooth, with noise of a few levels, and extremes that need raised planes. */
static taper_image large_picture(unsigned channels, unsigned depth) {
    taper_image scene = picture_scene(WIDTH, HEIGHT, channels, 3),
                image = picture_noise(WIDTH, HEIGHT, channels, depth, 7);
    for (size_t i = 0; i < formats_image_samples(&image); i++) {
        const size_t y = i / channels / WIDTH;
        const unsigned noise = ((const uint8_t *)image.pixels)[i * depth / 8];
        unsigned v = ((const uint8_t *)scene.pixels)[i];
        v = y < 100 ? (noise & 1) * 255u : (v + noise / 16) / 2 + 60;
        if (depth == 8)
            ((uint8_t *)image.pixels)[i] = (uint8_t)v;
        else
            ((uint16_t *)image.pixels)[i] = (uint16_t)(v * 257);
    }
    formats_image_free(&scene);
    return image;
}

/* target: bytes per megapixel, where the last chunk is cut; 0: the chunks are whole. */
static formats_buffer encode_to(const char *model, const taper_image *image, size_t n,
                                taper_layout layout, uint64_t target) {
    const taper_encode_options options = {.size = sizeof options,
                                          .layout = layout,
                                          .quick = 1,
                                          .group_images = n > 1 ? 16 : 0,
                                          .target_bytes_per_megapixel = target};
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_encoder *e;
    taper_model *m;
    const taper_sink sink = {&out, write_memory};
    assert_int_equal(taper_model_builtin(&m, model, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_new(&e, m, &options, NULL), TAPER_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taper_encoder_add(e, &image[i], NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(e);
    taper_model_free(m);
    return out;
}

static formats_buffer encode(const char *model, const taper_image *image, size_t n,
                             taper_layout layout) {
    return encode_to(model, image, n, layout, 150000);
}

/* max_memory: 0: the default. */
static taper_decoder *decoder_of(memory *m, uint64_t max_memory, unsigned threads) {
    const taper_source source = {m, m->size, read_memory};
    const taper_limits limits = {.size = sizeof limits, .max_memory = max_memory};
    taper_decoder *d;
    assert_int_equal(open_decoder(&d, &source, NULL, &limits, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_set_threads(d, threads, NULL), TAPER_OK);
    return d;
}

static taper_image_info info_of(taper_decoder *d, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    assert_int_equal(taper_container_get_image(taper_decoder_container(d), i, &info, NULL),
                     TAPER_OK);
    return info;
}

static taper_image render_whole(taper_decoder *d, uint64_t i, uint32_t scale,
                                taper_completeness *done, taper_status expected) {
    const taper_image_info info = info_of(d, i);
    taper_image whole = {.pixels = malloc((size_t)info.bytes)};
    assert_non_null(whole.pixels);
    assert_int_equal(taper_decoder_render_scaled(d, i, scale, &whole, done, NULL), expected);
    return whole;
}

typedef struct rows {
    const taper_image *whole; /* of the image at the scale */
    uint32_t x, y, width, next;
} rows;

static taper_status compare_rows(void *user, uint32_t first, const taper_image *got) {
    rows *r = user;
    const size_t pixel = got->channels * (got->depth / 8u), stride = r->whole->width * pixel;
    assert_int_equal(first, r->next);
    assert_int_equal(got->width, r->width);
    assert_true(got->height > 0);
    assert_true(got->channels == r->whole->channels && got->depth == r->whole->depth);
    for (uint32_t y = 0; y < got->height; y++)
        assert_memory_equal((const char *)got->pixels + y * r->width * pixel,
                            (const char *)r->whole->pixels + (r->y + first + y) * stride +
                                r->x * pixel,
                            r->width * pixel);
    r->next += got->height;
    return TAPER_OK;
}

static void check_crop(taper_decoder *d, uint64_t i, uint32_t scale, taper_crop crop,
                       const taper_image *whole, taper_status expected) {
    const uint32_t x = crop.x / scale, y = crop.y / scale,
                   width = (crop.x + crop.width - 1) / scale - x + 1,
                   height = (crop.y + crop.height - 1) / scale - y + 1;
    rows r = {whole, x, y, width, 0};
    const taper_row_sink to = {&r, compare_rows};
    assert_int_equal(taper_decoder_render_rows(d, i, scale, &crop, &to, NULL, NULL), expected);
    assert_int_equal(r.next, height);
    taper_image part = {.pixels = malloc((size_t)width * height * 8)};
    assert_int_equal(taper_decoder_render_crop(d, i, scale, &crop, &part, NULL, NULL), expected);
    assert_true(part.width == width && part.height == height);
    r.next = 0;
    compare_rows(&r, 0, &part);
    free(part.pixels);
}

static uint32_t below(uint64_t *seed, uint32_t n) {
    return (uint32_t)(picture_random(seed) >> 32) % n;
}

/* Corners, single pixels, single rows and columns, and `some` random rectangles. */
static void check_crops(taper_decoder *d, uint64_t i, uint32_t scale, const taper_image *whole,
                        int some, taper_status expected) {
    const taper_image_info info = info_of(d, i);
    const uint32_t w = info.width, h = info.height;
    const taper_crop edges[] = {{0, 0, w, h},         {0, 0, 1, 1},     {w - 1, h - 1, 1, 1},
                                {w - 1, 0, 1, h},     {0, h - 1, w, 1}, {w / 2, h / 2, 1, 1},
                                {0, h / 2 | 1, w, 2}, {0, 0, w, 1}};
    for (size_t k = 0; k < sizeof edges / sizeof *edges && (int)k < some; k++)
        check_crop(d, i, scale, edges[k], whole, expected);
    uint64_t seed = 99 + scale;
    for (int k = 0; k < some; k++) {
        taper_crop c = {below(&seed, w), below(&seed, h), 0, 0};
        const uint32_t most = k % 2 ? 64 : w;
        c.width = 1 + below(&seed, w - c.x < most ? w - c.x : most);
        c.height = 1 + below(&seed, h - c.y < most ? h - c.y : most);
        check_crop(d, i, scale, c, whole, expected);
    }
}

static void assert_same_done(taper_completeness a, taper_completeness b) {
    assert_int_equal(a.passes, b.passes);
    assert_int_equal(a.passes_in_file, b.passes_in_file);
    assert_int_equal(a.bytes, b.bytes);
    assert_int_equal(a.complete, b.complete);
}

/* A scale decodes other passes than another: strips that were decoded before do not stay known. */
static void scales_in_turn(void **unused) {
    (void)unused;
    taper_image image = large_picture(3, 8);
    formats_buffer file = encode("photo", &image, 1, TAPER_LAYOUT_IMAGE);
    memory m = {file.data, file.size * 3 / 5};
    taper_decoder *d = decoder_of(&m, STRIPS_MEMORY, 1);
    const uint32_t scale[] = {1, 16, 1};
    for (size_t k = 0; k < sizeof scale / sizeof *scale; k++) {
        taper_decoder *fresh = decoder_of(&m, STRIPS_MEMORY, 1);
        taper_completeness done[2];
        assert_int_equal(taper_decoder_set_scale(d, scale[k], NULL), TAPER_OK);
        assert_int_equal(taper_decoder_set_scale(fresh, scale[k], NULL), TAPER_OK);
        assert_true(codec_decoder_goes_by_strips(d, 0));
        taper_image got = render_whole(d, 0, 1, &done[0], TAPER_OK),
                    want = render_whole(fresh, 0, 1, &done[1], TAPER_OK);
        assert_true(image_equal(&got, &want));
        assert_same_done(done[0], done[1]);
        formats_image_free(&got), formats_image_free(&want);
        close_decoder(fresh);
    }
    close_decoder(d);
    formats_buffer_free(&file);
    formats_image_free(&image);
}

/* The first `size` bytes of a file: decoded as a whole, and strip by strip. */
static void check_file(const uint8_t *bytes, size_t size, int some, taper_status expected) {
    memory m = {bytes, size};
    taper_decoder *all = decoder_of(&m, 0, 1), *strips = decoder_of(&m, STRIPS_MEMORY, 3);
    taper_completeness done[2];
    assert_false(codec_decoder_goes_by_strips(all, 0));
    assert_true(codec_decoder_goes_by_strips(strips, 0));
    assert_true(all->container->front.raised_at[1] > 0);
    taper_image whole = render_whole(all, 0, 1, &done[0], expected),
                same = render_whole(strips, 0, 1, &done[1], expected);
    assert_true(image_equal(&whole, &same));
    assert_same_done(done[0], done[1]);
    check_crops(strips, 0, 1, &whole, some, expected);
    check_crops(all, 0, 1, &whole, some, expected);
    formats_image_free(&whole), formats_image_free(&same);
    close_decoder(all), close_decoder(strips);
}

static void rows_and_crops_equal_the_whole(void **unused) {
    (void)unused;
    static const struct {
        unsigned channels, depth;
        taper_layout layout;
    } kinds[] = {{3, 8, TAPER_LAYOUT_SET}, {1, 16, TAPER_LAYOUT_IMAGE}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        taper_image image = large_picture(kinds[k].channels, kinds[k].depth);
        formats_buffer file = encode("photo", &image, 1, kinds[k].layout);
        check_file(file.data, file.size, 9, TAPER_OK);
        check_file(file.data, file.size * 3 / 5, 4, TAPER_OK);
        check_file(file.data, file.size / 20, 6, TAPER_OK);
        check_file(file.data, file.size / 900 + 300, 3, TAPER_OK);
        formats_buffer_free(&file);
        formats_image_free(&image);
    }
}

/* Strips of a cut file end after different passes; the fewest count for all. */
static void cuts_end_where_the_whole_ends(void **unused) {
    (void)unused;
    taper_image image = large_picture(3, 8);
    formats_buffer file = encode("photo", &image, 1, TAPER_LAYOUT_SET);
    uint64_t seed = 5;
    for (int k = 0; k < 20; k++)
        check_file(file.data, file.size / 60 + below(&seed, (uint32_t)file.size / 30), 0, TAPER_OK);
    formats_buffer_free(&file);
    formats_image_free(&image);
}

static void damage_ends_strips_as_it_ends_the_whole(void **unused) {
    (void)unused;
    taper_image image = large_picture(3, 8);
    formats_buffer file = encode("photo", &image, 1, TAPER_LAYOUT_SET);
    for (int k = 1; k < 4; k++) {
        const size_t at = file.size * (size_t)k / 4;
        file.data[at] ^= 0x10;
        check_file(file.data, file.size, 2, TAPER_ERR_CORRUPT);
        file.data[at] ^= 0x10;
    }
    formats_buffer_free(&file);
    formats_image_free(&image);
}

/* Of an image whose group could be kept, single strips are decoded until they are as many as the
 * image has; then the group is. */
static void few_strips_come_before_the_group(void **unused) {
    (void)unused;
    const taper_crop top = {WIDTH / 2, 20, 40, 30};
    taper_image image = large_picture(3, 8);
    formats_buffer file = encode_to("photo", &image, 1, TAPER_LAYOUT_SET, 0);
    memory m = {file.data, file.size}, part = {file.data, file.size - 9};
    for (int cut = 0; cut < 2; cut++) {
        taper_decoder *all = decoder_of(cut ? &part : &m, 0, 1),
                      *d = decoder_of(cut ? &part : &m, 0, 1);
        taper_image whole = render_whole(all, 0, 1, NULL, TAPER_OK);
        const codec_group_reader *group = d->reading.readers.of_rate_class;
        const codec_grid grid = {info_of(d, 0).columns, info_of(d, 0).rows};
        const uint32_t strips = codec_strips_count(&grid, 1);
        assert_true(strips > 2);
        for (uint32_t k = 0; k <= strips / 2; k++) { /* check_crop renders twice */
            if (!cut) assert_int_equal(group->images, 2 * k >= strips);
            check_crop(d, 0, 1, top, &whole, TAPER_OK);
            if (cut) assert_int_equal(group->images, 1); /* all strips tell where it ends */
        }
        check_crops(d, 0, 1, &whole, 3, TAPER_OK);
        formats_image_free(&whole);
        close_decoder(all), close_decoder(d);
    }
    formats_buffer_free(&file);
    formats_image_free(&image);
}

/* Supplied bytes with a gap: strips end where the group as a whole does. */
static void gaps_end_strips_as_they_end_the_whole(void **unused) {
    (void)unused;
    const taper_limits little = {.size = sizeof little, .max_memory = STRIPS_MEMORY};
    taper_image image = large_picture(3, 8);
    formats_buffer file = encode("photo", &image, 1, TAPER_LAYOUT_SET);
    taper_decoder *d[3];
    for (int k = 0; k < 3; k++) {
        const size_t from = file.size * 2 / 3, to = from + 500;
        assert_int_equal(stream_decoder(&d[k], NULL, k == 2 ? &little : NULL, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_supply(d[k], 0, file.data, from, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_supply(d[k], to, file.data + to, file.size - to, NULL),
                         TAPER_OK);
    }
    taper_image whole = render_whole(d[0], 0, 1, NULL, TAPER_OK);
    for (int k = 1; k < 3; k++) check_crops(d[k], 0, 1, &whole, 4, TAPER_OK);
    for (int k = 0; k < 3; k++) taper_decoder_free(d[k]);
    formats_image_free(&whole);
    formats_buffer_free(&file);
    formats_image_free(&image);
}

static void images_of_a_group(void **unused) {
    (void)unused;
    static const char *const models[] = {"photo", "tiny"};
    taper_image image[3] = {picture_scene(70, 41, 3, 1), picture_noise(33, 150, 1, 8, 5),
                            picture_noise(16, 16, 3, 16, 9)};
    for (int k = 0; k < 2; k++) {
        formats_buffer file = encode(models[k], image, 3, TAPER_LAYOUT_SET);
        memory m = {file.data, file.size * 2 / 3};
        taper_decoder *d = decoder_of(&m, 0, 2);
        for (uint64_t i = 0; i < 3; i++)
            for (uint32_t scale = 1; scale <= 4; scale *= 2) {
                taper_image whole = render_whole(d, i, scale, NULL, TAPER_OK);
                check_crops(d, i, scale, &whole, 10, TAPER_OK);
                formats_image_free(&whole);
            }
        close_decoder(d);
        formats_buffer_free(&file);
    }
    for (int i = 0; i < 3; i++) formats_image_free(&image[i]);
}

static void pushed_and_scaled(void **unused) {
    (void)unused;
    taper_image image = large_picture(3, 8);
    formats_buffer file = encode("photo", &image, 1, TAPER_LAYOUT_SET);
    taper_decoder *d;
    assert_int_equal(stream_decoder(&d, NULL, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_push(d, file.data, file.size / 9, NULL), TAPER_OK);
    for (uint32_t scale = 1; scale <= 16; scale *= 4) {
        taper_image whole = render_whole(d, 0, scale, NULL, TAPER_OK);
        check_crops(d, 0, scale, &whole, 5, TAPER_OK);
        formats_image_free(&whole);
    }
    taper_decoder_free(d);
    formats_buffer_free(&file);
    formats_image_free(&image);
}

static taper_status refuse_rows(void *user, uint32_t first, const taper_image *got) {
    (void)first, (void)got;
    ++*(int *)user;
    return TAPER_ERR_IO;
}

static void bad_arguments_and_refusals(void **unused) {
    (void)unused;
    taper_image image = picture_scene(70, 41, 3, 1);
    formats_buffer file = encode("photo", &image, 1, TAPER_LAYOUT_SET);
    memory m = {file.data, file.size};
    taper_decoder *d = decoder_of(&m, 0, 1);
    const taper_crop bad[] = {{0, 0, 0, 1},  {0, 0, 1, 0},   {70, 0, 1, 1},
                              {0, 41, 1, 1}, {69, 40, 2, 1}, {1, 1, UINT32_MAX, UINT32_MAX}};
    int calls = 0;
    const taper_row_sink to = {&calls, refuse_rows}, none = {0};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(taper_decoder_render_rows(d, 0, 1, &bad[k], &to, NULL, NULL),
                         TAPER_ERR_ARG);
        assert_int_equal(taper_decoder_render_crop(d, 0, 1, &bad[k], &image, NULL, NULL),
                         TAPER_ERR_ARG);
    }
    assert_int_equal(taper_decoder_render_rows(d, 0, 3, NULL, &to, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_render_rows(d, 1, 1, NULL, &to, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_render_rows(d, 0, 1, NULL, &none, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_render_rows(NULL, 0, 1, NULL, &to, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(calls, 0);
    assert_int_equal(taper_decoder_render_rows(d, 0, 1, NULL, &to, NULL, NULL), TAPER_ERR_IO);
    assert_int_equal(calls, 1);
    close_decoder(d);
    formats_buffer_free(&file);
    formats_image_free(&image);
}

/* A limit below what the strips take is refused before any row is made; it says what is enough. */
static void limits_are_told(void **unused) {
    (void)unused;
    taper_image image = large_picture(3, 8);
    formats_buffer file = encode("photo", &image, 1, TAPER_LAYOUT_SET);
    memory m = {file.data, file.size};
    taper_decoder *d = decoder_of(&m, 6 << 20, 1);
    taper_error error = {0};
    int calls = 0;
    const taper_row_sink to = {&calls, refuse_rows};
    assert_int_equal(taper_decoder_render_rows(d, 0, 1, NULL, &to, NULL, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    assert_true(error.needed > 6 << 20 && error.needed <= STRIPS_MEMORY);
    assert_int_equal(calls, 0);
    close_decoder(d);
    formats_buffer_free(&file);
    formats_image_free(&image);
}

/* --- encoding ------------------------------------------------------------------------------- */

typedef struct source_rows {
    const taper_image *image;
    uint32_t next, fail_at;
} source_rows;

static taper_status next_rows(void *user, const taper_image *to) {
    source_rows *r = user;
    const size_t stride = (size_t)to->width * to->channels * (to->depth / 8u);
    assert_true(to->height <= r->image->height - r->next);
    if (r->next >= r->fail_at) return TAPER_ERR_IO;
    memcpy(to->pixels, (const char *)r->image->pixels + r->next * stride, to->height * stride);
    r->next += to->height;
    return TAPER_OK;
}

/* How an image is encoded, and what became of it. */
typedef struct encoding {
    uint64_t max_memory, target, max_bytes;
    int by_rows, measure;
    double least_db;
} encoding;

static formats_buffer encode_by(encoding *by, const taper_image *image) {
    const taper_limits limits = {.size = sizeof limits, .max_memory = by->max_memory};
    const taper_encode_options options = {.size = sizeof options,
                                          .limits = &limits,
                                          .measure = by->measure,
                                          .threads = by->by_rows ? 2 : 1,
                                          .target_bytes_per_megapixel = by->target};
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_sink sink = {&out, write_memory};
    taper_encoder *e;
    source_rows pixels = {image, 0, UINT32_MAX};
    const taper_row_source from = {sizeof from,  image->width, image->height, image->channels,
                                   image->depth, &pixels,      next_rows};
    assert_int_equal(taper_encoder_new(&e, NULL, &options, NULL), TAPER_OK);
    taper_error error = {0};
    const taper_status status = by->by_rows ? taper_encoder_add_rows(e, &from, "a.png", 0, &error)
                                            : taper_encoder_add(e, image, "a.png", 0, &error);
    if (status) print_message("%s\n", error.text);
    assert_int_equal(status, TAPER_OK);
    assert_int_equal(taper_encoder_finish(e, by->max_bytes, &sink, NULL), TAPER_OK);
    taper_encode_quality quality = {.size = sizeof quality};
    if (by->measure) assert_int_equal(taper_encoder_quality(e, &quality, NULL), TAPER_OK);
    by->least_db = quality.least_psnr_db;
    taper_encoder_free(e);
    return out;
}

/* Strips and rows give the bytes that the whole image gives. */
static void check_encoding(const taper_image *image, uint64_t target, uint64_t max_bytes,
                           int measure) {
    encoding whole = {0, target, max_bytes, 0, measure, 0}, strips = whole, by_rows = whole;
    strips.max_memory = by_rows.max_memory = STRIPS_MEMORY;
    by_rows.by_rows = 1;
    formats_buffer a = encode_by(&whole, image), b = encode_by(&strips, image),
                   c = encode_by(&by_rows, image);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    assert_int_equal(a.size, c.size);
    assert_memory_equal(a.data, c.data, a.size);
    if (measure) assert_true(fabs(whole.least_db - strips.least_db) < 0.001 && whole.least_db > 20);
    formats_buffer_free(&a), formats_buffer_free(&b), formats_buffer_free(&c);
}

static void strips_encode_the_same_bytes(void **unused) {
    (void)unused;
    taper_image extreme = large_picture(3, 8), smooth = picture_scene(WIDTH, HEIGHT, 3, 1),
                deep = picture_scene(WIDTH, HEIGHT, 1, 4);
    check_encoding(&extreme, 0, 60000, 0); /* raised planes */
    check_encoding(&extreme, 100000, 0, 1);
    check_encoding(&smooth, 0, 0, 1);
    check_encoding(&smooth, 0, 90000, 0); /* smoother than the model's images */
    check_encoding(&smooth, 40000, 0, 0);
    check_encoding(&deep, 0, 5000, 0);
    check_encoding(&deep, 0, 700, 0);
    formats_image_free(&extreme), formats_image_free(&smooth), formats_image_free(&deep);
}

static void rows_of_a_small_image(void **unused) {
    (void)unused;
    taper_image image = picture_scene(70, 41, 3, 1);
    encoding whole = {0}, by_rows = {.by_rows = 1};
    formats_buffer a = encode_by(&whole, &image), b = encode_by(&by_rows, &image);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    formats_buffer_free(&a), formats_buffer_free(&b);
    formats_image_free(&image);
}

static void rows_that_fail_end_the_encoder(void **unused) {
    (void)unused;
    taper_image image = picture_scene(WIDTH, HEIGHT, 3, 1);
    const taper_limits limits = {.size = sizeof limits, .max_memory = STRIPS_MEMORY};
    const taper_encode_options options = {.size = sizeof options, .limits = &limits};
    source_rows pixels = {&image, 0, 500};
    const taper_row_source from = {sizeof from, WIDTH, HEIGHT, 3, 8, &pixels, next_rows};
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_sink sink = {&out, write_memory};
    taper_encoder *e;
    assert_int_equal(taper_encoder_new(&e, NULL, &options, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add_rows(e, &from, NULL, -1, NULL), TAPER_ERR_IO);
    assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_ERR_IO);
    taper_encoder_free(e);
    formats_buffer_free(&out);
    formats_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_crops_equal_the_whole),
        cmocka_unit_test(cuts_end_where_the_whole_ends),
        cmocka_unit_test(damage_ends_strips_as_it_ends_the_whole),
        cmocka_unit_test(few_strips_come_before_the_group),
        cmocka_unit_test(gaps_end_strips_as_they_end_the_whole),
        cmocka_unit_test(images_of_a_group),
        cmocka_unit_test(pushed_and_scaled),
        cmocka_unit_test(bad_arguments_and_refusals),
        cmocka_unit_test(limits_are_told),
        cmocka_unit_test(strips_encode_the_same_bytes),
        cmocka_unit_test(rows_of_a_small_image),
        cmocka_unit_test(scales_in_turn),
        cmocka_unit_test(rows_that_fail_end_the_encoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
