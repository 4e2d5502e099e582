/* test_choice.c -- which model is chosen for a set: by bytes at the same qualities, of which not
 * reaching one costs. */
#include "cmocka_all.h"
#include "train/choice.h"
#include <math.h>

enum { RAW = 3072 };

/* Bytes grow by a factor of two every `step` dB: scale bytes at 20 dB, from `from` to `to`. */
static train_rd_curve curve(double scale, double step, double from, double to) {
    train_rd_curve c = {.n = 0};
    for (double db = from; c.n < 20 && db < to; db += 1)
        c.point[c.n++] = (train_rd_point){scale * exp2((db - 20) / step), db};
    c.point[c.n++] = (train_rd_point){scale * exp2((to - 20) / step), to};
    return c;
}

static size_t choose(const train_rd_curve *a, uint64_t model_a, const train_rd_curve *b,
                     uint64_t model_b, uint64_t set_images) {
    train_offer offer[] = {{a, model_a}, {b, model_b}}, other[] = {{b, model_b}, {a, model_a}};
    size_t first = train_choose(offer, 2, RAW, set_images),
           second = train_choose(other, 2, RAW, set_images);
    assert_true(first < 2 && second < 2);
    assert_int_equal(first, 1 - second); /* whatever their order */
    return first;
}

static void reaching_less_does_not_win(void **unused) {
    (void)unused;
    train_rd_curve far = curve(30, 5, 20, 38), near = curve(25, 5, 20, 28);
    assert_int_equal(choose(&far, 10000, &near, 10000, 1000), 0);
    /* just short of a quality, and far below in bytes where it is still there */
    train_rd_curve just = curve(20, 5, 20, 34.9);
    assert_int_equal(choose(&far, 10000, &just, 10000, 1000), 0);
    /* without a quality in common */
    train_rd_curve low = curve(1, 5, 10, 19);
    assert_int_equal(choose(&far, 10000, &low, 10000, 1000), 0);
}

static void at_equal_reach_bytes_decide(void **unused) {
    (void)unused;
    train_rd_curve a = curve(30, 5, 20, 38), b = curve(29, 5, 20, 37);
    assert_int_equal(choose(&a, 10000, &b, 10000, 1000), 1);
    assert_int_equal(choose(&a, 10000, &b, 90000, 1000), 0);    /* of the model too ... */
    assert_int_equal(choose(&a, 10000, &b, 90000, 1000000), 1); /* ... by the set's size */
    /* dear at 25 and cheap at 35: all qualities count alike */
    train_rd_curve steep = curve(20, 4, 20, 38), flat = curve(36, 7, 20, 38);
    assert_int_equal(choose(&steep, 0, &flat, 0, 1), 1);
}

static void what_no_one_reaches_does_not_count(void **unused) {
    (void)unused;
    train_rd_curve a = curve(30, 5, 20, 29), b = curve(29, 5, 20, 26);
    assert_int_equal(choose(&a, 1000, &b, 1000, 1000), 1);
    /* nothing of the ladder: the one below it */
    train_rd_curve c = curve(30, 5, 12, 21), d = curve(40, 5, 12, 24);
    assert_int_equal(choose(&c, 1000, &d, 1000, 1000), 0);
    train_rd_curve e = curve(29, 5, 12, 18);
    assert_int_equal(choose(&c, 1000, &e, 1000, 1000), 0);
}

static void better_from_the_start_counts_as_reached(void **unused) {
    (void)unused;
    train_rd_curve a = curve(30, 5, 20, 38), b = curve(24, 5, 26, 38);
    assert_int_equal(choose(&a, 1000, &b, 1000, 1000), 1);
}

static void a_model_that_costs_more_than_pixels_loses(void **unused) {
    (void)unused;
    train_rd_curve far = curve(30, 5, 20, 38), near = curve(28, 5, 20, 28);
    assert_int_equal(choose(&far, 10000000, &near, 1000, 10), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reaching_less_does_not_win),
        cmocka_unit_test(at_equal_reach_bytes_decide),
        cmocka_unit_test(what_no_one_reaches_does_not_count),
        cmocka_unit_test(better_from_the_start_counts_as_reached),
        cmocka_unit_test(a_model_that_costs_more_than_pixels_loses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
