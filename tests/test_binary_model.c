/* test_binary_model.c -- models whose units are one bit each: tables, prices, chunks at every cut,
 * and containers. What their files may hold is tested in test_model_features.c. */
#include "cmocka_all.h"
#include "codec/bitplane/quantiser.h"
#include "codec/bitplane/chunk_coder.h"
#include "codec/taper.h"
#include "tiny_binary_model.h"

enum { SEED = 77 };

static double uniform(uint64_t *state) { return (double)(picture_random(state) >> 11) * 0x1p-53; }

/* --- tables -------------------------------------------------------------------------------- */

static void tables_are_complete(void **unused) {
    (void)unused;
    static const uint32_t units[] = {1, 2, 3, 7, 64, 1000, 1024, 65535};
    for (int i = 0; i < 8; i++) {
        codec_code_tables t, back;
        assert_int_equal(codec_code_tables_make_binary(&t, units[i], 64, NULL), TAPER_OK);
        assert_int_equal(t.n_passes, units[i]);
        for (uint32_t u = 0; u < units[i]; u++) {
            assert_true(t.pass[u].unit == u && t.pass[u].depth == 0);
            assert_int_equal(t.density[u], 128);
        }
        assert_true(t.n_layers >= 1 && t.n_layers <= CODEC_MAX_LAYERS_IN_MODEL);
        assert_int_equal(t.layer[t.n_layers - 1].pass, units[i]);
        double bytes = units[i] * 1e6 / 64 / 8;
        assert_true(fabs(t.layer[t.n_layers - 1].bytes_per_mpixel - bytes) <= 1);
        t.centre = (float)i / 7;
        formats_buffer out = formats_buffer_make(1 << 20);
        assert_int_equal(codec_code_tables_write(&t, &out), TAPER_OK);
        formats_cursor in = formats_cursor_over(out.data, out.size);
        assert_int_equal(codec_code_tables_read_binary(&back, units[i], &in, NULL), TAPER_OK);
        assert_int_equal(formats_cursor_left(&in), 0);
        assert_memory_equal(back.layer, t.layer, t.n_layers * sizeof *t.layer);
        assert_memory_equal(back.density, t.density, units[i]);
        assert_true(back.centre == t.centre);
        codec_code_tables_free(&t), codec_code_tables_free(&back);
        formats_buffer_free(&out);
    }
    codec_code_tables t;
    assert_int_equal(codec_code_tables_make_binary(&t, 0, 64, NULL), TAPER_ERR_ARG);
    assert_int_equal(codec_code_tables_make_binary(&t, 65536, 64, NULL), TAPER_ERR_ARG);
    assert_int_equal(codec_code_tables_make_binary(&t, 5, 0, NULL), TAPER_ERR_ARG);
    static const float density[] = {0, 0.2f, 1, NAN, -3, 7};
    static const uint8_t want[] = {0, 51, 255, 0, 0, 255};
    assert_int_equal(codec_code_tables_make_binary(&t, 6, 64, density), TAPER_OK);
    assert_memory_equal(t.density, want, 6);
    static const float values[] = {-1, -0.0f, 0, 1e-30f, 5, NAN};
    for (int i = 0; i < 6; i++)
        assert_int_equal(codec_quantise(&t, 0, values[i]), i == 3 || i == 4);
    codec_code_tables_free(&t);
}

