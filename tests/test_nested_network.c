/* test_nested_network.c -- the nested-dropout autoencoders against their twin in double: losses,
 * gradients (finite differences), codes, errors at every length; and that blocks, threads, frozen
 * units and short truncations change nothing. */
#include "codec/backend/fused.h"
#include "codec/backend/plain.h"
#include "cmocka_all.h"
#include "nested_twin.h"
#include <stdio.h>

/* --- comparing ------------------------------------------------------------------------ */

typedef struct distance {
    double l2, most; /* relative: of the whole vectors; of single elements to the largest one */
} distance;

static distance compare(const float *got, const double *want, size_t n) {
    double off = 0.0, all = 0.0, most = 0.0, largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(got[i] - want[i]);
        off += d * d, all += want[i] * want[i];
        if (!(d <= most)) most = d;
        largest = fmax(largest, fabs(want[i]));
    }
    assert_true(largest > 1e-6);
    return (distance){sqrt(off / all), most / largest};
}

static int near_to(double got, double want, double tolerance) {
    return fabs(got - want) <= tolerance * (fabs(want) + 1e-12);
}

static void check_loss(const char *what, const train_nested_loss *got,
                       const train_nested_loss *want) {
    if (!near_to(got->loss, want->loss, 1e-6) || !near_to(got->mse, want->mse, 1e-6) ||
        !near_to(got->invariance, want->invariance, 1e-5) || !near_to(got->rows, want->rows, 0))
        fail_msg(
            "%s: loss %.9g, mse %.9g, invariance %.9g, rows %g instead of %.9g, %.9g, %.9g, %g",
            what, got->loss, got->mse, got->invariance, got->rows, want->loss, want->mse,
            want->invariance, want->rows);
}

/* Gradients from `first` on that have to be 0 exactly; the twin's become it. */
static void clear_checked(const char *what, const float *got, double *want, size_t first,
                          size_t n) {
    for (size_t i = first; i < first + n; want[i++] = 0.0)
        if (got[i] != 0.0f) fail_msg("%s: gradient %zu is %g, not 0", what, i, (double)got[i]);
}

/* plain, and fused where the processor has it. */
static int backends(codec_backend be[2]) {
    assert_int_equal(codec_backend_plain(&be[0]), TAPER_OK);
    return codec_backend_fused(&be[1], 512) == TAPER_OK ? 2 : 1;
}

/* The twin's loss and gradient at a network's weights, [net->n]. */
static double *differentiate(const problem *q, const train_nested_network *net,
                             train_nested_loss *loss) {
    twin t;
    twin_make(&t, q);
    double *p = doubles(net->parameter, net->n);
    assert_int_equal(twin_places(&q->shape).n, net->n);
    twin_freeze(&t, p, net->spread);
    *loss = twin_loss(&t, p);
    double *gradient = twin_gradient(&t, p, net->n);
    free(p);
    twin_free(&t);
    return gradient;
}

/* Loss and gradient of a problem on all backends against the twin's; those of frozen units' rows
 * are 0. Keeps the largest distances in *worst. */
static void check_gradient(const problem *q, uint32_t frozen, const char *what, distance *worst) {
    codec_backend be[2];
    double *gradient = NULL;
    train_nested_loss want;
    int n = backends(be);
    for (int i = 0; i < n; i++) {
        train_nested_network net;
        train_nested_loss loss;
        network_make(&net, q, &be[i]);
        net.frozen = frozen;
        add_all(&net, q, &loss);
        if (!gradient) gradient = differentiate(q, &net, &want);
        check_loss(what, &loss, &want);
        const places at = twin_places(&q->shape);
        uint32_t last = q->shape.layers - 1;
        size_t rows = (size_t)frozen * net.layer[last].inputs;
        clear_checked(what, net.gradient, gradient, at.b[last],
                      q->shape.binary ? net.units : frozen);
        clear_checked(what, net.gradient, gradient, at.w[last], rows);
        clear_checked(what, net.gradient, gradient, at.v[last], rows);
        distance d = compare(net.gradient, gradient, net.n);
        if (!(d.l2 <= 1e-6) || !(d.most <= 1e-5))
            fail_msg("%s on %s: the gradient is off by %g of its norm, an element by %g of the "
                     "largest",
                     what, be[i].ops->name, d.l2, d.most);
        worst->l2 = fmax(worst->l2, d.l2);
        worst->most = fmax(worst->most, d.most);
        train_nested_free(&net);
    }
    free(gradient);
}

/* --- gradients ------------------------------------------------------------------------ */

static const char *const activation_name[] = {"linear", "ReLU", "logistic"};

