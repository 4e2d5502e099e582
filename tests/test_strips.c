/* test_strips.c -- a large image as strips: coding, cuts, threads, and all ways to read it. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/backend/pool.h"
#include "codec/bitplane/strips.h"
#include "codec/bitplane/quantiser.h"
#include "dct_model.h"

enum { UNITS = 6, COLUMNS = 58, ROWS = 61, STRIPS = 3 };

typedef struct fixture {
    taper_model *model;
    codec_grid grid;
    int16_t *code; /* [units][stride] */
    size_t stride;
    taper_image image;
    formats_buffer file;
} fixture;

static int make(void **state) {
    static fixture f;
    formats_buffer file = formats_buffer_make(1 << 24);
    f.model = dct_model_in_parts((codec_window){4, 4, 1, NULL}, UNITS, 4, 2, &file);
    formats_buffer_free(&file);
    f.grid = (codec_grid){COLUMNS, ROWS};
    f.stride = (size_t)codec_group_stride(COLUMNS * ROWS);
    f.code = calloc(UNITS * f.stride, sizeof *f.code);
    assert_non_null(f.code);
    uint64_t seed = 5;
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t p = 0; p < COLUMNS * ROWS; p++) {
            double r = (double)(picture_random(&seed) >> 11) / (double)((uint64_t)1 << 53);
            double x = -log(r + 1e-12) * 60.0 / (1 + u) * (picture_random(&seed) & 1 ? -1 : 1);
            f.code[u * f.stride + p] = codec_quantise(&f.model->tables, u, (float)x);
        }
    f.image = picture_scene(4 * COLUMNS - 3, 4 * ROWS - 1, 1, 9);
    f.file = dct_encode(f.model, &f.image, 1, NULL, 0);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    free(f->code);
    formats_image_free(&f->image);
    formats_buffer_free(&f->file);
    taper_model_free(f->model);
    return 0;
}

