/* test_device_predictions.c -- the operations of networks that predict and restore, on the
 * processor with one thread and with three and on the shadow, to the same bits, against plain loops
 * in double and finite differences. Outputs are filled with NaN and ringed before. */
#include "device_numbers.h"
#include <math.h>

enum { MOST = 300 * 70 * TRAIN_SIDES };
static float *give(on_device *d, const float *x, size_t n) {
    return on_device_give(d, x, n * sizeof *x);
}

static void near(double got, double want, double tolerance, const char *what) {
    if (!(fabs(got - want) <= tolerance * (1.0 + fabs(want))))
        fail_msg("%s: %g, expected %g (seed %llu)", what, got, want, (unsigned long long)seed);
}

static const size_t areas[][2] = {{1, 1},    {7, 3},   {64, 65}, {65, 8},
                                  {257, 31}, {9, 300}, {600, 33}};
enum { MOST_AREA_ROWS = 600, MOST_AREA_WIDTH = 300 };
enum { N_AREAS = sizeof areas / sizeof *areas };

/* --- rows ----------------------------------------------------------------------------------- */

static void rows_are_scattered(void **state) {
    (void)state;
    enum { N = 9, OF = 5 };
    static float from[N * 700], to[OF * 700], got[OF * 700];
    const uint32_t order[N] = {3, 0, 3, 4, 4, 1, 3, 0, 2}; /* some more than once */
    for (size_t width = 1; width <= 700; width += 233) {
        randomise(from, N * width, 1.0f), randomise(to, OF * width, 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            float *there = give(d, to, OF * width);
            assert_int_equal(
                d->stream.ops->scatter_rows(&d->stream, N, width, give(d, from, N * width),
                                            on_device_give(d, order, sizeof order), there),
                TAPER_OK);
            take_same(i, got, there, OF * width * sizeof *got);
            on_device_forget(d);
        }
        for (size_t j = 0; j < width; j++) {
            for (int r = 0; r < N; r++) to[order[r] * width + j] += from[(size_t)r * width + j];
            for (size_t r = 0; r < OF; r++) assert_true(got[r * width + j] == to[r * width + j]);
        }
    }
}

/* Of many rows, which a device may take in parts. */
static void many_rows_are_scattered(void **state) {
    (void)state;
    enum { N = 600, OF = 1500, WIDTH = 3 };
    static float from[N * WIDTH], to[OF * WIDTH], got[OF * WIDTH];
    static uint32_t order[N];
    for (size_t n = 31; n <= N; n += n < 33 ? 1 : N - 33) {
        randomise(from, n * WIDTH, 1.0f), randomise(to, OF * WIDTH, 1.0f);
        for (size_t i = 0; i < n; i++) order[i] = i % 3 ? below(OF) : 7;
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            float *there = give(d, to, OF * WIDTH);
            assert_int_equal(
                d->stream.ops->scatter_rows(&d->stream, n, WIDTH, give(d, from, n * WIDTH),
                                            on_device_give(d, order, n * sizeof *order), there),
                TAPER_OK);
            take_same(i, got, there, sizeof got);
            on_device_forget(d);
        }
        for (size_t i = 0; i < n * WIDTH; i++) to[order[i / WIDTH] * WIDTH + i % WIDTH] += from[i];
        assert_memory_equal(got, to, sizeof got);
    }
}

/* --- sides ---------------------------------------------------------------------------------- */

static uint32_t neighbour[TRAIN_SIDES * MOST_AREA_ROWS];

static void link_rows(size_t rows) {
    for (size_t i = 0; i < TRAIN_SIDES * rows; i++) neighbour[i] = below((uint32_t)rows + 1);
    for (size_t r = 0; r < rows; r++) neighbour[TRAIN_SELF * rows + r] = (uint32_t)r;
}

