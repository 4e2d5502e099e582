/* rbm_stacks.h -- random images, and stacks trained on them, for the tests of train/rbm/. */
#ifndef TESTS_RBM_STACKS_H
#define TESTS_RBM_STACKS_H
#include "on_device.h"
#include "train/rbm/rbm_trainer.h"
#include "train/sampling/philox.h"

enum { D = 20, N = 230, KINDS = 4, LAYERS = 3 };
static const uint32_t widths[LAYERS] = {14, 9, 5};
static uint8_t images[N * D];
static train_pixels data = {.pixels = images, .n = N, .inputs = D};

static inline uint32_t word_of(uint64_t i) {
    uint32_t word[4];
    train_philox(3, i, 0, word);
    return word[0];
}

/* Four kinds of images, with a tenth of the pixels inverted. */
static inline int draw_images(void **state) {
    (void)state;
    for (size_t i = 0; i < (size_t)N * D; i++) {
        const uint32_t kind = (uint32_t)(i / D % KINDS),
                       on = word_of(1000000 + kind * D + i % D) & 1;
        images[i] = (word_of(i) % 10 ? on : !on) ? 250 : 5;
    }
    return 0;
}

static inline train_rbm_options quick(void) {
    train_rbm_options o = train_rbm_defaults();
    o.epochs = 6, o.batch = 20, o.top = TRAIN_GAUSSIAN;
    return o;
}

typedef struct seen {
    uint32_t calls, stop_at; /* stop_at 0: never */
    double first[LAYERS], last[LAYERS], left;
} seen;

static inline int look(void *user, const train_rbm_progress *at) {
    seen *to = user;
    to->calls++;
    if (at->epoch == 1) to->first[at->layer - 1] = at->error;
    to->last[at->layer - 1] = at->error;
    to->left = at->seconds_left;
    assert_true(at->epoch >= 1 && at->epoch <= at->epochs && at->layer <= at->layers);
    return to->calls == to->stop_at;
}

static inline taper_status learn(on_device *d, train_rbm_stack *stack, const train_rbm_options *o,
                                 uint32_t layers, seen *to, taper_error *error) {
    const train_rbm_callbacks callbacks = {look, to};
    return train_rbm_stack_learn(stack, o, &data, widths, layers, &d->device,
                                 to ? &callbacks : NULL, error);
}

/* Train on the processor; asserts success. */
static inline train_rbm_stack learned(const train_rbm_options *o, uint32_t layers, seen *to) {
    on_device d;
    train_rbm_stack stack = {0};
    taper_error error = {0};
    on_device_open(&d, TRAIN_PROCESSOR);
    if (learn(&d, &stack, o, layers, to, &error) != TAPER_OK) fail_msg("%s", error.text);
    on_device_close(&d);
    return stack;
}

static inline void same_stacks(const train_rbm_stack *a, const train_rbm_stack *b) {
    assert_int_equal(a->layers, b->layers);
    for (uint32_t i = 0; i < a->layers; i++) {
        const train_rbm *x = &a->rbm[i], *y = &b->rbm[i];
        assert_int_equal(train_rbm_numbers(x), train_rbm_numbers(y));
        assert_memory_equal(x->weight, y->weight, train_rbm_numbers(x) * sizeof *x->weight);
    }
}

#endif
