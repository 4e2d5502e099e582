/* test_batch.c -- crops of many images in one array, against images rendered one by one. */
#include "cmocka_all.h"
#include "codec/decoder/decoder.h"
#include "dct_model.h"
#include <math.h>
#include <string.h>
#include <time.h>

enum { N = 24, CROP_W = 11, CROP_H = 7, MOST = 40 * 40 * 3 };

typedef struct fixture {
    taper_model *model;
    taper_image image[N];
    formats_buffer file[2]; /* in groups of 5 images; one group an image */
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    uint64_t seed = 3;
    formats_buffer file = formats_buffer_make(1 << 24);
    f->model = dct_model_make((codec_window){8, 8, 3, NULL}, 0, 2, &file);
    formats_buffer_free(&file);
    for (unsigned i = 0; i < N; i++)
        f->image[i] = picture_noise(9 + (unsigned)(picture_random(&seed) % 31),
                                    9 + (unsigned)(picture_random(&seed) % 31), i % 5 ? 3 : 1,
                                    i % 7 ? 8 : 16, i);
    for (int k = 0; k < 2; k++) {
        const taper_encode_options options = {.size = sizeof options,
                                              .layout = k ? TAPER_LAYOUT_IMAGE : TAPER_LAYOUT_SET,
                                              .group_images = k ? 0 : 5};
        f->file[k] = dct_encode(f->model, f->image, N, &options, 0);
    }
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N; i++) free(f->image[i].pixels);
    formats_buffer_free(&f->file[0]), formats_buffer_free(&f->file[1]);
    taper_model_free(f->model);
    free(f);
    return 0;
}

static taper_container *open_file(const fixture *f, int k) {
    const taper_open_options options = {.size = sizeof options, .model = f->model};
    taper_container *c;
    assert_int_equal(
        taper_container_open_memory(&c, f->file[k].data, f->file[k].size, &options, NULL),
        TAPER_OK);
    return c;
}

static long at_most(long x, long low, long high) { return x < low ? low : x > high ? high : x; }

/* What the crop of an item has at x, y and channel c: a sample from 0 to 1 by definition. */
static double expected(const taper_image *image, const taper_batch_item *item, uint32_t x,
                       uint32_t y, uint32_t c) {
    const long column = at_most((long)item->x + x, 0, (long)image->width - 1),
               row = at_most((long)item->y + y, 0, (long)image->height - 1);
    const size_t at = ((size_t)row * image->width + (size_t)column) * image->channels +
                      (image->channels == 1 ? 0 : c);
    return image->depth == 8 ? ((const uint8_t *)image->pixels)[at] / 255.0
                             : ((const uint16_t *)image->pixels)[at] / 65535.0;
}

static void choose(taper_batch_item *item, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++)
        item[i] = (taper_batch_item){picture_random(&seed) % N,
                                     (int32_t)(picture_random(&seed) % 40) - 15,
                                     (int32_t)(picture_random(&seed) % 40) - 15};
    item[0] = (taper_batch_item){1, INT32_MIN, INT32_MAX};
}