static void sides_are_gathered(void **state) {
    (void)state;
    static float from[300 * 70], got[MOST];
    for (size_t k = 0; k < 2 * N_AREAS; k++) {
        size_t rows = areas[k / 2][0], width = areas[k / 2][1], out = rows * width * TRAIN_SIDES;
        int mirrored = k % 2;
        link_rows(rows);
        randomise(from, rows * width, 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            float *to = give(d, NULL, out);
            const uint32_t *links =
                on_device_give(d, neighbour, TRAIN_SIDES * rows * sizeof *neighbour);
            assert_int_equal(d->stream.ops->gather_sides(&d->stream, rows, width, links, mirrored,
                                                         give(d, from, rows * width), to),
                             TAPER_OK);
            take_same(i, got, to, out * sizeof *got);
            on_device_forget(d);
        }
        for (size_t i = 0; i < out; i++) {
            size_t side = i / width % TRAIN_SIDES, r = i / width / TRAIN_SIDES;
            uint32_t at = neighbour[(mirrored ? 8 - side : side) * rows + r];
            assert_true(got[i] == (at < rows ? from[at * width + i % width] : 0.0f));
        }
    }
}

static void inputs_are_made_of_what_is_seen(void **state) {
    (void)state;
    enum { OWN = 11, BESIDE = 4, COLUMNS = 2 * (OWN + 8 * BESIDE) + 9 };
    static int8_t seen[300 * OWN];
    static float got[300 * COLUMNS];
    for (size_t rows = 1; rows <= 300; rows += 149) {
        link_rows(rows);
        for (size_t i = 0; i < rows * OWN; i++) seen[i] = (int8_t)((int)below(255) - 127);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            float *x = give(d, NULL, rows * COLUMNS);
            const uint32_t *links =
                on_device_give(d, neighbour, TRAIN_SIDES * rows * sizeof *neighbour);
            assert_int_equal(d->stream.ops->conditional_inputs(&d->stream, rows, OWN, BESIDE,
                                                               on_device_give(d, seen, rows * OWN),
                                                               links, x),
                             TAPER_OK);
            take_same(i, got, x, rows * COLUMNS * sizeof *got);
            on_device_forget(d);
        }
        const float *x = got;
        for (size_t r = 0; r < rows; r++) {
            for (int place = 0; place < TRAIN_SIDES; place++) { /* the row itself comes first */
                int side = !place ? TRAIN_SELF : place <= TRAIN_SELF ? place - 1 : place;
                uint32_t at = neighbour[(size_t)side * rows + r];
                for (int u = 0; u < (place ? BESIDE : OWN); u++) {
                    double a = at < rows ? seen[at * OWN + (uint32_t)u] / 32.0 : 0.0;
                    assert_true((double)*x++ == a && (double)*x++ == fabs(a));
                }
            }
            for (size_t side = 0; side < TRAIN_SIDES; side++)
                assert_true(*x++ == (neighbour[side * rows + r] < rows ? 1.0f : 0.0f));
        }
    }
}

/* --- layers that are clipped ---------------------------------------------------------------- */

static double clip(double z, double low, double top) { return fmin(fmax(z, low), top); }

/* y = clip(x + b) and its way back, whose slope is 1 inside. */
static void layers_are_clipped(void **state) {
    (void)state;
    static float x[MOST], dy[MOST], bias[MOST_AREA_WIDTH], before[MOST_AREA_WIDTH], y[MOST],
        back[MOST], sums[MOST_AREA_WIDTH];
    const float top = 1.5f;
    for (size_t k = 0; k < N_AREAS; k++) {
        size_t rows = areas[k][0], width = areas[k][1], n = rows * width;
        double want[MOST_AREA_WIDTH];
        randomise(x, n, 3.0f), randomise(dy, n, 1.0f);
        randomise(bias, width, 0.5f), randomise(before, width, 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float *at = give(d, x, n), *dat = give(d, dy, n), *dbias = give(d, before, width);
            float *scratch = give(d, NULL, train_sum_blocks(rows) * width);
            assert_int_equal(s->ops->clip(s, rows, width, give(d, bias, width), top, at), TAPER_OK);
            assert_int_equal(s->ops->clip_backward(s, rows, width, top, at, dat, dbias, scratch),
                             TAPER_OK);
            take_same(i, y, at, n * sizeof *y);
            take_same(i, back, dat, n * sizeof *back);
            take_same(i, sums, dbias, width * sizeof *sums);
            on_device_forget(d);
        }
        for (size_t j = 0; j < width; j++) want[j] = (double)before[j];
        for (size_t i = 0; i < n; i++) {
            double z = (double)(x[i] + bias[i % width]);
            assert_true((double)y[i] == clip(z, 0, (double)top));
            assert_true(back[i] == (z > 0 && z < (double)top ? dy[i] : 0.0f));
            want[i % width] += (double)back[i];
        }
        for (size_t j = 0; j < width; j++) near((double)sums[j], want[j], 1e-5, "clip's sums");
    }
}

