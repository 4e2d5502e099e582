/* processor.c -- the processor as a device: its memory, its tables, injected failures; see
 * processor.h. */
#include "train/processor/processor.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <stdlib.h>
#include <string.h>

/* --- memory ---------------------------------------------------------------------------- */

/* Zeroed memory, aligned to a cache line, whose pages the system provides on first access. The
 * address that calloc returned is stored in front of it. */
static void *alloc_line(size_t bytes) {
    enum { LINE = 64 };
    char *base = bytes > SIZE_MAX - LINE ? NULL : calloc(1, bytes + LINE);
    if (!base) return NULL;
    char *line = base + (LINE - (uintptr_t)base % LINE); /* 16 .. 64 bytes on */
    memcpy(line - sizeof base, &base, sizeof base);
    return line;
}

static void free_line(void *line) {
    void *base;
    if (!line) return;
    memcpy(&base, (char *)line - sizeof base, sizeof base);
    free(base);
}

static taper_status alloc(train_device *device, size_t bytes, void **memory) {
    train_processor *d = train_processor_of(device);
    pthread_mutex_lock(&d->lock);
    int fails = ++d->allocations == d->fail_allocation;
    pthread_mutex_unlock(&d->lock);
    *memory = NULL;
    if (fails) return TAPER_ERR_NOMEM;
    if (d->shadow) return train_shadow_alloc(d, bytes, memory);
    *memory = alloc_line(bytes);
    return *memory ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void release(train_device *device, void *memory, size_t bytes) {
    train_processor *d = train_processor_of(device);
    (void)bytes;
    if (d->shadow)
        train_shadow_release(d, memory);
    else
        free_line(memory);
}

static taper_status zero(train_stream *s, void *to, size_t bytes) {
    TAPER_TRY(train_processor_begin(s));
    memset(to, 0, bytes);
    train_processor_end(s);
    return TAPER_OK;
}

static taper_status copy(train_stream *s, void *to, const void *from, size_t bytes) {
    TAPER_TRY(train_processor_begin(s));
    memcpy(to, from, bytes);
    train_processor_end(s);
    return TAPER_OK;
}

static taper_status sync_stream(train_stream *s) {
    TAPER_TRY(train_processor_begin(s));
    train_processor_end(s);
    return TAPER_OK;
}

static taper_status free_bytes(train_device *device, size_t *bytes) {
    (void)device;
    *bytes = SIZE_MAX; /* free memory of the system is shared with other programs */
    return TAPER_OK;
}

/* --- streams --------------------------------------------------------------------------- */

/* Buffers to upload from. Uploads are immediate. */
typedef struct staging {
    void *piece[2];
    size_t bytes[2];
    int last;
} staging;

static taper_status stage(train_stream *s, size_t bytes, void **host) {
    staging *own = s->state;
    const int i = own->last = !own->last;
    if (bytes > own->bytes[i]) {
        free_line(own->piece[i]);
        own->piece[i] = alloc_line(bytes);
        own->bytes[i] = own->piece[i] ? bytes : 0;
    }
    *host = own->piece[i];
    return *host || !bytes ? TAPER_OK : TAPER_ERR_NOMEM;
}

static taper_status send(train_stream *s, void *to, size_t bytes) {
    const staging *own = s->state;
    return copy(s, to, own->piece[own->last], bytes);
}

static taper_status open_stream(train_device *device, train_stream *s) {
    (void)device;
    s->state = calloc(1, sizeof(staging));
    return s->state ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void close_stream(train_stream *s) {
    staging *own = s->state;
    for (int i = 0; i < 2; i++) free_line(own->piece[i]);
    free(own);
}

/* --- the table of operations ----------------------------------------------------------- */

static const train_operations plain_operations = {
    .gemm = train_plain_gemm,
    .add_gram = train_plain_add_gram,
    .bias = train_plain_bias,
    .affine = train_plain_affine,
    .bias_backward = train_plain_bias_backward,
    .weight_gradient = train_plain_weight_gradient,
    .centre_rows = train_plain_centre_rows,
    .gather_rows = train_plain_gather_rows,
    .jitter = train_plain_jitter,
    .scatter_rows = train_plain_scatter_rows,
    .copy_columns = train_plain_copy_columns,
    .step_rows = train_plain_step_rows,
    .gather_sides = train_plain_gather_sides,
    .conditional_inputs = train_plain_conditional_inputs,
    .clip = train_plain_clip,
    .clip_backward = train_plain_clip_backward,
    .clip_added = train_plain_clip_added,
    .clip_added_backward = train_plain_clip_added_backward,
    .relu_added = train_plain_relu_added,
    .relu_added_backward = train_plain_relu_added_backward,
    .normalise = train_plain_normalise,
    .normalise_backward = train_plain_normalise_backward,
    .corrupt = train_plain_corrupt,
    .dropout = train_plain_dropout,
    .perturb = train_plain_perturb,
    .sample = train_plain_sample,
    .quantise = train_plain_quantise,
    .rate = train_plain_rate,
    .rate_gradient = train_plain_rate_gradient,
    .unit_values = train_plain_unit_values,
    .unit_gradient = train_plain_unit_gradient,
    .decide = train_plain_decide,
    .mix = train_plain_mix,
    .set_lower = train_plain_set_lower,
    .unit_moves = train_plain_unit_moves,
    .errors = train_plain_errors,
    .mean_errors = train_plain_mean_errors,
    .pixel_entropy = train_plain_pixel_entropy,
    .error_losses = train_plain_error_losses,
    .weigh_errors = train_plain_weigh_errors,
    .log_errors = train_plain_log_errors,
    .error_gradient = train_plain_error_gradient,
    .softmax = train_plain_softmax,
    .cross_entropy = train_plain_cross_entropy,
    .class_entropy = train_plain_class_entropy,
    .class_divergence = train_plain_class_divergence,
    .distances = train_plain_distances,
    .neighbour_sums = train_plain_neighbour_sums,
    .neighbour_losses = train_plain_neighbour_losses,
    .neighbour_pulls = train_plain_neighbour_pulls,
    .add_doubles = train_plain_add_doubles,
    .sum_doubles = train_plain_sum_doubles,
    .bits = train_plain_bits,
    .head = train_plain_head,
    .restored = train_plain_restored,
    .add_ratio = train_plain_add_ratio,
    .scale = train_plain_scale,
    .exponential = train_plain_exponential,
    .add_products = train_plain_add_products,
    .axpy = train_plain_axpy,
    .interpolate = train_plain_interpolate,
    .standardise = train_plain_standardise,
    .transpose = train_plain_transpose,
    .sum_squares = train_plain_sum_squares,
    .combine = train_plain_combine,
    .add_difference = train_plain_add_difference,
    .dot = train_plain_dot,
    .distance = train_plain_distance,
    .decay = train_plain_decay,
    .judge = train_plain_judge,
    .adam = train_plain_adam,
    .follow_quantiles = train_plain_follow_quantiles,
};

/* --- the device ------------------------------------------------------------------------ */

/* Host and device share memory, so upload and download are copies. */
static const train_memory memory_table = {.alloc = alloc,
                                          .release = release,
                                          .zero = zero,
                                          .copy = copy,
                                          .upload = copy,
                                          .download = copy,
                                          .sync = sync_stream,
                                          .stage = stage,
                                          .send = send,
                                          .free_bytes = free_bytes};

taper_status train_processor_open(train_device *device, codec_backend *be,
                                  train_processor_kind kind) {
    *device = (train_device){0};
    train_processor *d = calloc(1, sizeof *d);
    if (!d || pthread_mutex_init(&d->lock, NULL) != 0) {
        free(d);
        return TAPER_ERR_NOMEM;
    }
    d->be = be;
    d->shadow = kind == TRAIN_SHADOW;
    *device = (train_device){.name = kind == TRAIN_SHADOW ? "shadow" : "processor",
                             .memory = &memory_table,
                             .operations = &plain_operations,
                             .state = d,
                             .in_host_memory = kind == TRAIN_PROCESSOR,
                             /* 5 tests that results do not depend on it */
                             .look_every = kind == TRAIN_SHADOW ? 5 : 1,
                             .block_rows = TRAIN_LEAST_ROWS,
                             .models_at_once = kind == TRAIN_SHADOW ? 2 : 1,
                             .pool = be->pool,
                             .open = open_stream,
                             .close = close_stream};
    return TAPER_OK;
}

void train_processor_close(train_device *device) {
    train_processor *d = train_processor_of(device);
    if (d) pthread_mutex_destroy(&d->lock);
    free(d);
    *device = (train_device){0};
}

void train_processor_fail(train_device *device, uint64_t allocation, uint64_t operation) {
    train_processor *d = train_processor_of(device);
    d->allocations = d->operations = 0;
    d->fail_allocation = allocation;
    d->fail_operation = operation;
}

void train_processor_count(const train_device *device, uint64_t *allocations,
                           uint64_t *operations) {
    const train_processor *d = train_processor_of(device);
    *allocations = d->allocations;
    *operations = d->operations;
}