/* Windows and rows decide, and only groups of one image are divided. */
static void only_large_images_have_strips(void **unused) {
    (void)unused;
    static const struct {
        codec_grid grid;
        uint32_t strips;
    } cases[] = {{{48, 31}, 1},   {{48, 32}, 2},  {{32, 48}, 2},  {{1535, 1}, 1},
                 {{1, 1535}, 1},  {{1, 1536}, 2}, {{768, 15}, 1}, {{100000, 17}, 2},
                 {{100, 100}, 5}, {{96, 35}, 2},  {{96, 36}, 3},  {{256, 180}, 10},
                 {{1, 1}, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(codec_strips_count(&cases[i].grid, 1), cases[i].strips);
        codec_grid two[2] = {cases[i].grid, cases[i].grid};
        assert_int_equal(codec_strips_count(two, 2), 1);
    }
}

static codec_strips open_strips(const fixture *f) {
    codec_strips b;
    assert_int_equal(codec_strips_alloc(&b, &f->model->tables, &f->grid, 1, NULL, NULL), TAPER_OK);
    assert_int_equal(b.n, STRIPS);
    assert_int_equal(b.first[STRIPS], COLUMNS * ROWS);
    for (uint32_t w = 0; w < COLUMNS * ROWS; w++) {
        uint32_t strip = codec_strip_of(&b, w);
        assert_true(w >= b.first[strip] && w < b.first[strip + 1]);
    }
    return b;
}

static formats_buffer encode(const fixture *f, uint32_t end, uint64_t most, int *ended) {
    formats_buffer out = formats_buffer_make(1 << 24);
    codec_strips b = open_strips(f);
    assert_int_equal(codec_strips_encode(&b, f->code, f->stride, end, most, &out, ended), TAPER_OK);
    codec_strips_free(&b);
    return out;
}

/* Every known level is the code's, down to its depth. Returns the number of known planes. */
static uint64_t check_levels(const fixture *f, const codec_strips *b) {
    uint64_t known = 0;
    for (uint32_t w = 0; w < COLUMNS * ROWS; w++) {
        uint32_t strip = codec_strip_of(b, w), p = w - b->first[strip];
        const codec_group *g = &b->coder[strip].group;
        for (uint32_t u = 0; u < UNITS; u++) {
            uint32_t planes = codec_planes_known(g, u, p);
            int shift = g->tables->planes[u] - (int)planes, code = f->code[u * f->stride + w];
            int level = g->level[(size_t)u * g->stride + p];
            if (level) assert_int_equal(level, code < 0 ? -(-code >> shift) : code >> shift);
            known += planes;
        }
    }
    return known;
}

static void each_strip_is_a_group_of_its_own(void **state) {
    const fixture *f = *state;
    const uint32_t end = f->model->tables.n_passes;
    int ended;
    formats_buffer chunk = encode(f, end, 0, &ended);
    assert_false(ended);
    formats_buffer string[STRIPS];
    uint32_t length[STRIPS];
    codec_interleaved s = {.n = STRIPS, .string = string, .length = length};
    codec_interleaved_begin(&s, NULL);
    assert_int_equal(codec_interleaved_read(&s, chunk.data, chunk.size), TAPER_OK);
    for (uint32_t i = 0; i < STRIPS; i++) {
        uint32_t row = codec_strip_row(f->grid, STRIPS, i),
                 next = codec_strip_row(f->grid, STRIPS, i + 1);
        codec_grid part = {COLUMNS, next - row};
        codec_chunk_coder g;
        formats_buffer own = formats_buffer_make(1 << 24);
        assert_int_equal(codec_chunk_coder_alloc(&g, &f->model->tables, &part, 1, NULL), TAPER_OK);
        g.code_stride = f->stride;
        assert_int_equal(codec_chunk_encode(&g, f->code + (size_t)row * COLUMNS, end, &own, NULL),
                         0);
        assert_int_equal(own.size, s.string[i].size);
        assert_memory_equal(own.data, s.string[i].data, own.size);
        codec_chunk_coder_free(&g);
        formats_buffer_free(&own);
    }
    codec_interleaved_end(&s);
    formats_buffer_free(&chunk);
}

/* Pieces of any size, with and without threads, in two chunks. */
static void pieces_and_threads_change_nothing(void **state) {
    const fixture *f = *state;
    const uint32_t end[2] = {f->model->tables.n_passes / 3, f->model->tables.n_passes};
    codec_strips from = open_strips(f);
    formats_buffer chunk[2];
    int ended;
    for (int c = 0; c < 2; c++) {
        chunk[c] = formats_buffer_make(1 << 24);
        assert_int_equal(
            codec_strips_encode(&from, f->code, f->stride, end[c], 0, &chunk[c], &ended), 0);
    }
    codec_strips_free(&from);
    codec_pool *pool;
    assert_int_equal(codec_pool_create(&pool, 3), TAPER_OK);
    uint64_t random = 8;
    for (int threads = 0; threads < 2; threads++) {
        codec_strips b = open_strips(f);
        b.pool = threads ? pool : NULL;
        for (int c = 0; c < 2; c++) {
            uint64_t before = 0;
            for (size_t at = 0; at < chunk[c].size;) {
                size_t step = 1 + picture_random(&random) % 4000;
                at = chunk[c].size - at < step ? chunk[c].size : at + step;
                codec_chunk_bytes bytes = {chunk[c].data, at, at == chunk[c].size};
                assert_int_equal(codec_strips_decode(&b, bytes, end[c]), TAPER_OK);
                uint64_t known = check_levels(f, &b);
                assert_true(known >= before);
                before = known;
            }
            codec_strips_end_chunk(&b);
            for (uint32_t i = 0; i < STRIPS; i++) assert_int_equal(b.coder[i].group.pass, end[c]);
        }
        uint64_t all = 0;
        for (uint32_t u = 0; u < UNITS; u++) all += f->model->tables.planes[u] * COLUMNS * ROWS;
        assert_int_equal(check_levels(f, &b), all);
        codec_strips_free(&b);
    }
    codec_pool_destroy(pool);
    for (int c = 0; c < 2; c++) formats_buffer_free(&chunk[c]);
}

/* Coding that ends early gives the first bytes of coding that does not. */
static void a_limit_changes_no_byte_before_it(void **state) {
    const fixture *f = *state;
    const uint32_t end = f->model->tables.n_passes;
    int ended;
    formats_buffer all = encode(f, end, 0, &ended);
    uint32_t early = 0;
    for (uint64_t most = 1; most < all.size; most += all.size / 23) {
        formats_buffer some = encode(f, end, most, &ended);
        early += ended != 0;
        assert_true(some.size >= most);
        assert_memory_equal(some.data, all.data, most);
        formats_buffer_free(&some);
    }
    assert_in_range(early, 10, 23);
    formats_buffer_free(&all);
}

/* Chunks that are too short for their passes are not decoded. */
static void short_chunks_are_not_plausible(void **state) {
    const fixture *f = *state;
    const uint32_t end = f->model->tables.n_passes;
    codec_strips b = open_strips(f);
    int ended;
    formats_buffer all = encode(f, end, 0, &ended);
    assert_true(codec_strips_are_plausible(&b, end, all.size));
    uint64_t least = 0;
    for (uint32_t i = 0; i < STRIPS; i++) least += codec_chunk_least_bytes(&b.coder[i].group, end);
    assert_true(least > 0);
    codec_strips_free(&b);
    formats_buffer_free(&all);
}

/* --- containers --------------------------------------------------------------------------- */

static formats_buffer push(const fixture *f, size_t size, unsigned threads) {
    formats_buffer pixels = formats_buffer_make(1 << 24);
    taper_decoder *d;
    assert_int_equal(stream_decoder(&d, f->model, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_set_threads(d, threads, NULL), TAPER_OK);
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < 1000 ? size - at : 1000;
        assert_int_equal(taper_decoder_push(d, f->file.data + at, n, NULL), TAPER_OK);
        taper_image_info info = {.size = sizeof info};
        if (taper_container_get_image(taper_decoder_container(d), 0, &info, NULL) == TAPER_OK &&
            at % 3 == 0) {
            taper_image out = {.pixels = malloc((size_t)info.bytes)};
            assert_int_equal(taper_decoder_render(d, 0, &out, NULL, NULL), TAPER_OK);
            free(out.pixels);
        }
    }
    assert_int_equal(dct_render_all(d, &pixels, NULL), TAPER_OK);
    close_decoder(d);
    return pixels;
}

static formats_buffer pull(const fixture *f, const formats_buffer *file, size_t size,
                           taper_completeness *done) {
    formats_buffer pixels = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(file->data, size, f->model, &pixels, done), TAPER_OK);
    return pixels;
}

