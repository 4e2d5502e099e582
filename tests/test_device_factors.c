/* test_device_factors.c -- arrays that products read, as a device keeps them for it (train_keep):
 * what operations make there is what they make elsewhere, rounded once where the device rounds, and
 * copies of weights are never old. */
#include "device_numbers.h"
#include "train/device/elements.h"

enum { ROWS = 37, WIDTH = 33, N = ROWS * WIDTH };

/* Those of every_device.h, the last in bfloat16. */
static int open_rounding(void **state) {
    open_all(state);
#ifdef EVERY_DEVICE_KERNELS
    on_device_close(&device[DEVICES - 1]);
    on_device_open_precision(&device[DEVICES - 1], TRAIN_BFLOAT16);
#endif
    return 0;
}

static float as_factor(const on_device *d, float x) {
    return d->cuda ? train_from_bfloat16(train_to_bfloat16(x)) : x;
}

/* Numbers as a product sees them: by the identity. */
static void seen(on_device *d, const float *there, size_t rows, size_t width, float *host) {
    float *one = calloc(width * width, sizeof *one);
    assert_non_null(one);
    for (size_t i = 0; i < width; i++) one[i * width + i] = 1.0f;
    float *c = on_device_give(d, NULL, rows * width * sizeof *c);
    assert_int_equal(d->stream.ops->gemm(&d->stream, 0, 0, rows, width, width, there,
                                         on_device_give(d, one, width * width * sizeof *one), 0.0f,
                                         c),
                     TAPER_OK);
    on_device_take(d, host, c, rows * width * sizeof *host);
    free(one);
}

/* Products see kept[ROWS][WIDTH], whole and from a row on, as what lies in `apart`, rounded once.
 */
static void sees(on_device *d, const char *name, const float *apart, const float *kept) {
    enum { FIRST = 3 };
    static float plain[N], got[N];
    on_device_take(d, plain, apart, sizeof plain);
    seen(d, kept, ROWS, WIDTH, got);
    for (size_t k = 0; k < N; k++)
        if (!(got[k] == as_factor(d, plain[k])))
            fail_msg("%s: factor %zu of device %d is %g, made of %.9g", name, k, (int)(d - device),
                     (double)got[k], (double)plain[k]);
    seen(d, kept + FIRST * WIDTH, ROWS - FIRST, WIDTH, got);
    for (size_t k = 0; k < N - FIRST * WIDTH; k++)
        assert_true(got[k] == as_factor(d, plain[FIRST * WIDTH + k]));
}

/* --- what is made for products ---------------------------------------------------------------- */

static float a[N], other[N];
static uint8_t pixels[N];

static float *keep(on_device *d, train_keeping what) {
    float *kept = on_device_give(d, a, sizeof a);
    assert_int_equal(train_keep(&d->device, what, kept, N), TAPER_OK);
    return kept;
}

/* Puts an operation on the stream that makes to[ROWS][WIDTH]. */
typedef void maker(on_device *d, float *to);

