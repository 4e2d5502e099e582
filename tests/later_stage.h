/* later_stage.h -- for tests of stages that add a network to a model: a plain model of waves (made
 * once), stages on it, and runs of their trainers on few images, also with failing devices. */
#ifndef TESTS_LATER_STAGE_H
#define TESTS_LATER_STAGE_H
#include "cmocka_all.h"
#include "train/conditional/conditional_trainer.h"
#include "train/processor/processor.h"
#include "train/restoration/restoration_trainer.h"
#include "train/train.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include "waves.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LATER_SEED = 81, LATER_FEW = 14 };

typedef struct later_host {
    codec_backend be;
    train_device device;
} later_host;

static inline void later_open(later_host *h, train_processor_kind kind, unsigned threads) {
    codec_backend_cpu(&h->be);
    assert_int_equal(codec_backend_set_threads(&h->be, threads), TAPER_OK);
    assert_int_equal(train_processor_open(&h->device, &h->be, kind), TAPER_OK);
}

static inline void later_close(later_host *h) {
    train_processor_close(&h->device);
    codec_backend_close(&h->be);
}

/* --- the plain model ------------------------------------------------------------------------ */

static uint32_t later_lap; /* settings of the model; a test sets them before it begins */
static formats_buffer later_plain;
static train_dataset later_data;

static inline int later_begin(void **state) {
    (void)state;
    later_host h;
    train_options o = {.family = TAPER_FAMILY_PCA, .window = 4, .lap = later_lap};
    train_report report;
    taper_error error = {0};
    print_message("seed %d\n", LATER_SEED);
    later_open(&h, TRAIN_PROCESSOR, 2);
    later_data = waves_make(LATER_SEED);
    later_plain = formats_buffer_make(1 << 24);
    taper_status status =
        train_model(&o, &later_data, &h.be, &h.device, NULL, &later_plain, &report, &error);
    later_close(&h);
    if (status != TAPER_OK) print_message("%s\n", error.text);
    return status != TAPER_OK;
}

static inline int later_end(void **state) {
    (void)state;
    waves_drop(&later_data);
    formats_buffer_free(&later_plain);
    return 0;
}

/* A model on which the stages of a job can continue. */
static inline taper_model *later_load(const train_job *j) {
    taper_model *m;
    assert_int_equal(taper_model_load(&m, later_plain.data, later_plain.size, NULL, NULL),
                     TAPER_OK);
    assert_int_equal(train_renew_analysis(m, j, NULL), TAPER_OK);
    return m;
}

/* --- stages --------------------------------------------------------------------------------- */

typedef taper_status later_stage(taper_model *model, const train_job *job, taper_error *error);

typedef struct later_outcome {
    formats_buffer file;
    train_rd_curve curve; /* on the validation part */
} later_outcome;

/* The plain model after a stage; NULL: without a stage. */
static inline later_outcome later_learn(later_stage *stage, const train_options *o,
                                        train_processor_kind kind, unsigned threads,
                                        const train_hooks *hooks) {
    static const train_hooks none;
    later_host h;
    taper_error error = {0};
    later_outcome out = {.file = formats_buffer_make(1 << 24)};
    later_open(&h, kind, threads);
    train_job j = {*o, &later_data, &h.be, &h.device, hooks ? hooks : &none, NULL};
    codec_weight_precision precision = train_stored_precision(&j);
    taper_model *m = later_load(&j);
    if (stage && stage(m, &j, &error) != TAPER_OK) fail_msg("%s", error.text);
    assert_int_equal(train_evaluate_validation(m, &j, &out.curve, NULL), TAPER_OK);
    assert_int_equal(codec_model_write(m, &precision, &out.file, NULL), TAPER_OK);
    taper_model_free(m);
    later_close(&h);
    return out;
}

static inline void later_drop(later_outcome *o) { formats_buffer_free(&o->file); }