/* Layers that are none, and files cut anywhere, are refused by name. */
static void illegal_tables_are_refused(void **unused) {
    (void)unused;
    codec_code_tables t, back;
    assert_int_equal(codec_code_tables_make_binary(&t, 40, 64, NULL), TAPER_OK);
    static const float centres[] = {NAN, -0.01f, 1.01f, INFINITY};
    for (int i = 0; i < 10; i++) {
        codec_code_tables bad = t;
        if (i > 5) bad.centre = centres[i - 6];
        if (i == 0) bad.n_layers = 0;
        if (i == 1) bad.layer[2].pass = bad.layer[1].pass;
        if (i == 2) bad.layer[t.n_layers - 1].pass = 41;
        if (i == 3) bad.layer[t.n_layers - 1].pass = 39;
        if (i == 4) bad.layer[3].bytes_per_mpixel = 0;
        formats_buffer out = formats_buffer_make(1 << 20);
        assert_int_equal(codec_code_tables_write(&bad, &out), TAPER_OK);
        for (size_t size = i != 5 ? out.size : 0; size < out.size + (i != 5); size++) {
            formats_cursor in = formats_cursor_over(out.data, size);
            taper_error error = {0};
            taper_status status = codec_code_tables_read_binary(&back, 40, &in, &error);
            assert_true(status == TAPER_ERR_CORRUPT || (i == 5 && status == TAPER_ERR_TRUNCATED));
            assert_true(error.status == status && strncmp(error.text, "model: ", 7) == 0);
            assert_null(back.density);
        }
        formats_buffer_free(&out);
    }
    codec_code_tables_free(&t);
}

/* --- prices -------------------------------------------------------------------------------- */

static void probabilities_stay_in_range(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    for (uint32_t density = 0; density < 256; density++)
        for (int kind = 0; kind < 4; kind++) {
            codec_mixed_bit m = codec_mixed_bit_start(density);
            for (int i = 0; i < 3000; i++) {
                uint32_t p1 = codec_mixed_bit_p1(&m);
                if (p1 < CODEC_P_MIN || p1 > CODEC_P_MAX) fail_msg("%u at density %u", p1, density);
                int bit = kind < 2 ? kind : (int)(picture_random(&state) >> 40) & 1;
                codec_mixed_bit_update(&m, kind == 3 ? i > 1500 : bit);
            }
        }
}

/* --- chunks -------------------------------------------------------------------------------- */

typedef struct fixture {
    codec_code_tables tables;
    codec_grid grid;
    uint32_t stride, n;
    int16_t *code; /* [units][stride] */
} fixture;

/* n windows of random bits: share of ones, where the model expects another one. */
static fixture make(uint32_t units, uint32_t n, double share, float expected, uint64_t seed) {
    fixture f = {.grid = {n, 1}, .n = n};
    float *density = malloc(units * sizeof *density);
    assert_non_null(density);
    for (uint32_t u = 0; u < units; u++) density[u] = expected;
    assert_int_equal(codec_code_tables_make_binary(&f.tables, units, 64, density), TAPER_OK);
    free(density);
    codec_chunk_coder g;
    assert_int_equal(codec_chunk_coder_alloc(&g, &f.tables, &f.grid, 1, NULL), TAPER_OK);
    f.stride = g.group.stride;
    codec_chunk_coder_free(&g);
    f.code = calloc((size_t)units * f.stride, sizeof *f.code);
    assert_non_null(f.code);
    for (uint32_t u = 0; u < units; u++)
        for (uint32_t p = 0; p < n; p++) f.code[u * f.stride + p] = uniform(&seed) < share;
    return f;
}

static void drop(fixture *f) {
    codec_code_tables_free(&f->tables);
    free(f->code);
}

/* The string of all passes as one chunk. */
static formats_buffer string_of(const fixture *f, double *bits) {
    codec_chunk_coder g;
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(codec_chunk_coder_alloc(&g, &f->tables, &f->grid, 1, NULL), TAPER_OK);
    assert_int_equal(codec_chunk_encode(&g, f->code, f->tables.n_passes, &out, bits), TAPER_OK);
    codec_chunk_coder_free(&g);
    return out;
}