static void what_is_added_is_clipped(void **state) {
    (void)state;
    static float from[MOST], z[MOST], dto[MOST], bias[MOST_AREA_WIDTH], before[MOST_AREA_WIDTH];
    static float added[MOST], to[MOST], back[MOST], dadded[MOST], sums[MOST_AREA_WIDTH];
    const float top = 1.5f;
    for (size_t k = 0; k < N_AREAS; k++) {
        size_t rows = areas[k][0], width = areas[k][1], n = rows * width;
        double want[MOST_AREA_WIDTH];
        randomise(z, n, 3.0f), randomise(from, n, 1.0f), randomise(dto, n, 1.0f);
        randomise(bias, width, 0.5f), randomise(before, width, 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            const train_residual l = {.rows = rows,
                                      .width = width,
                                      .top = top,
                                      .bias = give(d, bias, width),
                                      .from = give(d, from, n),
                                      .added = give(d, z, n),
                                      .to = give(d, NULL, n)};
            float *dt = give(d, dto, n), *da = give(d, NULL, n), *dbias = give(d, before, width),
                  *scratch = give(d, NULL, train_sum_blocks(rows) * width);
            assert_int_equal(s->ops->clip_added(s, &l), TAPER_OK);
            assert_int_equal(s->ops->clip_added_backward(s, &l, dt, da, dbias, scratch), TAPER_OK);
            take_same(i, added, l.added, n * sizeof *added);
            take_same(i, to, l.to, n * sizeof *to);
            take_same(i, back, dt, n * sizeof *dt);
            take_same(i, dadded, da, n * sizeof *da);
            take_same(i, sums, dbias, width * sizeof *sums);
            on_device_forget(d);
        }
        for (size_t j = 0; j < width; j++) want[j] = (double)before[j];
        for (size_t i = 0; i < n; i++) {
            double sum = (double)(z[i] + bias[i % width]), plus = clip(sum, 0, (double)top);
            int inside = sum > 0 && sum < (double)top, open = from[i] + (float)plus < top;
            assert_true((double)added[i] == plus);
            assert_true(to[i] == fminf(from[i] + (float)plus, top));
            assert_true(back[i] == (open ? dto[i] : 0.0f));
            assert_true(dadded[i] == (open && inside ? dto[i] : 0.0f));
            want[i % width] += (double)dadded[i];
        }
        for (size_t j = 0; j < width; j++) near((double)sums[j], want[j], 1e-5, "the sums");
    }
}

static void positive_parts_of_sums(void **state) {
    (void)state;
    static float z[MOST], last[MOST], da[MOST], dh[MOST], bias[MOST_AREA_WIDTH], h[MOST], a[MOST],
        back[MOST];
    const float top = 1.5f;
    for (size_t k = 0; k < 2 * N_AREAS; k++) {
        size_t rows = areas[k / 2][0], width = areas[k / 2][1], n = rows * width;
        int alone = k % 2; /* nothing before it */
        randomise(z, n, 2.0f), randomise(last, n, 1.0f), randomise(bias, width, 0.5f);
        randomise(da, n, 1.0f), randomise(dh, n, 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float *at = give(d, z, n), *part = give(d, NULL, n), *dat = give(d, dh, n);
            const float *below_it = alone ? NULL : give(d, last, n);
            assert_int_equal(
                s->ops->relu_added(s, rows, width, give(d, bias, width), top, below_it, at, part),
                TAPER_OK);
            assert_int_equal(s->ops->relu_added_backward(s, n, top, at, give(d, da, n), dat),
                             TAPER_OK);
            take_same(i, h, at, n * sizeof *h);
            take_same(i, a, part, n * sizeof *a);
            take_same(i, back, dat, n * sizeof *back);
            on_device_forget(d);
        }
        for (size_t i = 0; i < n; i++) {
            float sum = z[i] + bias[i % width] + (alone ? 0.0f : last[i]);
            float slope = dh[i] + (sum > 0 ? da[i] : 0.0f);
            assert_true(h[i] == fminf(fmaxf(sum, -top), top) && a[i] == fmaxf(h[i], 0.0f));
            assert_true(back[i] == (fabsf(sum) < top ? slope : 0.0f));
        }
    }
}

