/* training.c -- see training.h. */
#include "cli/training.h"
#include "cli/common/signals.h"
#include "cli/search/code_set.h"
#include "cli/train/processes.h"
#include "cli/train/request.h"
#include "formats/imageset/imageset.h"
#include <stdlib.h>
#include <string.h>

/* --- the model ------------------------------------------------------------------------- */

/* Read the new model as every verb does, before it replaces a file. */
static taper_status read_again(const formats_buffer *file, const cli_common *common,
                               taper_error *error) {
    taper_limits limits = cli_limits(common);
    taper_model *again;
    taper_error why = {0};
    taper_status status = taper_model_load(&again, file->data, file->size, &limits, &why);
    taper_model_free(again);
    if (status == TAPER_OK) return status;
    return formats_fail_as(error, status, &why,
                           "the new model cannot be read, so it is not written: %s", why.text);
}

/* True for errors of reading or writing a checkpoint, which training itself does not return. */
static bool is_of_a_file(taper_status status) {
    return status == TAPER_ERR_IO || status == TAPER_ERR_CORRUPT || status == TAPER_ERR_TRUNCATED ||
           status == TAPER_ERR_VERSION || status == TAPER_ERR_EXISTS;
}

int cli_training_put(cli_training *t, taper_status status, taper_error *error) {
    const cli_train_run *s = t->run;
    const char *about = s->output;
    cli_device_explain(&t->device, status, s->checkpoint, error);
    if (t->reporter.stage) cli_progress_end(&t->reporter.progress);
    t->reporter.stage = NULL;
    if (status != TAPER_OK && cli_train_request()->wanted == TRAIN_SAVE_AND_END) {
        if (train_is_first(t->ranks)) cli_warning(t->verb->name, s->checkpoint, "%s", error->text);
        return CLI_TRAIN_ENDED;
    }
    if (t->from && status == TAPER_ERR_ARG) about = t->from;
    if (s->checkpoint && is_of_a_file(status)) about = s->checkpoint;
    if (status == TAPER_OK) status = read_again(&t->file, &s->common, error);
    if (status == TAPER_OK && train_is_first(t->ranks))
        status = formats_file_write(s->output, t->file.data, t->file.size,
                                    s->common.force ? FORMATS_ATOMIC_OVERWRITE : 0,
                                    cli_signals_watch(), error);
    return status == TAPER_OK ? CLI_DONE : cli_fail(t->verb->name, about, status, error);
}

/* Compare with the built-in models. This happens after the model is written; a failure does not
 * undo that. */
static bool compare_builtin(cli_training *t, train_builtin_comparison *c) {
    const cli_train_run *s = t->run;
    const train_hooks hooks = cli_train_hooks(&t->reporter);
    taper_error error = {0};
    if (t->is_quiet && !s->common.json) return false;
    const taper_status status = train_compare_builtin(&t->file, &t->data, (uint64_t)s->set_images,
                                                      &t->backend, &hooks, c, &error);
    cli_progress_end(&t->reporter.progress);
    if (status != TAPER_OK && train_is_first(t->ranks))
        cli_warning(t->verb->name, s->output, "not compared with the built-in models: %s",
                    cli_explain(&error).text);
    return status == TAPER_OK;
}

int cli_training_model(cli_training *t, const train_options *options, bool compare) {
    taper_error error = {0};
    train_options o = *options;
    const formats_buffer from = {.data = (uint8_t *)t->model.bytes, /* only read */
                                 .size = t->model.size};
    const train_hooks hooks = cli_train_hooks(&t->reporter);
    train_report r;
    train_builtin_comparison comparison;
    if (t->from) o.from = &from;
    const taper_status status =
        train_model(&o, &t->data, &t->backend, &t->device.train, &hooks, &t->file, &r, &error);
    const int code = cli_training_put(t, status, &error);
    if (code != CLI_DONE) return code;
    const bool is_compared = compare && compare_builtin(t, &comparison);
    if (!train_is_first(t->ranks)) return CLI_DONE;
    cli_train_report(&t->reporter, &r, is_compared ? &comparison : NULL);
    if (t->run->plot) cli_train_draw(&t->reporter, &r);
    return CLI_DONE;
}

/* --- the images ------------------------------------------------------------------------ */

/* There are no images to train on: print why, and return the exit code. */
static int no_images(cli_training *t, const formats_imageset *set, bool is_labels,
                     taper_status status, const taper_error *error) {
    const cli_left_out *left = &t->reporter.left;
    bool all_failed = status == TAPER_ERR_ARG && left->failed && !is_labels;
    if (status == TAPER_ERR_ARG) cli_left_out_report(&t->reporter.left, set);
    int code = cli_fail(t->verb->name, NULL, status, error);
    return all_failed ? (int)left->code : code;
}

