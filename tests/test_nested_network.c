/* test_nested_network.c -- the nested-dropout autoencoders against their reference in double:
 * losses, gradients (finite differences), codes, errors at every length; and that blocks, threads,
 * frozen units, short truncations and the kind of device change nothing; failures of a device. */
#include "codec/backend/plain.h"
#include "nested_reference.h"
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
        !near_to(got->invariance, want->invariance, 1e-5))
        fail_msg("%s: loss %.9g, mse %.9g, invariance %.9g instead of %.9g, %.9g, %.9g", what,
                 got->loss, got->mse, got->invariance, want->loss, want->mse, want->invariance);
}

/* Gradients from `first` on that have to be 0 exactly; the reference's become it. */
static void clear_checked(const char *what, const float *got, double *want, size_t first,
                          size_t n) {
    for (size_t i = first; i < first + n; want[i++] = 0.0)
        if (got[i] != 0.0f) fail_msg("%s: gradient %zu is %g, not 0", what, i, (double)got[i]);
}

/* The processor with plain products, with the fastest, and its shadow. */
enum { PLACES = 3 };
static on_device place[PLACES];

static int open_places(void **state) {
    (void)state;
    for (int i = 0; i < PLACES; i++)
        on_device_open(&place[i], i == 2 ? TRAIN_SHADOW : TRAIN_PROCESSOR);
    assert_null(place[0].be.pool);
    assert_int_equal(codec_backend_plain(&place[0].be), TAPER_OK);
    return 0;
}

static int close_places(void **state) {
    (void)state;
    for (int i = 0; i < PLACES; i++) on_device_close(&place[i]);
    return 0;
}

/* The reference's loss and gradient at a network's weights, [net->weights.n]. */
static double *differentiate(const problem *q, train_nested_network *net, train_nested_loss *loss) {
    nested_reference t;
    nested_reference_make(&t, q);
    size_t n = net->weights.n;
    float *parameter = fetch(net, net->weights.parameter, n),
          *spread = fetch(net, net->spread, net->units);
    double *p = doubles(parameter, n);
    assert_int_equal(nested_reference_places(&q->shape).n, n);
    nested_reference_freeze(&t, p, spread);
    *loss = nested_reference_loss(&t, p);
    double *gradient = nested_reference_gradient(&t, p, n);
    free(p), free(parameter), free(spread);
    nested_reference_free(&t);
    return gradient;
}

/* Loss and gradient of a problem on a device; the gradient is the caller's. */
static float *step_on(on_device *d, problem *q, uint32_t frozen, train_nested_loss *loss) {
    train_nested_network net;
    network_make(&net, q, &d->device);
    net.frozen = frozen;
    lend_labels(q, &d->device);
    add_all(&net, q, loss);
    return_labels(q);
    float *gradient = fetch(&net, net.weights.gradient, net.weights.n);
    train_nested_free(&net);
    return gradient;
}

/* Where frozen units' gradients lie they have to be 0. */
static void clear_frozen(const problem *q, uint32_t frozen, const char *what, const float *got,
                         double *want) {
    const places at = nested_reference_places(&q->shape);
    uint32_t last = q->shape.layers - 1, units = q->shape.width[last];
    size_t rows = (size_t)frozen * (last ? q->shape.width[last - 1] : q->shape.inputs);
    clear_checked(what, got, want, at.b[last], q->shape.binary ? units : frozen);
    clear_checked(what, got, want, at.w[last], rows);
    clear_checked(what, got, want, at.v[last], rows);
}

/* Loss and gradient of a problem on all devices against the reference's; those of frozen units'
 * rows are 0. The shadow's are the processor's, to the bit. Keeps the largest distances in
 * *worst. */
