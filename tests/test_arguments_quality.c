/* test_arguments_quality.c -- every function of codec/taper_quality.h with every argument at its
 * extremes; see arguments.h. */
#include "arguments.h"

enum { SIDE = 4, N = 3 };

static uint8_t pixels[SIDE * SIDE * 4];
static const taper_image image = {SIDE, SIDE, 3, 8, pixels};
static const taper_rd_point curve[N] = {{100, 20}, {200, 30}, {400, 40}};

/* Images of an illegal kind. */
static const taper_image illegal[] = {
    {0, SIDE, 3, 8, pixels},    {SIDE, 0, 3, 8, pixels},    {SIDE, SIDE, 0, 8, pixels},
    {SIDE, SIDE, 5, 8, pixels}, {SIDE, SIDE, 3, 9, pixels}, {SIDE, SIDE, 3, 8, NULL},
};
enum { ILLEGAL = sizeof illegal / sizeof *illegal };

static void try_psnr_db(void) {
    EACH_REAL(v) {
        const double db = taper_quality_psnr_db(*v);
        assert_true(*v != *v ? db != db : db <= TAPER_PSNR_CEILING_DB);
    }
}

static void try_scales(void) {
    EACH_NUMBER(w) EACH_NUMBER(h) {
        const int scales = taper_quality_scales((uint32_t)*w, (uint32_t)*h);
        assert_true(scales >= 1 && scales <= 5);
    }
}

static void try_mse(void) {
    taper_error error = {0};
    double mse;
    refused(taper_quality_mse(NULL, &image, &mse, &error), &error);
    refused(taper_quality_mse(&image, NULL, &mse, &error), &error);
    refused(taper_quality_mse(&image, &image, NULL, &error), &error);
    for (int i = 0; i < ILLEGAL; i++)
        refused(taper_quality_mse(&illegal[i], &image, &mse, &error), &error);
}

static void try_measure(void) {
    taper_error error = {0};
    taper_quality quality = {.size = sizeof quality};
    refused(taper_quality_measure(NULL, &image, &quality, &error), &error);
    refused(taper_quality_measure(&image, NULL, &quality, &error), &error);
    refused(taper_quality_measure(&image, &image, NULL, &error), &error);
    for (int i = 0; i < ILLEGAL; i++)
        refused(taper_quality_measure(&image, &illegal[i], &quality, &error), &error);
}

static void try_bd_rate(void) {
    taper_error error = {0};
    taper_bd_rate delta;
    refused(taper_quality_bd_rate(NULL, N, curve, N, &delta, &error), &error);
    refused(taper_quality_bd_rate(curve, N, NULL, N, &delta, &error), &error);
    refused(taper_quality_bd_rate(curve, N, curve, N, NULL, &error), &error);
    EACH_COUNT(n) {
        refused(taper_quality_bd_rate(curve, *n, curve, N, &delta, &error), &error);
        refused(taper_quality_bd_rate(curve, N, curve, *n, &delta, &error), &error);
    }
    EACH_REAL(v) {
        const taper_rd_point odd[N] = {{*v, 20}, {200, *v}, {400, 40}};
        allowed(taper_quality_bd_rate(curve, N, odd, N, &delta, &error), &error);
    }
}

static void try_rate_at(void) {
    taper_error error = {0};
    double rate;
    refused(taper_quality_rate_at(NULL, N, 30, &rate, &error), &error);
    refused(taper_quality_rate_at(curve, N, 30, NULL, &error), &error);
    EACH_COUNT(n) refused(taper_quality_rate_at(curve, *n, 30, &rate, &error), &error);
    EACH_REAL(v) refused(taper_quality_rate_at(curve, N, *v, &rate, &error), &error);
}

static void try_best(void) {
    taper_error error = {0};
    static const int setting[N] = {0, INT32_MAX, -1};
    unsigned char keep[N];
    refused(taper_quality_best(NULL, setting, N, keep, &error), &error);
    refused(taper_quality_best(curve, NULL, N, keep, &error), &error);
    refused(taper_quality_best(curve, setting, N, NULL, &error), &error);
    EACH_COUNT(n)
    assert_int_equal(allowed(taper_quality_best(curve, setting, *n, keep, &error), &error),
                     *n == SIZE_MAX ? TAPER_ERR_ARG : TAPER_OK);
}

static void try_scale(void) {
    taper_error error = {0};
    taper_image to;
    refused(taper_image_scale(NULL, 1, 1, &to, &error), &error);
    refused(taper_image_scale(&image, 1, 1, NULL, &error), &error);
    for (int i = 0; i < ILLEGAL; i++) {
        refused(taper_image_scale(&illegal[i], 1, 1, &to, &error), &error);
        assert_null(to.pixels);
    }
    const taper_image with_alpha = {SIDE, SIDE, 4, 8, pixels};
    refused(taper_image_scale(&with_alpha, 1, 1, &to, &error), &error);
    refused(taper_image_scale(&image, 0, 1, &to, &error), &error);
    refused(taper_image_scale(&image, 1, 0, &to, &error), &error);
    assert_int_equal(
        allowed(taper_image_scale(&image, UINT32_MAX, UINT32_MAX, &to, &error), &error),
        TAPER_ERR_NOMEM);
}

static const argument_trial table[] = {
    {"taper_quality_psnr_db", try_psnr_db}, {"taper_quality_scales", try_scales},
    {"taper_quality_mse", try_mse},         {"taper_quality_measure", try_measure},
    {"taper_quality_bd_rate", try_bd_rate}, {"taper_quality_rate_at", try_rate_at},
    {"taper_quality_best", try_best},       {"taper_image_scale", try_scale},
};
enum { FUNCTIONS = sizeof table / sizeof *table };

static void every_function_is_tried(void **state) {
    (void)state;
    argument_table_is_complete("codec/taper_quality.h", table, FUNCTIONS);
}

static void extremes_are_answered(void **state) {
    (void)state;
    argument_run_all(table, FUNCTIONS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_tried),
        cmocka_unit_test(extremes_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