static const train_nested_shape shapes[] = {
    {.inputs = D, .layers = 1, .width = {7}},
    {.inputs = D, .layers = 3, .width = {9, 7, 5}},
    {.inputs = D, .layers = 1, .width = {WIDEST}},
    {.inputs = D, .layers = 2, .width = {9, WIDEST}},
};

static void gradients_are_those_of_the_definition(void **unused) {
    (void)unused;
    distance worst = {0, 0};
    int count = 0;
    for (int which = 0; which < 4; which++)
        for (int variant = 0; variant < 3 * 3 * 2; variant++) {
            train_nested_shape shape = shapes[which];
            shape.hidden = (codec_activation)(variant % 3);
            shape.code = (codec_activation)(variant / 3 % 3);
            shape.tied = variant / 9;
            if (shape.layers == 1 && shape.hidden) continue; /* there is none */
            /* of the wide codes only the first units are reached, unless noise tells all */
            uint32_t longest = which < 2 ? shape.width[shape.layers - 1] : 10;
            int noise = which < 2 ? 8 : 2;
            for (int bits = 0; bits < noise; bits += bits ? 3 : 1, count++) {
                problem q;
                char what[160];
                problem_make(&q, &shape, 8, 1, longest, (uint64_t)(100 + which));
                add_noise(&q, which < 2 ? bits : 3);
                snprintf(what, sizeof what, "shape %d, hidden %s, code %s, tied %d, noise %d",
                         which, activation_name[shape.hidden], activation_name[shape.code],
                         shape.tied, which < 2 ? bits : 3);
                check_gradient(&q, 0, what, &worst);
                problem_free(&q);
            }
        }
    printf("%d networks: largest relative L2 distance of a gradient %.2g, of an "
           "element %.2g\n",
           count, worst.l2, worst.most);
}

static void binary_gradients_are_those_of_the_definition(void **unused) {
    (void)unused;
    distance worst = {0, 0};
    for (int which = 0; which < 4; which++)
        for (int variant = 0; variant < 16; variant++) {
            train_nested_shape shape = shapes[which];
            problem q;
            char what[160];
            shape.binary = 1;
            shape.hidden = which & 1 ? CODEC_RELU : CODEC_LINEAR;
            shape.tied = variant & 1;
            shape.centre = variant & 2 ? 0.5f : 0.0f;
            problem_make(&q, &shape, 8, 1, which < 2 ? shape.width[shape.layers - 1] : 10,
                         (uint64_t)(200 + which));
            q.step.straight_through = variant >> 2 & 1;
            add_noise(&q, variant & 8 ? 7 : 0);
            snprintf(what, sizeof what,
                     "binary, shape %d, tied %d, centre %g, straight-through %d, "
                     "noise %d",
                     which, shape.tied, (double)shape.centre, q.step.straight_through,
                     variant & 8 ? 7 : 0);
            check_gradient(&q, 0, what, &worst);
            problem_free(&q);
        }
    printf("binary: largest relative L2 distance of a gradient %.2g, of an element %.2g\n",
           worst.l2, worst.most);
}

static void frozen_units_are_left_alone(void **unused) {
    (void)unused;
    distance worst = {0, 0};
    for (int which = 0; which < 4; which++)
        for (int variant = 0; variant < 12; variant++) {
            train_nested_shape shape = shapes[which];
            problem q;
            char what[160];
            shape.tied = variant & 1;
            shape.binary = variant / 2 % 3 == 1;
            shape.code = variant / 2 % 3 == 2 ? CODEC_LOGISTIC : CODEC_LINEAR;
            shape.hidden = CODEC_RELU;
            problem_make(&q, &shape, 8, 4, which < 2 ? shape.width[shape.layers - 1] : 18,
                         (uint64_t)(320 + which));
            q.step.straight_through = 1;
            add_noise(&q, variant >= 6 ? 7 : 0);
            snprintf(what, sizeof what, "frozen, shape %d, tied %d, binary %d, code %s, noise %d",
                     which, shape.tied, shape.binary, activation_name[shape.code],
                     variant >= 6 ? 7 : 0);
            check_gradient(&q, 3, what, &worst);
            problem_free(&q);
        }
    printf("frozen: largest relative L2 distance of a gradient %.2g, of an element %.2g\n",
           worst.l2, worst.most);
}