static void check_gradient(problem *q, uint32_t frozen, const char *what, distance *worst) {
    train_nested_network net;
    train_nested_loss want, loss[PLACES];
    float *got[PLACES];
    size_t n = nested_reference_places(&q->shape).n;
    network_make(&net, q, &place[0].device);
    double *gradient = differentiate(q, &net, &want);
    train_nested_free(&net);
    for (int i = 0; i < PLACES; i++) {
        got[i] = step_on(&place[i], q, frozen, &loss[i]);
        check_loss(what, &loss[i], &want);
        clear_frozen(q, frozen, what, got[i], gradient);
        distance d = compare(got[i], gradient, n);
        if (!(d.l2 <= 1e-6) || !(d.most <= 1e-5))
            fail_msg("%s on device %d: the gradient is off by %g of its norm, an element by %g of "
                     "the largest",
                     what, i, d.l2, d.most);
        worst->l2 = fmax(worst->l2, d.l2);
        worst->most = fmax(worst->most, d.most);
    }
    assert_memory_equal(got[1], got[2], n * sizeof **got);
    assert_memory_equal(&loss[1], &loss[2], sizeof *loss);
    for (int i = 0; i < PLACES; i++) free(got[i]);
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
        for (int variant = 0; variant < 20; variant++) {
            train_nested_shape shape = shapes[which];
            problem q;
            char what[160];
            shape.binary = 1;
            shape.feedback = variant >= 16;
            shape.hidden = which & 1 ? CODEC_RELU : CODEC_LINEAR;
            shape.tied = variant & 1;
            shape.centre = variant & 2 ? 0.5f : 0.0f;
            problem_make(&q, &shape, 8, 1, which < 2 ? shape.width[shape.layers - 1] : 10,
                         (uint64_t)(200 + which));
            q.step.straight_through = variant >> 2 & 1 || shape.feedback;
            add_noise(&q, variant & 8 ? 7 : 0);
            snprintf(what, sizeof what,
                     "binary, feedback %d, shape %d, tied %d, centre %g, straight-through %d, "
                     "noise %d",
                     shape.feedback, which, shape.tied, (double)shape.centre,
                     q.step.straight_through, variant & 8 ? 7 : 0);
            check_gradient(&q, 0, what, &worst);
            problem_free(&q);
        }
    printf("binary: largest relative L2 distance of a gradient %.2g, of an element %.2g\n",
           worst.l2, worst.most);
}