static train_inputs inputs_on(on_device *d) {
    uint32_t order[ROWS];
    for (uint32_t r = 0; r < ROWS; r++) order[r] = (r * 5 + 2) % ROWS;
    return (train_inputs){ROWS,
                          WIDTH,
                          on_device_give(d, pixels, N),
                          on_device_give(d, order, sizeof order),
                          on_device_give(d, other, WIDTH * sizeof *other),
                          0.031f};
}
static void by_centre_rows(on_device *d, float *to) {
    const train_inputs in = inputs_on(d);
    assert_int_equal(d->stream.ops->centre_rows(&d->stream, in.rows, in.width, in.pixels, in.order,
                                                in.mean, in.inverse_scale, to),
                     TAPER_OK);
}
static void by_corrupt(on_device *d, float *to) {
    const train_corruption c = {inputs_on(d), {5, 9, 100}, 0.3f, to};
    assert_int_equal(d->stream.ops->corrupt(&d->stream, &c), TAPER_OK);
}
static void by_perturb(on_device *d, float *to) {
    const train_noise noise = {5, 9, 100, NULL};
    assert_int_equal(d->stream.ops->perturb(&d->stream, &noise, 0.5, ROWS, WIDTH,
                                            on_device_give(d, a, sizeof a), to,
                                            on_device_give(d, NULL, ROWS * sizeof(double))),
                     TAPER_OK);
}
static void by_sample(on_device *d, float *to) {
    const train_noise noise = {5, 9, 100, NULL};
    assert_int_equal(d->stream.ops->sample(&d->stream, &noise, TRAIN_GAUSSIAN, ROWS, WIDTH,
                                           on_device_give(d, a, sizeof a), to),
                     TAPER_OK);
}
static void by_mean_errors(on_device *d, float *to) {
    const train_inputs in = inputs_on(d);
    assert_int_equal(d->stream.ops->mean_errors(&d->stream, &in, 0.7f,
                                                on_device_give(d, a, sizeof a), to,
                                                on_device_give(d, NULL, ROWS * sizeof(double))),
                     TAPER_OK);
}
/* One of `kept`, and of values that are not bfloat16's. */
static train_units units_on(on_device *d) {
    uint32_t some[ROWS];
    for (uint32_t r = 0; r < ROWS; r++) some[r] = r % (WIDTH + 1);
    return (train_units){.rows = ROWS,
                         .units = WIDTH,
                         .kept = on_device_give(d, some, sizeof some),
                         .binary = 1,
                         .centre = 0.3f,
                         .bias = on_device_give(d, other, WIDTH * sizeof *other),
                         .spread = on_device_give(d, other + WIDTH, WIDTH * sizeof *other)};
}
static void by_unit_values(on_device *d, float *to) {
    const train_units u = units_on(d);
    assert_int_equal(d->stream.ops->unit_values(&d->stream, &u, on_device_give(d, a, sizeof a), to),
                     TAPER_OK);
}
static void by_decide(on_device *d, float *to) {
    const train_units u = units_on(d);
    assert_int_equal(d->stream.ops->decide(&d->stream, &u,
                                           on_device_give(d, other, WIDTH * WIDTH * sizeof *other),
                                           WIDTH, on_device_give(d, a, sizeof a), to),
                     TAPER_OK);
}
static void by_unit_gradient(on_device *d, float *to) {
    const train_units u = units_on(d);
    assert_int_equal(d->stream.ops->unit_gradient(&d->stream, &u, 0, on_device_give(d, a, sizeof a),
                                                  on_device_give(d, other, sizeof other), to),
                     TAPER_OK);
}

/* Of factors that are not bfloat16's, which products round alike; and of none. */
static void by_gemm(on_device *d, float *to) {
    assert_int_equal(
        d->stream.ops->gemm(&d->stream, 0, 1, ROWS, WIDTH, WIDTH, on_device_give(d, a, sizeof a),
                            on_device_give(d, other, WIDTH * WIDTH * sizeof *other), 0.0f, to),
        TAPER_OK);
}
static void by_gemm_of_none(on_device *d, float *to) {
    const float *none = on_device_give(d, a, sizeof *a);
    assert_int_equal(d->stream.ops->gemm(&d->stream, 0, 0, ROWS, WIDTH, 0, none, none, 0.0f, to),
                     TAPER_OK);
}

static void makes(maker *make, const char *name) {
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *apart = on_device_give(d, NULL, N * sizeof *apart), *kept = keep(d, TRAIN_FACTORS);
        make(d, apart), make(d, kept);
        sees(d, name, apart, kept);
    }
    give_back();
}
#define MAKES(name) makes(by_##name, #name)

static void factors_are_made_rounded_once(void **state) {
    (void)state;
    randomise(a, N, 3.0f), randomise(other, N, 2.0f);
    for (size_t j = 0; j < N; j++) pixels[j] = (uint8_t)(draw_word() >> 24);
    MAKES(centre_rows), MAKES(corrupt), MAKES(perturb), MAKES(sample), MAKES(mean_errors);
    MAKES(unit_values), MAKES(decide), MAKES(unit_gradient), MAKES(gemm), MAKES(gemm_of_none);
}

/* --- what takes what it makes ------------------------------------------------------------------
 */