/* --- predictions ---------------------------------------------------------------------------- */

enum { KINDS = TRAIN_BIT_KINDS, MOST_PASSES = 90, STRIDE = 97, BIT_ROWS = 150 };

/* Bits of a decision in double. */
static double bits_of(double logit, int bit) { return log2(1 + exp(bit ? -logit : logit)); }

static double bits_at(const train_bit *b, const float *logit, const float *bias, size_t changed,
                      double by) {
    double bits = 0;
    for (size_t k = 0; k < KINDS; k++) {
        double z = (double)logit[k] + (double)bias[k * STRIDE] + (k == changed ? by : 0);
        if (b->kind != TRAIN_BIT_SIGN && k == b->kind)
            bits += bits_of((double)b->offset[0] + z, b->bit);
        if (k == TRAIN_BIT_SIGN && b->sign) bits += bits_of((double)b->offset[1] + z, b->sign > 0);
    }
    return bits;
}

static void make_bits(train_bit *bit, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t what = below(5); /* none, or a bit, with or without its sign */
        bit[i] = (train_bit){.kind = what == 0  ? TRAIN_BIT_SIGN
                                     : what < 4 ? 0
                                                : 2,
                             .bit = (uint8_t)below(2),
                             .sign = what == 1 ? (int8_t)(below(2) ? 1 : -1) : 0};
        randomise(bit[i].offset, 2, 4.0f);
    }
}

static void price_passes(size_t passes) {
    static train_bit bit[BIT_ROWS * MOST_PASSES];
    static float logit[BIT_ROWS * MOST_PASSES * KINDS], slope[BIT_ROWS * MOST_PASSES * KINDS];
    static float bias[KINDS * STRIDE], before[KINDS * STRIDE], dbias[KINDS * STRIDE];
    for (size_t rows = 1; rows <= BIT_ROWS; rows += rows == 1 ? 63 : 86) {
        size_t n = rows * passes;
        double losses[2] = {100, 200}, got[2], want[2] = {100, 200}, sums[KINDS * STRIDE];
        make_bits(bit, n);
        randomise(logit, n * KINDS, 4.0f), randomise(bias, KINDS * STRIDE, 1.0f);
        randomise(before, KINDS * STRIDE, 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_bits t = {.rows = rows,
                            .passes = passes,
                            .weight = 0.5f,
                            .bit = on_device_give(d, bit, n * sizeof *bit),
                            .bias = give(d, bias, KINDS * STRIDE),
                            .stride = STRIDE,
                            .logit = give(d, logit, n * KINDS),
                            .dbias = give(d, before, KINDS * STRIDE),
                            .losses = on_device_give(d, losses, sizeof losses),
                            .column_sums = give(d, NULL, train_sum_blocks(rows) * KINDS * passes),
                            .sums = on_device_give(d, NULL, train_sum_blocks(rows) * 2 * 8)};
            assert_int_equal(d->stream.ops->bits(&d->stream, &t), TAPER_OK);
            take_same(i, slope, t.logit, n * KINDS * sizeof *slope);
            take_same(i, dbias, t.dbias, sizeof dbias);
            take_same(i, got, t.losses, sizeof got);
            on_device_forget(d);
        }
        for (int j = 0; j < KINDS * STRIDE; j++) sums[j] = (double)before[j];
        for (size_t i = 0; i < n; i++) {
            const float *z = logit + i * KINDS, *b = bias + i % passes, none[KINDS * STRIDE] = {0};
            want[0] += 0.5 * bits_at(&bit[i], z, b, KINDS, 0);
            want[1] += 0.5 * bits_at(&bit[i], none, none, KINDS, 0);
            for (size_t k = 0; k < KINDS; k++) {
                double step = 1e-5, up = bits_at(&bit[i], z, b, k, step),
                       down = bits_at(&bit[i], z, b, k, -step);
                near((double)slope[i * KINDS + k], 0.5 * (up - down) / (2 * step), 1e-6, "slope");
                sums[k * STRIDE + i % passes] += (double)slope[i * KINDS + k];
            }
        }
        near(got[0], want[0], 1e-6, "bits"), near(got[1], want[1], 1e-6, "bits by offset alone");
        for (int j = 0; j < KINDS * STRIDE; j++) near((double)dbias[j], sums[j], 1e-5, "dbias");
    }
}