/* Of prefixes of 8, 16 and 19 units, or of 5; units that truncation has cut off count, too. */
static void gradients_by_labels_are_those_of_the_definition(void **unused) {
    (void)unused;
    distance worst = {0, 0};
    for (int which = 0; which < 4; which++)
        for (int variant = 0; variant < 8; variant++) {
            train_nested_shape shape = shapes[which];
            const uint32_t units = which < 2 ? 5 : 19;
            problem q;
            char what[160];
            shape.binary = 1;
            shape.feedback = variant & 1;
            shape.alone = variant == 3 ? units : 0;
            shape.hidden = which & 1 ? CODEC_RELU : CODEC_LINEAR;
            shape.tied = variant >> 1 & 1;
            shape.centre = variant & 4 ? 0.5f : 0.0f;
            problem_make(&q, &shape, 13, 1, which < 2 ? 5 : 10, (uint64_t)(200 + which));
            q.step.straight_through = 1;
            add_noise(&q, shape.feedback ? 3 : variant & 4 ? 7 : 0);
            add_labels(&q, units, 3.0f);
            snprintf(what, sizeof what, "labels, shape %d, variant %d", which, variant);
            check_gradient(&q, 0, what, &worst);
            problem_free(&q);
        }
    printf("labels: largest relative L2 distance of a gradient %.2g, of an element %.2g\n",
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
    train_nested_network net;
    train_nested_loss loss;
    problem q;
    problem_make(&q, &shapes[3], 30, 1, 10, 500);
    network_make(&net, &q, &place[1].device);
    add_all(&net, &q, &loss);
    assert_int_equal(net.act.n, 30);
    assert_in_range(net.act.active, 10, 16);
    q.step.invariance = 1.0f; /* which looks at the whole code */
    add_all(&net, &q, &loss);
    assert_int_equal(net.act.n, 30);
    assert_int_equal(net.act.active, WIDEST);
    train_nested_free(&net);
    problem_free(&q);
}

/* Distance of a network's gradient from another one. */
static double apart(train_nested_network *net, const double *whole) {
    float *gradient = fetch(net, net->weights.gradient, net->weights.n);
    double l2 = compare(gradient, whole, net->weights.n).l2;
    free(gradient);
    return l2;
}

/* Blocks, and any cutting of a step into calls. */
static void rows_add_up(void **unused) {
    (void)unused;
    static const size_t cut[] = {0, 500, 513, 1100, 1200};
    train_nested_network net;
    train_nested_loss loss;
    problem q;
    nested_reference t;
    problem_make(&q, &deep, 1200, 1, 24, 600);
    add_noise(&q, 7);
    network_make(&net, &q, &place[1].device);
    size_t n = net.weights.n;
    add_all(&net, &q, &loss);
    nested_reference_make(&t, &q);
    float *parameter = fetch(&net, net.weights.parameter, n),
          *gradient = fetch(&net, net.weights.gradient, n);
    double *p = doubles(parameter, n), *whole = doubles(gradient, n);
    train_nested_loss want = nested_reference_loss(&t, p);
    check_loss("1200 rows", &loss, &want);
    begin_step(&net);
    for (int i = 0; i < 4; i++) add_some(&net, &q, cut[i], cut[i + 1] - cut[i]);
    loss = loss_of(&net);
    check_loss("parts", &loss, &want);
    assert_true(apart(&net, whole) <= 1e-6);
    begin_step(&net);
    for (size_t i = 0; i < 1200; i++) add_some(&net, &q, i, 1);
    assert_true(apart(&net, whole) <= 1e-6);
    free(p), free(whole), free(parameter), free(gradient);
    nested_reference_free(&t);
    train_nested_free(&net);
    problem_free(&q);
}

/* Neighbours in other blocks: the loss, and its slope along the gradient. */
static void labels_join_blocks(void **unused) {
    (void)unused;
    enum { ROWS = 700 };
    train_nested_network net;
    train_nested_loss loss;
    problem q;
    nested_reference t;
    train_nested_shape shape = deep;
    shape.binary = shape.feedback = 1, shape.alone = 10;
    problem_make(&q, &shape, ROWS, 1, 24, 600);
    q.step.straight_through = 1;
    add_labels(&q, 10, 40.0f);
    network_make(&net, &q, &place[1].device);
    assert_true(net.act.block < ROWS);
    lend_labels(&q, &place[1].device);
    add_all(&net, &q, &loss);
    return_labels(&q);
    const size_t n = net.weights.n;
    float *parameter = fetch(&net, net.weights.parameter, n),
          *gradient = fetch(&net, net.weights.gradient, n),
          *spread = fetch(&net, net.spread, net.units);
    double *p = doubles(parameter, n), *to = doubles(parameter, n), slope = 0.0, h = 1e-6;
    nested_reference_make(&t, &q);
    nested_reference_freeze(&t, p, spread);
    const train_nested_loss want = nested_reference_loss(&t, p);
    check_loss("700 rows with labels", &loss, &want);
    for (size_t i = 0; i < n; i++) slope += (double)gradient[i] * gradient[i];
    for (size_t i = 0; i < n; i++) to[i] = p[i] + h * gradient[i];
    const double up = nested_reference_loss(&t, to).loss;
    for (size_t i = 0; i < n; i++) to[i] = p[i] - h * gradient[i];
    assert_true(near_to((up - nested_reference_loss(&t, to).loss) / (2.0 * h), slope, 1e-5));
    free(p), free(to), free(parameter), free(gradient), free(spread);
    nested_reference_free(&t);
    train_nested_free(&net);
    problem_free(&q);
}

static void threads_and_devices_change_no_bit(void **unused) {
    (void)unused;
    for (int variant = 0; variant < 6; variant++) {
        train_nested_shape shape = deep;
        train_nested_loss first = {0}, loss;
        float *gradient = NULL;
        problem q;
        shape.binary = variant & 1;
        shape.tied = variant >> 1 & 1;
        problem_make(&q, &shape, 700, 3, 24, 700);
        add_noise(&q, 7);
        q.step.straight_through = 1;
        if (variant == 5) add_labels(&q, 18, 2.0f);
        size_t n = nested_reference_places(&shape).n;
        for (unsigned threads = 1; threads <= 4; threads++) {
            on_device d;
            on_device_open_threads(&d, threads == 4 ? TRAIN_SHADOW : TRAIN_PROCESSOR, threads);
            float *got = step_on(&d, &q, 2, &loss);
            if (!gradient) gradient = got, first = loss;
            assert_memory_equal(gradient, got, n * sizeof *gradient);
            assert_memory_equal(&first, &loss, sizeof loss);
            if (got != gradient) free(got);
            on_device_close(&d);
        }
        free(gradient);
        problem_free(&q);
    }
}

/* --- codes, reconstructions, errors --------------------------------------------------- */

/* Codes and pre-activations of all rows against the reference's. */
static void check_codes(train_nested_network *net, const train_nested_data *data, const problem *q,
                        const nested_reference *t, const double *p, float *codes) {
    float *pre = take(q->rows * net->units, sizeof *pre);
    assert_int_equal(train_nested_codes(net, data, 0, codes), TAPER_OK);
    assert_int_equal(train_nested_codes(net, data, 1, pre), TAPER_OK);
    const double *b = p + nested_reference_places(&q->shape).b[q->shape.layers - 1];
    for (size_t r = 0; r < q->rows; r++) {
        double a[WIDEST];
        nested_reference_encode(t, p, t->clean + r * D, r, a);
        for (uint32_t k = 0; k < net->units; k++) {
            size_t i = r * net->units + k;
            assert_true(fabs(pre[i] - a[k]) <= 1e-5);
            if (q->shape.binary && fabs(a[k] + b[k]) <= 1e-5) continue; /* either bit is right */
            assert_true(fabs(codes[i] - nested_reference_code(t, p, k, a[k])) <= 1e-5);
        }
    }
    free(pre);
}

/* Reconstructions of codes at a length against the reference's; returns their mean squared
 * error. */
static double check_pixels(train_nested_network *net, const problem *q, const nested_reference *t,
                           const double *p, const float *codes, uint32_t kept) {
    float *pixels = take(q->rows * D, sizeof *pixels);
    double error = 0.0;
    assert_int_equal(train_nested_decode(net, codes, q->rows, kept, pixels), TAPER_OK);
    for (size_t r = 0; r < q->rows; r++) {
        double x[WIDEST], g[WIDEST];
        for (uint32_t k = 0; k < net->units; k++) x[k] = codes[r * net->units + k];
        nested_reference_decode(t, p, x, kept, r, g);
        for (size_t i = 0; i < D; i++) {
            double want = q->mean[i] + q->scale * g[i];
            assert_true(fabs(pixels[r * D + i] - want) <= 2e-3);
            error += pow(want - q->pixels[q->order[r] * D + i], 2.0);
        }
    }
    free(pixels);
    return error / (double)(q->rows * D);
}

/* Lengths may be any rising ones, and rows taken without an order. */
static void check_some_lengths(train_nested_network *net, problem *q, const double *errors) {
    const uint32_t some[] = {3, 3, 11, net->units};
    double few[4], plain[4];
    train_nested_source source;
    assert_int_equal(train_nested_source_open(&source, net, &q->data, q->order, q->rows), TAPER_OK);
    assert_int_equal(train_nested_errors(net, &source.data, some, 4, few), TAPER_OK);
    for (int i = 0; i < 4; i++) assert_true(near_to(few[i], errors[some[i]], 1e-5));
    train_nested_source_close(&source);
    for (uint32_t r = 0; r < q->rows; r++) q->order[r] = r;
    assert_int_equal(train_nested_source_open(&source, net, &q->data, q->order, q->rows), TAPER_OK);
    assert_int_equal(train_nested_errors(net, &source.data, some, 4, few), TAPER_OK);
    source.data.order = NULL;
    assert_int_equal(train_nested_errors(net, &source.data, some, 4, plain), TAPER_OK);
    assert_memory_equal(few, plain, sizeof few);
    train_nested_source_close(&source);
}

/* More lengths than come down from the device at once. */
static void check_many_lengths(train_nested_network *net, problem *q, const double *errors) {
    enum { MANY = 2 * TRAIN_NESTED_LENGTHS + 30 };
    uint32_t many[MANY];
    double got[MANY];
    train_nested_source source;
    for (uint32_t i = 0; i < MANY; i++) many[i] = i * net->units / (MANY - 1);
    assert_int_equal(train_nested_source_open(&source, net, &q->data, q->order, q->rows), TAPER_OK);
    assert_int_equal(train_nested_errors(net, &source.data, many, MANY, got), TAPER_OK);
    for (int i = 0; i < MANY; i++) assert_true(near_to(got[i], errors[many[i]], 1e-5));
    train_nested_source_close(&source);
}

static void errors_are_those_of_truncated_codes(void **unused) {
    (void)unused;
    for (int variant = 0; variant < 12; variant++) {
        train_nested_shape shape = variant & 1 ? deep : shapes[2];
        train_nested_network net;
        train_nested_source source;
        double errors[WIDEST + 1];
        uint32_t length[WIDEST + 1];
        problem q;
        nested_reference t;
        shape.tied = variant >> 1 & 1;
        shape.binary = variant / 4 == 1, shape.centre = 0.25f;
        shape.code = variant / 4 == 2 ? CODEC_RELU : CODEC_LINEAR;
        problem_make(&q, &shape, 1100, 1, 5, 800);
        network_make(&net, &q, &place[variant % PLACES].device);
        nested_reference_make(&t, &q);
        float *parameter = fetch(&net, net.weights.parameter, net.weights.n);
        double *p = doubles(parameter, net.weights.n);
        float *codes = take(q.rows * net.units, sizeof *codes);
        assert_int_equal(train_nested_source_open(&source, &net, &q.data, q.order, q.rows),
                         TAPER_OK);
        check_codes(&net, &source.data, &q, &t, p, codes);
        for (uint32_t k = 0; k <= net.units; k++) length[k] = k;
        assert_int_equal(train_nested_errors(&net, &source.data, length, net.units + 1, errors),
                         TAPER_OK);
        train_nested_source_close(&source);
        for (uint32_t k = 0; k <= net.units; k += k < 5 || k + 5 > net.units ? 1 : 4) {
            double want = check_pixels(&net, &q, &t, p, codes, k);
            if (!near_to(errors[k], want, 1e-5))
                fail_msg("variant %d: error %.9g at length %u, not %.9g", variant, errors[k],
                         (unsigned)k, want);
        }
        check_many_lengths(&net, &q, errors);
        check_some_lengths(&net, &q, errors);
        free(p), free(codes), free(parameter);
        nested_reference_free(&t);
        train_nested_free(&net);
        problem_free(&q);
    }
}

/* --- making --------------------------------------------------------------------------- */

static void first_weights_have_their_variance(void **unused) {
    (void)unused;
    float mean[200] = {0};
    for (uint32_t layers = 1; layers <= 2; layers++) {
        const train_nested_shape shape = {.inputs = 200, .layers = layers, .width = {100, 60}};
        train_nested_network net, again;
        assert_int_equal(train_nested_create(&net, &shape, &place[1].device, mean, 50.0f, 3),
                         TAPER_OK);
        assert_int_equal(train_nested_create(&again, &shape, &place[2].device, mean, 50.0f, 3),
                         TAPER_OK);
        float *a = fetch(&net, net.weights.parameter, net.weights.n),
              *b = fetch(&again, again.weights.parameter, again.weights.n);
        assert_memory_equal(a, b, net.weights.n * sizeof *a);
        for (uint32_t l = 0; l < layers; l++) {
            const train_nested_layer *y = &net.layer[l];
            const float *w = a + (y->w - net.weights.parameter),
                        *bias = a + (y->b - net.weights.parameter);
            double square = 0.0, sum = 0.0, n = (double)y->inputs * y->outputs;
            for (size_t i = 0; i < (size_t)n; i++) sum += w[i], square += w[i] * w[i];
            double want = (layers == 1 ? 0.5 : 2.0) / y->inputs;
            assert_true(near_to(square / n, want, 0.1) && fabs(sum / n) <= 3.5 * sqrt(want / n));
            for (uint32_t k = 0; k < y->outputs; k++) assert_true(bias[k] == 0.0f);
        }
        free(a), free(b);
        train_nested_free(&net), train_nested_free(&again);
        train_nested_free(&again); /* harmless */
    }
}

static void wrong_shapes_and_lengths_are_refused(void **unused) {
    (void)unused;
    train_nested_network net;
    train_nested_source source;
    train_device *device = &place[1].device;
    problem q;
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
        assert_int_equal(train_nested_create(&net, &wrong[i], device, q.mean, 1.0f, 1),
                         TAPER_ERR_ARG);
    static const float scale[] = {0.0f, -1.0f, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        assert_int_equal(train_nested_create(&net, &shapes[0], device, q.mean, scale[i], 1),
                         TAPER_ERR_ARG);
    network_make(&net, &q, device);
    assert_int_equal(train_nested_source_open(&source, &net, &q.data, q.order, 10), TAPER_OK);
    static const uint32_t beyond[] = {2, 8}, falling[] = {3, 2};
    double errors[2];
    assert_int_equal(train_nested_errors(&net, &source.data, beyond, 2, errors), TAPER_ERR_ARG);
    assert_int_equal(train_nested_errors(&net, &source.data, falling, 2, errors), TAPER_ERR_ARG);
    train_nested_source_close(&source);
    train_nested_free(&net);
    problem_free(&q);
}

/* Every allocation of making a network failed once, and every operation of making it, of a step and
 * of looking at errors. */
static void failing_devices_are_reported(void **unused) {
    (void)unused;
    train_device *device = &place[2].device;
    problem q;
    problem_make(&q, &deep, 20, 1, 24, 950);
    add_noise(&q, 7);
    taper_status status = TAPER_ERR_NOMEM;
    for (uint64_t k = 1; status != TAPER_OK; k++) {
        train_nested_network net;
        train_processor_fail(device, k, 0);
        status = train_nested_create(&net, &deep, device, q.mean, q.scale, 1);
        if (status == TAPER_OK)
            train_nested_free(&net);
        else
            assert_int_equal(status, TAPER_ERR_NOMEM);
        assert_true(k < 10);
    }
    uint64_t k = 0;
    for (status = TAPER_ERR_DEVICE; status != TAPER_OK;) {
        train_nested_network net;
        train_nested_source source = {0};
        train_fed fed;
        uint32_t length[] = {2, 24};
        double errors[2];
        train_processor_fail(device, 0, ++k);
        status = train_nested_create(&net, &deep, device, q.mean, q.scale, 1);
        if (status == TAPER_OK)
            status = train_nested_source_open(&source, &net, &q.data, q.order, q.rows);
        if (status == TAPER_OK) status = train_nested_zero(&net);
        if (status == TAPER_OK)
            status = train_feed_take(&source.feed, &net.stream, &source.order, 0, q.rows, &fed);
        if (status == TAPER_OK)
            status =
                train_nested_add(&net, &q.step, fed.rows, fed.order, q.rows, q.rows, 0, net.losses);
        if (status == TAPER_OK) status = train_nested_errors(&net, &source.data, length, 2, errors);
        if (status != TAPER_OK) assert_int_equal(status, TAPER_ERR_DEVICE);
        train_nested_source_close(&source);
        train_nested_free(&net);
    }
    assert_true(k > 60);
    train_processor_fail(device, 0, 0);
    problem_free(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_the_definition),
        cmocka_unit_test(binary_gradients_are_those_of_the_definition),
        cmocka_unit_test(gradients_by_labels_are_those_of_the_definition),
        cmocka_unit_test(frozen_units_are_left_alone),
        cmocka_unit_test(heavy_dropout_has_the_right_slope),
        cmocka_unit_test(short_truncations_are_cheap),
        cmocka_unit_test(rows_add_up),
        cmocka_unit_test(labels_join_blocks),
        cmocka_unit_test(threads_and_devices_change_no_bit),
        cmocka_unit_test(errors_are_those_of_truncated_codes),
        cmocka_unit_test(first_weights_have_their_variance),
        cmocka_unit_test(wrong_shapes_and_lengths_are_refused),
        cmocka_unit_test(failing_devices_are_reported),
    };
    return cmocka_run_group_tests(tests, open_places, close_places);
}