/* Probabilities are rounded to 65536ths, which shows where few units are left. */
static void heavy_dropout_has_the_right_slope(void **unused) {
    (void)unused;
    distance worst = {0, 0};
    train_nested_shape shape = shapes[1];
    problem q;
    shape.hidden = CODEC_LOGISTIC;
    problem_make(&q, &shape, 20, 1, 5, 400);
    static const float dropout[] = {0.5f, 0.9f, 1e-6f};
    for (int i = 0; i < 3; i++) {
        q.step.dropout = dropout[i];
        check_gradient(&q, 0, "heavy dropout", &worst);
    }
    problem_free(&q);
}

/* --- what must change nothing --------------------------------------------------------- */

static const train_nested_shape deep = {
    .inputs = D, .layers = 3, .width = {20, 14, 24}, .hidden = CODEC_RELU, .code = CODEC_LOGISTIC};

/* Only the units that some row of a block keeps take part, rounded up. */
static void short_truncations_are_cheap(void **unused) {
    (void)unused;
    codec_backend be;
    train_nested_network net;
    train_nested_loss loss;
    problem q;
    size_t rows;
    uint32_t active;
    codec_backend_cpu(&be);
    problem_make(&q, &shapes[3], 30, 1, 10, 500);
    network_make(&net, &q, &be);
    add_all(&net, &q, &loss);
    rows = net.act->n, active = net.act->active;
    assert_int_equal(rows, 30);
    assert_true(active >= 10 && active <= 16);
    q.step.invariance = 1.0f; /* which looks at the whole code */
    add_all(&net, &q, &loss);
    rows = net.act->n, active = net.act->active;
    assert_int_equal(rows, 30);
    assert_int_equal(active, WIDEST);
    train_nested_free(&net);
    problem_free(&q);
}

/* Blocks, and any cutting of a step into calls. */
static void rows_add_up(void **unused) {
    (void)unused;
    static const size_t cut[] = {0, 500, 513, 1100, 1200};
    codec_backend be;
    train_nested_network net;
    train_nested_loss loss, parts = {0};
    problem q;
    twin t;
    codec_backend_cpu(&be);
    problem_make(&q, &deep, 1200, 1, 24, 600);
    add_noise(&q, 7);
    network_make(&net, &q, &be);
    add_all(&net, &q, &loss);
    twin_make(&t, &q);
    double *p = doubles(net.parameter, net.n), *whole = doubles(net.gradient, net.n);
    train_nested_loss want = twin_loss(&t, p);
    check_loss("1200 rows", &loss, &want);
    train_nested_zero(&net);
    for (int i = 0; i < 4; i++)
        assert_int_equal(train_nested_add(&net, &q.step, &q.data, q.order + cut[i],
                                          cut[i + 1] - cut[i], 1200, cut[i], &parts),
                         TAPER_OK);
    check_loss("parts", &parts, &want);
    assert_true(compare(net.gradient, whole, net.n).l2 <= 1e-6);
    train_nested_zero(&net);
    for (size_t i = 0; i < 1200; i++)
        assert_int_equal(train_nested_add(&net, &q.step, &q.data, q.order + i, 1, 1200, i, &parts),
                         TAPER_OK);
    assert_true(compare(net.gradient, whole, net.n).l2 <= 1e-6);
    free(p), free(whole);
    twin_free(&t);
    train_nested_free(&net);
    problem_free(&q);
}

static void threads_change_no_bit(void **unused) {
    (void)unused;
    for (int variant = 0; variant < 4; variant++) {
        train_nested_shape shape = deep;
        train_nested_loss first = {0};
        float *gradient = NULL;
        problem q;
        shape.binary = variant & 1;
        shape.tied = variant >> 1;
        problem_make(&q, &shape, 700, 3, 24, 700);
        add_noise(&q, 7);
        q.step.straight_through = 1;
        for (unsigned threads = 1; threads <= 3; threads++) {
            codec_backend be;
            train_nested_network net;
            train_nested_loss loss;
            codec_backend_cpu(&be);
            assert_int_equal(codec_backend_set_threads(&be, threads), TAPER_OK);
            network_make(&net, &q, &be);
            net.frozen = 2;
            add_all(&net, &q, &loss);
            if (!gradient) {
                gradient = take(net.n, sizeof *gradient);
                memcpy(gradient, net.gradient, net.n * sizeof *gradient);
                first = loss;
            }
            assert_memory_equal(gradient, net.gradient, net.n * sizeof *gradient);
            assert_memory_equal(&first, &loss, sizeof loss);
            train_nested_free(&net);
            codec_backend_close(&be);
        }
        free(gradient);
        problem_free(&q);
    }
}

/* --- codes, reconstructions, errors --------------------------------------------------- */

