/* test_orthonormal.c -- decoders that stay orthonormal: a gradient's part along such matrices by
 * its definition, and the way back to the nearest one, on every device. */
#include "every_device.h"
#include "train/nested/orthonormal.h"
#include "train/sampling/philox.h"
#include <math.h>

enum { K = 7, D = 19 };

typedef struct frame {
    train_arena arena;
    train_orthonormal at;
} frame;

static void frame_make(frame *f, on_device *d) {
    *f = (frame){0};
    train_orthonormal_lay_out(&f->at, &f->arena, K, D);
    assert_int_equal(train_arena_alloc(&f->arena, &d->device), TAPER_OK);
    train_orthonormal_lay_out(&f->at, &f->arena, K, D);
    assert_int_equal(train_orthonormal_begin(&f->at, &d->stream), TAPER_OK);
}

static void draw(float *x, uint64_t stream, float scale) {
    for (size_t i = 0; i < K * D; i++) {
        uint32_t word[4];
        train_philox(6, i, 700 + stream, word);
        x[i] = scale * (train_philox_uniform(word[0]) - 0.5f);
    }
}

static double product(const float *a, const float *b) {
    double sum = 0.0;
    for (int i = 0; i < D; i++) sum += (double)a[i] * b[i];
    return sum;
}

/* From any scale: V V^T = I, and V_before = (symmetric, positive) V, which the nearest one alone
 * has. */
static void rows_come_back_to_the_nearest(void **state) {
    (void)state;
    for (float scale = 1e-3f; scale < 1e4f; scale *= 100.0f)
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            static float before[K * D], v[K * D];
            frame f;
            frame_make(&f, d);
            draw(before, 1, scale);
            float *there = on_device_give(d, before, sizeof before);
            assert_int_equal(train_orthonormal_retract(&f.at, there), TAPER_OK);
            on_device_take(d, v, there, sizeof v);
            for (int r = 0; r < K; r++)
                for (int c = 0; c < K; c++) {
                    assert_true(fabs(product(v + r * D, v + c * D) - (r == c)) <= 2e-5);
                    double one = product(before + r * D, v + c * D),
                           other = product(before + c * D, v + r * D);
                    assert_true(fabs(one - other) <= 1e-4 * (double)scale);
                    assert_true(r != c || one > 0.0);
                }
            train_arena_free(&f.arena);
        }
}

static void gradients_lie_along_orthonormal_matrices(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        static float v[K * D], g[K * D], got[K * D];
        frame f;
        frame_make(&f, d);
        draw(v, 2, 1.0f), draw(g, 3, 1.0f);
        float *at = on_device_give(d, v, sizeof v), *gradient = on_device_give(d, g, sizeof g);
        assert_int_equal(train_orthonormal_retract(&f.at, at), TAPER_OK);
        on_device_take(d, v, at, sizeof v);
        assert_int_equal(train_orthonormal_project(&f.at, at, gradient), TAPER_OK);
        on_device_take(d, got, gradient, sizeof got);
        for (int r = 0; r < K; r++) {
            double wanted[D];
            for (int p = 0; p < D; p++) wanted[p] = g[r * D + p];
            for (int c = 0; c < K; c++) {
                double both = product(g + r * D, v + c * D) + product(v + r * D, g + c * D);
                for (int p = 0; p < D; p++) wanted[p] -= both / 2.0 * v[c * D + p];
                double turn = product(got + r * D, v + c * D) + product(v + r * D, got + c * D);
                assert_true(fabs(turn) <= 1e-5);
            }
            for (int p = 0; p < D; p++) assert_true(fabs(got[r * D + p] - wanted[p]) <= 1e-5);
        }
        train_arena_free(&f.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_to_the_nearest),
        cmocka_unit_test(gradients_lie_along_orthonormal_matrices),
    };
    return cmocka_run_group_tests(tests, open_every_device, close_every_device);
}
