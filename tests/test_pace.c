/* test_pace.c -- more bytes never hurt, of one small image alone too, at every byte and with the
 * models that ship; and the rule by which that is so, for all who read cuts. */
#include "cmocka_all.h"
#include "../formats/container.h"
#include "dct_model.h"

enum { QUALITIES = 4 };

/* The same container at another pace. */
static formats_buffer at_pace(const formats_buffer *file, uint32_t pace) {
    formats_front front;
    formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
    size_t data = (size_t)front.front_size;
    front.pace = pace;
    assert_int_equal(formats_front_write(&front, &out, NULL), TAPER_OK);
    assert_int_equal(out.size, data);
    formats_write_bytes(&out, file->data + data, file->size - data);
    formats_front_free(&front);
    return out;
}

static uint32_t pace_of(const formats_buffer *file) {
    formats_front front;
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
    uint32_t pace = front.pace;
    formats_front_free(&front);
    return pace;
}

/* --- the promise ------------------------------------------------------------------------- */

typedef struct walk {
    double deepest;          /* fall */
    size_t bytes[QUALITIES]; /* of the shortest cuts of 25, 30, 35, 40 dB */
} walk;

/* Every cut, as it arrives. */
static walk walk_cuts(const taper_model *model, const taper_image *image, size_t n,
                      const formats_buffer *file) {
    walk w = {0};
    taper_decoder *decoder;
    size_t front = dct_info(file, model).front_bytes;
    double best = 0, psnr = 0;
    uint64_t used = UINT64_MAX;
    assert_int_equal(taper_decoder_new(&decoder, model, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_push(decoder, file->data, front - 1, NULL), TAPER_OK);
    for (size_t size = front; size <= file->size; size++) {
        assert_int_equal(taper_decoder_push(decoder, file->data + size - 1, 1, NULL), TAPER_OK);
        taper_completeness done;
        uint8_t pixels[64 * 64 * 3];
        taper_image out = {.pixels = pixels};
        assert_int_equal(taper_decoder_render(decoder, 0, &out, &done, NULL), TAPER_OK);
        if (done.bytes != used) {
            formats_buffer all = formats_buffer_make(1 << 20);
            assert_int_equal(dct_render_all(decoder, &all, NULL), TAPER_OK);
            psnr = dct_mean_psnr(image, n, all.data);
            formats_buffer_free(&all);
        }
        used = done.bytes;
        w.deepest = fmax(w.deepest, best - psnr);
        best = fmax(best, psnr);
        for (int q = 0; q < QUALITIES; q++)
            if (!w.bytes[q] && psnr >= 25 + 5 * q) w.bytes[q] = size;
    }
    taper_decoder_free(decoder);
    return w;
}

/* Waves of all lengths and a box: as rich as photographs are. 8 bits, 3 channels. */
static taper_image rich_picture(uint32_t side, uint64_t seed) {
    enum { WAVES = 24 };
    taper_image image = picture_noise(side, side, 3, 8, seed);
    double wave[WAVES][3], shade[WAVES][3];
    uint64_t state = 991 * seed + 7;
    for (int i = 0; i < 5; i++) picture_random(&state);
    for (int k = 0; k < WAVES; k++) {
        double length = 40 / pow(1.16, k), angle = (double)(picture_random(&state) % 628) / 100;
        wave[k][0] = 6.283 / length * cos(angle), wave[k][1] = 6.283 / length * sin(angle);
        wave[k][2] = (double)(picture_random(&state) % 628) / 100;
        for (int c = 0; c < 3; c++)
            shade[k][c] = length * (0.4 + (double)(picture_random(&state) % 100) / 130);
    }
    uint8_t *to = image.pixels;
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++)
            for (int c = 0; c < 3; c++) {
                double v = x > side / 3 && y > side / 2 && x < side - side / 5 ? 90 : 140;
                for (int k = 0; k < WAVES; k++)
                    v += 0.7 * shade[k][c] * cos(wave[k][0] * x + wave[k][1] * y + wave[k][2]);
                *to++ = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
            }
    return image;
}

/* One set with a model that ships; *mended: of how many the cuts fell without a pace. */
static void hold_promise(const taper_model *model, const taper_image *image, size_t n,
                         int *mended) {
    formats_buffer file = dct_encode(model, image, n, NULL, 0), plain = at_pace(&file, 0);
    walk paced = walk_cuts(model, image, n, &file), without = walk_cuts(model, image, n, &plain);
    printf("%ux%u x %zu: deepest fall %.4f dB, without a pace %.4f\n", image->width, image->height,
           n, paced.deepest, without.deepest);
    assert_true(paced.deepest <= 0.05);
    *mended += without.deepest > 0.05;
    for (int q = 0; q < QUALITIES; q++) {
        printf("  %d dB: %zu bytes, %zu\n", 25 + 5 * q, paced.bytes[q], without.bytes[q]);
        assert_true((double)paced.bytes[q] <= 1.005 * (double)without.bytes[q] + 1);
    }
    formats_buffer_free(&file), formats_buffer_free(&plain);
}

