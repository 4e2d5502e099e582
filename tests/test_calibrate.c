/* test_calibrate.c -- what calibration learns: thresholds, reconstruction points, order, contexts;
 * and the whole of training a linear model. */
#include "cmocka_all.h"
#include "codec/bitplane/quantiser.h"
#include "codec/bitplane/chunk_coder.h"
#include "infos.h"
#include "tiny_model.h"
#include "train/calibrate/calibrate.h"
#include "train/calibrate/cholesky.h"
#include "train/calibrate/fit_contexts.h"

enum { SEED = 111, UNITS = 24, IMAGES = 40, SIDE = 5, WINDOWS = IMAGES * SIDE * SIDE };

typedef struct fixture {
    float *code;
    codec_grid grid[IMAGES];
    train_codes codes;
    taper_model model;
} fixture;

/* Laplacian codes of scale 80 / (1 + u), larger in some windows than in others; unit 0 of a window
 * is near its left neighbour's. */
static int make(void **state) {
    static fixture f;
    uint64_t random = SEED;
    printf("seed %d\n", SEED);
    f = (fixture){.code = malloc(sizeof(float) * WINDOWS * UNITS)};
    assert_non_null(f.code);
    for (int i = 0; i < IMAGES; i++) f.grid[i] = (codec_grid){SIDE, SIDE};
    for (int w = 0; w < WINDOWS; w++) {
        double busy = exp2((double)(picture_random(&random) >> 11) * exp2(-53) * 5 - 3);
        for (int u = 0; u < UNITS; u++) {
            double r = (double)(picture_random(&random) >> 11) * exp2(-53);
            double x =
                -log(r + 1e-9) * busy * 80 / (1 + u) * (picture_random(&random) & 1 ? -1 : 1);
            if (u == 0 && w % SIDE) x = 0.95 * f.code[(w - 1) * UNITS] + 0.2 * x;
            f.code[w * UNITS + u] = u == UNITS - 1 ? 0 : (float)x; /* the last unit is silent */
        }
    }
    f.codes = (train_codes){f.code, WINDOWS, f.grid, IMAGES};
    f.model.window = (codec_window){6, 4, 1, NULL};
    f.model.network.units = UNITS;
    f.model.network.inputs = 24;
    train_calibrate_options options = {2, NULL};
    assert_int_equal(train_calibrate(&f.model, &f.codes, &options, NULL), TAPER_OK);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    free(f->code);
    codec_code_tables_free(&f->model.tables);
    return 0;
}

static void thresholds_follow_the_codes(void **state) {
    fixture *f = *state;
    const codec_code_tables *t = &f->model.tables;
    for (uint32_t u = 0; u < UNITS; u++) {
        double top = 0, sum = 0;
        for (int w = 0; w < WINDOWS; w++) {
            double x = fabs(f->code[w * UNITS + (int)u]) / 2;
            top = fmax(top, x), sum += x * x;
        }
        assert_true(t->step[u] == 2);
        /* nothing that was seen is clamped, nor what is nearly twice as large; no plane is idle */
        assert_true((top < 1 ? top : 1.99 * top) < (1 << t->planes[u]));
        assert_true(!t->planes[u] || top * 2.1 >= (1 << (t->planes[u] - 1)));
        if (u + 1 == UNITS)
            assert_int_equal(t->planes[u], 0);
        else
            assert_true(fabs(t->log_scale[u] - 8 * log2(sum / WINDOWS)) <= 1);
    }
}

static void gains_make_thresholds(void **state) {
    fixture *f = *state;
    taper_model m = {.network.units = UNITS};
    double gain[UNITS];
    for (int u = 0; u < UNITS; u++) gain[u] = 1 + u;
    train_calibrate_options options = {2, gain};
    assert_int_equal(train_set_quantiser(&m, &f->codes, &options, NULL), TAPER_OK);
    for (int u = 0; u < UNITS; u++) assert_true(fabs(m.tables.step[u] - 2 / sqrt(1 + u)) <= 1e-5);
    codec_code_tables_free(&m.tables);
}

/* Quantise all at some depth: the mean squared error of what the tables reconstruct, and of the
 * middle of the interval. */
