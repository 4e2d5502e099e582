/* test_device_neighbours.c -- the objectives over neighbours, and the operations that they are made
 * of: losses and gradients, alpha's too, against double (neighbours_reference.h). On the processor
 * with one thread and with three and on the shadow, and in tiles of any size, to the same bits. */
#include "device_numbers.h"
#include "neighbours_reference.h"

#ifdef EVERY_DEVICE_KERNELS
enum { MOST_EVERYWHERE = 70, FEW = 14 }; /* rows: the model is slow */
#else
enum { MOST_EVERYWHERE = 1100, FEW = 37 };
#endif
enum { MOST_N = 1100, MOST_D = 30, MOST = MOST_N * 8 };

typedef struct outcome {
    double loss[MOST_N], figure;
    float gradient[MOST], number;
} outcome;

typedef struct example {
    size_t n, d;
    float code[MOST];
    uint32_t label[MOST_N];
} example;

/* --- the objective on one device ------------------------------------------------------------ */

/* What gradients are added to. */
static float before = 0.0f;

/* Loss and gradient; losses are added to 1. number: alpha's. */
static void run_on(on_device *d, train_neighbour_objective o, const example *x, float number,
                   outcome *to) {
    const train_objective *f = &train_neighbours_objective;
    train_stream *s = &d->stream;
    train_arena arena = {0};
    static double ones[MOST_N];
    static float old[MOST];
    for (size_t i = 0; i < x->n; i++) ones[i] = 1.0;
    for (size_t i = 0; i < x->n * x->d; i++) old[i] = before;
    f->lay_out(&o, &arena, (uint32_t)x->d, x->n);
    assert_int_equal(train_arena_alloc(&arena, &d->device), TAPER_OK);
    f->lay_out(&o, &arena, (uint32_t)x->d, x->n);
    assert_int_equal(f->numbers(&o, (uint32_t)x->d), o.learns_alpha);
    const float *parameter = on_device_give(d, &number, sizeof number);
    float *slope = on_device_give(d, NULL, sizeof *slope);
    f->place(&o, parameter, slope);
    const train_examples e = {.rows = x->n,
                              .units = (uint32_t)x->d,
                              .code = on_device_give(d, x->code, x->n * x->d * sizeof *x->code),
                              .scale = 1.0f,
                              .label = on_device_give(d, x->label, x->n * sizeof *x->label)};
    double *loss = on_device_give(d, ones, x->n * sizeof *loss);
    double *figure = on_device_give(d, NULL, sizeof *figure);
    float *gradient = on_device_give(d, old, x->n * x->d * sizeof *gradient);
    assert_int_equal(f->loss(&o, s, &e, loss, figure), TAPER_OK);
    assert_int_equal(f->gradient(&o, s, &e, gradient), TAPER_OK);
    on_device_take(d, to->loss, loss, x->n * sizeof *loss);
    on_device_take(d, &to->figure, figure, sizeof *figure);
    on_device_take(d, to->gradient, gradient, x->n * x->d * sizeof *gradient);
    on_device_take(d, &to->number, slope, sizeof *slope);
    on_device_forget(d);
    train_arena_free(&arena);
}

/* On every device. */
static outcome outcomes[DEVICES];
static void run_each(train_neighbour_objective o, const example *x, float number) {
    for (int i = 0; i < DEVICES; i++) run_on(&device[i], o, x, number, &outcomes[i]);
}

/* To the same numbers. */
static void run(train_neighbour_objective o, const example *x, float number) {
    const outcome *first = &outcomes[0];
    run_each(o, x, number);
    for (int i = 0; i < DEVICES; i++) {
        const outcome *got = &outcomes[i];
        same(i, first->loss, got->loss, x->n * sizeof *got->loss, "loss");
        same(i, &first->figure, &got->figure, sizeof got->figure, "figure");
        same(i, first->gradient, got->gradient, x->n * x->d * sizeof *got->gradient, "gradient");
        if (o.learns_alpha) same(i, &first->number, &got->number, sizeof got->number, "number");
    }
}

/* --- against double ------------------------------------------------------------------------- */

