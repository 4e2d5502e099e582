/* test_kernels_nested.c -- nested-dropout autoencoders in bfloat16 on the GPU's kernels: what a
 * network keeps for its products (train_keep) changes what a step costs, and what it makes by no
 * more than rounding does. */
#define EVERY_DEVICE_KERNELS 1
#include "nested_reference.h"
#ifdef EVERY_DEVICE_GPU
static void one_order(void) {}
/* products may take another algorithm, as addresses differ */
static const double EQUAL = 1e-3;
#else
static void one_order(void) {
    cuda_model_orders(1);
} /* the others are tried operation by operation */
static const double EQUAL = 0.0;
#endif

/* An even number: products sum their factors as they round them (train/cuda/lt.cu), which is else
 * done apart, of what is there. */
enum { ROWS = 24, STEPS = 3 };

/* Of gradients and losses: products round results that are factors, and biases of these. */
static const double NEAR = 0.02;

/* A device that keeps nothing, or no copies of weights. */
static taper_status (*keep_all)(train_device *device, train_keeping how, float *array, size_t n);
static taper_status keep_factors(train_device *device, train_keeping how, float *array, size_t n) {
    return how == TRAIN_FACTORS ? keep_all(device, how, array, n) : TAPER_OK;
}
typedef enum keeping { KEEPS_ALL, KEEPS_FACTORS, KEEPS_NOTHING } keeping;

/* A network on such a device. */
typedef struct kept_network {
    on_device d;
    train_memory memory;
    train_nested_network net;
} kept_network;

static void open_network(kept_network *k, const problem *q, keeping keeps) {
    on_device_open_precision(&k->d, TRAIN_BFLOAT16);
    k->memory = *k->d.device.memory;
    keep_all = k->memory.keep;
    k->memory.keep = keeps == KEEPS_ALL ? keep_all : keeps == KEEPS_FACTORS ? keep_factors : NULL;
    k->d.device.memory = &k->memory;
    network_make(&k->net, q, &k->d.device);
}
static void close_network(kept_network *k) {
    train_nested_free(&k->net);
    on_device_close(&k->d);
}

static void move(train_nested_network *net, float *moments) {
    train_stream *s = &net->stream;
    const size_t n = net->weights.n;
    const train_adam_step step = {0.01f, 0.9f, 0.999f, 1e-8f};
    train_verdict verdict = {0, 1.0f}, *there = (train_verdict *)(void *)net->losses;
    assert_int_equal(train_upload(s, there, &verdict, sizeof verdict), TAPER_OK);
    assert_int_equal(s->ops->adam(s, n, &step, there, net->weights.gradient, net->weights.parameter,
                                  moments, moments + n),
                     TAPER_OK);
    assert_int_equal(train_nested_feed_back(net), TAPER_OK);
}

/* Some steps; weights[n]. */
static float *weights_after(const problem *q, keeping keeps) {
    kept_network k;
    train_nested_loss loss;
    open_network(&k, q, keeps);
    const size_t n = k.net.weights.n;
    float *none = take(2 * n, sizeof *none),
          *moments = on_device_give(&k.d, none, 2 * n * sizeof *none);
    for (int i = 0; i < STEPS; i++) {
        add_all(&k.net, q, &loss);
        move(&k.net, moments);
    }
    float *weights = fetch(&k.net, k.net.weights.parameter, n);
    close_network(&k);
    free(none);
    return weights;
}

/* What a step and a look make: gradient[n], the loss, and errors at all lengths, mse[K]. */
typedef struct figures {
    float *gradient;
    double loss, mse[WIDEST];
} figures;

