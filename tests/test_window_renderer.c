/* test_window_renderer.c -- codes to the values of windows: kernels of sparse sums, and parts of
 * a group against the whole. (The second reader of the format checks the values themselves:
 * tests/cli/teaching-decoder.sh.) */
#include "cmocka_all.h"
#include "codec/backend/sparse_sum.h"
#include "codec/decoder/decoder.h"
#include "codec/render/window_renderer.h"
#include "model_zoo.h"

/* --- sparse sums -------------------------------------------------------------------------- */

enum { PAIRS = 9, LANES = 112, TERMS = 40 };

static void check_kernels(const int16_t *matrix, const codec_term *term, size_t terms) {
    size_t n;
    const codec_sparse_kernel *kernel = codec_sparse_kernels(&n);
    for (uint32_t count = CODEC_SPARSE_STEP; count <= CODEC_SPARSE_BLOCK;
         count += CODEC_SPARSE_STEP)
        for (uint32_t first = 0; first + count <= LANES; first += CODEC_SPARSE_STEP) {
            int32_t want[CODEC_SPARSE_BLOCK + 1], sum[CODEC_SPARSE_BLOCK + 1];
            for (uint32_t i = 0; i <= CODEC_SPARSE_BLOCK; i++) want[i] = (int32_t)(i * 7919);
            codec_sparse_sum_plain(matrix, LANES, first, count, term, terms, want);
            for (size_t k = 0; k < n; k++) {
                if (!kernel[k].runs()) {
                    if (count == CODEC_SPARSE_BLOCK)
                        print_message("SKIP no %s here\n", kernel[k].name);
                    continue;
                }
                for (uint32_t i = 0; i <= CODEC_SPARSE_BLOCK; i++) sum[i] = (int32_t)(i * 7919);
                kernel[k].sum(matrix, LANES, first, count, term, terms, sum);
                assert_memory_equal(sum, want, sizeof sum); /* and no further than `count` */
            }
        }
}

/* Every kernel against the definition: all counts, usual numbers, and sums that leave 32 bits. */
static void sparse_sums_are_as_defined(void **unused) {
    (void)unused;
    static int16_t matrix[PAIRS * LANES * 2];
    codec_term term[TERMS];
    uint64_t state = 11;
    for (int extreme = 0; extreme < 2; extreme++) {
        for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++)
            matrix[i] =
                (int16_t)(extreme ? 32767 : (int32_t)(picture_random(&state) % 65535) - 32767);
        for (size_t t = 0; t < TERMS; t++)
            for (int k = 0; k < 2; k++) {
                int16_t x = (int16_t)((int32_t)(picture_random(&state) % 65536) - 32768);
                term[t].pair = (uint32_t)(picture_random(&state) % PAIRS);
                term[t].x[k] = extreme ? -32768 : x;
            }
        for (size_t terms = 0; terms <= TERMS; terms += 13) check_kernels(matrix, term, terms);
    }
}

/* --- parts of a group --------------------------------------------------------------------- */

/* The values of windows first .. first + n - 1, each from a renderer of these alone. */
static int16_t *values_of(const taper_model *model, const codec_group *g, uint32_t first,
                          uint32_t n) {
    size_t inputs = model->network.inputs;
    int16_t *value = malloc(n * inputs * sizeof *value);
    codec_window_renderer r;
    codec_backend be;
    codec_backend_cpu(&be);
    assert_non_null(value);
    assert_int_equal(codec_window_renderer_begin(&r, model, g, first, n, 1, NULL), TAPER_OK);
    assert_int_equal(codec_window_renderer_run(&r, &be, first, n, value), TAPER_OK);
    codec_window_renderer_end(&r);
    return value;
}

/* A window's values depend on those around it, but not on what is rendered with it. */
static void parts_are_those_of_the_whole(void **state) {
    model_zoo *z = *state;
    for (int m = 0; m < ZOO_MODELS; m++) {
        const taper_model *model = z->model[m];
        size_t inputs = model->network.inputs;
        formats_memory memory = {z->file[m][0].data, z->file[m][0].size * 2 / 3};
        taper_source source;
        codec_decoder_image image;
        taper_decoder *d = zoo_open(model, &memory, &source);
        assert_int_equal(codec_decoder_load_image(d, 0, UINT32_MAX, &image, NULL), TAPER_OK);
        const codec_group *g = &image.group->strips.coder->group;
        int16_t *whole = values_of(model, g, 0, g->n);
        for (uint32_t first = 0; first < g->n; first++)
            for (uint32_t n = 1; first + n <= g->n; n += 1 + n / 2) {
                int16_t *part = values_of(model, g, first, n);
                assert_memory_equal(part, whole + first * inputs, n * inputs * sizeof *part);
                free(part);
            }
        free(whole);
        close_decoder(d);
    }
}

static int setup(void **state) {
    static model_zoo zoo;
    zoo_make(&zoo);
    *state = &zoo;
    return 0;
}
static int teardown(void **state) {
    zoo_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparse_sums_are_as_defined),
                                       cmocka_unit_test(parts_are_those_of_the_whole)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
