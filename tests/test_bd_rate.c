/* test_bd_rate.c -- delta rates against SciPy's, and curves that are not as they should be.
 *
 * The figures of SciPy 1.10.1 (Debian 12, python3-scipy), for curves of rates r and qualities p:
 *     A, T = (scipy.interpolate.PchipInterpolator(p, numpy.log(r)) for anchor and test)
 *     lo, hi = max(min(pa), min(pt)), min(max(pa), max(pt))
 *     100 * (numpy.exp((T.integrate(lo, hi) - A.integrate(lo, hi)) / (hi - lo)) - 1)
 * The two long curves are libjpeg-turbo 2.1.5 (4:4:4, scan bytes) and libwebp 1.2.4 (file bytes) on
 * the first 1,000 images of CIFAR-10's test set, bytes per image. */
#include "codec/taper_quality.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const taper_rd_point k_jpeg[] = {
    {25.16, 18.898},  {42.82, 21.27},   {62.68, 23.077},  {74.96, 23.895},  {102.21, 25.343},
    {125.67, 26.325}, {166.74, 27.708}, {200.62, 28.675}, {232.66, 29.481}, {266.95, 30.3},
    {317.25, 31.428}, {398.63, 33.115}, {572.43, 36.423}, {791.2, 40.122}};
static const taper_rd_point k_webp[] = {{92.62, 21.718},  {138.9, 24.863},  {157.73, 25.791},
                                        {186.11, 27.067}, {212.37, 28.107}, {238.96, 29.082},
                                        {265.35, 29.935}, {292.28, 30.677}, {320.11, 31.379},
                                        {392.56, 33.001}, {572.11, 35.825}};

static void expect_percent(const taper_rd_point *anchor, size_t n_anchor,
                           const taper_rd_point *test, size_t n_test, double wanted) {
    taper_bd_rate result;
    taper_error error;
    assert_int_equal(taper_quality_bd_rate(anchor, n_anchor, test, n_test, &result, &error),
                     TAPER_OK);
    if (!(fabs(result.percent - wanted) <= 1e-8))
        fail_msg("%.12f where SciPy has %.12f", result.percent, wanted);
}

static void test_agrees_with_scipy(void **state) {
    (void)state;
    static const taper_rd_point two_a[] = {{100, 26}, {400, 33}}, two_t[] = {{80, 25}, {300, 31}};
    static const taper_rd_point steep_a[] = {{100, 20}, {101, 30}, {900, 31}};
    static const taper_rd_point steep_t[] = {{90, 21}, {300, 25}, {800, 32}};
    expect_percent(k_jpeg, COUNT(k_jpeg), k_webp, COUNT(k_webp), 23.128205919216);
    expect_percent(k_webp, COUNT(k_webp), k_jpeg, COUNT(k_jpeg), -18.783840588395);
    expect_percent(two_a, 2, two_t, 2, 5.419301517343);
    expect_percent(steep_a, 3, steep_t, 3, 200.208005299362);
    double rate;
    assert_int_equal(taper_quality_rate_at(k_jpeg, COUNT(k_jpeg), 27.5, &rate, NULL), TAPER_OK);
    assert_true(fabs(rate - 159.983312868443) <= 1e-9);
}

static void test_half_the_bytes_is_minus_fifty(void **state) {
    (void)state;
    taper_rd_point half[COUNT(k_jpeg)];
    for (size_t i = 0; i < COUNT(k_jpeg); i++)
        half[i] = (taper_rd_point){k_jpeg[i].rate / 2, k_jpeg[i].psnr_db};
    expect_percent(k_jpeg, COUNT(k_jpeg), half, COUNT(half), -50);
    taper_bd_rate result;
    assert_int_equal(
        taper_quality_bd_rate(k_jpeg, COUNT(k_jpeg), k_webp, COUNT(k_webp), &result, NULL),
        TAPER_OK);
    assert_true(result.from_db == 21.718 && result.to_db == 35.825);
}

