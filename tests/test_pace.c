/* test_pace.c -- more bytes never hurt, of one small image alone too, at every byte and with the
 * models that ship; and the rule by which that is so, for all who read cuts. */
#include "cmocka_all.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "formats/container.h"

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

/* Every cut, as it arrives; rendered where the rule has another cut than before (that decoders keep
 * the rule is below). */
static walk walk_cuts(const taper_model *model, const taper_image *image, size_t n,
                      const formats_buffer *file) {
    walk w = {0};
    taper_decoder *decoder;
    size_t front = dct_info(file, model).front_bytes;
    double best = 0, psnr = 0;
    uint32_t pace = pace_of(file);
    assert_int_equal(taper_decoder_new(&decoder, model, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_push(decoder, file->data, front - 1, NULL), TAPER_OK);
    for (size_t size = front; size <= file->size; size++) {
        assert_int_equal(taper_decoder_push(decoder, file->data + size - 1, 1, NULL), TAPER_OK);
        if (size == file->size || formats_pace_rendered(pace, size - front) == size - front) {
            formats_buffer all = formats_buffer_make(1 << 20);
            assert_int_equal(dct_render_all(decoder, &all, NULL), TAPER_OK);
            psnr = dct_mean_psnr(image, n, all.data);
            formats_buffer_free(&all);
        }
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

/* Squares of so many pixels, black and white: the harshest of all drawings. */
static taper_image checkerboard(uint32_t side, uint64_t size) {
    taper_image image = picture_noise(side, side, 3, 8, 1);
    uint8_t *to = image.pixels;
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++, to += 3)
            memset(to, (x / size + y / size) % 2 ? 255 : 0, 3);
    return image;
}

/* Thin lines on black, of at most 20 of 255. */
static taper_image dark_drawing(uint32_t side, uint64_t seed) {
    taper_image image = picture_noise(side, side, 3, 8, 1);
    uint8_t *to = image.pixels;
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++)
            for (int c = 0; c < 3; c++)
                *to++ = (uint8_t)((x * (1 + seed) + 3 * y) % 11 < 2 ? 20 - 4 * c
                                  : (x + y) % 13 == 0               ? 9
                                                                    : 2);
    return image;
}

typedef taper_image draw_fn(uint32_t side, uint64_t seed);

/* A set and the most that its pace may cost: bytes of any quality, beside one. */
typedef struct promise {
    const char *model;
    draw_fn *draw;
    uint32_t side;
    uint64_t seed;
    size_t n;
    double most;
} promise;

static void hold_promise(const promise *p, const taper_model *model, const taper_image *image) {
    formats_buffer file = dct_encode(model, image, p->n, NULL, 0);
    walk paced = walk_cuts(model, image, p->n, &file);
    printf("%s %ux%u x %zu: deepest fall %.4f dB\n", p->model, p->side, p->side, p->n,
           paced.deepest);
    assert_true(paced.deepest <= 0.05);
    if (p->side <= 32) { /* the price of all cuts of larger ones is too high */
        formats_buffer plain = at_pace(&file, 0);
        walk without = walk_cuts(model, image, p->n, &plain);
        assert_true(without.deepest > 0.05);
        for (int q = 0; q < QUALITIES; q++) {
            printf("  %d dB: %zu bytes, %zu\n", 25 + 5 * q, paced.bytes[q], without.bytes[q]);
            assert_true((double)paced.bytes[q] <= p->most * (double)without.bytes[q] + 1);
        }
        formats_buffer_free(&plain);
    }
    formats_buffer_free(&file);
}

static void hold_promises(const promise *p, size_t n) {
    for (; n--; p++) {
        taper_model *model;
        assert_int_equal(taper_model_builtin(&model, p->model, NULL), TAPER_OK);
        taper_image image[3];
        for (size_t k = 0; k < p->n; k++) image[k] = p->draw(p->side, p->seed + k);
        hold_promise(p, model, image);
        for (size_t k = 0; k < p->n; k++) formats_image_free(&image[k]);
        taper_model_free(model);
    }
}

static void more_bytes_never_hurt_one_image(void **state) {
    (void)state;
    static const promise sets[] = {{"tiny", rich_picture, 32, 3, 1, 1.005},
                                   {"tiny", rich_picture, 16, 6, 3, 1.005},
                                   {"photo", rich_picture, 32, 3, 1, 1.005},
                                   {"tiny", rich_picture, 5, 7, 1, 1.005}};
    hold_promises(sets, sizeof sets / sizeof *sets);
}

static void more_bytes_never_hurt_a_drawing(void **state) {
    (void)state;
    static const promise sets[] = {{"tiny", checkerboard, 32, 1, 1, 1.02},
                                   {"tiny", dark_drawing, 64, 2, 1, 0},
                                   {"photo", checkerboard, 64, 2, 1, 0}};
    hold_promises(sets, sizeof sets / sizeof *sets);
}

/* --- the rule ---------------------------------------------------------------------------- */

static void a_pace_is_packed(void **state) {
    (void)state;
    static const formats_pace paces[] = {{255, 127, 16383, 7, 0, 0},
                                         {0, 2, 0, 0, 0, 0},
                                         {0, 0, 100, 3, 0, 0},
                                         {17, 40, 20, 2, 0, 0},
                                         {0},

                                         {0, 0, 1, 0, 1, 0},
                                         {9, 30, 0, 0, 1, 7},
                                         {0, 0, 255, 0, 1, 3},
                                         {0, 2, 256, 0, 1, 5},
                                         {0, 0, 510, 0, 1, 1},
                                         {0, 0, 512, 0, 1, 6},
                                         {0, 0, 255 << 14, 0, 1, 2}};
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        formats_pace p = formats_pace_parts(formats_pace_pack(paces[i]));
        assert_memory_equal(&p, &paces[i], sizeof p);
    }
    assert_int_equal(formats_pace_pack((formats_pace){.hold_at = 9, .hold = 1, .grid_at = 9}),
                     0); /* they say nothing */
}