static inline void later_same(const formats_buffer *a, const formats_buffer *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static inline int later_differs(const formats_buffer *a, const formats_buffer *b) {
    return a->size != b->size || memcmp(a->data, b->data, a->size) != 0;
}

/* --- progress ------------------------------------------------------------------------------- */

typedef struct later_stop {
    uint64_t step, kill; /* stop, or kill, after this step; 0: never */
    uint64_t first, steps;
    double now, before;
} later_stop;

static inline int later_watch(void *user, const train_steps_progress *p) {
    later_stop *s = user;
    if (!s->first) s->first = p->step;
    s->steps = p->steps, s->now = p->now, s->before = p->before;
    if (s->kill && p->step >= s->kill) raise(SIGKILL);
    return s->step && p->step >= s->step;
}

/* --- runs of a trainer ---------------------------------------------------------------------- */

/* A trainer on a plain model and few images. */
typedef struct later_lesson {
    later_host h;
    train_dataset data; /* a view of later_data */
    train_job j;
    train_sample sample;
    formats_buffer plain; /* the untrained model, written again */
} later_lesson;

/* A trainer's run on a model. */
typedef taper_status later_run(later_lesson *l, taper_model *m, const char *checkpoint,
                               later_stop *stop, taper_error *error);

/* Length and seed of the runs below; a test may change them. */
static struct {
    uint32_t windows, epochs; /* of later_predict and later_refine */
    uint32_t steps, pixels;   /* of later_restore */
    uint64_t seed;
} later_length = {96, 3, 7, 1500, 1};

static inline taper_status later_conditional(int head, later_lesson *l, taper_model *m,
                                             const char *checkpoint, later_stop *stop,
                                             taper_error *error) {
    train_conditional_options o = train_conditional_defaults();
    o.head = head, o.hidden = 8, o.stages = 4, o.rate = 5e-3f;
    o.windows = later_length.windows, o.epochs = later_length.epochs, o.seed = later_length.seed;
    o.saving = (train_saving){.path = checkpoint, .resume = 1};
    o.progress = stop ? later_watch : NULL, o.user = stop;
    return train_conditional(m, &o, &l->data, &l->sample.codes, &l->h.be, &l->h.device, NULL,
                             error);
}

/* Runs that train prediction of bits, refinement and restoration. */
static inline taper_status later_predict(later_lesson *l, taper_model *m, const char *checkpoint,
                                         later_stop *stop, taper_error *error) {
    return later_conditional(0, l, m, checkpoint, stop, error);
}
static inline taper_status later_refine(later_lesson *l, taper_model *m, const char *checkpoint,
                                        later_stop *stop, taper_error *error) {
    return later_conditional(1, l, m, checkpoint, stop, error);
}
static inline taper_status later_restore(later_lesson *l, taper_model *m, const char *checkpoint,
                                         later_stop *stop, taper_error *error) {
    train_restoration_options o = train_restoration_defaults();
    o.hidden = 8, o.layers = 3, o.stages = 3, o.rate = 4e-3f;
    o.steps = later_length.steps, o.pixels = later_length.pixels, o.seed = later_length.seed;
    o.saving = (train_saving){.path = checkpoint, .resume = 1};
    o.progress = stop ? later_watch : NULL, o.user = stop;
    return train_restoration(m, &o, &l->data, &l->sample.codes, &l->h.be, &l->h.device, NULL,
                             error);
}

/* A run on a new plain model, and the model after it, trained or not. run NULL: the model without a
 * run. */
static inline taper_status later_take(later_lesson *l, later_run *run, const char *checkpoint,
                                      later_stop *stop, formats_buffer *file) {
    taper_error error = {0};
    taper_model *m = later_load(&l->j);
    codec_weight_precision precision = train_stored_precision(&l->j);
    taper_status status = run ? run(l, m, checkpoint, stop, &error) : TAPER_OK;
    if (status != TAPER_OK) assert_true(strlen(error.text) > 20);
    *file = formats_buffer_make(1 << 24);
    assert_int_equal(codec_model_write(m, &precision, file, NULL), TAPER_OK);
    taper_model_free(m);
    return status;
}

static inline void later_prepare(later_lesson *l, train_processor_kind kind, unsigned threads) {
    static const train_hooks none;
    later_open(&l->h, kind, threads);
    l->data = later_data;
    l->data.n = l->data.available = LATER_FEW;
    l->data.pixels = (uint64_t)LATER_FEW * WAVES_SIDE * WAVES_SIDE;
    l->j = (train_job){{0}, &l->data, &l->h.be, &l->h.device, &none, NULL};
    taper_model *m = later_load(&l->j);
    assert_int_equal(train_sample_take(&l->sample, m, &l->j, NULL), TAPER_OK);
    taper_model_free(m);
    later_take(l, NULL, NULL, NULL, &l->plain);
}

static inline void later_put_away(later_lesson *l) {
    formats_buffer_free(&l->plain);
    train_sample_free(&l->sample);
    later_close(&l->h);
}

/* Check for equal bytes with any number of threads and on the shadow device; in one run, or in two
 * parts. */
static inline void later_repeats(later_run *run) {
    static const struct {
        train_processor_kind kind;
        unsigned threads;
    } on[] = {{TRAIN_PROCESSOR, 1}, {TRAIN_PROCESSOR, 3}, {TRAIN_SHADOW, 2}};
    formats_buffer first = {0}, whole, part, rest;
    char path[64];
    snprintf(path, sizeof path, "/tmp/taper-later-%ld", (long)getpid());
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        later_lesson l;
        later_stop stop = {.step = 2}, go_on = {0};
        later_prepare(&l, on[i].kind, on[i].threads);
        assert_int_equal(later_take(&l, run, NULL, NULL, &whole), TAPER_OK);
        assert_int_equal(later_take(&l, run, path, &stop, &part), TAPER_OK);
        assert_int_equal(later_take(&l, run, path, &go_on, &rest), TAPER_OK);
        /* the shadow device downloads losses after every fifth step */
        assert_int_equal(go_on.first, on[i].kind == TRAIN_SHADOW ? 6 : 3);
        assert_true(go_on.steps > 6);
        if (!i) first = whole;
        later_same(&first, &whole);
        later_same(&first, &rest);
        assert_true(later_differs(&first, &part));
        if (i) formats_buffer_free(&whole);
        formats_buffer_free(&part), formats_buffer_free(&rest);
        remove(path);
        later_put_away(&l);
    }
    formats_buffer_free(&first);
}