/* Check that no output is an input. */
static int spare_inputs(const cli_training *t, formats_imageset *set, char **paths, size_t n) {
    const cli_train_run *s = t->run;
    const char *const file[] = {s->output, s->checkpoint, s->log};
    const cli_code_set inputs = {
        .verb = t->verb->name, .filelist = s->filelist, .labels = s->labels, .set = set};
    int code = CLI_DONE;
    for (size_t i = 0; i < 3 && code == CLI_DONE; i++)
        code = cli_code_set_spares(&inputs, paths, n, file[i]);
    for (size_t i = 0; s->plot && i < CLI_TRAIN_DRAWN && code == CLI_DONE; i++) {
        char name[CLI_TRAIN_NAME];
        code = cli_code_set_spares(&inputs, paths, n, cli_train_drawn(s, i, name));
    }
    return code;
}

/* True if some class has two images, so that an image can have a neighbour of its class. */
static bool has_neighbours(const formats_imageset *set) {
    const size_t n = formats_imageset_count(set), classes = formats_imageset_class_count(set);
    uint8_t *seen = calloc(classes + 1, 1);
    bool found = !seen; /* a lack of memory is reported elsewhere */
    for (size_t i = 0; i < n && !found; i++) {
        const int32_t label = formats_imageset_label(set, i);
        if (label >= 0) found = seen[label], seen[label] = 1;
    }
    free(seen);
    return found;
}

/* Check that the images are suitable for training. */
static int check_set(const cli_training *t, formats_imageset *set, char **paths, size_t n) {
    const int code = spare_inputs(t, set, paths, n);
    if (code != CLI_DONE || !t->from_labels) return code;
    const char *lone = formats_imageset_single_class(set);
    if (t->from_neighbours && formats_imageset_class_count(set) && !has_neighbours(set)) {
        cli_error(t->verb->name, NULL,
                  "every class has only one image, so that --class-units has no effect; label more "
                  "images, or omit it");
        return CLI_USAGE;
    }
    if (!lone) return cli_refuse_negative(set, t->verb->name, t->run->labels);
    cli_error(t->verb->name, NULL,
              "all labelled images have one class, '%s': give a folder with folders for at least "
              "two classes",
              lone);
    return CLI_USAGE;
}

static void tell_images(const cli_training *t) {
    const cli_common *common = &t->run->common;
    const train_dataset *data = &t->data;
    if (data->n + t->reporter.left.failed - t->reporter.left.files < data->available)
        cli_note(common, t->verb->name,
                 "training on %zu of %zu image%s, evenly chosen, to stay within --max-memory",
                 data->n, data->available, formats_plural(data->available, "s"));
    cli_detail(common, 1, t->verb->name, "%zu image%s of %llu pixels in all, %s, on %u thread%s",
               data->n, formats_plural(data->n, "s"), (unsigned long long)data->pixels,
               data->channels == 1 ? "grey" : "in colour", cli_threads(common),
               formats_plural(cli_threads(common), "s"));
}

/* For train_dataset_load. All processes hear of all images that cannot be used; the first says so.
 */
static void skip_image(void *user, const char *path, const taper_error *why) {
    cli_training *t = user;
    if (train_is_first(t->ranks))
        cli_train_say_skip(&t->reporter, path, why);
    else
        t->reporter.left.failed++;
}

static void say_read(void *user, uint64_t done, uint64_t total) {
    cli_train_say_read(&((cli_training *)user)->reporter, done, total);
}

/* Reads the images into t->data. Returns an exit code. */
static int read_images(cli_training *t, char **paths, size_t n) {
    const cli_train_run *s = t->run;
    cli_train_reporter *r = &t->reporter;
    taper_limits limits = cli_limits(&s->common);
    formats_imageset_options open = {.filelist = s->filelist,
                                     .null_list = s->null_list,
                                     .labels = s->labels,
                                     .limits = &limits,
                                     .follow_links = s->follow_links,
                                     .all_frames = s->frames};
    formats_imageset *set;
    taper_error error = {0};
    taper_status status = formats_imageset_open(&set, (const char *const *)paths, n, &open,
                                                cli_left_out_file, &r->left, &error);
    if (status != TAPER_OK) return no_images(t, NULL, s->labels, status, &error);
    if (check_set(t, set, paths, n) != CLI_DONE) {
        formats_imageset_close(set);
        return CLI_USAGE;
    }
    const uint64_t held = cli_memory_hold(formats_imageset_memory(set));
    limits = cli_limits(&s->common);
    cli_progress_start(&r->progress, &s->common, "reading", formats_imageset_count(set), "images");
    const train_loading loading = {.ranks = t->ranks,
                                   .max_bytes = limits.max_memory / 4,
                                   .alpha = (formats_alpha)s->alpha,
                                   .skip = skip_image,
                                   .progress = say_read,
                                   .user = t};
    status = train_dataset_load(&t->data, set, &loading, &error);
    cli_progress_end(&r->progress);
    const int code = status == TAPER_OK ? CLI_DONE : no_images(t, set, false, status, &error);
    if (status == TAPER_OK && train_is_first(t->ranks)) cli_left_out_report(&r->left, set);
    if (status == TAPER_OK && t->by_votes)
        status =
            cli_labelled_set_take(&t->labels, t->verb->name, &t->data, set, t->equal_votes, &error);
    formats_imageset_close(set);
    cli_memory_release(held);
    return code == CLI_DONE && status != TAPER_OK ? cli_fail(t->verb->name, NULL, status, &error)
                                                  : code;
}