/* Every device's losses. */
static void check_losses(const train_neighbour_objective *o, const example *x, double tolerance) {
    static double f[MOST];
    const reference r = {o->loss,  o->all_pairs, o->student, o->alpha,
                         o->hinge, x->n,         x->d,       x->label};
    for (size_t i = 0; i < x->n * x->d; i++) f[i] = (double)x->code[i];
    reference_pairs t = reference_open(&r, f);
    for (const outcome *got = outcomes; got < outcomes + DEVICES; got++)
        for (size_t i = 0; i < x->n; i++) {
            const double want = reference_row(&r, &t, i);
            assert_true(fabs(got->loss[i] - 1.0 - want) <= tolerance * (1.0 + fabs(want)));
        }
    reference_close(&t);
}

/* And gradients, within `tolerance` of the largest there is. */
static void check_against(const train_neighbour_objective *o, const example *x, float number,
                          double tolerance) {
    static double f[MOST], df[MOST];
    const reference r = {o->loss,  o->all_pairs, o->student, train_neighbour_alpha(o, number),
                         o->hinge, x->n,         x->d,       x->label};
    double dalpha, largest = 0.0, sum = 0.0;
    for (size_t i = 0; i < x->n * x->d; i++) f[i] = (double)x->code[i];
    reference_gradient(&r, f, df, &dalpha);
    for (size_t i = 0; i < x->n * x->d; i++) largest = fmax(largest, fabs(df[i]));
    reference_pairs t = reference_open(&r, f);
    for (size_t i = 0; i < x->n; i++) sum += reference_row(&r, &t, i);
    for (const outcome *got = outcomes; got < outcomes + DEVICES; got++) {
        for (size_t i = 0; i < x->n; i++) {
            const double want = reference_row(&r, &t, i);
            assert_true(fabs(got->loss[i] - 1.0 - want) <= tolerance * (1.0 + fabs(want)));
        }
        assert_true(fabs(got->figure - sum) <= tolerance * ((double)x->n + fabs(sum)));
        for (size_t i = 0; i < x->n * x->d; i++)
            assert_true(fabs((double)got->gradient[i] - df[i]) <= tolerance * largest);
        const double want = dalpha * r.alpha;
        if (o->learns_alpha)
            assert_true(fabs((double)got->number - want) <= 10.0 * tolerance * (1e-2 + fabs(want)));
    }
    reference_close(&t);
}

/* Clouds of `spread` about places that are some `apart`; some rows have no label, one is alone. */
static void draw_example(example *x, size_t n, size_t d, float apart, float spread) {
    static float centre[4][MOST_D];
    x->n = n, x->d = d;
    randomise(centre[0], sizeof centre / sizeof(float), apart);
    for (size_t i = 0; i < n; i++) {
        x->label[i] = below(8) ? below(4) : TRAIN_UNLABELLED;
        const uint32_t place = x->label[i] < 4 ? x->label[i] : 0;
        for (size_t k = 0; k < d; k++)
            x->code[i * d + k] = centre[place][k] + draw(-spread, spread);
    }
    if (n > 4) x->label[3] = 77;
}

static void every_loss_has_its_gradient(void **state) {
    (void)state;
    static const double alphas[] = {0.5, 1.0, 2.0, 29.0};
    static const size_t dims[] = {1, 2, 30};
    static example x;
    for (int kind = 0; kind < 12; kind++)
        for (size_t k = 0; k < 3; k++) { /* of a loss three alphas, of an alpha all D */
            const train_neighbour_objective o = {.loss = (train_neighbour_loss)(kind % 3),
                                                 .all_pairs = kind / 3 % 2,
                                                 .student = kind / 6,
                                                 .alpha = alphas[(kind + k) % 4] / exp(0.25),
                                                 .learns_alpha = kind / 6};
            draw_example(&x, FEW, dims[k], 1.5f / sqrtf((float)dims[k]),
                         1.5f / sqrtf((float)dims[k]));
            run(o, &x, 0.25f);
            check_against(&o, &x, 0.25f, 1e-5);
        }
}

static void hinges_keep_classes_apart(void **state) {
    (void)state;
    static example x;
    for (int kind = 0; kind < 4; kind++) {
        const train_neighbour_objective o = {.all_pairs = kind % 2,
                                             .student = kind / 2,
                                             .learns_alpha = kind / 2,
                                             .alpha = 2.0,
                                             .hinge = 0.7};
        draw_example(&x, 35, 2, 0.3f, 0.4f);
        run(o, &x, 0.0f);
        check_against(&o, &x, 0.0f, 1e-5);
    }
}

/* --- shapes --------------------------------------------------------------------------------- */