static void reconstruction_beats_the_middle(void **state) {
    fixture *f = *state;
    const codec_code_tables *t = &f->model.tables;
    double learned = 0, middle = 0;
    for (uint32_t u = 0; u + 1 < UNITS; u++)
        for (uint32_t d = 1; d <= t->planes[u]; d++)
            for (int w = 0; w < WINDOWS; w++) {
                double x = fabs(f->code[w * UNITS + (int)u]), T = 2.0 * (1 << (t->planes[u] - d));
                uint32_t q = (uint32_t)(x / T), l = (q < 4 ? q : 4) - 1;
                if (!q) continue;
                double c = t->recon[codec_ratio_bin(codec_log_ratio(t, u, d))][l] / 256.0;
                learned += (x - (q + c) * T) * (x - (q + c) * T);
                middle += (x - (q + 0.5) * T) * (x - (q + 0.5) * T);
            }
    assert_true(learned < 0.97 * middle);
}

/* The order is legal, its layers grow, and its first passes are those of the strong units. */
static void the_order_puts_strong_units_first(void **state) {
    fixture *f = *state;
    const codec_code_tables *t = &f->model.tables;
    uint32_t total = t->n_passes, planes = 0;
    for (uint32_t u = 0; u < UNITS; u++) planes += t->planes[u];
    assert_true(total > planes && total < planes * t->fractions); /* some parts are worth a pass */
    assert_int_equal(f->model.info.passes, total);
    assert_int_equal(t->layer[t->n_layers - 1].pass, total);
    for (uint32_t l = 1; l < t->n_layers; l++) {
        assert_true(t->layer[l].pass > t->layer[l - 1].pass);
        assert_true(t->layer[l].bytes_per_mpixel >= t->layer[l - 1].bytes_per_mpixel);
    }
    assert_int_equal(t->rd_slope[0], 255);
    assert_int_equal(t->pass[0].unit, 0);
    double mean[2] = {0, 0}; /* unit number in the first and the last third of the order */
    for (uint32_t i = 0; i < total / 3; i++) {
        mean[0] += t->pass[i].unit;
        mean[1] += t->pass[total - 1 - i].unit;
    }
    assert_true(mean[0] < mean[1]);
}

/* Bytes of the sample, coded with these tables. */
static size_t coded_size(const fixture *f, const codec_code_tables *t) {
    codec_chunk_coder g;
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(codec_chunk_coder_alloc(&g, t, f->grid, IMAGES, NULL), TAPER_OK);
    int16_t *q = calloc((size_t)UNITS * g.group.stride, sizeof *q);
    assert_non_null(q);
    for (uint32_t w = 0; w < WINDOWS; w++)
        for (uint32_t u = 0; u < UNITS; u++)
            q[u * g.group.stride + w] = codec_quantise(t, u, f->code[w * UNITS + u]);
    assert_int_equal(codec_chunk_encode(&g, q, t->n_passes, &out, NULL), TAPER_OK);
    size_t size = out.size;
    codec_chunk_coder_free(&g);
    formats_buffer_free(&out);
    free(q);
    return size;
}

/* Each thing that is learned saves bytes; the layers' sizes are what coding takes. */
static void contexts_save_bytes(void **state) {
    fixture *f = *state;
    codec_code_tables t = f->model.tables; /* borrows the arrays */
    size_t full = coded_size(f, &t);
    double pixels = (double)WINDOWS * 24,
           promised = t.layer[t.n_layers - 1].bytes_per_mpixel * pixels / 1e6;
    assert_true(fabs((double)full / promised - 1) <= 0.02);
    memset(t.signed_weight, 0, sizeof t.signed_weight);
    size_t unsigned_size = coded_size(f, &t);
    assert_true(full < unsigned_size); /* unit 0 is foretold by its neighbours */
    t = f->model.tables;
    memset(t.prior, 0, sizeof t.prior);
    size_t no_prior = coded_size(f, &t);
    assert_true(full <= no_prior + 20);
    memset(t.weight, 0, sizeof t.weight);
    size_t flat = coded_size(f, &t);
    printf("%zu bytes; without signed prediction %zu, without priors %zu, without weights %zu\n",
           full, unsigned_size, no_prior, flat);
    assert_true(full * 100 < flat * 97);
}