/* A process that begins or continues the run and is killed after a step. */
static inline void later_kill(later_lesson *l, later_run *run, const char *path, uint64_t step) {
    int how;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        later_stop stop = {.kill = step};
        formats_buffer file;
        later_take(l, run, path, &stop, &file);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

/* Killed several times within a minute, the run continues from the last checkpoint, to the same
 * bytes. */
static inline void later_survives_kills(later_run *run, train_processor_kind kind) {
    later_lesson l;
    later_stop go_on = {0};
    formats_buffer whole, rest;
    char path[64];
    snprintf(path, sizeof path, "/tmp/taper-later-%ld-%d", (long)getpid(), kind);
    later_prepare(&l, kind, 1);
    assert_int_equal(later_take(&l, run, NULL, NULL, &whole), TAPER_OK);
    for (uint64_t step = 1; step <= 6; step++) later_kill(&l, run, path, step);
    assert_int_equal(later_take(&l, run, path, &go_on, &rest), TAPER_OK);
    assert_int_equal(go_on.first,
                     6); /* the shadow device checks after 5 steps; the kill was before a save */
    later_same(&whole, &rest);
    remove(path);
    formats_buffer_free(&whole), formats_buffer_free(&rest);
    later_put_away(&l);
}

/* A run on a device that fails (train_processor_fail); the model is then unchanged. */
static inline taper_status later_fail(later_lesson *l, later_run *run, const char *checkpoint,
                                      uint64_t allocation, uint64_t operation,
                                      const formats_buffer *whole) {
    formats_buffer file;
    train_processor_fail(&l->h.device, allocation, operation);
    taper_status status = later_take(l, run, checkpoint, NULL, &file);
    train_processor_fail(&l->h.device, 0, 0);
    later_same(&file, status == TAPER_OK ? whole : &l->plain);
    formats_buffer_free(&file);
    return status;
}

/* Every allocation on the device fails once. */
static inline void later_without_memory(later_run *run, train_processor_kind kind) {
    later_lesson l;
    formats_buffer whole;
    uint64_t allocations, operations;
    later_prepare(&l, kind, 1);
    assert_int_equal(later_take(&l, run, NULL, NULL, &whole), TAPER_OK);
    train_processor_count(&l.h.device, &allocations, &operations);
    assert_true(allocations >= 3);
    for (uint64_t k = 1; k <= allocations; k++)
        assert_int_equal(later_fail(&l, run, NULL, k, 0, &whole), TAPER_ERR_NOMEM);
    assert_int_equal(later_fail(&l, run, NULL, 0, 0, &whole), TAPER_OK);
    formats_buffer_free(&whole);
    later_put_away(&l);
}

/* A stopped run continues on a device that is lost at every stride-th operation, and at the end on
 * a working one, to the same bytes. */
static inline void later_on_lost_devices(later_run *run, train_processor_kind kind,
                                         uint64_t stride) {
    later_lesson l;
    formats_buffer whole, part;
    char path[64], stopped[80];
    uint64_t tried = 0;
    later_stop stop = {.step = 1};
    snprintf(path, sizeof path, "/tmp/taper-later-%ld-%d", (long)getpid(), kind);
    snprintf(stopped, sizeof stopped, "%s-stopped", path);
    later_prepare(&l, kind, 1);
    assert_int_equal(later_take(&l, run, NULL, NULL, &whole), TAPER_OK);
    assert_int_equal(later_take(&l, run, stopped, &stop, &part), TAPER_OK);
    assert_true(later_differs(&whole, &part));
    taper_status status = TAPER_ERR_DEVICE;
    for (; status != TAPER_OK; remove(path)) {
        assert_int_equal(link(stopped, path), 0); /* ignores checkpoints of the run */
        status = later_fail(&l, run, path, 0, 1 + tried * stride, &whole);
        if (status == TAPER_OK) continue;
        assert_int_equal(status, TAPER_ERR_DEVICE);
        tried++;
    }
    print_message("%s: lost at %llu operations\n", l.h.device.name, (unsigned long long)tried);
    assert_true(tried > 10);
    remove(stopped);
    formats_buffer_free(&whole), formats_buffer_free(&part);
    later_put_away(&l);
}

#endif