static void batches_of_any_size(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 1},   {2, 3},   {3, 2},   {16, 5},  {17, 1},
                                       {33, 8},  {64, 2},  {65, 30}, {255, 3}, {257, 4},
                                       {511, 1}, {513, 2}, {1025, 3}};
    static example x;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int kind = 0; kind < 2; kind++) {
            if (shapes[k][0] > MOST_EVERYWHERE) continue;
            const train_neighbour_objective o = {.loss = kind ? TRAIN_MCML : TRAIN_NCA,
                                                 .all_pairs = kind,
                                                 .student = !kind,
                                                 .alpha = 3.0,
                                                 .tile_rows = 100};
            draw_example(&x, shapes[k][0], shapes[k][1], 1.0f, 1.0f);
            run(o, &x, 0.0f);
            if (shapes[k][0] <= 300) check_against(&o, &x, 0.0f, 1e-5);
        }
}

static void tiles_change_no_bit(void **state) {
    (void)state;
    static const size_t tiles[] = {1, 5, 16, 63, 1000};
    static example x;
    static outcome first, got;
    draw_example(&x, 70, 4, 1.0f, 1.0f);
    for (int i = 0; i < DEVICES; i++)
        for (size_t k = 0; k < sizeof tiles / sizeof *tiles; k++) {
            const train_neighbour_objective o = {
                .student = 1, .alpha = 3.0, .learns_alpha = 1, .tile_rows = tiles[k]};
            run_on(&device[i], o, &x, 0.0f, &got);
            if (!k) first = got;
            same(i, first.gradient, got.gradient, x.n * x.d * sizeof *got.gradient, "gradient");
            same(i, &first.number, &got.number, sizeof got.number, "number");
        }
}

/* Each array by itself, so that none is written beyond its end. */
static void operations_stay_within(void **state) {
    (void)state;
    static example x;
    static const size_t first = 15, rows = 6;
    draw_example(&x, 21, 3, 1.0f, 1.0f);
    for (int all_pairs = 0; all_pairs < 2; all_pairs++)
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float across[21 * 3], zero = 0.0f, pull[6 * 21], sum;
            double sums[21 * TRAIN_NEIGHBOUR_SUMS], loss[21] = {0};
            for (size_t r = 0; r < x.n; r++)
                for (size_t k = 0; k < x.d; k++) across[k * x.n + r] = x.code[r * x.d + k];
            const train_neighbours n = {
                .rows = x.n,
                .units = x.d,
                .code = on_device_give(d, x.code, x.n * x.d * sizeof *x.code),
                .across = on_device_give(d, across, sizeof across),
                .label = on_device_give(d, x.label, x.n * sizeof *x.label),
                .all_pairs = all_pairs,
                .student = 1,
                .alpha = 2.0,
                .number = on_device_give(d, &zero, sizeof zero),
                .sums = on_device_give(d, NULL, sizeof sums),
                .share = on_device_give(d, NULL, x.n * TRAIN_SHARES * sizeof(float)),
                .by_number = on_device_give(d, NULL, x.n * sizeof(float))};
            double *losses = on_device_give(d, loss, sizeof loss);
            float *pulls = on_device_give(d, NULL, sizeof pull);
            assert_int_equal(s->ops->neighbour_sums(s, &n), TAPER_OK);
            assert_int_equal(s->ops->neighbour_losses(s, &n, losses), TAPER_OK);
            assert_int_equal(s->ops->neighbour_pulls(s, &n, first, rows, pulls), TAPER_OK);
            assert_int_equal(s->ops->neighbour_pulls(s, &n, 0, 0, pulls), TAPER_OK);
            on_device_take(d, sums, n.sums, sizeof sums);
            on_device_take(d, pull, pulls, sizeof pull);
            for (size_t r = 0; r < rows; r++) {
                sum = 0.0f;
                for (size_t j = 0; j < x.n; j++) sum += pull[r * x.n + j];
                assert_true(fabsf(sum) < 1e-6f);
            }
            on_device_forget(d);
        }
}

/* --- numbers -------------------------------------------------------------------------------- */

