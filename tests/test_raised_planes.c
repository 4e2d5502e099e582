/* test_raised_planes.c -- planes above the model's own: their place in the order, which are legal,
 * which an encoder chooses, and containers that have them, cut anywhere and rewritten. */
#include "cmocka_all.h"
#include "codec/groups/clipping.h"
#include "codec/decoder/group_reader.h"
#include "tests/open_decoder.h"
#include "codec/decoder/front_load.h"
#include "codec/taper.h"
#include "dct_model.h"

enum { SIDE = 24 };

static const formats_raised raised[] = {{0, 1}, {2, 3}, {7, 2}};
enum { RAISED = sizeof raised / sizeof *raised, MORE = 6 };

static taper_model *model_in_parts(uint32_t parts) {
    formats_buffer file = formats_buffer_make(1 << 24);
    codec_window window = {8, 8, 3, NULL};
    taper_model *m = dct_model_in_parts(window, 0, 16, parts, &file);
    formats_buffer_free(&file);
    return m;
}

/* The slope of a model's pass. */
static uint32_t rd_slope_of(const codec_code_tables *t, uint32_t i) {
    uint32_t at = t->pass[i].depth * t->fractions + t->pass[i].fraction;
    for (uint32_t u = 0; u < t->pass[i].unit; u++) at += t->planes[u] * t->fractions;
    return t->rd_slope[at];
}

/* Of a model's unit: that of its first pass. */
static uint32_t first_rd_slope(const codec_code_tables *t, uint32_t u) {
    uint32_t i = 0;
    while (t->pass[i].unit != u) i++;
    return rd_slope_of(t, i);
}

/* Without the raised passes, each on its place, the order is the model's. */
static void the_models_order_stays(void **unused) {
    (void)unused;
    for (uint32_t parts = 1; parts <= 3; parts += 2) {
        taper_model *m = model_in_parts(parts);
        const codec_code_tables *t = &m->tables;
        codec_code_tables r;
        assert_int_equal(codec_raised_planes_make(&r, t, raised, RAISED, NULL, NULL), TAPER_OK);
        assert_int_equal(r.n_passes, t->n_passes + MORE);
        uint32_t own = 0, above[8] = {[0] = 1, [2] = 3, [7] = 2}, before = UINT32_MAX;
        uint8_t depth[192] = {0};
        for (uint32_t i = 0; i < r.n_passes; i++) {
            codec_pass pass = r.pass[i];
            uint32_t u = pass.unit;
            assert_int_equal(codec_model_pass(&r, i), own);
            assert_int_equal(pass.depth, depth[u]);
            depth[u] = (uint8_t)(depth[u] + (pass.fraction + 1u == parts));
            uint32_t rd_slope;
            if (codec_pass_is_raised(&r, i)) {
                assert_int_equal(pass.fraction, parts - 1);
                rd_slope = first_rd_slope(t, u) + 16 * above[u]--;
                if (own < t->n_passes) assert_true(rd_slope >= rd_slope_of(t, own));
                if (own) assert_true(rd_slope < rd_slope_of(t, own - 1));
            } else {
                assert_int_equal(u, t->pass[own].unit);
                assert_int_equal(pass.fraction, t->pass[own].fraction);
                rd_slope = rd_slope_of(t, own++);
            }
            assert_true(rd_slope <= before);
            before = rd_slope;
        }
        assert_int_equal(own, t->n_passes);
        assert_int_equal(codec_model_pass(&r, r.n_passes), t->n_passes);
        for (uint32_t end = 0; end <= t->n_passes; end++) {
            uint32_t at = codec_raised_planes_end(&r, end);
            assert_int_equal(codec_model_pass(&r, at), end);
            if (at) assert_int_equal(codec_model_pass(&r, at - 1), end - 1);
            assert_int_equal(codec_raised_planes_end(t, end), end);
        }
        codec_raised_planes_free(&r);
        taper_model_free(m);
    }
}