/* Entropy coding may only help: coins cost themselves, everything else less. */
static void coding_only_helps(void **unused) {
    (void)unused;
    static const struct {
        double share;
        float expected;
        double most; /* of the raw bits */
    } cases[] = {{0.5, 0.5f, 1.00005}, {0.5, 0.501f, 1.0002}, {0.2, 0.2f, 0.725},
                 {0.8, 0.8f, 0.725},   {0.2, 0.5f, 0.74},     {0.05, 0.05f, 0.295},
                 {0.0, 0.5f, 0.05},    {1.0, 1.0f, 0.005},    {0.0, 0.0f, 0.005}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum { UNITS = 256, N = 1000 };
        fixture f = make(UNITS, N, cases[i].share, cases[i].expected, SEED + i);
        double bits[UNITS] = {0}, ideal = 0;
        formats_buffer out = string_of(&f, bits);
        for (int u = 0; u < UNITS; u++) ideal += bits[u];
        printf("share %.2f, model %.3f: %.5f of the raw bits\n", cases[i].share,
               (double)cases[i].expected, (double)out.size * 8 / UNITS / N);
        assert_true((double)out.size <= UNITS * N / 8 * cases[i].most + 8);
        assert_true(fabs((double)out.size - ideal / 8) <= 8 + ideal * 1e-5);
        formats_buffer_free(&out);
        drop(&f);
    }
    for (int round = 0; round < 200; round++) { /* one window: b coins are b bits */
        uint64_t state = SEED + (uint64_t)round;
        fixture f = make(64, 1, 0.5, 0.5f, picture_random(&state));
        formats_buffer out = string_of(&f, NULL);
        assert_true(out.size <= 8 + 1);
        formats_buffer_free(&out);
        drop(&f);
    }
}

/* All bits before the place where the decoder stands are the encoder's, all others 0. */
static void assert_known(const fixture *f, const codec_group *g) {
    uint32_t units = f->tables.units;
    float *x = malloc((size_t)f->n * units * sizeof *x);
    assert_non_null(x);
    codec_dequantise(g, 0, f->n, x);
    for (uint32_t u = 0; u < units; u++)
        for (uint32_t p = 0; p < f->n; p++) {
            int known = u < g->pass || (u == g->pass && p < g->position);
            int bit = known ? f->code[u * f->stride + p] : 0;
            float want = known ? (float)bit - f->tables.centre : 0;
            if (g->level[u * g->stride + p] != bit || x[(size_t)p * units + u] != want)
                fail_msg("unit %u of window %u at pass %u", u, p, g->pass);
        }
    free(x);
}

/* Every cut decodes to the bits that it holds, byte by byte as well as at once. */
static void every_cut_decodes(void **unused) {
    (void)unused;
    static const struct {
        uint32_t units, n;
        double share;
    } cases[] = {{40, 1, 0.5}, {24, 37, 0.5}, {33, 20, 0.1}, {5, 300, 0.9}};
    for (int i = 0; i < 4; i++) {
        fixture f = make(cases[i].units, cases[i].n, cases[i].share, (float)cases[i].share, SEED);
        formats_buffer file = string_of(&f, NULL);
        f.tables.centre = i == 2 ? 0.5f : 0;
        codec_chunk_coder fed;
        codec_rc_decoder rc;
        assert_int_equal(codec_chunk_coder_alloc(&fed, &f.tables, &f.grid, 1, NULL), TAPER_OK);
        uint64_t before = 0;
        for (size_t size = 0; size <= file.size; size++) {
            int whole = size == file.size;
            codec_chunk_coder g;
            codec_rc_decoder at_once;
            assert_int_equal(codec_chunk_coder_alloc(&g, &f.tables, &f.grid, 1, NULL), TAPER_OK);
            codec_rc_decoder_init(&at_once, file.data, size, whole);
            assert_int_equal(codec_chunk_decode(&g, &at_once, cases[i].units), whole);
            if (size)
                codec_rc_decoder_extend(&rc, file.data, size, whole);
            else
                codec_rc_decoder_init(&rc, file.data, size, whole);
            assert_int_equal(codec_chunk_decode(&fed, &rc, cases[i].units), whole);
            assert_true(fed.group.pass == g.group.pass && fed.group.position == g.group.position);
            assert_known(&f, &g.group);
            assert_known(&f, &fed.group);
            uint64_t bits = (uint64_t)g.group.pass * f.n + g.group.position;
            assert_true(bits >= before); /* and no byte is wasted on coins: */
            if (cases[i].share == 0.5 && !whole) assert_true(bits + 33 >= size * 8);
            before = bits;
            codec_chunk_coder_free(&g);
        }
        codec_chunk_coder_free(&fed);
        formats_buffer_free(&file);
        drop(&f);
    }
}

