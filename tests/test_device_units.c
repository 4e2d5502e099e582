/* test_device_units.c -- the operations that codes of whole units ask of a device: noise, columns,
 * units and their gradients, those of weights, errors, what conjugate gradients need. On the
 * processor with one thread and with three and on the shadow, to the same bits, against double and
 * finite differences; odd sizes, one row, rows beyond a block. Outputs are filled with NaN and
 * ringed before. */
#include "device_numbers.h"
#include <math.h>

enum { MOST_ROWS = 67, WIDTH = 301, MOST = MOST_ROWS * WIDTH };
static const size_t rows_tried[] = {1, 16, 17, MOST_ROWS}, widths_tried[] = {1, 3, 64, WIDTH};
static int near_to(double got, double want, double tolerance) {
    return fabs(got - want) <= tolerance * (1.0 + fabs(want));
}

/* --- noise and columns -------------------------------------------------------------------- */

static float x[MOST], want[MOST], got[MOST], other[MOST];

/* Noise of rows that are numbered in order, or by a list. */
static train_noise noise_of(bool listed, const uint32_t *list) {
    return (train_noise){5, 9, listed ? 3 : 100, listed ? list : NULL};
}

/* The numbers of rows, from element 3 on. */
static void list_rows(uint32_t list[MOST_ROWS + 3]) {
    for (uint32_t r = 0; r < MOST_ROWS + 3; r++) list[r] = 100 + r * r;
}

/* The same on a device. */
static train_noise noise_there(on_device *d, train_noise noise) {
    if (noise.position)
        noise.position =
            on_device_give(d, noise.position, (MOST_ROWS + 3) * sizeof *noise.position);
    return noise;
}

/* However rows are split between threads, the noise is that of corruption.h. */
static void one_corruption(size_t rows, size_t width, float p, bool ordered) {
    const size_t n = rows * width, bytes = n * sizeof *x;
    static uint8_t pixels[MOST];
    uint32_t order[MOST_ROWS], list[MOST_ROWS + 3];
    train_corruption c = {.p = p};
    train_inputs *in = &c.inputs;
    in->rows = rows, in->width = width, in->inverse_scale = 0.25f;
    list_rows(list);
    const train_noise noise = noise_of(ordered, list);
    randomise(other, width, 100.0f);
    for (size_t j = 0; j < n; j++) pixels[j] = (uint8_t)(j * 37);
    for (size_t r = 0; r < rows; r++) order[r] = (uint32_t)(ordered ? (r * 5 + 2) % rows : r);
    for (size_t j = 0; j < n; j++)
        x[j] = ((float)pixels[order[j / width] * width + j % width] - other[j % width]) * 0.25f;
    memcpy(want, x, bytes);
    train_corrupt_rows(&noise, p, rows, width, width, want);
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        in->pixels = on_device_give(d, pixels, n);
        in->order = ordered ? on_device_give(d, order, rows * sizeof *order) : NULL;
        in->mean = on_device_give(d, other, width * sizeof *other);
        c.corrupted = on_device_give(d, NULL, bytes);
        c.noise = noise_there(d, noise);
        assert_int_equal(d->stream.ops->corrupt(&d->stream, &c), TAPER_OK);
        on_device_take(d, got, c.corrupted, bytes);
        assert_memory_equal(got, want, bytes);
    }
    give_back();
}

static void inputs_are_centred_and_corrupted(void **state) {
    (void)state;
    for (int r = 0; r < 4; r++)
        for (int w = 0; w < 4; w++) one_corruption(rows_tried[r], widths_tried[w], 0.3f, w % 2);
    one_corruption(3, 1100, 0.3f, true);
    one_corruption(3, 64, 0.0f, false);
    one_corruption(3, 64, 1.0f, true);
    one_corruption(3, 0, 0.3f, true);
    one_corruption(0, 3, 0.3f, false);
}