/* Quality never falls by more than a trace from cut to cut; pushing gives the same pixels. */
static void cuts_grow_better(void **state) {
    const fixture *f = *state;
    double before = 0;
    uint32_t passes = 0;
    for (size_t i = 0; i <= 40; i++) {
        size_t size = 300 + (f->file.size - 300) * i * i / 1600;
        taper_completeness done;
        formats_buffer pixels = pull(f, &f->file, size, &done),
                       pushed = push(f, size, 1 + (unsigned)i % 3);
        double psnr = dct_mean_psnr(&f->image, 1, pixels.data);
        assert_true(psnr > before - 0.05);
        assert_true(done.passes >= passes);
        assert_int_equal(done.complete, size == f->file.size);
        assert_int_equal(pixels.size, pushed.size);
        assert_memory_equal(pixels.data, pushed.data, pixels.size);
        before = psnr, passes = done.passes;
        formats_buffer_free(&pixels), formats_buffer_free(&pushed);
    }
    assert_true(before > 20);
}

/* The windows at the edges of strips are as good as the others. */
static void strips_leave_no_trace(void **state) {
    const fixture *f = *state;
    taper_completeness done;
    formats_buffer pixels = pull(f, &f->file, f->file.size / 2, &done);
    const uint8_t *original = f->image.pixels;
    double edge = 0, all = 0;
    uint64_t n_edge = 0;
    for (uint32_t y = 0; y < f->image.height; y++) {
        uint32_t row = y / 4, is_edge = 0;
        for (uint32_t b = 1; b < STRIPS; b++) {
            uint32_t at = codec_strip_row(f->grid, STRIPS, b);
            is_edge |= row == at || row + 1 == at;
        }
        for (uint32_t x = 0; x < f->image.width; x++) {
            size_t at = (size_t)y * f->image.width + x;
            double d = (double)original[at] - pixels.data[at];
            all += d * d;
            if (is_edge) edge += d * d, n_edge++;
        }
    }
    all /= (double)f->image.width * f->image.height;
    assert_true(edge / (double)n_edge < 1.5 * all);
    formats_buffer_free(&pixels);
}