static void what_is_rendered_grows_and_stays(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 2000; i++) {
        uint32_t pace = (uint32_t)(picture_random(&seed) >> 32);
        if (i % 2) pace &= ~(uint32_t)0x1FC00000;     /* an early grid */
        if (i % 4 > 1) pace &= ~(uint32_t)0xE0000000; /* sparse */
        int waits = formats_pace_parts(pace).hold == 1;
        for (uint64_t s = 0, before = 0; s < 600; s++) {
            uint64_t rendered = formats_pace_rendered(pace, s);
            assert_true(rendered >= before && rendered <= s && (waits || s - rendered < 128));
            assert_int_equal(formats_pace_rendered(pace, rendered), rendered);
            assert_true(rendered == before || rendered == s);
            before = rendered;
        }
    }
    uint32_t pace = formats_pace_pack((formats_pace){10, 6, 30, 2, 0, 0});
    static const uint8_t rendered[][2] = {{0, 0},   {10, 10}, {11, 10}, {15, 10}, {16, 16},
                                          {29, 29}, {30, 30}, {33, 30}, {34, 34}, {41, 38}};
    for (size_t i = 0; i < sizeof rendered / sizeof *rendered; i++)
        assert_int_equal(formats_pace_rendered(pace, rendered[i][0]), rendered[i][1]);
}

static void a_sparse_pace_keeps_leading_bits(void **state) {
    (void)state;
    static const struct {
        formats_pace pace;
        uint32_t bytes, rendered;
    } cuts[] = {{{0, 0, 1, 0, 1, 0}, 255, 255},      {{0, 0, 1, 0, 1, 0}, 257, 256},
                {{0, 0, 1, 0, 1, 0}, 4095, 4080},    {{200, 101, 0, 0, 1, 0}, 300, 200},
                {{200, 101, 0, 0, 1, 0}, 301, 301},  {{200, 101, 0, 0, 1, 0}, 302, 302},
                {{200, 101, 0, 0, 1, 0}, 303, 302},  {{0, 0, 90, 0, 1, 3}, 89, 89},
                {{0, 0, 90, 0, 1, 3}, 95, 90},       {{0, 0, 90, 0, 1, 3}, 97, 96},
                {{0, 0, 90, 0, 1, 5}, 1000, 960},    {{0, 0, 90, 0, 1, 1}, 5000, 4992},
                {{0, 0, 900, 0, 1, 6}, 899, 896},    {{0, 0, 900, 0, 1, 6}, 959, 900},
                {{0, 0, 900, 0, 1, 6}, 1100, 1024},  {{0, 0, 900, 0, 1, 7}, 1100, 1024},
                {{0, 0, 900, 0, 1, 7}, 1300, 1280},  {{0, 1, 900, 0, 1, 1}, 899, 896},
                {{0, 1, 900, 0, 1, 1}, 9999, 900},   {{0, 1, 900, 3, 0, 0}, 9999, 900},
                {{0, 0, 900, 0, 1, 7}, 65535, 57344}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        assert_int_equal(formats_pace_rendered(formats_pace_pack(cuts[i].pace), cuts[i].bytes),
                         cuts[i].rendered);
}

/* Whoever reads a cut renders the same: from a source, as bytes arrive in pieces of any size, and
 * of what truncate makes of it; the cut that the rule names, without it. */
static void all_readers_keep_the_pace(void **state) {
    formats_buffer model_file = formats_buffer_make(1 << 24);
    taper_model *model = dct_model_in_parts((codec_window){8, 8, 3, NULL}, 24, 8, 3, &model_file);
    taper_image image[2] = {dct_picture(33, 20, 3, 1), dct_picture(16, 31, 3, 2)};
    formats_buffer made = dct_encode(model, image, 2, NULL, 0), plain = at_pace(&made, 0),
                   file = at_pace(&made, formats_pace_pack(*(const formats_pace *)*state));
    size_t front = dct_info(&file, model).front_bytes;
    for (size_t size = front; size <= file.size; size += 1 + (size > front + 120) * 13) {
        uint64_t rendered = formats_pace_rendered(pace_of(&file), size - front);
        size_t same = size == file.size ? size : front + (size_t)rendered;
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
    static formats_pace grid = {7, 19, 60, 4, 0, 0}, sparse = {7, 19, 100, 0, 1, 5};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_bytes_never_hurt_one_image),
        cmocka_unit_test(more_bytes_never_hurt_a_drawing),
        cmocka_unit_test(a_pace_is_packed),
        cmocka_unit_test(what_is_rendered_grows_and_stays),
        cmocka_unit_test(a_sparse_pace_keeps_leading_bits),
        cmocka_unit_test_prestate(all_readers_keep_the_pace, &grid),
        cmocka_unit_test_prestate(all_readers_keep_the_pace, &sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