static void one_noise(size_t rows, size_t width, float dropout) {
    uint32_t list[MOST_ROWS + 3];
    list_rows(list);
    const train_noise noise = noise_of(rows % 2 != 0, list);
    const size_t n = rows * width, bytes = n * sizeof *x;
    static double squares[MOST], moved[MOST];
    randomise(x, n, 2.0f);
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        float *from = on_device_give(d, x, bytes), *to = on_device_give(d, NULL, bytes);
        double *lengths = on_device_give(d, NULL, rows * sizeof *lengths);
        const train_noise there = noise_there(d, noise);
        memcpy(want, x, bytes);
        assert_int_equal(s->ops->dropout(s, &there, 3, dropout, rows, width, from), TAPER_OK);
        train_dropout_rows(&noise, 3, dropout, rows, width, width, want);
        on_device_take(d, got, from, bytes);
        assert_memory_equal(got, want, bytes);
        assert_int_equal(s->ops->perturb(s, &there, 0.1, rows, width, from, to, lengths), TAPER_OK);
        train_perturb_rows(&noise, 0.1, rows, width, width, want, other, squares);
        on_device_take(d, got, to, bytes);
        on_device_take(d, moved, lengths, rows * sizeof *moved);
        assert_memory_equal(got, other, bytes);
        assert_true(agrees(i, DOUBLES, squares, moved, rows * sizeof *moved));
    }
    give_back();
}

/* States, to another place and in place; some means are none. */
static void one_sample(train_states states, size_t rows, size_t width) {
    uint32_t list[MOST_ROWS + 3];
    list_rows(list);
    const train_noise noise = noise_of(rows % 2 != 0, list);
    const size_t n = rows * width, bytes = n * sizeof *x;
    for (size_t k = 0; k < n; k++) x[k] = draw(-0.1f, 1.1f);
    if (n > 2) x[n / 2] = NAN, x[n - 1] = INFINITY;
    train_sample_rows(&noise, states, rows, width, width, x, want);
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *mean = on_device_give(d, x, bytes), *to = on_device_give(d, NULL, bytes);
        const train_noise there = noise_there(d, noise);
        assert_int_equal(d->stream.ops->sample(&d->stream, &there, states, rows, width, mean, to),
                         TAPER_OK);
        on_device_take(d, got, to, bytes);
        for (size_t k = 0; k < n; k++)
            assert_true(got[k] == want[k] || (isnan(got[k]) && isnan(want[k])));
        assert_int_equal(d->stream.ops->sample(&d->stream, &there, states, rows, width, mean, mean),
                         TAPER_OK);
        on_device_take(d, other, mean, bytes);
        assert_memory_equal(got, other, bytes);
    }
    give_back();
}

static void states_are_those_of_their_definition(void **state) {
    (void)state;
    for (train_states states = TRAIN_BERNOULLI; states <= TRAIN_GAUSSIAN; states++) {
        for (int r = 0; r < 4; r++)
            for (int w = 0; w < 4; w++) one_sample(states, rows_tried[r], widths_tried[w]);
        one_sample(states, 3, 1100);
        one_sample(states, 3, 0);
        one_sample(states, 0, 3);
    }
}

static void noise_is_that_of_its_definition(void **state) {
    (void)state;
    for (int r = 0; r < 4; r++)
        for (int w = 0; w < 4; w++) one_noise(rows_tried[r], widths_tried[w], 0.2f);
    one_noise(3, 1100, 0.2f);
    one_noise(3, 64, 0.0f);
    one_noise(3, 64, 1.0f);
    one_noise(3, 0, 0.2f);
}

/* `width` columns from column `at` on. */
static void one_packing(size_t from_stride, size_t at, size_t width, size_t to_stride,
                        size_t to_at) {
    enum { ROWS = 37 };
    const size_t size = ROWS * to_stride;
    randomise(x, ROWS * from_stride, 1.0f);
    randomise(want, size, 1.0f);
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *from = on_device_give(d, x, ROWS * from_stride * sizeof *x),
              *to = on_device_give(d, want, size * sizeof *x);
        assert_int_equal(d->stream.ops->copy_columns(&d->stream, ROWS, width, from + at,
                                                     from_stride, to + to_at, to_stride),
                         TAPER_OK);
        take_same(i, got, to, size * sizeof *x);
    }
    for (size_t r = 0; r < ROWS; r++)
        for (size_t j = 0; j < to_stride; j++)
            assert_true(got[r * to_stride + j] == (j >= to_at && j < to_at + width
                                                       ? x[r * from_stride + at + j - to_at]
                                                       : want[r * to_stride + j]));
    give_back();
}