/* Codes and pre-activations of all rows against the twin's. */
static void check_codes(train_nested_network *net, const problem *q, const twin *t, const double *p,
                        float *codes) {
    float *pre = take(q->rows * net->units, sizeof *pre);
    assert_int_equal(train_nested_codes(net, &q->data, q->order, q->rows, 0, codes), TAPER_OK);
    assert_int_equal(train_nested_codes(net, &q->data, q->order, q->rows, 1, pre), TAPER_OK);
    const double *b = p + twin_places(&q->shape).b[q->shape.layers - 1];
    for (size_t r = 0; r < q->rows; r++) {
        double a[WIDEST];
        twin_encode(t, p, t->clean + r * D, r, a);
        for (uint32_t k = 0; k < net->units; k++) {
            size_t i = r * net->units + k;
            assert_true(fabs(pre[i] - a[k]) <= 1e-5);
            if (q->shape.binary && fabs(a[k] + b[k]) <= 1e-5) continue; /* either bit is right */
            assert_true(fabs(codes[i] - twin_code(t, p, k, a[k])) <= 1e-5);
        }
    }
    free(pre);
}

/* pixels[n][D] (8-bit scale, not clamped) from codes[n][K], of which the first `kept` count. */
static void decode(train_nested_network *net, const float *codes, size_t n, uint32_t kept,
                   float *pixels) {
    const float *g = net->act->back_hidden[0];
    for (size_t i = 0; i < n; i += TRAIN_NESTED_BLOCK) {
        train_nested_rows rows = {net, NULL, NULL, NULL, 0, 1};
        size_t m = formats_smaller(TRAIN_NESTED_BLOCK, n - i);
        for (size_t r = 0; r < m; r++)
            memcpy(net->act->code + r * kept, codes + (i + r) * net->units, kept * sizeof *codes);
        assert_int_equal(train_nested_decode_block(&rows, net->act->code, m, kept), TAPER_OK);
        for (size_t j = 0; j < m * D; j++) pixels[i * D + j] = net->mean[j % D] + net->scale * g[j];
    }
}

/* Reconstructions of codes at a length against the twin's; returns their mean squared error. */
static double check_pixels(train_nested_network *net, const problem *q, const twin *t,
                           const double *p, const float *codes, uint32_t kept) {
    float *pixels = take(q->rows * D, sizeof *pixels);
    double error = 0.0;
    decode(net, codes, q->rows, kept, pixels);
    for (size_t r = 0; r < q->rows; r++) {
        double x[WIDEST], g[WIDEST];
        for (uint32_t k = 0; k < net->units; k++) x[k] = codes[r * net->units + k];
        twin_decode(t, p, x, kept, r, g);
        for (size_t i = 0; i < D; i++) {
            double want = q->mean[i] + q->scale * g[i];
            assert_true(fabs(pixels[r * D + i] - want) <= 2e-3);
            error += pow(want - q->pixels[q->order[r] * D + i], 2.0);
        }
    }
    free(pixels);
    return error / (double)(q->rows * D);
}

/* Also that lengths may be any rising ones, and rows taken without an order. */
static void errors_are_those_of_truncated_codes(void **unused) {
    (void)unused;
    for (int variant = 0; variant < 12; variant++) {
        train_nested_shape shape = variant & 1 ? deep : shapes[2];
        train_nested_network net;
        codec_backend be[2];
        double errors[WIDEST + 1];
        uint32_t length[WIDEST + 1];
        problem q;
        twin t;
        shape.tied = variant >> 1 & 1;
        shape.binary = variant / 4 == 1, shape.centre = 0.25f;
        shape.code = variant / 4 == 2 ? CODEC_RELU : CODEC_LINEAR;
        int n = backends(be);
        problem_make(&q, &shape, 1100, 1, 5, 800);
        network_make(&net, &q, &be[variant % n]);
        twin_make(&t, &q);
        double *p = doubles(net.parameter, net.n);
        float *codes = take(q.rows * net.units, sizeof *codes);
        check_codes(&net, &q, &t, p, codes);
        for (uint32_t k = 0; k <= net.units; k++) length[k] = k;
        assert_int_equal(
            train_nested_errors(&net, &q.data, q.order, q.rows, length, net.units + 1, errors),
            TAPER_OK);
        for (uint32_t k = 0; k <= net.units; k += k < 5 || k + 5 > net.units ? 1 : 4) {
            double want = check_pixels(&net, &q, &t, p, codes, k);
            if (!near_to(errors[k], want, 1e-5))
                fail_msg("variant %d: error %.9g at length %u, not %.9g", variant, errors[k],
                         (unsigned)k, want);
        }
        const uint32_t some[] = {3, 3, 11, net.units};
        double few[4];
        assert_int_equal(train_nested_errors(&net, &q.data, q.order, q.rows, some, 4, few),
                         TAPER_OK);
        for (int i = 0; i < 4; i++) assert_true(near_to(few[i], errors[some[i]], 1e-5));
        for (uint32_t r = 0; r < q.rows; r++) q.order[r] = r;
        assert_int_equal(train_nested_errors(&net, &q.data, q.order, q.rows, some, 4, few),
                         TAPER_OK);
        assert_int_equal(train_nested_errors(&net, &q.data, NULL, q.rows, some, 4, errors),
                         TAPER_OK);
        assert_memory_equal(few, errors, sizeof few);
        free(p), free(codes);
        twin_free(&t);
        train_nested_free(&net);
        problem_free(&q);
    }
}

