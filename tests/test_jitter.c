/* test_jitter.c -- moved examples: shares, ranges, what interpolation keeps, repetition. */
#include "on_device.h"
#include "train/sampling/jitter.h"
#include <math.h>

enum { W = 12, H = 9, C = 2, VALUES = W * H * C, N = 600 };

static uint8_t pixels[N * VALUES], moved[N * VALUES], again[N * VALUES];
static uint32_t order[N];

/* Plane 0 rises along x, plane 1 along y. */
static int set_up(void **state) {
    (void)state;
    for (size_t n = 0; n < N; n++) {
        order[n] = (uint32_t)((n * 7) % N);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                pixels[n * VALUES + (size_t)(y * W + x)] = (uint8_t)(20 * x);
                pixels[n * VALUES + (size_t)(W * H + y * W + x)] = (uint8_t)(25 * y + n % 5);
            }
    }
    return 0;
}

static void go(float fraction, uint64_t seed, uint64_t step, uint8_t *to) {
    const train_jitter jitter = {W, H, C, fraction, 0, 0, 0, NULL};
    for (size_t n = 0; n < N; n++)
        train_jitter_row(&jitter, pixels + order[n] * VALUES, seed, step, n, to + n * VALUES);
}

static size_t changed_rows(const uint8_t *rows) {
    size_t changed = 0;
    for (size_t n = 0; n < N; n++)
        changed += memcmp(rows + n * VALUES, pixels + order[n] * VALUES, VALUES) != 0;
    return changed;
}

static void as_many_are_moved_as_asked_for(void **state) {
    (void)state;
    go(0.0f, 1, 1, moved);
    assert_int_equal(changed_rows(moved), 0);
    go(1.0f, 1, 1, moved);
    assert_int_equal(changed_rows(moved), N);
    go(0.5f, 1, 1, moved);
    assert_in_range(changed_rows(moved), N * 4 / 10, N * 6 / 10);
}

/* Bilinear interpolation keeps linear ramps: each value tells where it came from. */
static void motions_are_small_and_even(void **state) {
    (void)state;
    go(1.0f, 3, 9, moved);
    const int places[2][2] = {{4, 4}, {7, 4}}; /* left and right of the middle of a row */
    double shift = 0.0, largest = 0.0, turn = 0.0;
    for (size_t n = 0; n < N; n++) {
        double at[2][2];
        for (int k = 0; k < 2; k++) {
            const uint8_t *p = moved + n * VALUES + places[k][1] * W + places[k][0];
            at[k][0] = p[0] / 20.0 - places[k][0];
            at[k][1] = (p[W * H] - order[n] % 5) / 25.0 - places[k][1];
            for (int i = 0; i < 2; i++) {
                assert_true(fabs(at[k][i]) <= 0.5 + 0.1 * 1.5 + 0.03);
                largest = fmax(largest, fabs(at[k][i]));
            }
        }
        shift += (at[0][0] + at[0][1]) / N;
        turn += fabs(at[1][1] - at[0][1]) / N;
    }
    assert_true(largest > 0.45 && fabs(shift) < 0.06);
    assert_true(fabs(turn - 3 * 0.05) < 0.04); /* mean of |c| over 3 pixels */
}

static void edges_repeat(void **state) {
    (void)state;
    memset(pixels, 77, sizeof pixels);
    go(1.0f, 2, 3, moved);
    for (size_t i = 0; i < sizeof moved; i++) assert_int_equal(moved[i], 77);
    set_up(NULL);
}

static void draws_repeat(void **state) {
    (void)state;
    const train_jitter jitter = {W, H, C, 0.7f, 0, 0, 0, NULL};
    go(0.7f, 5, 1000, moved);
    for (int i = 0; i < 2; i++) { /* the operation, on three threads */
        on_device d;
        on_device_open_threads(&d, i ? TRAIN_SHADOW : TRAIN_PROCESSOR, 3);
        uint8_t *to = on_device_give(&d, NULL, sizeof again);
        const uint8_t *from = on_device_give(&d, pixels, sizeof pixels);
        const uint32_t *rows = on_device_give(&d, order, sizeof order);
        assert_int_equal(d.stream.ops->jitter(&d.stream, &jitter, N, from, rows, 5, 1000, to),
                         TAPER_OK);
        on_device_take(&d, again, to, sizeof again);
        assert_memory_equal(moved, again, sizeof moved);
        on_device_close(&d);
    }
    go(0.7f, 5, 1001, again);
    assert_memory_not_equal(moved, again, sizeof moved);
    go(0.7f, 6, 1000, again);
    assert_memory_not_equal(moved, again, sizeof moved);
}

static void thin_windows_stay(void **state) {
    (void)state;
    uint8_t *from = malloc(5), *to = malloc(5);
    assert_non_null(from);
    assert_non_null(to);
    memcpy(from, "\1\2\3\4\5", 5);
    train_jitter_row(&(train_jitter){1, 5, 1, 1.0f, 0, 0, 0, NULL}, from, 1, 1, 0, to);
    assert_memory_equal(from, to, 5);
    train_jitter_row(&(train_jitter){5, 1, 1, 1.0f, 0, 0, 0, NULL}, from, 1, 1, 0, to);
    assert_memory_equal(from, to, 5);
    free(from);
    free(to);
    from = malloc(4), to = malloc(4); /* the smallest that moves: nothing is read outside it */
    assert_non_null(from);
    assert_non_null(to);
    memset(from, 9, 4);
    for (uint64_t step = 0; step < 50; step++)
        train_jitter_row(&(train_jitter){2, 2, 1, 1.0f, 0, 0, 0, NULL}, from, 1, step, 0, to);
    assert_memory_equal(from, to, 4);
    free(from);
    free(to);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_are_moved_as_asked_for),
        cmocka_unit_test(motions_are_small_and_even),
        cmocka_unit_test(edges_repeat),
        cmocka_unit_test(draws_repeat),
        cmocka_unit_test(thin_windows_stay),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