static void columns_are_packed_and_put_back(void **state) {
    (void)state;
    one_packing(11, 4, 6, 9, 2);
    one_packing(301, 1, 300, 300, 0);
    one_packing(12, 4, 8, 20, 8); /* all of them even in fours */
    one_packing(12, 3, 8, 20, 8);
    one_packing(13, 4, 8, 20, 8);
    one_packing(12, 4, 8, 21, 8);
}

/* --- units -------------------------------------------------------------------------------- */

enum { UNITS = 23, FIRST = 5 };
static const char *const kind_name[] = {"linear", "ReLU", "logistic", "binary", "binary, none"};
enum { KINDS = 5 };

static float bias[UNITS], spread[UNITS];

/* Units of a kind on a device; `there` 0: their arrays are the host's. */
static train_units units_of(int kind, size_t rows, on_device *d) {
    train_units u = {.rows = rows,
                     .units = UNITS,
                     .binary = kind >= 3,
                     .activation = (codec_activation)(kind % 3),
                     .centre = 0.25f,
                     .bias = d ? on_device_give(d, bias, sizeof bias) : bias,
                     .spread = d ? on_device_give(d, spread, sizeof spread) : spread};
    if (kind == 4) u.spread = NULL;
    return u;
}

/* x of a unit in double; of a binary one the curve that stands for it where `smooth`. */
static double value(const train_units *u, size_t k, double a, int smooth) {
    double b = u->binary ? u->bias[k] : 0.0;
    if (u->binary && !smooth) return (a > -b ? 1.0 : 0.0) - u->centre;
    if (u->binary) {
        if (!u->spread) return 0.0;
        return 1.0 / (1.0 + exp(-2.0 * (a + b) / (u->spread[k] > 0.0f ? u->spread[k] : 1.0)));
    }
    if (u->activation == CODEC_RELU) return a > 0.0 ? a : 0.0;
    return u->activation == CODEC_LOGISTIC ? 1.0 / (1.0 + exp(-a)) : a;
}

static double slope(const train_units *u, size_t k, double a) {
    const double h = 1e-5;
    return (value(u, k, a + h, 1) - value(u, k, a - h, 1)) / (2.0 * h);
}

/* Pre-activations away from kinks and thresholds, where both sides of one agree. */
static void draw_units(float *a, size_t rows) {
    for (size_t k = 0; k < UNITS; k++)
        bias[k] = draw(-1.0f, 1.0f), spread[k] = k % 7 ? draw(0.2f, 2.0f) : -1.0f;
    for (size_t i = 0; i < rows * UNITS; i++) do
            a[i] = draw(-3.0f, 3.0f);
        while (fabsf(a[i]) < 1e-2f || fabsf(a[i] + bias[i % UNITS]) < 1e-2f);
}

static void units_are_those_of_their_definition(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int r = 0; r < 4; r++) {
            enum { REST = UNITS - FIRST };
            size_t rows = rows_tried[r], bytes = rows * UNITS * sizeof(float);
            static float a[MOST_ROWS * UNITS], all[MOST_ROWS * UNITS], dx[MOST_ROWS * REST],
                da[MOST_ROWS * REST];
            uint32_t kept[MOST_ROWS];
            draw_units(a, rows);
            randomise(dx, rows * REST, 2.0f);
            for (size_t i = 0; i < rows; i++) kept[i] = (uint32_t)(1 + i * 7 % (UNITS + 3));
            for (int i = 0; i < DEVICES; i++) {
                on_device *d = &device[i];
                train_stream *s = &d->stream;
                train_units u = units_of(kind, rows, d);
                const uint32_t *lengths = on_device_give(d, kept, rows * sizeof *kept);
                float *pre = on_device_give(d, a, bytes), *code = on_device_give(d, NULL, bytes),
                      *back = on_device_give(d, dx, rows * REST * sizeof *dx);
                assert_int_equal(s->ops->unit_values(s, &u, pre, code), TAPER_OK);
                take_same(i, all, code, bytes);
                u.kept = lengths;
                assert_int_equal(s->ops->unit_values(s, &u, pre, code), TAPER_OK);
                take_same(i, got, code, bytes);
                assert_int_equal(s->ops->unit_gradient(s, &u, FIRST, pre, back, back),
                                 TAPER_OK); /* in place */
                take_same(i, da, back, rows * REST * sizeof *da);
            }
            const train_units u = units_of(kind, rows, NULL);
            for (size_t j = 0; j < rows * UNITS; j++) {
                size_t row = j / UNITS, k = j % UNITS;
                assert_true(near_to(all[j], value(&u, k, a[j], 0), 1e-6));
                assert_true(got[j] == (k < kept[row] ? all[j] : 0.0f));
                if (k < FIRST) continue;
                size_t at = row * REST + k - FIRST;
                double wanted = k < kept[row] ? dx[at] * slope(&u, k, a[j]) : 0.0;
                if (!near_to(da[at], wanted, 1e-5))
                    fail_msg("%s: %g, not %g", kind_name[kind], (double)da[at], wanted);
            }
            give_back();
        }
}