static void figures_take(figures *f, const problem *q, keeping keeps) {
    kept_network k;
    train_nested_loss loss;
    train_nested_source source;
    uint32_t length[WIDEST];
    open_network(&k, q, keeps);
    add_all(&k.net, q, &loss);
    f->gradient = fetch(&k.net, k.net.weights.gradient, k.net.weights.n);
    f->loss = loss.loss;
    for (uint32_t i = 0; i < k.net.units; i++) length[i] = i + 1;
    assert_int_equal(train_nested_source_open(&source, &k.net, &q->data, q->order, q->rows),
                     TAPER_OK);
    assert_int_equal(train_nested_errors(&k.net, &source.data, length, k.net.units, f->mse),
                     TAPER_OK);
    train_nested_source_close(&source);
    close_network(&k);
}

/* |x - y| over |y|. */
static double distance(const float *x, const float *y, size_t n) {
    double off = 0.0, size = 0.0;
    for (size_t i = 0; i < n; i++) {
        off += nested_reference_square((double)x[i] - (double)y[i]);
        size += nested_reference_square((double)y[i]);
    }
    return sqrt(off / size);
}

/* bits: of add_noise. */
static void make_problem(problem *q, const train_nested_shape *shape, int straight_through,
                         int bits) {
    problem_make(q, shape, ROWS, 1, shape->width[shape->layers - 1], 3);
    q->step.straight_through = straight_through;
    add_noise(q, bits);
}

static void weights_stay(const train_nested_shape *shape, int straight_through, int bits) {
    problem q;
    make_problem(&q, shape, straight_through, bits);
    float *kept = weights_after(&q, KEEPS_ALL), *plain = weights_after(&q, KEEPS_FACTORS);
    const size_t n = nested_reference_places(shape).n;
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)kept[i] - (double)plain[i]) <= EQUAL))
            fail_msg("weight %zu of %zu is %.9g, not %.9g", i, n, (double)kept[i],
                     (double)plain[i]);
    free(kept), free(plain);
    problem_free(&q);
}

static void figures_are_near(const train_nested_shape *shape, int straight_through, int bits) {
    problem q;
    figures kept, plain;
    make_problem(&q, shape, straight_through, bits);
    figures_take(&kept, &q, KEEPS_ALL), figures_take(&plain, &q, KEEPS_NOTHING);
    assert_true(fabs(kept.loss - plain.loss) <= NEAR * plain.loss);
    for (uint32_t i = 0; i < shape->width[shape->layers - 1]; i++)
        assert_true(fabs(kept.mse[i] - plain.mse[i]) <= NEAR * plain.mse[i]);
    const double off = distance(kept.gradient, plain.gradient, nested_reference_places(shape).n);
    if (!(off <= NEAR)) fail_msg("gradients are %g apart", off);
    free(kept.gradient), free(plain.gradient);
    problem_free(&q);
}

static const train_nested_shape
    bits = {.inputs = D, .layers = 1, .width = {9}, .binary = 1, .feedback = 1, .centre = 0.3f},
    deep = {.inputs = D,
            .layers = 3,
            .width = {14, 10, 6},
            .hidden = CODEC_RELU,
            .code = CODEC_LOGISTIC},
    tied = {.inputs = D, .layers = 2, .width = {14, 10}, .hidden = CODEC_LOGISTIC, .tied = 1};

/* A copy of weights in bfloat16 is what a pass over them makes. */
static void copies_of_weights_change_no_bit(void **state) {
    (void)state;
    one_order();
    weights_stay(&bits, 1, 0), weights_stay(&bits, 0, 1), weights_stay(&bits, 1, 5);
    weights_stay(&deep, 0, 1), weights_stay(&deep, 0, 7);
    weights_stay(&tied, 0, 0);
}

static void factors_change_no_more_than_rounding(void **state) {
    (void)state;
    one_order();
    figures_are_near(&bits, 1, 0), figures_are_near(&bits, 0, 1), figures_are_near(&bits, 1, 5);
    figures_are_near(&deep, 0, 1), figures_are_near(&deep, 0, 7);
    figures_are_near(&tied, 0, 0), figures_are_near(&tied, 0, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_weights_change_no_bit),
        cmocka_unit_test(factors_change_no_more_than_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