/* Each changes to[ROWS][WIDTH] in place. */
static void on_bias(on_device *d, float *to) {
    assert_int_equal(d->stream.ops->bias(&d->stream, ROWS, WIDTH,
                                         on_device_give(d, other, WIDTH * sizeof *other),
                                         CODEC_LOGISTIC, to),
                     TAPER_OK);
}
static void on_scale(on_device *d, float *to) {
    assert_int_equal(d->stream.ops->scale(&d->stream, N, 0.7f, to, to), TAPER_OK);
}
static void on_dropout(on_device *d, float *to) {
    const train_noise noise = {5, 9, 100, NULL};
    assert_int_equal(d->stream.ops->dropout(&d->stream, &noise, 1, 0.3f, ROWS, WIDTH, to),
                     TAPER_OK);
}
static void on_sample(on_device *d, float *to) {
    const train_noise noise = {5, 9, 100, NULL};
    assert_int_equal(d->stream.ops->sample(&d->stream, &noise, TRAIN_GAUSSIAN, ROWS, WIDTH, to, to),
                     TAPER_OK);
}
static void on_mean_errors(on_device *d, float *to) {
    const train_inputs in = inputs_on(d);
    assert_int_equal(d->stream.ops->mean_errors(&d->stream, &in, 0.7f, to, to,
                                                on_device_give(d, NULL, ROWS * sizeof(double))),
                     TAPER_OK);
}
static void on_unit_gradient(on_device *d, float *to) {
    const train_units u = units_on(d);
    assert_int_equal(
        d->stream.ops->unit_gradient(&d->stream, &u, 0, on_device_give(d, a, sizeof a), to, to),
        TAPER_OK);
}
/* to is da, or dnear, the other one is lost. */
static void unit_moves(on_device *d, float *da, float *dnear) {
    static double noise[ROWS];
    for (int r = 0; r < ROWS; r++) noise[r] = 0.5 + r;
    const train_moves m = {.units = units_on(d),
                           .weight = 300.0,
                           .of = ROWS,
                           .noise = on_device_give(d, noise, sizeof noise),
                           .a = on_device_give(d, a, sizeof a),
                           .near = on_device_give(d, other, sizeof other),
                           .da = da,
                           .dnear = dnear,
                           .moved = on_device_give(d, NULL, sizeof noise)};
    assert_int_equal(d->stream.ops->unit_moves(&d->stream, &m), TAPER_OK);
}
static void on_unit_moves(on_device *d, float *to) {
    unit_moves(d, to, on_device_give(d, NULL, sizeof a));
}
static void on_near_moves(on_device *d, float *to) {
    unit_moves(d, on_device_give(d, a, sizeof a), to);
}
/* Of some rows. */
static void on_zero(on_device *d, float *to) {
    assert_int_equal(train_zero(&d->stream, to + 3 * WIDTH, 5 * WIDTH * sizeof *to), TAPER_OK);
}

static void changes(maker *change, const char *name) {
    static float plain[N];
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *apart = on_device_give(d, NULL, sizeof plain), *kept = keep(d, TRAIN_FACTORS);
        by_centre_rows(d, apart), by_centre_rows(d, kept);
        on_device_take(d, plain, apart, sizeof plain);
        for (size_t k = 0; k < N; k++) plain[k] = as_factor(d, plain[k]);
        assert_int_equal(train_upload(&d->stream, apart, plain, sizeof plain), TAPER_OK);
        change(d, apart), change(d, kept);
        sees(d, name, apart, kept);
    }
    give_back();
}
#define CHANGES(name) changes(on_##name, #name)

static void factors_are_changed_rounded_once(void **state) {
    (void)state;
    randomise(a, N, 3.0f), randomise(other, N, 2.0f);
    for (size_t j = 0; j < N; j++) pixels[j] = (uint8_t)(draw_word() >> 24);
    CHANGES(bias), CHANGES(scale), CHANGES(dropout), CHANGES(sample), CHANGES(mean_errors);
    CHANGES(unit_gradient), CHANGES(unit_moves), CHANGES(near_moves), CHANGES(zero);
}