static void what_a_model_cannot_have_is_refused(void **unused) {
    (void)unused;
    taper_model *m = model_in_parts(1);
    uint8_t free_planes = (uint8_t)(CODEC_MAX_PLANES - m->tables.planes[5]);
    const struct {
        formats_raised raised;
        int legal;
    } cases[] = {{{5, free_planes}, 1},
                 {{5, (uint8_t)(free_planes + 1)}, 0},
                 {{191, 1}, 1},
                 {{192, 1}, 0},
                 {{65534, 1}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        codec_code_tables r;
        taper_status status =
            codec_raised_planes_make(&r, &m->tables, &cases[i].raised, 1, NULL, NULL);
        assert_int_equal(status, cases[i].legal ? TAPER_OK : TAPER_ERR_CORRUPT);
        codec_raised_planes_free(&r);
    }
    taper_model_free(m);
    codec_code_tables binary, r;
    assert_int_equal(codec_code_tables_make_binary(&binary, 8, 16, NULL), TAPER_OK);
    assert_int_equal(codec_raised_planes_make(&r, &binary, raised, RAISED, NULL, NULL),
                     TAPER_ERR_CORRUPT);
    codec_code_tables_free(&binary);
}

/* Units without a plane of their own take the least slope; no more can be raised than 15. */
static void units_without_planes_can_be_raised(void **unused) {
    (void)unused;
    codec_code_tables t, r;
    assert_int_equal(codec_code_tables_alloc(&t, 2), TAPER_OK);
    t.planes[0] = 2;
    assert_int_equal(codec_code_tables_set_planes(&t), TAPER_OK);
    t.rd_slope[0] = 100, t.rd_slope[1] = 80;
    assert_int_equal(codec_order_make(&t), TAPER_OK);
    const formats_raised one = {1, 3};
    assert_int_equal(codec_raised_planes_make(&r, &t, &one, 1, NULL, NULL), TAPER_OK);
    static const struct {
        uint16_t unit;
        uint8_t depth, own;
    } want[] = {{1, 0, 0}, {1, 1, 0}, {0, 0, 0}, {1, 2, 1}, {0, 1, 1}}; /* 128 112 100 96 80 */
    assert_int_equal(r.n_passes, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(r.pass[i].unit, want[i].unit);
        assert_int_equal(r.pass[i].depth, want[i].depth);
        assert_int_equal(r.model_pass[i], want[i].own);
    }
    codec_raised_planes_free(&r);
    codec_code_tables_free(&t);
}

/* Two images of two positions, one unit of 3 planes: who loses much gets planes, who loses little
 * is clipped whatever the other does. */
static void planes_are_raised_for_those_who_need_them(void **unused) {
    (void)unused;
    codec_code_tables t;
    assert_int_equal(codec_code_tables_alloc(&t, 1), TAPER_OK);
    t.planes[0] = 3, t.step[0] = 1;
    const codec_clipping_image image[] = {{0, 2, 100}, {2, 2, 100}};
    const struct {
        int16_t code[4], want[4];
        uint32_t planes;
    } cases[] = {
        {{7, -7, 0, 3}, {7, -7, 0, 3}, 0},
        {{12, -7, 0, -9}, {7, -7, 0, -7}, 0},        /* 25 and 4 of 100 samples: a quarter */
        {{13, -7, 0, -9}, {13, -7, 0, -7}, 1},       /* 36 is more; the other is clipped */
        {{13, -7, 70, -900}, {13, -7, 70, -900}, 7}, /* 900 takes ten */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int16_t code[4];
        formats_raised *list;
        uint32_t n;
        memcpy(code, cases[i].code, sizeof code);
        assert_int_equal(
            codec_clipping_choose(&t, code, 4, image, 2, CODEC_CLIPPING_MAY_LOSE, &list, &n),
            TAPER_OK);
        assert_memory_equal(code, cases[i].want, sizeof code);
        assert_int_equal(n, cases[i].planes != 0);
        assert_int_equal(n ? list->planes : 0, cases[i].planes);
        assert_true(n || !list);
        free(list);
    }
    codec_code_tables_free(&t);
}

/* --- containers --------------------------------------------------------------------------- */

/* A checkerboard, a scene, noise, a scene. */
static void draw(taper_image image[4]) {
    image[0] = picture_noise(SIDE, SIDE, 3, 8, 1);
    uint8_t *to = image[0].pixels;
    for (uint32_t i = 0; i < SIDE * SIDE * 3; i++)
        to[i] = (uint8_t)((i / 3 % SIDE + i / 3 / SIDE) % 2 ? 255 : 0);
    image[1] = picture_scene(SIDE, SIDE, 3, 1);
    image[2] = picture_noise(SIDE, SIDE, 3, 8, 5);
    image[3] = picture_scene(SIDE, SIDE, 3, 9);
}

typedef struct fixture {
    taper_model *model; /* tiny: laps, parts, all three networks */
    taper_image image[4];
    formats_buffer file, each; /* two groups of two images; layout image */
} fixture;

static int make(void **state) {
    static fixture f;
    assert_int_equal(taper_model_builtin(&f.model, "tiny", NULL), TAPER_OK);
    draw(f.image);
    taper_encode_options set = {.group_images = 2}, one = {.layout = TAPER_LAYOUT_IMAGE};
    f.file = dct_encode(f.model, f.image, 4, &set, 0);
    f.each = dct_encode(f.model, f.image, 4, &one, 0);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    for (int i = 0; i < 4; i++) formats_image_free(&f->image[i]);
    formats_buffer_free(&f->file), formats_buffer_free(&f->each);
    taper_model_free(f->model);
    return 0;
}

static formats_buffer pull(const fixture *f, const uint8_t *bytes, size_t size) {
    formats_buffer pixels = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(bytes, size, f->model, &pixels, NULL), TAPER_OK);
    return pixels;
}

