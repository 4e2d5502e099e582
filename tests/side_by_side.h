/* side_by_side.h -- models of three windows that are trained in parallel on a device, and their
 * progress reports. */
#ifndef TESTS_SIDE_BY_SIDE_H
#define TESTS_SIDE_BY_SIDE_H
#include "train/train.h" /* must precede a global named device */
#include "every_device.h"
#include "pictures.h"
#include <stdarg.h>
#include <stdio.h>

#ifdef EVERY_DEVICE_KERNELS
enum { IMAGES = 20 }; /* fewer images, because the execution model is slow */
#else
enum { IMAGES = 48 };
#endif
enum { SIDE = 24, MOST_WORDS = 1 << 14, ALL = 3 }; /* windows of 8, 16 and 24 */
static train_dataset data;

static int set_up(void **state) {
    data = (train_dataset){.image = calloc(IMAGES, sizeof *data.image),
                           .n = IMAGES,
                           .available = IMAGES,
                           .channels = 1,
                           .pixels = IMAGES * SIDE * SIDE,
                           .one_size = 1};
    for (unsigned i = 0; i < IMAGES; i++) data.image[i] = picture_scene(SIDE, SIDE, 1, 7 * i);
    return open_every_device(state);
}

static int tear_down(void **state) {
    for (size_t i = 0; i < data.n; i++) free(data.image[i].pixels);
    free(data.image);
    return close_every_device(state);
}

/* --- progress reports ------------------------------------------------------------------- */

typedef struct outcome {
    taper_status status;
    taper_error error;
    formats_buffer file;
    char words[MOST_WORDS];      /* reports of the models, in order */
    char stage[64];              /* last report */
    size_t at_once, least, most; /* reported models at a time; least 0: memory sufficed */
} outcome;

static void add(outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(outcome *o, const char *format, ...) {
    size_t used = strlen(o->words);
    va_list list;
    va_start(list, format);
    vsnprintf(o->words + used, MOST_WORDS - used, format,
              list); /* called from another thread: no assertions */
    va_end(list);
}

static void on_stage(void *user, const char *stage, double part) {
    outcome *o = user;
    (void)part;
    if (!strcmp(o->stage, stage)) return;
    snprintf(o->stage, sizeof o->stage, "%s", stage);
    add(o, "%s\n", stage);
}
static int on_step(void *user, const train_progress *p) {
    if (p->step == p->steps) add(user, "all %u steps\n", (unsigned)p->steps);
    return 0;
}
static void on_epoch(void *user, uint32_t epoch, const train_dense_epoch *e, double seconds) {
    (void)seconds;
    add(user, "epoch %u: %a %a %a\n", epoch, e->loss, e->validation_loss, e->bits);
}
static void on_say(void *user, const char *words) { add(user, "%s\n", words); }
static int on_nested_step(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                          double left) {
    (void)frozen, (void)loss, (void)left;
    if (step == steps) add(user, "all %u steps\n", (unsigned)steps);
    return 0;
}
static void on_nested_epoch(void *user, uint32_t epoch, const train_nested_epoch *e) {
    add(user, "epoch %u: %a %a %a\n", epoch, e->loss, e->mse, e->validation_mse);
}
static void on_fewer_rows(void *user, const char *name, size_t rows, size_t wanted) {
    add(user, "%s: %zu of %zu rows\n", name, rows, wanted);
}
static void on_candidate(void *user, codec_window window, uint32_t units, uint64_t bytes,
                         const train_rd_curve *curve) {
    add(user, "window %u, %u units, %u bytes, %a dB\n", window.width, units, (unsigned)bytes,
        curve->point[curve->n - 1].psnr_db);
}
static void on_models(void *user, const char *name, size_t models, size_t wanted) {
    outcome *o = user;
    (void)name;
    if (models == wanted)
        o->at_once = models;
    else
        o->least = models;
}

/* --- runs ------------------------------------------------------------------------------- */

static train_options quick(train_code code) {
    static const uint32_t hidden[] = {6};
    train_options o = {.family = TAPER_FAMILY_DENSE,
                       .window = TRAIN_WINDOW_AUTO,
                       .units = 3,
                       .set_images = 1000000000,
                       .code = code,
                       .dense = train_dense_defaults(),
                       .nested = train_nested_choice_defaults(),
                       .hidden = hidden,
                       .n_hidden = code == TRAIN_CODE_BINARY ? 0 : 1};
    o.dense.epochs = o.nested.training.epochs = 2;
    o.dense.batch = o.nested.training.batch = 64;
    return o;
}

/* Train n models in parallel on this device. */
static outcome *learn(const train_options *options, on_device *d, uint32_t at_once) {
    outcome *o = calloc(1, sizeof *o);
    assert_non_null(o);
    const train_hooks hooks = {
        .user = o,
        .stage = on_stage,
        .dense = {.user = o, .progress = on_step, .epoch = on_epoch, .say = on_say},
        .nested = {o, on_nested_step, on_nested_epoch, on_fewer_rows, on_say},
        .candidate = on_candidate,
        .models = on_models};
    codec_backend host; /* a GPU has no threads of its own */
    train_report report;
    codec_backend_cpu(&host);
    assert_int_equal(codec_backend_set_threads(&host, 2), TAPER_OK);
    o->file = formats_buffer_make(1 << 24);
    d->device.models_at_once = at_once;
    o->status = train_model(options, &data, d->be.ops ? &d->be : &host, &d->device, &hooks,
                            &o->file, &report, &o->error);
    codec_backend_close(&host);
    return o;
}

static void drop(outcome *o) {
    formats_buffer_free(&o->file);
    free(o);
}

static void assert_same(const outcome *a, const outcome *b) {
    if (b->status != TAPER_OK) fail_msg("%s", b->error.text);
    assert_int_equal(a->status, TAPER_OK);
    assert_true(strlen(a->words) < MOST_WORDS - 1);
    assert_string_equal(a->words, b->words);
    assert_int_equal(a->file.size, b->file.size);
    assert_memory_equal(a->file.data, b->file.data, a->file.size);
}

/* Check that n models in parallel are reported, and equal those that are trained alone. */
static void assert_the_same(const outcome *alone, const train_options *options, on_device *d,
                            uint32_t at_once) {
    outcome *together = learn(options, d, at_once);
    assert_int_equal(together->at_once, at_once < ALL ? at_once : ALL);
    assert_int_equal(together->least, 0);
    assert_same(alone, together);
    drop(together);
}

#endif