static void calibration_repeats(void **state) {
    fixture *f = *state;
    taper_model m = {.window = f->model.window, .network.units = UNITS, .network.inputs = 24};
    train_calibrate_options options = {2, NULL};
    formats_buffer a = formats_buffer_make(1 << 20), b = formats_buffer_make(1 << 20);
    assert_int_equal(train_calibrate(&m, &f->codes, &options, NULL), TAPER_OK);
    assert_int_equal(codec_code_tables_write(&m.tables, &a), TAPER_OK);
    assert_int_equal(codec_code_tables_write(&f->model.tables, &b), TAPER_OK);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    codec_code_tables_free(&m.tables);
    formats_buffer_free(&a), formats_buffer_free(&b);
}

static void nothing_to_learn_is_said(void **state) {
    (void)state;
    float zeros[20 * 3] = {0};
    codec_grid grid = {4, 5};
    train_codes codes = {zeros, 20, &grid, 1};
    taper_model m = {.window = {4, 4, 1}, .network.units = 3, .network.inputs = 16};
    train_calibrate_options options = {2, NULL};
    taper_error error = {0};
    assert_int_equal(train_calibrate(&m, &codes, &options, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "alike"));
    assert_null(m.tables.step);
}

static void positive_systems_are_solved(void **state) {
    (void)state;
    double a[9] = {4, 2, 0.6, 2, 5, 1, 0.6, 1, 3}, b[3] = {4 + 4 + 1.8, 2 + 10 + 3, 0.6 + 2 + 9};
    assert_int_equal(train_solve_positive(a, b, 3), 0);
    for (int i = 0; i < 3; i++) assert_true(fabs(b[i] - (i + 1)) <= 1e-12);
    double bad[4] = {1, 2, 2, 1}, c[2] = {1, 1};
    assert_int_equal(train_solve_positive(bad, c, 2), -1);
    double none[1] = {NAN}, d[1] = {1};
    assert_int_equal(train_solve_positive(none, d, 1), -1);
}

/* The whole of it: a model of pictures codes other such pictures well, and knows what it does. */
static void a_trained_model_codes_pictures(void **state) {
    (void)state;
    enum { TRAIN = 48, TEST = 16 };
    taper_image *image = tiny_pictures(TRAIN + TEST, 16, 3, 500);
    formats_buffer file = formats_buffer_make(1 << 24), again = formats_buffer_make(1 << 24);
    taper_model *model = tiny_model_train(image, TRAIN, 4, 0, &file);
    taper_model *same = tiny_model_train(image, TRAIN, 4, 0, &again);
    assert_int_equal(file.size, again.size); /* training repeats */
    assert_memory_equal(file.data, again.data, file.size);
    assert_int_equal(info_of_model(model).units, 48);
    formats_buffer out = dct_encode(model, image + TRAIN, TEST, NULL, 0),
                   pixels = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(out.data, out.size, model, &pixels, NULL), TAPER_OK);
    double psnr = dct_mean_psnr(image + TRAIN, TEST, pixels.data);
    printf("%zu bytes an image of 768 samples, %.2f dB\n", out.size / TEST, psnr);
    assert_true(psnr > 42);
    assert_true(out.size < TEST * 16 * 16 * 3 * 3 / 4);
    taper_model_free(model), taper_model_free(same);
    tiny_pictures_free(image, TRAIN + TEST);
    formats_buffer_free(&file), formats_buffer_free(&again);
    formats_buffer_free(&out), formats_buffer_free(&pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_follow_the_codes),
        cmocka_unit_test(gains_make_thresholds),
        cmocka_unit_test(reconstruction_beats_the_middle),
        cmocka_unit_test(the_order_puts_strong_units_first),
        cmocka_unit_test(contexts_save_bytes),
        cmocka_unit_test(calibration_repeats),
        cmocka_unit_test(nothing_to_learn_is_said),
        cmocka_unit_test(positive_systems_are_solved),
        cmocka_unit_test(a_trained_model_codes_pictures),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