/* --- units that see those before them ------------------------------------------------------ */

enum { STRIDE = UNITS + 4 };
static float triangle[UNITS * STRIDE];

static void draw_triangle(void) {
    for (size_t i = 0; i < UNITS * STRIDE; i++)
        triangle[i] = i % STRIDE < i / STRIDE ? draw(-0.3f, 0.3f) : NAN;
}

/* In double: a becomes what the unit's threshold is compared with, x what it decides. */
static void decide_row(const train_units *u, double *a, double *decided) {
    for (size_t k = 0; k < UNITS; k++) {
        for (size_t j = 0; j < k; j++) a[k] -= triangle[k * STRIDE + j] * decided[j];
        decided[k] = value(u, k, a[k], 0);
    }
}

static void decisions_are_fed_back(void **state) {
    (void)state;
    static float a[MOST_ROWS * UNITS], after[MOST_ROWS * UNITS], code[MOST_ROWS * UNITS];
    for (int r = 0; r < 4; r++) {
        size_t rows = rows_tried[r], bytes = rows * UNITS * sizeof *a;
        uint32_t kept[MOST_ROWS];
        draw_units(a, rows);
        draw_triangle();
        for (size_t i = 0; i < rows; i++) kept[i] = (uint32_t)(1 + i * 7 % (UNITS + 3));
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_units u = units_of(3, rows, d);
            u.kept = on_device_give(d, kept, rows * sizeof *kept);
            float *pre = on_device_give(d, a, bytes), *to = on_device_give(d, NULL, bytes);
            assert_int_equal(d->stream.ops->decide(&d->stream, &u,
                                                   on_device_give(d, triangle, sizeof triangle),
                                                   STRIDE, pre, to),
                             TAPER_OK);
            take_same(i, after, pre, bytes);
            take_same(i, code, to, bytes);
        }
        const train_units u = units_of(3, rows, NULL);
        for (size_t i = 0; i < rows; i++) {
            double in[UNITS], decided[UNITS];
            for (size_t k = 0; k < UNITS; k++) in[k] = a[i * UNITS + k];
            decide_row(&u, in, decided);
            for (size_t k = 0; k < UNITS; k++) {
                assert_true(near_to(after[i * UNITS + k], in[k], 1e-5));
                assert_true(fabs(in[k] + bias[k]) > 1e-5); /* else single precision may differ */
                assert_true(code[i * UNITS + k] == (k < kept[i] ? (float)decided[k] : 0.0f));
            }
        }
        give_back();
    }
}