/* --- a run ----------------------------------------------------------------------------- */

static int read_and_learn(cli_training *t, char **paths, size_t n) {
    const cli_train_run *s = t->run;
    const char *verb = t->verb->name;
    t->reporter =
        (cli_train_reporter){.common = &s->common,
                             .verb = verb,
                             .output = s->output,
                             .log_path = train_is_first(t->ranks) ? s->log : NULL,
                             .plot = s->plot,
                             .append = s->resume,
                             .left = {.common = &s->common, .verb = verb, .output = s->output}};
    int code = read_images(t, paths, n);
    if (code != CLI_DONE) {
        cli_labelled_set_free(&t->labels);
        train_dataset_free(&t->data);
        return code;
    }
    tell_images(t);
    t->file = formats_buffer_make(FORMATS_MOST_BYTES);
    cli_train_reporter_begin(&t->reporter);
    code = t->make(t);
    if (code == CLI_DONE && t->reporter.left.failed) code = CLI_SOME_FAILED;
    cli_train_reporter_end(&t->reporter);
    formats_buffer_free(&t->file);
    cli_labelled_set_free(&t->labels);
    train_dataset_free(&t->data);
    return code;
}

/* Open the device before reading images: without it reading would be useless. */
static int open_and_learn(cli_training *t, char **paths, size_t n) {
    const cli_train_run *s = t->run;
    taper_error error = {0};
    codec_backend_cpu(&t->backend);
    codec_backend_set_threads(&t->backend, cli_threads(&s->common));
    taper_status status = cli_device_open(&t->device, &s->common, t->ranks, &t->backend,
                                          (train_precision)s->precision, &error);
    if (status == TAPER_OK && s->precision && !t->device.is_cuda)
        cli_warning(t->verb->name, NULL, "without effect here: --precision (for a GPU)");
    if (status == TAPER_OK) status = cli_device_join(&t->device, &s->common, t->ranks, &error);
    int code = status == TAPER_OK ? read_and_learn(t, paths, n)
                                  : cli_fail(t->verb->name, s->common.device, status, &error);
    cli_device_close(&t->device);
    codec_backend_close(&t->backend);
    return code;
}

static int check_device(const cli_verb *verb, const char *name) {
    if (cli_device_is_missing(name))
        return cli_usage(verb, "this build has no CUDA; give --device cpu");
    if (cli_device_is_name(name)) return CLI_DONE;
    return cli_usage(verb, "--device is auto, cpu, shadow, cuda or cuda:N, not '%s'", name);
}

/* In one process, or one of several. */
static int run(cli_training *t, int argc, char **argv, int first) {
    const cli_train_run *s = t->run;
    int code = check_device(t->verb, s->common.device);
    if (code == CLI_DONE && train_is_first(t->ranks))
        code = cli_train_check_targets(t->verb->name, s);
    if (code == CLI_DONE && t->from)
        code = cli_coder_open(&t->model, t->verb->name, t->from, &s->common);
    if (code == CLI_DONE)
        code = cli_train_compare_processes(t->verb->name, t->ranks, argv + 1, t->model.bytes,
                                           t->model.size);
    if (code != CLI_DONE) return code;
    taper_model_info info = {.size = sizeof(taper_model_info)};
    if (t->from) info = cli_model_info(t->model.model);
    if (s->checkpoint) cli_train_listen();
    if (train_is_first(t->ranks))
        cli_options_name_idle(t->verb, t->uses(s, t->from ? &info : NULL));
    code = open_and_learn(t, argv + first, (size_t)(argc - first));
    cli_model_close(&t->model);
    return code;
}

int cli_training_run(cli_training *t, int argc, char **argv, int first) {
    const cli_train_run *s = t->run;
    taper_error error = {0};
    if (!s->output) return cli_usage(t->verb, "name the model to write with -o MODEL");
    if (!strcmp(s->output, "-"))
        return cli_usage(t->verb, "a model is not written to standard output; give its file");
    if (first == argc && !s->filelist)
        return cli_usage(t->verb, "give images or folders to train on");
    if (t->check(t->run, &error) != TAPER_OK)
        return cli_usage(t->verb, "%s", cli_explain(&error).text);
    t->is_quiet = s->common.quiet;
    int code = cli_train_begin_processes(t->verb->name, &t->run->common, &t->ranks);
    const char *why = t->alone ? t->alone(s) : NULL;
    if (code == CLI_DONE && t->ranks && why) code = cli_usage(t->verb, "%s", why);
    if (code == CLI_DONE) code = run(t, argc, argv, first);
    return cli_train_end_processes(code);
}