/* Bytes, channels last, of any layout, threads and scale. */
static void bytes_are_the_pixels(void **state) {
    const fixture *f = *state;
    enum { ITEMS = 40, BYTES = CROP_W * CROP_H * 3 };
    taper_batch_item item[ITEMS];
    static uint8_t out[ITEMS][BYTES + 5], pixels[MOST * 2];
    choose(item, ITEMS, 9);
    for (int k = 0; k < 8; k++) {
        taper_container *c = open_file(f, k & 1);
        taper_decoder *d, *one;
        const uint32_t scale = k & 2 ? 2 : 1;
        const taper_batch batch = {.size = sizeof batch,
                                   .item = item,
                                   .n = ITEMS,
                                   .width = CROP_W,
                                   .height = CROP_H,
                                   .scale = scale,
                                   .channels = 3,
                                   .to = out,
                                   .image_stride = BYTES + 5,
                                   .channel_stride = 1,
                                   .row_stride = CROP_W * 3,
                                   .column_stride = 3};
        assert_int_equal(taper_decoder_new(&d, c, NULL, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_new(&one, c, NULL, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_set_threads(d, k & 4 ? 3 : 1, NULL), TAPER_OK);
        for (int again = 0; again < 2; again++) {
            memset(out, 0xa5, sizeof out);
            assert_int_equal(taper_decoder_render_batch(d, &batch, NULL), TAPER_OK);
            for (int i = 0; i < ITEMS; i++) {
                taper_image image = {.pixels = pixels};
                assert_int_equal(
                    taper_decoder_render_scaled(one, item[i].image, scale, &image, NULL, NULL),
                    TAPER_OK);
                for (uint32_t p = 0; p < BYTES; p++)
                    assert_int_equal(out[i][p],
                                     lround(255 * expected(&image, &item[i], p / 3 % CROP_W,
                                                           p / 3 / CROP_W, p % 3)));
                for (int p = BYTES; p < BYTES + 5; p++) assert_int_equal(out[i][p], 0xa5);
            }
        }
        taper_decoder_free(d), taper_decoder_free(one);
        taper_container_close(c);
    }
}

/* Floats, channels first, with a gain and an offset for each channel. */
static void floats_are_normalised(void **state) {
    const fixture *f = *state;
    enum { ITEMS = 9 };
    taper_batch_item item[ITEMS];
    static float out[ITEMS][3][CROP_H][CROP_W];
    static uint8_t pixels[MOST * 2];
    const float gain[3] = {2, 0.5f, -1}, offset[3] = {-1, 0, 3};
    choose(item, ITEMS, 4);
    taper_container *c = open_file(f, 0);
    taper_decoder *d;
    assert_int_equal(taper_decoder_new(&d, c, NULL, NULL), TAPER_OK);
    for (int plain = 0; plain < 2; plain++) {
        const taper_batch batch = {.size = sizeof batch,
                                   .item = item,
                                   .n = ITEMS,
                                   .width = CROP_W,
                                   .height = CROP_H,
                                   .channels = 3,
                                   .sample = TAPER_SAMPLE_FLOAT32,
                                   .to = out,
                                   .image_stride = sizeof out[0],
                                   .channel_stride = sizeof out[0][0],
                                   .row_stride = sizeof out[0][0][0],
                                   .column_stride = sizeof(float),
                                   .gain = plain ? NULL : gain,
                                   .offset = plain ? NULL : offset};
        assert_int_equal(taper_decoder_render_batch(d, &batch, NULL), TAPER_OK);
        for (int i = 0; i < ITEMS; i++) {
            taper_image image = {.pixels = pixels};
            assert_int_equal(taper_decoder_render(d, item[i].image, &image, NULL, NULL), TAPER_OK);
            for (uint32_t p = 0; p < 3 * CROP_W * CROP_H; p++) {
                const uint32_t x = p % CROP_W, y = p / CROP_W % CROP_H, k = p / CROP_W / CROP_H;
                double value = expected(&image, &item[i], x, y, k);
                if (!plain) value = value * gain[k] + offset[k];
                assert_true(fabs(out[i][k][y][x] - value) < 1e-6);
            }
        }
    }
    taper_decoder_free(d);
    taper_container_close(c);
}

/* A damaged group spoils its items alone; each item has its status. */
static void damage_is_told(void **state) {
    fixture *f = *state;
    taper_batch_item item[N];
    taper_status status[N];
    static uint8_t out[N][CROP_W * CROP_H];
    taper_error error = {0};
    formats_buffer copy = formats_buffer_make(1 << 24);
    formats_write_bytes(&copy, f->file[1].data, f->file[1].size);
    copy.data[copy.size - 3] ^= 1; /* of the last image */
    const taper_open_options options = {.size = sizeof options, .model = f->model};
    taper_container *c;
    taper_decoder *d;
    assert_int_equal(taper_container_open_memory(&c, copy.data, copy.size, &options, NULL),
                     TAPER_OK);
    assert_int_equal(taper_decoder_new(&d, c, NULL, NULL), TAPER_OK);
    for (uint64_t i = 0; i < N; i++) item[i] = (taper_batch_item){i, 0, 0};
    taper_batch batch = {.size = sizeof batch,
                         .item = item,
                         .n = N,
                         .width = CROP_W,
                         .height = CROP_H,
                         .channels = 1,
                         .to = out,
                         .image_stride = sizeof out[0],
                         .channel_stride = 1,
                         .row_stride = CROP_W,
                         .column_stride = 1,
                         .status = status};
    for (unsigned threads = 1; threads <= 2; threads++) {
        assert_int_equal(taper_decoder_set_threads(d, threads, NULL), TAPER_OK);
        /* the first that fails is image 1, which is in colour */
        assert_int_equal(taper_decoder_render_batch(d, &batch, &error), TAPER_ERR_ARG);
        assert_non_null(strstr(error.text, "image 1 is in colour"));
        for (int i = 0; i < N; i++) assert_int_equal(status[i], i % 5 ? TAPER_ERR_ARG : TAPER_OK);
    }
    batch.channels = 3, batch.column_stride = 0, batch.row_stride = 0, batch.channel_stride = 0;
    assert_int_equal(taper_decoder_render_batch(d, &batch, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "checksum"));
    assert_true(status[0] == TAPER_OK && status[N - 1] == TAPER_ERR_CORRUPT);
    item[0].image = N;
    status[0] = TAPER_ERR_DEVICE;
    assert_int_equal(taper_decoder_render_batch(d, &batch, &error), TAPER_ERR_ARG);
    assert_int_equal(status[0], TAPER_ERR_DEVICE);         /* nothing was changed */
    item[0].image = 0, batch.image_stride = SIZE_MAX - 15; /* would be before the array */
    assert_int_equal(taper_decoder_render_batch(d, &batch, &error), TAPER_ERR_ARG);
    taper_decoder_free(d);
    taper_container_close(c);
    formats_buffer_free(&copy);
}

/* Threads share the memory of a decoder: if a share is too little, one thread has all of it, and
 * the number of threads of earlier batches does not matter. */
static void threads_share_memory(void **state) {
    const fixture *f = *state;
    enum { ITEMS = N };
    taper_batch_item item[ITEMS];
    static uint8_t out[ITEMS][CROP_H * CROP_W * 3], alone[ITEMS][CROP_H * CROP_W * 3];
    taper_batch batch = {.size = sizeof batch,
                         .item = item,
                         .n = ITEMS,
                         .width = CROP_W,
                         .height = CROP_H,
                         .channels = 3,
                         .to = alone,
                         .image_stride = sizeof out[0],
                         .channel_stride = 1,
                         .row_stride = CROP_W * 3,
                         .column_stride = 3};
    choose(item, ITEMS, 11);
    taper_container *c = open_file(f, 1);
    int refused = 0, rendered = 0;
    for (uint64_t memory = 1 << 14; memory <= 1 << 22; memory += memory / 3) {
        const taper_decode_options options = {.size = sizeof options, .max_memory = memory};
        taper_status status[2];
        for (int several = 0; several < 2; several++) {
            taper_decoder *d;
            status[several] = taper_decoder_new(&d, c, &options, NULL);
            if (status[several] != TAPER_OK) continue; /* not even the front matter */
            batch.to = several ? out : alone;
            for (unsigned threads = several ? 4 : 1; threads >= 1; threads--) {
                assert_int_equal(taper_decoder_set_threads(d, threads, NULL), TAPER_OK);
                status[several] = taper_decoder_render_batch(d, &batch, NULL);
                if (several) assert_int_equal(status[1], status[0]);
                assert_true(d->account.used <= memory);
            }
            taper_decoder_free(d);
        }
        refused += status[0] == TAPER_ERR_LIMIT, rendered += status[0] == TAPER_OK;
        if (status[0] == TAPER_OK) assert_memory_equal(out, alone, sizeof out);
    }
    assert_true(refused && rendered);
    taper_container_close(c);
}

/* A decoder keeps what the head of a model made of an earlier group. Images of other depths, while
 * bytes arrive, are as a decoder of their own draws them from the same bytes. */
static void earlier_groups_change_nothing(void **unused) {
    (void)unused;
    enum { IMAGES = 24, STEPS = 9, BYTES = 32 * 32 * 3 };
    taper_model *model;
    taper_image image[IMAGES];
    const taper_encode_options options = {.size = sizeof options, .layout = TAPER_LAYOUT_SET};
    const taper_open_options open = {.size = sizeof open};
    assert_int_equal(taper_model_builtin(&model, "tiny", NULL), TAPER_OK);
    for (unsigned i = 0; i < IMAGES; i++) image[i] = dct_picture(32, 32, 3, i);
    formats_buffer file = dct_encode(model, image, IMAGES, &options, 0);
    taper_decoder *d, *own;
    assert_int_equal(taper_decoder_new_streaming(&d, &open, NULL), TAPER_OK);
    for (size_t step = 0, at = 0, end; step < STEPS; step++, at = end) {
        end = step + 1 == STEPS ? file.size : file.size * (step + 2) / (STEPS + 2);
        assert_int_equal(taper_decoder_push(d, file.data + at, end - at, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_new_streaming(&own, &open, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_push(own, file.data, end, NULL), TAPER_OK);
        for (uint64_t i = step % 3; i < IMAGES; i += 3) {
            uint8_t got[BYTES], want[BYTES];
            taper_image a = {.pixels = got}, b = {.pixels = want};
            assert_int_equal(taper_decoder_render(d, i, &a, NULL, NULL), TAPER_OK);
            assert_int_equal(taper_decoder_render(own, i, &b, NULL, NULL), TAPER_OK);
            assert_memory_equal(got, want, BYTES);
        }
        taper_decoder_free(own);
    }
    taper_decoder_free(d);
    taper_model_free(model);
    formats_buffer_free(&file);
    for (unsigned i = 0; i < IMAGES; i++) free(image[i].pixels);
}

/* Images that follow one are rendered with it: backwards, that were done again for each. */
static void order_costs_nothing(void **state) {
    const fixture *f = *state;
    enum { IMAGES = 400, BYTES = 32 * 32 * 3 };
    taper_image image[IMAGES];
    for (unsigned i = 0; i < IMAGES; i++) image[i] = dct_picture(32, 32, 3, i);
    const taper_encode_options options = {.size = sizeof options, .layout = TAPER_LAYOUT_SET};
    formats_buffer file = dct_encode(f->model, image, IMAGES, &options, 0);
    const taper_open_options open = {.size = sizeof open, .model = f->model};
    taper_container *c;
    assert_int_equal(taper_container_open_memory(&c, file.data, file.size, &open, NULL), TAPER_OK);
    uint8_t *out = malloc((size_t)IMAGES * BYTES);
    assert_non_null(out);
    clock_t took[2] = {0, 0};
    for (int round = 0; round < 6; round++) {
        const int backwards = round & 1;
        taper_batch_item item[IMAGES];
        for (unsigned i = 0; i < IMAGES; i++)
            item[i] = (taper_batch_item){backwards ? IMAGES - 1 - i : i, 0, 0};
        const taper_batch batch = {.size = sizeof batch,
                                   .item = item,
                                   .n = IMAGES,
                                   .width = 32,
                                   .height = 32,
                                   .channels = 3,
                                   .to = out,
                                   .image_stride = BYTES,
                                   .channel_stride = 1,
                                   .row_stride = 32 * 3,
                                   .column_stride = 3};
        taper_decoder *d;
        assert_int_equal(taper_decoder_new(&d, c, NULL, NULL), TAPER_OK);
        const clock_t start = clock();
        assert_int_equal(taper_decoder_render_batch(d, &batch, NULL), TAPER_OK);
        const clock_t now = clock() - start;
        if (round < 2 || now < took[backwards]) took[backwards] = now;
        taper_decoder_free(d);
    }
    assert_true(took[1] < 2 * took[0]);
    free(out);
    taper_container_close(c);
    formats_buffer_free(&file);
    for (unsigned i = 0; i < IMAGES; i++) free(image[i].pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(order_costs_nothing, setup, teardown),
        cmocka_unit_test(earlier_groups_change_nothing),
        cmocka_unit_test_setup_teardown(bytes_are_the_pixels, setup, teardown),
        cmocka_unit_test_setup_teardown(floats_are_normalised, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_share_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