static void codes_are_mixed(void **state) {
    (void)state;
    static float a[MOST_ROWS * UNITS], z[MOST_ROWS * UNITS];
    for (int r = 0; r < 4; r++) {
        size_t rows = rows_tried[r], bytes = rows * UNITS * sizeof *a;
        randomise(a, rows * UNITS, 1.0f);
        draw_triangle();
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            float *to = on_device_give(d, NULL, bytes);
            assert_int_equal(d->stream.ops->mix(&d->stream, rows, UNITS,
                                                on_device_give(d, triangle, sizeof triangle),
                                                STRIDE, on_device_give(d, a, bytes), to),
                             TAPER_OK);
            take_same(i, z, to, bytes);
        }
        for (size_t i = 0; i < rows * UNITS; i++) {
            size_t k = i % UNITS;
            double sum = a[i];
            for (size_t j = 0; j < k; j++) sum += triangle[k * STRIDE + j] * a[i - k + j];
            assert_true(near_to(z[i], sum, 1e-5));
        }
        give_back();
    }
}

static void lower_triangles_are_set_by_rows(void **state) {
    (void)state;
    enum { FROM = 5, ROWS = 18, COLUMNS = FROM + ROWS + 1 };
    float from[ROWS * COLUMNS], to[STRIDE * STRIDE], before[STRIDE * STRIDE];
    randomise(from, ROWS * COLUMNS, 1.0f);
    randomise(before, STRIDE * STRIDE, 1.0f);
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *matrix = on_device_give(d, before, sizeof before);
        assert_int_equal(d->stream.ops->set_lower(&d->stream, FROM, ROWS, COLUMNS,
                                                  on_device_give(d, from, sizeof from), matrix,
                                                  STRIDE),
                         TAPER_OK);
        take_same(i, to, matrix, sizeof to);
    }
    for (size_t k = 0; k < STRIDE; k++)
        for (size_t j = 0; j < STRIDE; j++) {
            float old = before[k * STRIDE + j];
            int set = k >= FROM && k < FROM + ROWS;
            assert_true(to[k * STRIDE + j] == (!set    ? old
                                               : j < k ? from[(k - FROM) * COLUMNS + j]
                                                       : 0.0f));
        }
    give_back();
}

/* Equation 14's term of a row, in double. */
static double move_of(const train_units *u, const double *a, const double *near, double noise) {
    double sum = 0.0;
    for (size_t k = 0; k < UNITS; k++) {
        double d = value(u, k, near[k], 0) - value(u, k, a[k], 0), all = 1.0;
        if (u->binary) {
            double p = a[k] + u->bias[k], q = near[k] + u->bias[k],
                   w = u->spread && u->spread[k] > 0.0f ? u->spread[k] : 1.0;
            d = q - p, all = p * p + q * q + w * w / 4.0;
        }
        sum += d * d / all;
    }
    return sum / noise;
}

static double slope_of_move(const train_units *u, double *a, double *near, double *turned,
                            double noise) {
    const double h = 1e-6, keep = *turned;
    *turned = keep + h;
    double up = move_of(u, a, near, noise);
    *turned = keep - h;
    double down = move_of(u, a, near, noise);
    *turned = keep;
    return (up - down) / (2.0 * h);
}

static void moves_have_the_right_slope(void **state) {
    (void)state;
    enum { ROWS = 19, REST = UNITS - FIRST };
    static float a[ROWS * UNITS], near[ROWS * UNITS], da[ROWS * REST], before[ROWS * REST],
        dnear[ROWS * REST];
    double noise[ROWS], moved[ROWS], weight = 0.3, of = 40.0;
    for (int kind = 0; kind < KINDS; kind++) {
        draw_units(a, ROWS);
        draw_units(near, ROWS);
        randomise(before, ROWS * REST, 1.0f);
        for (int i = 0; i < ROWS; i++) noise[i] = (double)draw(0.5f, 2.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            const train_moves m = {.units = units_of(kind, ROWS, d),
                                   .first = FIRST,
                                   .weight = weight,
                                   .of = of,
                                   .noise = on_device_give(d, noise, sizeof noise),
                                   .a = on_device_give(d, a, sizeof a),
                                   .near = on_device_give(d, near, sizeof near),
                                   .da = on_device_give(d, before, sizeof before),
                                   .dnear = on_device_give(d, NULL, sizeof dnear),
                                   .moved = on_device_give(d, NULL, sizeof moved)};
            assert_int_equal(d->stream.ops->unit_moves(&d->stream, &m), TAPER_OK);
            take_same(i, da, m.da, sizeof da);
            take_same(i, dnear, m.dnear, sizeof dnear);
            take_same(i, moved, m.moved, sizeof moved);
        }
        const train_units u = units_of(kind, ROWS, NULL);
        for (size_t r = 0; r < ROWS; r++) {
            double at[UNITS], by[UNITS];
            for (size_t k = 0; k < UNITS; k++)
                at[k] = a[r * UNITS + k], by[k] = near[r * UNITS + k];
            assert_true(near_to(moved[r], move_of(&u, at, by, noise[r]), 1e-5));
            for (size_t k = FIRST; k < UNITS; k++) {
                size_t i = r * REST + k - FIRST;
                double one = weight / of * slope_of_move(&u, at, by, &at[k], noise[r]),
                       two = weight / of * slope_of_move(&u, at, by, &by[k], noise[r]);
                assert_true(near_to(da[i], before[i] + one, 1e-5) && near_to(dnear[i], two, 1e-5));
            }
        }
        give_back();
    }
}