/* Column sums, columns packed, gradients by both factors: as of the rounded numbers. */
static void factors_are_taken(void **state) {
    (void)state;
    enum { FIRST = 5, PACKED = WIDTH - FIRST };
    static float plain[N], got[N], sums[WIDTH];
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        float *apart = on_device_give(d, NULL, sizeof plain), *kept = keep(d, TRAIN_FACTORS),
              *packed = on_device_give(d, NULL, ROWS * PACKED * sizeof *packed),
              *dbias = on_device_give(d, NULL, sizeof sums);
        by_mean_errors(d, apart), by_mean_errors(d, kept);
        on_device_take(d, plain, apart, sizeof plain);
        assert_int_equal(s->ops->copy_columns(s, ROWS, PACKED, kept + FIRST, WIDTH, packed, PACKED),
                         TAPER_OK);
        on_device_take(d, got, packed, ROWS * PACKED * sizeof *got);
        for (size_t k = 0; k < ROWS * PACKED; k++)
            assert_true(got[k] == as_factor(d, plain[k / PACKED * WIDTH + FIRST + k % PACKED]));
        assert_int_equal(s->ops->bias_backward(s, ROWS, WIDTH, CODEC_LINEAR, NULL, kept, 0, dbias),
                         TAPER_OK);
        on_device_take(d, sums, dbias, sizeof sums);
        for (size_t j = 0; j < WIDTH; j++) {
            double want = 0.0;
            for (size_t r = 0; r < ROWS; r++) want += (double)as_factor(d, plain[r * WIDTH + j]);
            assert_true(is_near(want, (double)sums[j], 1e-4));
        }
        assert_int_equal(s->ops->bias_backward(s, ROWS, WIDTH, CODEC_RELU,
                                               on_device_give(d, other, sizeof other), kept, 0,
                                               NULL),
                         TAPER_OK);
        seen(d, kept, ROWS, WIDTH, got);
        for (size_t k = 0; k < N; k++)
            assert_true(got[k] == (other[k] > 0.0f ? as_factor(d, plain[k]) : 0.0f));
    }
    give_back();
}

/* --- weights ---------------------------------------------------------------------------------- */

static void one_step(on_device *d, float *w, size_t n) {
    train_stream *s = &d->stream;
    const train_adam_step step = {0.3f, 0.9f, 0.999f, 1e-8f};
    const train_verdict verdict = {0, 1.0f};
    assert_int_equal(s->ops->adam(s, n, &step, on_device_give(d, &verdict, sizeof verdict),
                                  on_device_give(d, other, n * sizeof *w), w,
                                  on_device_give(d, a, n * sizeof *w),
                                  on_device_give(d, other, n * sizeof *w)),
                     TAPER_OK);
}

/* Whatever writes to them, and however little. */
static void copies_of_weights_are_never_old(void **state) {
    (void)state;
    randomise(a, N, 3.0f), randomise(other, N, 2.0f);
    for (size_t k = 0; k < N; k++) other[k] = fabsf(other[k]); /* a moment of squares, too */
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        float *w = keep(d, TRAIN_WEIGHTS), *more = on_device_give(d, other, sizeof other);
        one_step(d, w, N); /* no copy yet */
        sees(d, "weights", w, w);
        one_step(d, w, N);
        sees(d, "weights", w, w);
        one_step(d, w + 7, 20);
        sees(d, "weights", w, w);
        assert_int_equal(s->ops->axpy(s, 1, 0.25f, more, w + N - 1), TAPER_OK);
        sees(d, "weights", w, w);
        assert_int_equal(s->ops->axpy(s, N, 0.25f, more, w), TAPER_OK);
        one_step(d, w, N); /* onto a copy that is old */
        sees(d, "weights", w, w);
        assert_int_equal(train_upload(s, w + 3, other, sizeof *other), TAPER_OK);
        sees(d, "weights", w, w);
        assert_int_equal(train_copy(s, w + 9, more, 5 * sizeof *w), TAPER_OK);
        sees(d, "weights", w, w);
        assert_int_equal(train_zero(s, w + 11, sizeof *w), TAPER_OK);
        sees(d, "weights", w, w);
        assert_int_equal(s->ops->gemm(s, 0, 1, 3, 4, 2, more, more, 1.0f, w), TAPER_OK);
        sees(d, "weights", w, w);
        give_back();
    }
}