static void bits_are_priced(void **state) {
    (void)state;
    price_passes(7), price_passes(MOST_PASSES); /* columns: fewer and more than a block's threads */
}

enum { MOST_UNITS = 70 };
static void price_units(size_t units) {
    static float missing[150 * MOST_UNITS], z[150 * MOST_UNITS], slope[150 * MOST_UNITS];
    static float uncertainty[2 * MOST_UNITS];
    static uint8_t more[150 * MOST_UNITS];
    double worth[MOST_UNITS], loss = 10, got, want;
    for (size_t rows = 1; rows <= 150; rows += rows == 1 ? 63 : 86) {
        size_t n = rows * units;
        randomise(missing, n, 1.0f), randomise(z, n, 1.0f), randomise(uncertainty, 2 * units, 1.0f);
        for (size_t i = 0; i < n; i++) more[i] = (uint8_t)below(2);
        for (size_t u = 0; u < units; u++) worth[u] = 1.0 / (double)(1 + u);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_head t = {.rows = rows,
                            .units = units,
                            .weight = 0.5,
                            .missing = give(d, missing, n),
                            .more = on_device_give(d, more, n),
                            .uncertainty = give(d, uncertainty, 2 * units),
                            .worth = on_device_give(d, worth, units * sizeof *worth),
                            .z = give(d, z, n),
                            .loss = on_device_give(d, &loss, sizeof loss),
                            .sums = on_device_give(d, NULL, train_sum_blocks(rows) * 8)};
            assert_int_equal(d->stream.ops->head(&d->stream, &t), TAPER_OK);
            take_same(i, slope, t.z, n * sizeof *slope);
            take_same(i, &got, t.loss, sizeof got);
            on_device_forget(d);
        }
        want = loss;
        for (size_t i = 0; i < n; i++) {
            double width = (double)uncertainty[2 * (i % units) + more[i]];
            double e = (double)missing[i] - width * (double)z[i];
            want += 0.5 * worth[i % units] * e * e;
            near((double)slope[i], 0.5 * worth[i % units] * 2 * e * -width, 1e-6, "head's slope");
        }
        near(got, want, 1e-6, "head's loss");
    }
}

static void heads_are_priced(void **state) {
    (void)state;
    price_units(13), price_units(MOST_UNITS);
}

static void restored_pixels_are_priced(void **state) {
    (void)state;
    enum { WIDTH = 12 };
    static float decoded[300 * WIDTH], target[300 * WIDTH], z[300 * WIDTH], dz[300 * WIDTH];
    for (size_t rows = 1; rows <= 300; rows += rows == 1 ? 255 : 44) {
        size_t n = rows * WIDTH, blocks = (rows + TRAIN_RESTORED_ROWS - 1) / TRAIN_RESTORED_ROWS;
        float gain = 0.7f, dgain;
        double errors[2], want[3] = {0};
        randomise(decoded, n, 100.0f), randomise(target, n, 100.0f), randomise(z, n, 2.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_restored t = {.rows = rows,
                                .width = WIDTH,
                                .weight = 0.25,
                                .levels = 8.0f,
                                .decoded = give(d, decoded, n),
                                .target = give(d, target, n),
                                .z = give(d, z, n),
                                .gain = give(d, &gain, 1),
                                .dz = give(d, NULL, n),
                                .dgain = give(d, NULL, 1),
                                .errors = on_device_give(d, NULL, sizeof errors),
                                .sums = on_device_give(d, NULL, blocks * 3 * sizeof(double))};
            assert_int_equal(d->stream.ops->restored(&d->stream, &t), TAPER_OK);
            take_same(i, dz, t.dz, n * sizeof *dz);
            take_same(i, &dgain, t.dgain, sizeof dgain);
            take_same(i, errors, t.errors, sizeof errors);
            on_device_forget(d);
        }
        for (size_t i = 0; i < n; i++) {
            double was = (double)decoded[i] - (double)target[i];
            double is = was + 8 * (double)gain * (double)z[i];
            want[0] += is * is, want[1] += was * was, want[2] += 0.25 * 2 * is * 8 * (double)z[i];
            near((double)dz[i], 0.25 * 2 * is * 8 * (double)gain, 1e-5, "restored's slope");
        }
        near(errors[0], want[0], 1e-6, "restored"), near(errors[1], want[1], 1e-6, "decoded");
        near((double)dgain, want[2], 1e-5, "the gain's slope");
    }
}