/* Of binary units on margins: whatever the scale of the encoder, thresholds and spreads with it. A
 * power of 2 changes no digit. */
static void moves_of_bits_have_no_scale(void **state) {
    (void)state;
    enum { ROWS = 19 };
    static float a[ROWS * UNITS], near[ROWS * UNITS], scaled[2][ROWS * UNITS];
    float threshold[UNITS], width[UNITS];
    double noise[ROWS], moved[2][ROWS];
    on_device *d = &device[0];
    randomise(a, ROWS * UNITS, 2.0f), randomise(near, ROWS * UNITS, 2.0f);
    for (int k = 0; k < UNITS; k++) threshold[k] = draw(-1.0f, 1.0f), width[k] = draw(0.5f, 1.5f);
    for (int i = 0; i < ROWS; i++) noise[i] = (double)draw(0.5f, 2.0f);
    for (int i = 0; i < 2; i++) {
        const float scale = i ? 1.0f / 1024.0f : 1.0f;
        for (int k = 0; k < UNITS; k++) threshold[k] *= scale, width[k] *= scale;
        for (int j = 0; j < ROWS * UNITS; j++)
            scaled[0][j] = scale * a[j], scaled[1][j] = scale * near[j];
        const train_moves m = {.units = {.rows = ROWS,
                                         .units = UNITS,
                                         .binary = 1,
                                         .bias = on_device_give(d, threshold, sizeof threshold),
                                         .spread = on_device_give(d, width, sizeof width)},
                               .weight = 1.0,
                               .of = 1.0,
                               .noise = on_device_give(d, noise, sizeof noise),
                               .a = on_device_give(d, scaled[0], sizeof a),
                               .near = on_device_give(d, scaled[1], sizeof a),
                               .da = on_device_give(d, NULL, sizeof a),
                               .dnear = on_device_give(d, NULL, sizeof a),
                               .moved = on_device_give(d, NULL, sizeof *moved)};
        assert_int_equal(d->stream.ops->unit_moves(&d->stream, &m), TAPER_OK);
        on_device_take(d, moved[i], m.moved, sizeof *moved);
    }
    for (int i = 0; i < ROWS; i++) assert_true(moved[0][i] > 0.0);
    assert_memory_equal(moved[0], moved[1], sizeof *moved);
    give_back();
}

/* --- gradients of weights ------------------------------------------------------------------ */