/* --- what cannot be ------------------------------------------------------------------------- */

/* An operation that does not say that it takes factors, on a device that has them, says so; memory
 * that is given out again is as any other. */
static void other_operations_refuse_factors(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        const taper_status wanted = d->cuda ? TAPER_ERR_DEVICE : TAPER_OK;
        float *kept = keep(d, TRAIN_FACTORS), *plain = on_device_give(d, a, sizeof a), got;
        assert_int_equal(s->ops->axpy(s, N / 2, 0.5f, plain + N / 2, plain), TAPER_OK);
        assert_int_equal(s->ops->axpy(s, 1, 0.5f, kept + N - 1, plain), wanted);
        assert_int_equal(s->ops->axpy(s, 1, 0.5f, plain, kept + N - 1), wanted);
        assert_int_equal(train_download(s, &got, kept, sizeof got), wanted);
        assert_int_equal(train_upload(s, kept, a, sizeof got), wanted);
        assert_int_equal(s->ops->copy_columns(s, 1, 1, plain, 1, kept, 1), wanted);
#ifdef EVERY_DEVICE_KERNELS
        if (d->cuda)
            assert_string_equal(train_cuda_fault(&d->device),
                                "cuda:0: axpy: an array of factors, which products alone can read");
#endif
        give_back();
        plain = on_device_give(d, a, sizeof a);
        assert_int_equal(s->ops->axpy(s, N / 2, 0.5f, plain + N / 2, plain), TAPER_OK);
        give_back();
    }
}

/* Products of kept factors are those of rounded numbers, as the processor makes them. */
static void products_are_those_of_rounded_numbers(void **state) {
    (void)state;
    enum { OUT = 9 };
    static float x[N], w[OUT * WIDTH], x_rounded[N], w_rounded[OUT * WIDTH];
    static float want[ROWS * OUT], got[ROWS * OUT];
    randomise(w, OUT * WIDTH, 1.0f);
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i], *plain = &device[0];
        float *kept = on_device_give(d, a, sizeof a), *weights = on_device_give(d, w, sizeof w),
              *c = on_device_give(d, NULL, sizeof got);
        float *apart = on_device_give(plain, NULL, sizeof x);
        by_centre_rows(plain, apart);
        on_device_take(plain, x, apart, sizeof x);
        assert_int_equal(train_keep(&d->device, TRAIN_FACTORS, kept, N), TAPER_OK);
        assert_int_equal(train_keep(&d->device, TRAIN_WEIGHTS, weights, OUT * WIDTH), TAPER_OK);
        by_centre_rows(d, kept);
        assert_int_equal(
            d->stream.ops->gemm(&d->stream, 0, 1, ROWS, OUT, WIDTH, kept, weights, 0.0f, c),
            TAPER_OK);
        on_device_take(d, got, c, sizeof got);
        for (size_t k = 0; k < N; k++) x_rounded[k] = as_factor(d, x[k]);
        for (size_t k = 0; k < OUT * WIDTH; k++) w_rounded[k] = as_factor(d, w[k]);
        c = on_device_give(plain, NULL, sizeof want);
        assert_int_equal(plain->stream.ops->gemm(&plain->stream, 0, 1, ROWS, OUT, WIDTH,
                                                 on_device_give(plain, x_rounded, sizeof x_rounded),
                                                 on_device_give(plain, w_rounded, sizeof w_rounded),
                                                 0.0f, c),
                         TAPER_OK);
        on_device_take(plain, want, c, sizeof want);
        assert_true(agrees(i, FLOATS, want, got, sizeof got));
        give_back();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_made_rounded_once),
        cmocka_unit_test(factors_are_changed_rounded_once),
        cmocka_unit_test(factors_are_taken),
        cmocka_unit_test(copies_of_weights_are_never_old),
        cmocka_unit_test(other_operations_refuse_factors),
        cmocka_unit_test(products_are_those_of_rounded_numbers),
    };
    return cmocka_run_group_tests(tests, open_rounding, close_every_device);
}