/* Truncated and repacked containers decode; codes and small images come from all strips. */
static void other_verbs_read_strips(void **state) {
    const fixture *f = *state;
    formats_memory memory = {f->file.data, f->file.size};
    taper_source source = formats_memory_source(&memory);
    for (int k = 0; k < 3; k++) {
        formats_buffer out = formats_buffer_make(1 << 24);
        taper_sink sink = dct_sink(&out);
        taper_layout layout = k == 1 ? TAPER_LAYOUT_IMAGE : TAPER_LAYOUT_GALLERY;
        size_t third = f->file.size / 3;
        if (k == 0)
            assert_int_equal(taper_truncate(&source, third, &sink, NULL, NULL), TAPER_OK);
        else
            assert_int_equal(taper_repack(&source, f->model, layout, 0, &sink, NULL, NULL), 0);
        taper_completeness done[2];
        formats_buffer a = pull(f, &out, out.size, &done[0]),
                       b = pull(f, &f->file, k ? f->file.size : f->file.size / 3, &done[1]);
        assert_int_equal(done[0].complete, 1);
        if (k) assert_memory_equal(a.data, b.data, a.size);
        assert_true(dct_mean_psnr(&f->image, 1, a.data) >
                    dct_mean_psnr(&f->image, 1, b.data) - 0.1);
        formats_buffer_free(&a), formats_buffer_free(&b), formats_buffer_free(&out);
    }
}

static void codes_come_from_all_strips(void **state) {
    const fixture *f = *state;
    formats_memory memory = {f->file.data, f->file.size};
    taper_source source = formats_memory_source(&memory);
    taper_decoder *d;
    float *value = malloc(COLUMNS * ROWS * UNITS * sizeof *value);
    uint8_t *planes = malloc(COLUMNS * ROWS * UNITS);
    assert_true(value && planes);
    memset(planes, 0xEE, COLUMNS * ROWS * UNITS);
    assert_int_equal(open_decoder(&d, &source, f->model, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_codes(d, 0, UNITS, UINT32_MAX, value, planes, NULL, NULL), 0);
    for (uint32_t w = 0; w < COLUMNS * ROWS; w++)
        for (uint32_t u = 0; u < UNITS; u++) {
            assert_int_equal(planes[w * UNITS + u], f->model->tables.planes[u]);
            assert_true(fabsf(value[w * UNITS + u]) < 1e5f);
        }
    taper_image small = {.pixels = malloc((size_t)f->image.width * f->image.height)};
    assert_int_equal(taper_decoder_render_scaled(d, 0, 2, &small, NULL, NULL), TAPER_OK);
    assert_int_equal(small.width, (f->image.width - 1) / 2 + 1);
    const uint8_t *in = f->image.pixels, *out = small.pixels;
    for (uint32_t y = 0; y + 1 < small.height; y++)
        for (uint32_t x = 0; x + 1 < small.width; x++) {
            const uint8_t *four = in + 2 * ((size_t)y * f->image.width + x);
            int mean = (four[0] + four[1] + four[f->image.width] + four[f->image.width + 1]) / 4;
            assert_in_range(out[(size_t)y * small.width + x] + 100, mean + 40, mean + 160);
        }
    free(small.pixels), free(value), free(planes);
    close_decoder(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_large_images_have_strips),
        cmocka_unit_test(each_strip_is_a_group_of_its_own),
        cmocka_unit_test(pieces_and_threads_change_nothing),
        cmocka_unit_test(a_limit_changes_no_byte_before_it),
        cmocka_unit_test(short_chunks_are_not_plausible),
        cmocka_unit_test(cuts_grow_better),
        cmocka_unit_test(strips_leave_no_trace),
        cmocka_unit_test(other_verbs_read_strips),
        cmocka_unit_test(codes_come_from_all_strips),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
