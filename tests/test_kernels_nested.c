/* test_kernels_nested.c -- nested-dropout autoencoders in bfloat16 on the GPU's kernels: what a
 * network keeps for its products (train_keep) changes nothing but what a step costs. */
#define EVERY_DEVICE_KERNELS 1
#include "nested_twin.h"
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

/* A device that keeps nothing. */
static train_memory keeps_nothing;

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

/* Some steps; weights[n] and the last loss. */
static float *weights_after(const problem *q, int keeps, train_nested_loss *loss) {
    on_device d;
    train_nested_network net;
    on_device_open_precision(&d, TRAIN_BFLOAT16);
    keeps_nothing = *d.device.memory;
    keeps_nothing.keep = NULL;
    if (!keeps) d.device.memory = &keeps_nothing;
    network_make(&net, q, &d.device);
    const size_t n = net.weights.n;
    float *none = take(2 * n, sizeof *none),
          *moments = on_device_give(&d, none, 2 * n * sizeof *none);
    for (int i = 0; i < STEPS; i++) {
        add_all(&net, q, loss);
        move(&net, moments);
    }
    float *weights = fetch(&net, net.weights.parameter, n);
    train_nested_free(&net);
    on_device_close(&d);
    free(none);
    return weights;
}

/* bits: of add_noise. */
static void one_network(const train_nested_shape *shape, int straight_through, int bits) {
    problem q;
    train_nested_loss loss[2];
    const uint32_t units = shape->width[shape->layers - 1];
    problem_make(&q, shape, ROWS, 1, units, 3);
    q.step.straight_through = straight_through;
    add_noise(&q, bits);
    float *kept = weights_after(&q, 1, &loss[0]), *plain = weights_after(&q, 0, &loss[1]);
    const size_t n = twin_places(shape).n;
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)kept[i] - (double)plain[i]) <= EQUAL))
            fail_msg("weight %zu of %zu is %.9g, not %.9g", i, n, (double)kept[i],
                     (double)plain[i]);
    free(kept), free(plain);
    problem_free(&q);
}

static void keeping_changes_no_bit(void **state) {
    (void)state;
    one_order();
    const train_nested_shape
        bits = {.inputs = D, .layers = 1, .width = {9}, .binary = 1, .feedback = 1, .centre = 0.3f},
        deep = {.inputs = D,
                .layers = 3,
                .width = {14, 10, 6},
                .hidden = CODEC_RELU,
                .code = CODEC_LOGISTIC},
        tied = {.inputs = D, .layers = 2, .width = {14, 10}, .hidden = CODEC_LOGISTIC, .tied = 1};
    one_network(&bits, 1, 0);
    one_network(&bits, 0, 1);
    one_network(&deep, 0, 1);
    one_network(&tied, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeping_changes_no_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