static void whole_files_are_good(void **state) {
    fixture *f = *state;
    assert_int_equal(formats_get_u32le(f->file.data + 12), FORMATS_FEATURE_RAISED);
    formats_buffer a = pull(f, f->file.data, f->file.size), b = pull(f, f->each.data, f->each.size);
    size_t bytes = SIDE * SIDE * 3;
    for (size_t i = 0; i < 4; i++) {
        double psnr = dct_mean_psnr(&f->image[i], 1, a.data + i * bytes);
        printf("image %zu: %.2f dB\n", i, psnr);
        assert_true(psnr >= 48);
    }
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    formats_buffer_free(&a), formats_buffer_free(&b);
}

/* With rate classes the last layers of some groups are empty: they are complete all the same. */
static void whole_files_are_complete(void **state) {
    fixture *f = *state;
    for (int allocation = 0; allocation <= TAPER_ALLOCATION_EQUAL; allocation++) {
        taper_encode_options options = {.group_images = 1,
                                        .allocation = (taper_allocation)allocation};
        formats_buffer file = dct_encode(f->model, f->image, 4, &options, 0),
                       pixels = formats_buffer_make(1 << 24);
        taper_completeness done[4];
        assert_int_equal(dct_pull(file.data, file.size, f->model, &pixels, done), TAPER_OK);
        for (int i = 0; i < 4; i++) assert_int_equal(done[i].complete, 1);
        formats_buffer_free(&file), formats_buffer_free(&pixels);
    }
}

/* Pushed or pulled, truncated or cut: the same pixels, and more bytes do not hurt. */
static void cuts_are_alike(void **state) {
    fixture *f = *state;
    uint64_t front = dct_info(&f->file, f->model).front_bytes;
    taper_decoder *pushed;
    assert_int_equal(stream_decoder(&pushed, f->model, NULL, NULL), TAPER_OK);
    size_t at = 0;
    double best = 0;
    for (size_t size = (size_t)front; size <= f->file.size; size += 1 + f->file.size / 97) {
        formats_buffer a = pull(f, f->file.data, size), b = formats_buffer_make(1 << 24);
        assert_int_equal(taper_decoder_push(pushed, f->file.data + at, size - at, NULL), TAPER_OK);
        assert_int_equal(dct_render_all(pushed, &b, NULL), TAPER_OK);
        assert_memory_equal(a.data, b.data, a.size);
        double psnr = dct_mean_psnr(f->image, 4, a.data);
        assert_true(psnr >= best - 0.05);
        best = fmax(best, psnr);
        formats_memory memory = {f->file.data, size};
        taper_source source = formats_memory_source(&memory);
        formats_buffer cut = formats_buffer_make(1 << 24);
        taper_sink sink = dct_sink(&cut);
        assert_int_equal(taper_truncate(&source, f->file.size + 99, &sink, NULL, NULL), TAPER_OK);
        formats_buffer c = pull(f, cut.data, cut.size);
        assert_memory_equal(a.data, c.data, a.size);
        formats_buffer_free(&a), formats_buffer_free(&b), formats_buffer_free(&c);
        formats_buffer_free(&cut);
        at = size;
    }
    close_decoder(pushed);
}

enum { MANY = 40 };

/* Up to where a chunk of this file begins: the prefix and what truncate makes of it are alike. */
static void compare_at_border(const taper_model *model, const formats_buffer *file, size_t size) {
    formats_memory memory = {file->data, size};
    taper_source source = formats_memory_source(&memory);
    formats_buffer cut = formats_buffer_make(1 << 24);
    taper_sink sink = dct_sink(&cut);
    assert_int_equal(taper_truncate(&source, file->size + 99, &sink, NULL, NULL), TAPER_OK);
    formats_buffer a = formats_buffer_make(1 << 24), b = formats_buffer_make(1 << 24);
    taper_completeness done[2][MANY];
    assert_int_equal(dct_pull(file->data, size, model, &a, done[0]), TAPER_OK);
    assert_int_equal(dct_pull(cut.data, cut.size, model, &b, done[1]), TAPER_OK);
    assert_memory_equal(a.data, b.data, a.size);
    for (int i = 0; i < MANY; i++) assert_int_equal(done[0][i].passes, done[1][i].passes);
    formats_buffer_free(&a), formats_buffer_free(&b), formats_buffer_free(&cut);
}