static void test_order_and_dominated_points_do_not_matter(void **state) {
    (void)state;
    taper_rd_point shuffled[COUNT(k_jpeg) + 4];
    for (size_t i = 0; i < COUNT(k_jpeg); i++)
        shuffled[(i * 5) % COUNT(k_jpeg)] = k_jpeg[i];   /* 5, 14: coprime */
    shuffled[COUNT(k_jpeg)] = (taper_rd_point){300, 29}; /* dearer and worse than 266.95 at 30.3 */
    shuffled[COUNT(k_jpeg) + 1] = k_jpeg[3];             /* twice */
    shuffled[COUNT(k_jpeg) + 2] = (taper_rd_point){250, 29.481};  /* the same quality for more */
    shuffled[COUNT(k_jpeg) + 3] = (taper_rd_point){232.66, 29.2}; /* the same rate for less */
    expect_percent(shuffled, COUNT(shuffled), k_webp, COUNT(k_webp), 23.128205919216);
}

static void expect_refused(const taper_rd_point *anchor, size_t n_anchor,
                           const taper_rd_point *test, size_t n_test, const char *word) {
    taper_bd_rate result = {.percent = 7};
    taper_error error;
    assert_int_equal(taper_quality_bd_rate(anchor, n_anchor, test, n_test, &result, &error),
                     TAPER_ERR_ARG);
    if (!strstr(error.text, word)) fail_msg("\"%s\" does not say \"%s\"", error.text, word);
    assert_true(result.percent == 7);
}

static void test_curves_that_cannot_be_compared_are_refused(void **state) {
    (void)state;
    static const taper_rd_point far_off[] = {{900, 50}, {1000, 55}},
                                touching[] = {{900, 40.122}, {1000, 55}};
    static const taper_rd_point twice[] = {{100, 30}, {100, 30}},
                                falling[] = {{100, 30}, {200, 29}, {300, 28}};
    static const taper_rd_point zero[] = {{0, 20}, {100, 30}}, nan_db[] = {{50, NAN}, {100, 30}};
    expect_refused(k_jpeg, COUNT(k_jpeg), far_off, 2, "share no range");
    expect_refused(k_jpeg, COUNT(k_jpeg), touching, 2, "share no range");
    expect_refused(k_jpeg, COUNT(k_jpeg), twice, 2, "tested curve");
    expect_refused(falling, 3, k_jpeg, COUNT(k_jpeg), "anchor's curve");
    expect_refused(zero, 2, k_jpeg, COUNT(k_jpeg), "positive");
    expect_refused(nan_db, 2, k_jpeg, COUNT(k_jpeg), "finite");
    expect_refused(k_jpeg, 1, k_webp, COUNT(k_webp), "two points");
    expect_refused(k_jpeg, COUNT(k_jpeg), NULL, 0, "two points");
    double rate;
    assert_int_equal(taper_quality_rate_at(k_jpeg, COUNT(k_jpeg), 41, &rate, NULL), TAPER_ERR_ARG);
}

static void test_best_of_settings(void **state) {
    (void)state;
    /* setting 1 is cheaper below about 27 dB, setting 0 above; {120, 26} of setting 0 is beaten
     * between two points of setting 1, not by one of them; {500, 29} lies beyond setting 0's range
     * but is beaten by {400, 35}, which comes twice */
    static const taper_rd_point points[] = {{60, 22}, {120, 26}, {200, 30}, {400, 35}, {50, 22},
                                            {90, 25}, {150, 27}, {350, 31}, {500, 29}, {400, 35}};
    static const int setting[] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 2};
    static const unsigned char wanted[] = {0, 0, 1, 1, 1, 1, 0, 0, 0, 0};
    unsigned char keep[COUNT(points)];
    assert_int_equal(taper_quality_best(points, setting, COUNT(points), keep, NULL), TAPER_OK);
    for (size_t i = 0; i < COUNT(points); i++)
        if (keep[i] != wanted[i]) fail_msg("point %zu: kept %d", i, keep[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_with_scipy),
        cmocka_unit_test(test_half_the_bytes_is_minus_fifty),
        cmocka_unit_test(test_order_and_dominated_points_do_not_matter),
        cmocka_unit_test(test_curves_that_cannot_be_compared_are_refused),
        cmocka_unit_test(test_best_of_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