/* Any bytes decode to something, without harm. */
static void any_bytes_decode(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    for (int round = 0; round < 300; round++) {
        fixture f = make(20, 1 + round % 50, 0.5, (float)(round % 11) / 10, SEED);
        uint8_t bytes[60];
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)picture_random(&state);
        codec_chunk_coder g;
        codec_rc_decoder rc;
        assert_int_equal(codec_chunk_coder_alloc(&g, &f.tables, &f.grid, 1, NULL), TAPER_OK);
        codec_rc_decoder_init(&rc, bytes, (size_t)round % 60, round & 1);
        codec_chunk_decode(&g, &rc, 20);
        for (uint32_t u = 0; u < 20; u++)
            for (uint32_t p = 0; p < g.group.n; p++)
                assert_in_range(g.group.level[u * g.group.stride + p], 0, 1);
        codec_chunk_coder_free(&g);
        drop(&f);
    }
}

/* --- containers ---------------------------------------------------------------------------- */

enum { IMAGES = 7, UNITS = 48 };

/* Pixels of the picture from the first b bits of its windows, by the network alone. */
static void draw(const taper_model *m, const taper_image *image, uint32_t b, uint8_t *to) {
    codec_grid grid = codec_windows_grid(m->window, image->width, image->height);
    size_t n = (size_t)grid.columns * grid.rows, d = m->network.inputs;
    float *pixels = malloc(n * d * sizeof *pixels), *code = malloc(n * UNITS * sizeof *code);
    assert_true(pixels && code);
    codec_backend be;
    codec_backend_cpu(&be);
    codec_windows_read(m->window, image, pixels);
    assert_int_equal(codec_network_encode(&m->network, &be, pixels, n, code), TAPER_OK);
    for (size_t i = 0; i < n * UNITS; i++)
        code[i] = i % UNITS < b ? (code[i] > 0) - m->tables.centre : 0;
    assert_int_equal(codec_network_decode(&m->network, &be, code, n, pixels), TAPER_OK);
    taper_image out = *image;
    out.pixels = to;
    codec_windows_write(m->window, pixels, &out);
    free(pixels), free(code);
}

typedef struct set {
    taper_model *model;
    taper_image image[IMAGES];
    size_t bytes; /* of all pixels */
} set;

/* whole: the window is the image; else tiles, and images that the window does not divide. */
static set make_set(int whole, tiny_shape shape) {
    set s = {.bytes = 0};
    formats_buffer file = formats_buffer_make(1 << 24);
    shape.window = whole ? (codec_window){12, 12, 1, NULL} : (codec_window){5, 5, 3, NULL};
    shape.units = UNITS;
    s.model = tiny_binary_make(shape, SEED, &file);
    formats_buffer_free(&file);
    for (int i = 0; i < IMAGES; i++) {
        s.image[i] = whole ? dct_picture(12, 12, 1, (uint64_t)i)
                           : dct_picture(9 + (uint32_t)i, 11, i % 2 ? 3 : 1, (uint64_t)i);
        s.bytes += formats_image_samples(&s.image[i]);
    }
    return s;
}

static void drop_set(set *s) {
    for (int i = 0; i < IMAGES; i++) formats_image_free(&s->image[i]);
    taper_model_free(s->model);
}

/* Every cut draws each image from the first b bits of its windows, for its own b or, where the cut
 * went through a pass, from b + 1 in the windows that it reached. passes: of image 0 at the end. */
static void assert_cuts(const set *s, const formats_buffer *file, uint32_t passes) {
    size_t front = (size_t)dct_info(file, s->model).front_bytes, step = 1 + file->size / 150;
    uint8_t *want = malloc(s->bytes * 2);
    assert_non_null(want);
    for (size_t size = front; size <= file->size;
         size += size < file->size && size + step > file->size ? file->size - size : step) {
        formats_buffer pixels = formats_buffer_make(1 << 24);
        taper_completeness done[IMAGES];
        assert_int_equal(dct_pull(file->data, size, s->model, &pixels, done), TAPER_OK);
        assert_int_equal(pixels.size, s->bytes);
        const uint8_t *at = pixels.data;
        for (int i = 0; i < IMAGES; i++) {
            size_t n = formats_image_samples(&s->image[i]);
            draw(s->model, &s->image[i], done[i].passes, want);
            draw(s->model, &s->image[i], done[i].passes + 1, want + s->bytes);
            for (size_t k = 0; k < n; k++)
                if (at[k] != want[k] && at[k] != want[s->bytes + k])
                    fail_msg("image %d, sample %zu, %zu of %zu bytes", i, k, size, file->size);
            at += n;
        }
        if (size == file->size) assert_int_equal(done[0].passes, passes);
        formats_buffer_free(&pixels);
    }
    free(want);
}