/* Of a chunk of which no byte is there nothing is decoded, in a prefix as in a truncated file,
 * where it is a chunk of length 0 that is marked as cut: not even passes that need no bits. Of 20
 * borders of this file 2 have such passes behind them. */
static void a_chunk_without_bytes_says_nothing(void **state) {
    const fixture *f = *state;
    taper_encode_options options = {.group_images = 9};
    taper_image image[MANY];
    for (uint64_t i = 0; i < MANY; i++) image[i] = dct_picture(32, 32, 3, i);
    formats_buffer file = dct_encode(f->model, image, MANY, &options, 0);
    formats_front front;
    assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL), TAPER_OK);
    for (uint32_t c = 0; c < front.layers * front.groups; c++)
        compare_at_border(f->model, &file, (size_t)(front.front_size + front.chunk_at[c]));
    formats_front_free(&front);
    formats_buffer_free(&file);
    for (int i = 0; i < MANY; i++) formats_image_free(&image[i]);
}

static void repacked_they_stay(void **state) {
    fixture *f = *state;
    formats_memory memory = {f->file.data, f->file.size};
    taper_source source = formats_memory_source(&memory);
    formats_buffer out = formats_buffer_make(1 << 24);
    taper_sink sink = dct_sink(&out);
    assert_int_equal(taper_repack(&source, f->model, TAPER_LAYOUT_IMAGE, 0, &sink, NULL, NULL),
                     TAPER_OK);
    assert_int_equal(out.size, f->each.size);
    assert_memory_equal(out.data, f->each.data, out.size);
    formats_buffer_free(&out);
}

/* What the encoder says is what a decoder sees. */
static void the_encoder_tells_the_least(void **state) {
    fixture *f = *state;
    taper_encoder *encoder;
    taper_encode_options options = {.size = sizeof options, .group_images = 3, .measure = 1};
    taper_encode_quality quality = {.size = sizeof quality};
    formats_buffer out = formats_buffer_make(1 << 24);
    taper_sink sink = dct_sink(&out);
    assert_int_equal(taper_encoder_new(&encoder, f->model, &options, NULL), TAPER_OK);
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "%d.png", i);
        assert_int_equal(taper_encoder_add(encoder, &f->image[i], name, -1, NULL), TAPER_OK);
    }
    assert_int_equal(taper_encoder_quality(encoder, &quality, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_quality(encoder, &quality, NULL), TAPER_OK);
    formats_buffer pixels = pull(f, out.data, out.size);
    double least = 100;
    uint64_t whose = 0;
    for (size_t i = 0; i < 4; i++) {
        double psnr = dct_mean_psnr(&f->image[i], 1, pixels.data + i * SIDE * SIDE * 3);
        if (psnr < least) least = psnr, whose = i;
    }
    assert_int_equal(quality.least_image, whose);
    assert_int_equal(quality.least_name[0], '0' + (int)whose);
    assert_true(fabs(quality.least_psnr_db - least) < 0.5);
    assert_int_equal(quality.poor, 0);
    taper_encoder_free(encoder);
    formats_buffer_free(&pixels), formats_buffer_free(&out);
}

/* A directory that raises what its model does not have. */
static void other_models_are_refused(void **state) {
    fixture *f = *state;
    formats_front front;
    assert_int_equal(formats_front_read(f->file.data, f->file.size, NULL, &front, NULL), TAPER_OK);
    front.raised[0].planes = CODEC_MAX_PLANES;
    taper_error error = {0};
    assert_int_equal(codec_front_match(&front, f->model, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "raises"));
    formats_front_free(&front);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_models_order_stays),
        cmocka_unit_test(what_a_model_cannot_have_is_refused),
        cmocka_unit_test(units_without_planes_can_be_raised),
        cmocka_unit_test(planes_are_raised_for_those_who_need_them),
        cmocka_unit_test(whole_files_are_good),
        cmocka_unit_test(whole_files_are_complete),
        cmocka_unit_test(cuts_are_alike),
        cmocka_unit_test(a_chunk_without_bytes_says_nothing),
        cmocka_unit_test(repacked_they_stay),
        cmocka_unit_test(the_encoder_tells_the_least),
        cmocka_unit_test(other_models_are_refused),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