static void ratios_are_added(void **state) {
    (void)state;
    const double three[3] = {3, 4, 10};
    double got;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        double *at = on_device_give(d, three, sizeof three);
        assert_int_equal(d->stream.ops->add_ratio(&d->stream, 0.5, at, at + 1, 2.0, at + 2),
                         TAPER_OK);
        take_same(i, &got, at + 2, sizeof got);
        assert_true(got == 10.25);
        on_device_forget(d);
    }
}

/* --- vectors -------------------------------------------------------------------------------- */

static void vectors_are_combined(void **state) {
    (void)state;
    static float a[MOST], b[MOST], sum[MOST], between[MOST], clipped[MOST], same_one[MOST];
    static const size_t lengths[] = {1, 17, 1 << 15, 70001};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        size_t n = lengths[k];
        randomise(a, n, 1.0f), randomise(b, n, 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float *x = give(d, a, n), *y = give(d, b, n), *part = give(d, NULL, n),
                  *all = give(d, NULL, n), *cut = give(d, NULL, n);
            assert_int_equal(s->ops->interpolate(s, n, 0.25f, x, y, part), TAPER_OK);
            assert_int_equal(s->ops->interpolate(s, n, 0.0f, x, x, all), TAPER_OK);
            assert_int_equal(s->ops->standardise(s, n, 0.5f, 2.0f, 0.4f, x, cut), TAPER_OK);
            assert_int_equal(s->ops->axpy(s, n, 0.75f, x, y), TAPER_OK);
            take_same(i, sum, y, n * sizeof *y);
            take_same(i, between, part, n * sizeof *y);
            take_same(i, same_one, all, n * sizeof *y);
            take_same(i, clipped, cut, n * sizeof *y);
            on_device_forget(d);
        }
        for (size_t i = 0; i < n; i++) {
            assert_true(sum[i] == b[i] + 0.75f * a[i] && same_one[i] == a[i]);
            assert_true(between[i] == a[i] + 0.25f * (b[i] - a[i]));
            assert_true(clipped[i] == fmaxf(-0.4f, fminf(0.4f, (a[i] - 0.5f) / 2.0f)));
        }
    }
}

static void matrices_are_turned(void **state) {
    (void)state;
    enum { N = 3 };
    static float from[N * 300 * 70], got[N * 300 * 70];
    for (size_t k = 0; k < N_AREAS; k++) {
        size_t rows = areas[k][0], columns = areas[k][1], n = N * rows * columns;
        randomise(from, n, 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            float *to = give(d, NULL, n);
            assert_int_equal(
                d->stream.ops->transpose(&d->stream, N, rows, columns, give(d, from, n), to),
                TAPER_OK);
            take_same(i, got, to, n * sizeof *got);
            on_device_forget(d);
        }
        for (size_t i = 0; i < n; i++) {
            size_t of = i / (rows * columns), r = i / columns % rows, c = i % columns;
            assert_true(got[(of * columns + c) * rows + r] == from[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_scattered),     cmocka_unit_test(many_rows_are_scattered),
        cmocka_unit_test(sides_are_gathered),     cmocka_unit_test(inputs_are_made_of_what_is_seen),
        cmocka_unit_test(layers_are_clipped),     cmocka_unit_test(what_is_added_is_clipped),
        cmocka_unit_test(positive_parts_of_sums), cmocka_unit_test(bits_are_priced),
        cmocka_unit_test(heads_are_priced),       cmocka_unit_test(restored_pixels_are_priced),
        cmocka_unit_test(ratios_are_added),       cmocka_unit_test(vectors_are_combined),
        cmocka_unit_test(matrices_are_turned),
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