static formats_buffer repacked(const formats_buffer *file, const taper_model *m,
                               taper_layout layout) {
    formats_memory memory = {file->data, file->size};
    taper_source source = formats_memory_source(&memory);
    formats_buffer out = formats_buffer_make(1 << 24);
    taper_sink sink = dct_sink(&out);
    assert_int_equal(taper_repack(&source, m, layout, 3, &sink, NULL, NULL), TAPER_OK);
    return out;
}

static void assert_same_bytes(formats_buffer *a, const formats_buffer *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
    formats_buffer_free(a);
}

/* Encode, cut, truncate, repack, merge, verify; the same bytes for any number of threads. */
static void containers_carry_bits(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        tiny_shape shape = {.depth = 1 + (uint32_t)kind % 2,
                            .hidden = kind < 2 ? CODEC_RELU : CODEC_LOGISTIC,
                            .density = 0.5f,
                            .centre = kind == 1   ? 0.375f
                                      : kind == 2 ? 1.0f
                                                  : 0.0f,
                            .tied = kind == 3};
        set s = make_set(kind % 2, shape);
        taper_encode_options sets = {.group_images = 3}, four = {.group_images = 3, .threads = 4},
                             alone = {.layout = TAPER_LAYOUT_IMAGE};
        formats_buffer file = dct_encode(s.model, s.image, IMAGES, &sets, 1);
        formats_buffer again = dct_encode(s.model, s.image, IMAGES, &four, 1);
        assert_same_bytes(&again, &file);
        formats_buffer images = dct_encode(s.model, s.image, IMAGES, &alone, 1);
        assert_cuts(&s, &file, UNITS);
        assert_cuts(&s, &images, UNITS);
        again = repacked(&file, s.model, TAPER_LAYOUT_IMAGE);
        assert_same_bytes(&again, &images);
        again = repacked(&images, s.model, TAPER_LAYOUT_SET);
        assert_same_bytes(&again, &file);

        formats_buffer shorter = formats_buffer_make(1 << 24), both = formats_buffer_make(1 << 24);
        formats_memory memory = {file.data, file.size};
        taper_source source = formats_memory_source(&memory);
        taper_sink sink = dct_sink(&shorter), join = dct_sink(&both);
        uint64_t front = dct_info(&file, s.model).front_bytes;
        assert_int_equal(taper_truncate(&source, (front + file.size) / 2, &sink, NULL, NULL), 0);
        formats_buffer none = formats_buffer_make(1 << 24);
        taper_completeness done[IMAGES];
        assert_int_equal(dct_pull(shorter.data, shorter.size, s.model, &none, done), TAPER_OK);
        assert_cuts(&s, &shorter, done[0].passes);
        formats_buffer_free(&none);
        taper_source twice[2] = {source, source};
        assert_int_equal(taper_merge(twice, 2, &join, NULL, NULL), TAPER_OK);
        memory = (formats_memory){both.data, both.size};
        source = formats_memory_source(&memory);
        taper_verify_report report = {.size = sizeof report};
        assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_OK);
        assert_true(report.chunks == report.chunks_whole && report.bytes_missing == 0);
        formats_buffer_free(&file), formats_buffer_free(&images);
        formats_buffer_free(&shorter), formats_buffer_free(&both);
        drop_set(&s);
    }
}

int main(void) {
    printf("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_complete),         cmocka_unit_test(illegal_tables_are_refused),
        cmocka_unit_test(probabilities_stay_in_range), cmocka_unit_test(coding_only_helps),
        cmocka_unit_test(every_cut_decodes),           cmocka_unit_test(any_bytes_decode),
        cmocka_unit_test(containers_carry_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