/* As gemm and bias_backward make them. of: column sums of neither, of A, of B. */
static void one_weight_gradient(size_t rows, size_t m, size_t n, int of) {
    const size_t width = of == 2 ? n : m, bytes = m * n * sizeof *x, row = width * sizeof *x;
    static float a[MOST], b[MOST], sums[MOST];
    randomise(a, rows * m, 1.0f), randomise(b, rows * n, 1.0f), randomise(x, m * n, 1.0f);
    randomise(sums, width, 1.0f);
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        const train_operations *ops = d->stream.ops;
        float *c = on_device_give(d, x, bytes), *dbias = on_device_give(d, sums, row),
              *factor[2] = {on_device_give(d, a, rows * m * sizeof *a),
                            on_device_give(d, b, rows * n * sizeof *b)};
        const train_weight_gradient g = {.rows = rows,
                                         .m = m,
                                         .n = n,
                                         .a = factor[0],
                                         .b = factor[1],
                                         .c = on_device_give(d, x, bytes),
                                         .of_b = of == 2,
                                         .sums = of ? on_device_give(d, sums, row) : NULL};
        assert_int_equal(ops->weight_gradient(&d->stream, &g), TAPER_OK);
        assert_int_equal(ops->gemm(&d->stream, 1, 0, m, n, rows, g.a, g.b, 1.0f, c), TAPER_OK);
        assert_int_equal(ops->bias_backward(&d->stream, rows, width, CODEC_LINEAR, NULL,
                                            factor[g.of_b], 1, dbias),
                         TAPER_OK);
        on_device_take(d, want, c, bytes);
        on_device_take(d, got, g.c, bytes);
        assert_true(agrees(i, FLOATS, want, got, bytes));
        on_device_take(d, want, dbias, row);
        if (of) on_device_take(d, got, g.sums, row);
        if (of) assert_true(agrees(i, FLOATS, want, got, row));
    }
    give_back();
}

static void weights_and_biases_have_their_gradient(void **state) {
    (void)state;
    static const size_t shapes[][3] = {{1, 1, 1}, {9, 3, 70}, {40, 65, 33}, {16, 300, 5}, {0, 7, 9},
                                       {6, 0, 5}, {6, 5, 0},  {7, 0, 5},    {33, 65, 9}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int of = 0; of < 3; of++)
            one_weight_gradient(shapes[k][0], shapes[k][1], shapes[k][2], of);
}

/* --- errors ------------------------------------------------------------------------------- */

/* In place, and elsewhere. */
static void errors_are_summed_in_double(void **state) {
    (void)state;
    static uint8_t pixels[MOST];
    static float centre[WIDTH];
    uint32_t order[MOST_ROWS];
    randomise(centre, WIDTH, 100.0f);
    for (size_t j = 0; j < MOST; j++) pixels[j] = (uint8_t)(draw_word() >> 24);
    for (int r = 0; r < 4; r++)
        for (int w = 0; w < 4; w++) {
            size_t rows = rows_tried[r], width = widths_tried[w], n = rows * width;
            double mean[MOST_ROWS], moved[MOST_ROWS], losses[4], sum = 0.0, move = 0.0;
            const float factor = w % 2 ? 1.0f : 0.3f;
            const double begin[4] = {1.0, 2.0, 3.0, 4.0};
            train_inputs in = {rows, width, NULL, NULL, NULL, 0.03f};
            randomise(x, n, 3.0f);
            for (size_t k = 0; k < rows; k++) order[k] = (uint32_t)(w % 3 ? (k * 5 + 2) % rows : k);
            for (size_t j = 0; j < n; j++)
                other[j] =
                    ((float)pixels[order[j / width] * width + j % width] - centre[j % width]) *
                    in.inverse_scale;
            for (size_t i = 0; i < rows; i++) moved[i] = (double)draw(0.0f, 1.0f), move += moved[i];
            for (int i = 0; i < DEVICES; i++) {
                on_device *d = &device[i];
                train_stream *s = &d->stream;
                float *y = on_device_give(d, x, n * sizeof *x),
                      *e = r % 2 ? y : on_device_give(d, NULL, n * sizeof *x);
                in.pixels = on_device_give(d, pixels, n);
                in.order = w % 3 ? on_device_give(d, order, rows * sizeof *order) : NULL;
                in.mean = on_device_give(d, centre, width * sizeof *centre);
                double *means = on_device_give(d, NULL, rows * sizeof *means),
                       *moves = on_device_give(d, moved, rows * sizeof *moves),
                       *sums = on_device_give(d, begin, sizeof begin);
                assert_int_equal(s->ops->mean_errors(s, &in, factor, y, e, means), TAPER_OK);
                assert_int_equal(s->ops->error_losses(s, rows, means, moves, 0.5, 60.0, 10.0, sums),
                                 TAPER_OK);
                assert_int_equal(s->ops->error_losses(s, rows, means, NULL, 0.5, 60.0, 10.0, sums),
                                 TAPER_OK);
                take_same(i, got, e, n * sizeof *got);
                take_same(i, mean, means, rows * sizeof *mean);
                take_same(i, losses, sums, sizeof losses);
            }
            for (size_t i = 0; i < rows; i++) {
                double square = 0.0;
                for (size_t j = i * width; j < (i + 1) * width; j++) {
                    const float error = x[j] - other[j];
                    assert_true(got[j] == factor * error);
                    square += (double)error * error;
                }
                assert_true(near_to(mean[i], square / (double)width, 1e-12));
                sum += mean[i];
            }
            assert_true(near_to(losses[0], 1.0 + (2.0 * sum + 0.5 * move) / 10.0, 1e-12));
            assert_true(near_to(losses[1], 2.0 + 2.0 * sum / 10.0 * 3600.0, 1e-12));
            assert_true(near_to(losses[2], 3.0 + move / 10.0, 1e-12) && losses[3] == 4.0);
            give_back();
        }
}