/* --- making --------------------------------------------------------------------------- */

static void first_weights_have_their_variance(void **unused) {
    (void)unused;
    codec_backend be;
    float mean[200] = {0};
    codec_backend_cpu(&be);
    for (uint32_t layers = 1; layers <= 2; layers++) {
        const train_nested_shape shape = {.inputs = 200, .layers = layers, .width = {100, 60}};
        train_nested_network net, again;
        assert_int_equal(train_nested_create(&net, &shape, &be, mean, 50.0f, 3), TAPER_OK);
        assert_int_equal(train_nested_create(&again, &shape, &be, mean, 50.0f, 3), TAPER_OK);
        assert_memory_equal(net.parameter, again.parameter, net.n * sizeof *net.parameter);
        for (uint32_t l = 0; l < layers; l++) {
            const train_nested_layer *y = &net.layer[l];
            double square = 0.0, sum = 0.0, n = (double)y->inputs * y->outputs;
            for (size_t i = 0; i < (size_t)n; i++) sum += y->w[i], square += y->w[i] * y->w[i];
            double want = (layers == 1 ? 0.5 : 2.0) / y->inputs;
            assert_true(near_to(square / n, want, 0.1) && fabs(sum / n) <= 3.5 * sqrt(want / n));
            for (uint32_t k = 0; k < y->outputs; k++) assert_true(y->b[k] == 0.0f);
        }
        train_nested_free(&net), train_nested_free(&again);
        train_nested_free(&again); /* harmless */
    }
}

static void wrong_shapes_and_lengths_are_refused(void **unused) {
    (void)unused;
    codec_backend be;
    train_nested_network net;
    problem q;
    codec_backend_cpu(&be);
    problem_make(&q, &shapes[0], 10, 1, 7, 900);
    const train_nested_shape wrong[] = {
        {.inputs = 0, .layers = 1, .width = {7}},
        {.inputs = D, .layers = 0, .width = {7}},
        {.inputs = D, .layers = TRAIN_NESTED_MAX_LAYERS + 1, .width = {7, 7, 7, 7, 7, 7, 7}},
        {.inputs = D, .layers = 2, .width = {7, 0}},
        {.inputs = D, .layers = 1, .width = {65536}},
        {.inputs = D, .layers = 1, .width = {7}, .binary = 1, .centre = 1.5f},
        {.inputs = D, .layers = 1, .width = {7}, .binary = 1, .centre = NAN},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(train_nested_create(&net, &wrong[i], &be, q.mean, 1.0f, 1), TAPER_ERR_ARG);
    static const float scale[] = {0.0f, -1.0f, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        assert_int_equal(train_nested_create(&net, &shapes[0], &be, q.mean, scale[i], 1),
                         TAPER_ERR_ARG);
    network_make(&net, &q, &be);
    static const uint32_t beyond[] = {2, 8}, falling[] = {3, 2};
    double errors[2];
    assert_int_equal(train_nested_errors(&net, &q.data, q.order, 10, beyond, 2, errors),
                     TAPER_ERR_ARG);
    assert_int_equal(train_nested_errors(&net, &q.data, q.order, 10, falling, 2, errors),
                     TAPER_ERR_ARG);
    train_nested_free(&net);
    problem_free(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_the_definition),
        cmocka_unit_test(binary_gradients_are_those_of_the_definition),
        cmocka_unit_test(frozen_units_are_left_alone),
        cmocka_unit_test(heavy_dropout_has_the_right_slope),
        cmocka_unit_test(short_truncations_are_cheap),
        cmocka_unit_test(rows_add_up),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(errors_are_those_of_truncated_codes),
        cmocka_unit_test(first_weights_have_their_variance),
        cmocka_unit_test(wrong_shapes_and_lengths_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