static void more_bytes_never_hurt_one_image(void **state) {
    (void)state;
    static const struct {
        const char *model;
        uint32_t side;
        uint64_t seed;
        size_t n;
    } sets[] = {{"tiny", 32, 3, 1}, {"tiny", 16, 6, 3}, {"photo", 32, 3, 1}, {"tiny", 5, 7, 1}};
    int mended = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        taper_model *model;
        assert_int_equal(taper_model_builtin(&model, sets[i].model, NULL), TAPER_OK);
        taper_image image[3];
        for (size_t k = 0; k < sets[i].n; k++)
            image[k] = rich_picture(sets[i].side, sets[i].seed + k);
        hold_promise(model, image, sets[i].n, &mended);
        for (size_t k = 0; k < sets[i].n; k++) formats_image_free(&image[k]);
        taper_model_free(model);
    }
    assert_true(mended >= 2);
}

/* --- the rule ---------------------------------------------------------------------------- */

static void a_pace_is_packed(void **state) {
    (void)state;
    static const formats_pace paces[] = {
        {255, 127, 16383, 7}, {0, 2, 0, 0}, {0, 0, 100, 3}, {17, 40, 20, 2}, {0}};
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        formats_pace p = formats_pace_parts(formats_pace_pack(paces[i]));
        assert_memory_equal(&p, &paces[i], sizeof p);
    }
    assert_int_equal(formats_pace_pack((formats_pace){9, 1, 9, 0}), 0); /* they say nothing */
}

static void what_is_drawn_grows_and_stays(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 2000; i++) {
        uint32_t pace = (uint32_t)(picture_random(&seed) >> 32);
        if (i % 2) pace &= ~(uint32_t)0x1FC00000; /* an early grid */
        for (uint64_t s = 0, before = 0; s < 600; s++) {
            uint64_t drawn = formats_pace_drawn(pace, s);
            assert_true(drawn >= before && drawn <= s && s - drawn < 128);
            assert_int_equal(formats_pace_drawn(pace, drawn), drawn);
            assert_true(drawn == before || drawn == s);
            before = drawn;
        }
    }
    uint32_t pace = formats_pace_pack((formats_pace){10, 6, 30, 2});
    static const uint8_t drawn[][2] = {{0, 0},   {10, 10}, {11, 10}, {15, 10}, {16, 16},
                                       {29, 29}, {30, 30}, {33, 30}, {34, 34}, {41, 38}};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        assert_int_equal(formats_pace_drawn(pace, drawn[i][0]), drawn[i][1]);
}

/* Whoever reads a cut draws the same: from a source, as bytes arrive in pieces of any size, and of
 * what truncate makes of it; the cut that the rule names, without it. */
static void all_readers_keep_the_pace(void **state) {
    (void)state;
    formats_buffer model_file = formats_buffer_make(1 << 24);
    taper_model *model =
        dct_model_in_parts((codec_window){8, 8, 3, NULL}, 24, 8, 3, &model_file);
    taper_image image[2] = {dct_picture(33, 20, 3, 1), dct_picture(16, 31, 3, 2)};
    formats_buffer made = dct_encode(model, image, 2, NULL, 0), plain = at_pace(&made, 0),
                   file = at_pace(&made, formats_pace_pack((formats_pace){7, 19, 60, 4}));
    size_t front = dct_info(&file, model).front_bytes;
    for (size_t size = front; size <= file.size; size += 1 + (size > front + 120) * 13) {
        uint64_t drawn = formats_pace_drawn(pace_of(&file), size - front);
        size_t same = size == file.size ? size : front + (size_t)drawn;
        formats_buffer pixels[4], shorter = formats_buffer_make(1 << 20);
        for (int i = 0; i < 4; i++) pixels[i] = formats_buffer_make(1 << 20);
        assert_int_equal(dct_pull(plain.data, same, model, &pixels[0], NULL), TAPER_OK);
        assert_int_equal(dct_pull(file.data, size, model, &pixels[1], NULL), TAPER_OK);
        taper_decoder *decoder;
        assert_int_equal(taper_decoder_new(&decoder, model, NULL, NULL), TAPER_OK);
        for (size_t at = 0, n; at < size; at += n) {
            n = 1 + (at * 7 + size) % 40;
            if (at + n > size) n = size - at;
            assert_int_equal(taper_decoder_push(decoder, file.data + at, n, NULL), TAPER_OK);
        }
        assert_int_equal(dct_render_all(decoder, &pixels[2], NULL), TAPER_OK);
        taper_decoder_free(decoder);
        formats_memory memory = {file.data, size};
        taper_source source = formats_memory_source(&memory);
        taper_sink sink = dct_sink(&shorter);
        assert_int_equal(taper_truncate(&source, UINT64_MAX, &sink, NULL, NULL), TAPER_OK);
        assert_int_equal(dct_pull(shorter.data, shorter.size, model, &pixels[3], NULL), TAPER_OK);
        for (int i = 1; i < 4; i++)
            assert_memory_equal(pixels[i].data, pixels[0].data, pixels[0].size);
        for (int i = 0; i < 4; i++) formats_buffer_free(&pixels[i]);
        formats_buffer_free(&shorter);
    }
    for (int i = 0; i < 2; i++) formats_image_free(&image[i]);
    formats_buffer_free(&made), formats_buffer_free(&plain), formats_buffer_free(&file);
    formats_buffer_free(&model_file);
    taper_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_bytes_never_hurt_one_image),
        cmocka_unit_test(a_pace_is_packed),
        cmocka_unit_test(what_is_drawn_grows_and_stays),
        cmocka_unit_test(all_readers_keep_the_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