/* --- vectors ------------------------------------------------------------------------------ */

static void vectors_are_combined_in_double(void **state) {
    (void)state;
    enum { N = 70001 }; /* beyond two blocks */
    static float a[N], b[N], y[N], to[N], more[N];
    static const size_t tried[] = {0, 1, 17, N};
    for (int t = 0; t < 4; t++) {
        size_t n = tried[t], bytes = (n ? n : 1) * sizeof *a;
        double dot, apart[2], sums[3] = {0};
        randomise(a, N, 1.0f), randomise(b, N, 2.0f), randomise(y, N, 3.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float *one = on_device_give(d, a, bytes), *two = on_device_give(d, b, bytes),
                  *sum = on_device_give(d, NULL, bytes), *own = on_device_give(d, y, bytes);
            double *product = on_device_give(d, NULL, sizeof dot),
                   *squares = on_device_give(d, NULL, sizeof apart);
            assert_int_equal(s->ops->combine(s, n, 0.1, one, -3.0, two, sum), TAPER_OK);
            assert_int_equal(s->ops->add_difference(s, n, one, two, own), TAPER_OK);
            assert_int_equal(s->ops->dot(s, n, one, two, product), TAPER_OK);
            assert_int_equal(s->ops->distance(s, n, one, two, squares), TAPER_OK);
            take_same(i, to, sum, n * sizeof *to);
            take_same(i, more, own, n * sizeof *more);
            take_same(i, &dot, product, sizeof dot);
            take_same(i, apart, squares, sizeof apart);
            assert_int_equal(s->ops->combine(s, n, 0.1, one, -3.0, two, two), TAPER_OK);
            on_device_take(d, more, two, n * sizeof *more);
            assert_memory_equal(more, to, n * sizeof *to); /* in place: the same */
            on_device_take(d, more, own, n * sizeof *more);
        }
        for (size_t i = 0; i < n; i++) {
            double x0 = a[i], x1 = b[i];
            assert_true(to[i] == (float)(0.1 * x0 + -3.0 * x1));
            assert_true(more[i] == (float)((double)y[i] + x0 - x1));
            sums[0] += x0 * x1, sums[1] += (x0 - x1) * (x0 - x1), sums[2] += x0 * x0;
        }
        assert_true(near_to(dot, sums[0], 1e-9) && near_to(apart[0], sums[1], 1e-9) &&
                    near_to(apart[1], sums[2], 1e-9));
        give_back();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_centred_and_corrupted),
        cmocka_unit_test(noise_is_that_of_its_definition),
        cmocka_unit_test(states_are_those_of_their_definition),
        cmocka_unit_test(columns_are_packed_and_put_back),
        cmocka_unit_test(units_are_those_of_their_definition),
        cmocka_unit_test(decisions_are_fed_back),
        cmocka_unit_test(codes_are_mixed),
        cmocka_unit_test(lower_triangles_are_set_by_rows),
        cmocka_unit_test(moves_have_the_right_slope),
        cmocka_unit_test(moves_of_bits_have_no_scale),
        cmocka_unit_test(weights_and_biases_have_their_gradient),
        cmocka_unit_test(errors_are_summed_in_double),
        cmocka_unit_test(vectors_are_combined_in_double),
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