/* Clusters that are so far apart that kernels vanish but for their shift; some codes come twice. */
static void far_apart_and_together(void **state) {
    (void)state;
    static example x;
    for (int kind = 0; kind < 24; kind++) {
        const train_neighbour_objective o = {.loss = (train_neighbour_loss)(kind % 3),
                                             .all_pairs = kind / 3 % 2,
                                             .student = kind / 6 % 2,
                                             .learns_alpha = kind / 6 % 2,
                                             .alpha = 2.0};
        const size_t rows = kind / 12 ? 600 : 40; /* of the processor's chunks, two */
        if (rows > MOST_EVERYWHERE) break;
        draw_example(&x, rows, 3, 8.0f, 2.0f);
        for (size_t i = 3 * 550; i < 3 * rows; i++) x.code[i] *= 3.0f; /* far from the others */
        for (size_t i = 0; i < 10; i++) x.code[i] = x.code[30 + i];
        x.label[0] = x.label[10], x.label[1] = x.label[11] + 1;
        run(o, &x, 0.0f);
        check_against(&o, &x, 0.0f, 3e-5);
    }
}

/* Rows whose nearest is nearer or further than a processor's first pass can tell, D = 115; most
 * gradients vanish. */
static void lonely_rows(void **state) {
    (void)state;
    static example x;
    for (int loss = 0; loss < 3; loss++)
        for (float width = 16.0f; width < 48.0f; width += 8.0f) {
            const train_neighbour_objective o = {.loss = (train_neighbour_loss)loss};
            draw_example(&x, 40, 3, 1.0f, width);
            run(o, &x, 0.0f);
            check_losses(&o, &x, 1e-4);
        }
}

/* Nearly the Gaussian: powers of thousands of what is nearly 1. */
static void alpha_may_be_large(void **state) {
    (void)state;
    static example x;
    for (int kind = 0; kind < 3; kind++) {
        const train_neighbour_objective o = {
            .loss = (train_neighbour_loss)kind, .student = 1, .alpha = 1e5};
        draw_example(&x, 20, 2, 1.0f, 1.0f);
        run(o, &x, 0.0f);
        check_against(&o, &x, 0.0f, 1e-5);
    }
}

/* All codes moved a long way: differences are what they were, but for how codes are rounded. */
static void far_from_the_origin(void **state) {
    (void)state;
    static example x;
    const train_neighbour_objective o = {.student = 1, .alpha = 2.0, .learns_alpha = 1};
    draw_example(&x, 60, 3, 1.0f, 0.5f);
    for (size_t i = 0; i < x.n * x.d; i++) x.code[i] += 1000.0f;
    run(o, &x, 0.0f);
    check_against(&o, &x, 0.0f, 1e-4);
}

/* A row whose label's others have no part in its Z in single precision: log p is that of double. */
static void losses_of_the_improbable(void **state) {
    (void)state;
    static example x;
    const train_neighbour_objective o = {.loss = TRAIN_LOG_NCA};
    x.n = 4, x.d = 1;
    memcpy(x.label, (const uint32_t[]){0, 0, 1, 1}, 4 * sizeof *x.label);
    memcpy(x.code, (const float[]){0.0f, 20.0f, 0.5f, 20.5f}, 4 * sizeof *x.code);
    run(o, &x, 0.0f);
    assert_true(fabs(outcomes[0].loss[0] - 1.0 - 399.75) < 1e-3);
    check_against(&o, &x, 0.0f, 1e-5);
    if (MOST_EVERYWHERE < 530) return;
    x.n = 530; /* a second chunk of the processor's has the nearer of its label */
    for (size_t i = 0; i < x.n; i++) {
        x.label[i] = i == 0 || i == 7 || i == 520 ? 0 : 1;
        x.code[i] = x.label[i] ? 1e-3f * (float)i : i == 520 ? -8.0f : i ? -20.0f : 0.0f;
    }
    run(o, &x, 0.0f);
    check_against(&o, &x, 0.0f, 1e-5);
}

/* --- labels --------------------------------------------------------------------------------- */

static void check_finite(const example *x, bool want) {
    for (const outcome *got = outcomes; got < outcomes + DEVICES; got++) {
        bool is = isfinite((double)got->number);
        for (size_t i = 0; i < x->n; i++) is = is && isfinite(got->loss[i]);
        for (size_t i = 0; i < x->n * x->d; i++) is = is && isfinite((double)got->gradient[i]);
        assert_int_equal(is, want);
    }
}

/* No label at all, one row with a label, each row alone with its own, all of one class. */
static void labels_of_every_kind(void **state) {
    (void)state;
    before = 2.0f;
    static example x;
    for (int kind = 0; kind < 4 * 6; kind++) {
        const train_neighbour_objective o = {.loss = (train_neighbour_loss)(kind % 3),
                                             .all_pairs = kind / 3 % 2,
                                             .student = 1,
                                             .learns_alpha = 1,
                                             .alpha = 1.0};
        draw_example(&x, 20, 2, 1.0f, 1.0f);
        for (size_t i = 0; i < x.n; i++)
            x.label[i] = kind / 6 == 0   ? TRAIN_UNLABELLED
                         : kind / 6 == 1 ? (i == 7 ? 4 : TRAIN_UNLABELLED)
                         : kind / 6 == 2 ? (uint32_t)i
                                         : 4;
        run(o, &x, 0.0f);
        check_finite(&x, true);
        for (size_t i = 0; i < x.n && kind / 6 < 2; i++) assert_true(outcomes[0].loss[i] == 1.0);
        for (size_t i = 0; i < x.n * x.d && kind / 6 < 2; i++)
            assert_true(outcomes[0].gradient[i] == before);
    }
    before = 0.0f;
}

static void no_labels_no_loss(void **state) {
    (void)state;
    on_device *d = &device[0];
    train_neighbour_objective o = {.student = 1, .alpha = 1.0, .learns_alpha = 1};
    float *slope = on_device_give(d, NULL, sizeof *slope), got;
    double *loss = on_device_give(d, NULL, sizeof *loss), sum;
    o.own = on_device_give(d, NULL, sizeof *o.own);
    train_neighbours_objective.place(&o, slope, slope);
    const train_examples e = {.rows = 1, .units = 1};
    assert_int_equal(train_neighbours_objective.loss(&o, &d->stream, &e, loss, loss), TAPER_OK);
    assert_int_equal(train_neighbours_objective.gradient(&o, &d->stream, &e, NULL), TAPER_OK);
    on_device_take(d, &got, slope, sizeof got);
    on_device_take(d, &sum, loss, sizeof sum);
    assert_true(got == 0.0f && sum == 0.0);
    on_device_forget(d);
}

/* --- what ends a run ------------------------------------------------------------------------ */

static void overflow_is_found(void **state) {
    (void)state;
    static const float bad[] = {3e20f, INFINITY, NAN};
    static example x;
    for (int kind = 0; kind < 12; kind++)
        for (int i = 0; i < 3; i++) {
            const train_neighbour_objective o = {.loss = (train_neighbour_loss)(kind % 3),
                                                 .all_pairs = kind / 3 % 2,
                                                 .student = kind / 6,
                                                 .alpha = 1.0,
                                                 .learns_alpha = 1};
            draw_example(&x, 10, 2, 1.0f, 1.0f);
            for (size_t j = 0; j < x.n; j++) x.label[j] = j % 3;
            x.code[5] = bad[i];
            run_each(o, &x, 0.0f);
            check_finite(&x, false);
        }
    /* alpha driven to 0, or to infinity */
    for (int i = 0; i < 2; i++) {
        const train_neighbour_objective o = {.student = 1, .alpha = 1.0, .learns_alpha = 1};
        draw_example(&x, 20, 2, 1.0f, 1.0f);
        run_each(o, &x, i ? 800.0f : -800.0f);
        check_finite(&x, false);
    }
}

static void alpha_is_held(void **state) {
    (void)state;
    static example x;
    static outcome free_to_move;
    train_neighbour_objective o = {.student = 1, .alpha = 2.0, .learns_alpha = 1};
    draw_example(&x, 20, 2, 1.0f, 1.0f);
    run(o, &x, 0.5f);
    free_to_move = outcomes[0];
    o.holds_alpha = 1;
    run(o, &x, 0.5f);
    assert_true(free_to_move.number != 0.0f && outcomes[0].number == 0.0f);
    assert_memory_equal(free_to_move.gradient, outcomes[0].gradient, x.n * x.d * sizeof *x.code);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_loss_has_its_gradient),
                                       cmocka_unit_test(hinges_keep_classes_apart),
                                       cmocka_unit_test(batches_of_any_size),
                                       cmocka_unit_test(tiles_change_no_bit),
                                       cmocka_unit_test(operations_stay_within),
                                       cmocka_unit_test(far_apart_and_together),
                                       cmocka_unit_test(lonely_rows),
                                       cmocka_unit_test(far_from_the_origin),
                                       cmocka_unit_test(alpha_may_be_large),
                                       cmocka_unit_test(losses_of_the_improbable),
                                       cmocka_unit_test(labels_of_every_kind),
                                       cmocka_unit_test(no_labels_no_loss),
                                       cmocka_unit_test(overflow_is_found),
                                       cmocka_unit_test(alpha_is_held)};
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
