/* cmd_train.c -- `taper train`: trains a model on images. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/signals.h"
#include "cli/device.h"
#include "cli/search/code_set.h"
#include "cli/train/table.h"
#include "codec/taper_model.h"
#include "formats/imageset/imageset.h"
#include "train/train.h"
#include <stdlib.h>
#include <string.h>

typedef cli_train_settings settings;

const cli_verb cli_verb_train = {
    .name = "train",
    .run = cmd_train,
    .what = "train a model on images",
    .synopsis = "[options] -o MODEL INPUT...",
    .options = cli_train_table,
    .uses = cli_train_uses,
    .about =
        "Learns to code images like the given ones, with the most important numbers first. One "
        "image in sixteen is held out; the settings are chosen by these.\n\n"
        "Family pca is linear and takes a minute or a few. Family conv is pca with a "
        "convolutional network that restores decoded images; it takes some minutes more and "
        "makes files a few percent smaller at equal quality. Family dense trains an autoencoder "
        "by nested dropout, starting from pca, and keeps it only if it is better. With --code "
        "units or --code binary it is the autoencoder of the nested-dropout paper, which drops "
        "whole units; they are real numbers or single bits.\n\n"
        "--conditional and --head add small networks that predict bits and refine decoded "
        "images. They take minutes of training and make smaller files of higher quality.\n\n"
        "--class-units 32 also trains the first 32 bits of such a binary code on labels: images "
        "of one class then share most of them. The later bits describe the image.\n\n"
        "--from photo adapts the built-in model for photographs to your images, in minutes.\n\n"
        "--objective makes an embedding model from labelled images. `taper embed` computes its "
        "codes, and `taper classify` labels images by them: images of one class have near "
        "codes. nca, log-nca and mcml train a linear map; the objectives with dg- and dt- "
        "(Student's t-distribution) train a deep network. Use dt-nca with 30 units for search "
        "and classification, and dt-mcml with 2 units for maps. With random starting weights, "
        "or for natural images, dt-log-nca has the lowest error. With --code binary the codes "
        "are bits, for an index (`taper index`) or a container (`taper encode --embed-with`).\n\n"
        "--preset labels tries several embeddings for labelled images within --minutes, keeps "
        "the best, and prints the error to expect.\n\n"
        "At the end, a model with bit planes is compared with the built-in ones on held-out "
        "images: which needs fewer bytes at equal PSNR. --quick skips this.\n\n"
        "--preset fast is pca. best is dense with bit planes and both networks; it uses pca "
        "instead if that is better. paper is a binary code as in the paper.",
    .examples = "taper train -o cats.tpm cats/    # a folder of PNG files\n"
                "taper train -o digits.tpm --family dense --window whole -k 64 "
                "train-images-idx3-ubyte.gz\n"
                "taper train -o classes.tpm --preset labels folder-of-classes/\n"
                "taper train -o bits.tpm --preset paper -w whole -k 1024 data_batch_*.bin\n"};

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

/* A run and its output. */
typedef struct making {
    const settings *settings;
    const cli_model *from;
    codec_backend *backend;
    cli_device *device;
    cli_train_reporter *reporter;
    const train_dataset *data;
    formats_buffer file;
} making;

/* Write the complete model file, or nothing. status and error: those of training. */
static int put(making *m, taper_status status, taper_error *error) {
    const settings *s = m->settings;
    const char *about = s->output;
    cli_device_explain(m->device, status, s->checkpoint, error);
    if (m->reporter->stage) cli_progress_end(&m->reporter->progress);
    if (s->from && status == TAPER_ERR_ARG) about = s->from;
    if (s->checkpoint && is_of_a_file(status)) about = s->checkpoint;
    if (status == TAPER_OK) status = read_again(&m->file, &s->common, error);
    if (status == TAPER_OK)
        status = formats_file_write(s->output, m->file.data, m->file.size,
                                    s->common.force ? FORMATS_ATOMIC_OVERWRITE : 0,
                                    cli_signals_watch(), error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("train", about, status, error);
}

/* Compare with the built-in models. This happens after the model is written; a failure does not
 * undo that. */
static bool compare_builtin(making *m, train_builtin_comparison *c) {
    const settings *s = m->settings;
    const train_hooks hooks = cli_train_hooks(m->reporter);
    taper_error error = {0};
    if (s->quick || s->code != TRAIN_CODE_PLANES || (s->common.quiet && !s->common.json))
        return false;
    const taper_status status = train_compare_builtin(&m->file, m->data, (uint64_t)s->set_images,
                                                      m->backend, &hooks, c, &error);
    cli_progress_end(&m->reporter->progress);
    if (status != TAPER_OK)
        cli_warning("train", s->output, "not compared with the built-in models: %s",
                    cli_explain(&error).text);
    return status == TAPER_OK;
}

static int make_model(making *m) {
    const settings *s = m->settings;
    uint32_t hidden[CODEC_MAX_LAYERS];
    taper_error error = {0};
    train_options o = cli_train_options(s, hidden);
    const formats_buffer from = {.data = (uint8_t *)m->from->bytes, /* only read */
                                 .size = m->from->size};
    train_hooks hooks = cli_train_hooks(m->reporter);
    train_report r;
    train_builtin_comparison comparison;
    taper_status status =
        train_regulariser_parse(&o.nested.training.regulariser, s->regularise, &error);
    if (status != TAPER_OK) return cli_fail("train", "--regularise", status, &error);
    o.window = s->side, o.lap = s->reach;
    if (s->from) o.from = &from;
    status = train_model(&o, m->data, m->backend, &m->device->train, &hooks, &m->file, &r, &error);
    const int code = put(m, status, &error);
    if (code != CLI_DONE) return code;
    const bool is_compared = compare_builtin(m, &comparison);
    cli_train_report(m->reporter, &r, is_compared ? &comparison : NULL);
    if (s->plot) cli_train_draw(m->reporter, &r);
    return CLI_DONE;
}

static int make_embedding(making *m) {
    const settings *s = m->settings;
    uint32_t hidden[CODEC_MAX_LAYERS];
    train_embedding_choice c;
    train_embedding_report r;
    taper_error error = {0};
    const train_embedding_hooks hooks = cli_embedding_hooks(m->reporter);
    if (cli_train_embedding(s, hidden, &c, &error) != TAPER_OK)
        return cli_usage(&cli_verb_train, "%s", cli_explain(&error).text);
    const taper_status status = train_embedding_model(&c, m->data, m->backend, &m->device->train,
                                                      &hooks, &m->file, &r, &error);
    const int code = put(m, status, &error);
    if (code != CLI_DONE) return code;
    cli_embedding_report(m->reporter, &c, &r);
    if (s->plot) cli_train_draw(m->reporter, NULL);
    return CLI_DONE;
}

static int learn(const settings *s, const cli_model *from, codec_backend *backend,
                 cli_device *device, cli_train_reporter *t, const train_dataset *data) {
    making m = {s, from, backend, device, t, data, formats_buffer_make(FORMATS_MOST_BYTES)};
    const int code = s->embedding.objective ? make_embedding(&m) : make_model(&m);
    formats_buffer_free(&m.file);
    if (code != CLI_DONE) return code;
    return t->left.failed ? CLI_SOME_FAILED : CLI_DONE;
}

/* There are no images to train on: print why, and return the exit code. */
static int no_images(cli_train_reporter *t, const formats_imageset *set, bool is_labels,
                     taper_status status, const taper_error *error) {
    bool all_failed = status == TAPER_ERR_ARG && t->left.failed && !is_labels;
    if (status == TAPER_ERR_ARG) cli_left_out_report(&t->left, set);
    int code = cli_fail("train", NULL, status, error);
    return all_failed ? (int)t->left.code : code;
}

/* Check that no output is an input. */
static int spare_inputs(const settings *s, formats_imageset *set, const char *const *paths,
                        size_t n) {
    const char *const file[] = {s->output, s->checkpoint, s->log};
    const cli_code_set inputs = {
        .verb = "train", .filelist = s->filelist, .labels = s->labels, .set = set};
    int code = CLI_DONE;
    for (size_t i = 0; i < 3 && code == CLI_DONE; i++)
        code = cli_code_set_spares(&inputs, (char **)paths, n, file[i]);
    for (size_t i = 0; s->plot && i < CLI_TRAIN_DRAWN && code == CLI_DONE; i++) {
        char name[CLI_TRAIN_NAME];
        code = cli_code_set_spares(&inputs, (char **)paths, n, cli_train_drawn(s, i, name));
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
static int check_set(const settings *s, formats_imageset *set, const char *const *paths, size_t n) {
    const int code = spare_inputs(s, set, paths, n);
    if (code != CLI_DONE || !(s->embedding.objective || s->class_units)) return code;
    const char *lone = formats_imageset_single_class(set);
    if (s->class_units && formats_imageset_class_count(set) && !has_neighbours(set)) {
        cli_error("train", NULL,
                  "every class has only one image, so that --class-units has no effect; label more "
                  "images, or omit it");
        return CLI_USAGE;
    }
    if (!lone) return cli_refuse_negative(set, "train", s->labels);
    cli_error("train", NULL,
              "all labelled images have one class, '%s': give a folder with folders for at least "
              "two classes",
              lone);
    return CLI_USAGE;
}

static int read_and_learn(const settings *s, const cli_model *from, codec_backend *backend,
                          cli_device *device, const char *const *paths, size_t n) {
    cli_train_reporter t = {.common = &s->common,
                            .output = s->output,
                            .log_path = s->log,
                            .plot = s->plot,
                            .append = s->resume,
                            .left = {.common = &s->common, .verb = "train", .output = s->output}};
    taper_limits limits = cli_limits(&s->common);
    formats_imageset_options open = {.filelist = s->filelist,
                                     .null_list = s->null_list,
                                     .labels = s->labels,
                                     .limits = &limits,
                                     .follow_links = s->follow_links};
    formats_imageset *set;
    train_dataset data;
    taper_error error = {0};
    taper_status status =
        formats_imageset_open(&set, paths, n, &open, cli_left_out_file, &t.left, &error);
    if (status != TAPER_OK) return no_images(&t, NULL, s->labels, status, &error);
    if (check_set(s, set, paths, n) != CLI_DONE) {
        formats_imageset_close(set);
        return CLI_USAGE;
    }
    const uint64_t held = cli_memory_hold(formats_imageset_memory(set));
    limits = cli_limits(&s->common);
    cli_progress_start(&t.progress, &s->common, "reading", formats_imageset_count(set), "images");
    status = train_dataset_load(&data, set, limits.max_memory / 4, (formats_alpha)s->alpha,
                                cli_train_say_skip, cli_train_say_read, &t, &error);
    cli_progress_end(&t.progress);
    int none = status == TAPER_OK ? CLI_DONE : no_images(&t, set, false, status, &error);
    if (status == TAPER_OK) cli_left_out_report(&t.left, set);
    formats_imageset_close(set);
    cli_memory_release(held);
    if (none != CLI_DONE) return none;
    if (data.n + t.left.failed - t.left.files < data.available)
        cli_note(&s->common, "train",
                 "training on %zu of %zu image%s, evenly chosen, to stay within --max-memory",
                 data.n, data.available, formats_plural(data.available, "s"));
    cli_detail(&s->common, 1, "train", "%zu image%s of %llu pixels in all, %s, on %u thread%s",
               data.n, formats_plural(data.n, "s"), (unsigned long long)data.pixels,
               data.channels == 1 ? "grey" : "in colour", cli_threads(&s->common),
               formats_plural(cli_threads(&s->common), "s"));
    if (s->sweep && s->hidden.count)
        cli_note(&s->common, "train",
                 "with --hidden the layers below frozen units continue to change, and short codes "
                 "get worse; --truncation log-uniform:0.5 without --sweep trains all lengths");
    cli_train_reporter_begin(&t);
    int code = learn(s, from, backend, device, &t, &data);
    cli_train_reporter_end(&t);
    train_dataset_free(&data);
    return code;
}

/* Open the device before reading images: without it reading would be useless. */
static int run(const settings *s, const cli_model *from, const char *const *paths, size_t n) {
    codec_backend backend;
    cli_device device;
    taper_error error = {0};
    codec_backend_cpu(&backend);
    codec_backend_set_threads(&backend, cli_threads(&s->common));
    taper_status status =
        cli_device_open(&device, &s->common, &backend, (train_precision)s->precision, &error);
    if (status == TAPER_OK && s->precision && !device.is_cuda)
        cli_warning("train", NULL, "without effect here: --precision (for a GPU)");
    int code = status == TAPER_OK ? read_and_learn(s, from, &backend, &device, paths, n)
                                  : cli_fail("train", s->common.device, status, &error);
    cli_device_close(&device);
    codec_backend_close(&backend);
    return code;
}

static int check_device(const settings *s) {
    const char *name = s->common.device;
    if (cli_device_is_missing(name))
        return cli_usage(&cli_verb_train, "this build has no CUDA; give --device cpu");
    if (cli_device_is_name(name)) return CLI_DONE;
    return cli_usage(&cli_verb_train, "--device is auto, cpu, shadow, cuda or cuda:N, not '%s'",
                     name);
}

static int check_and_run(settings *s, int argc, char **argv, int first) {
    taper_error error = {0};
    if (!s->output) return cli_usage(&cli_verb_train, "name the model to write with -o MODEL");
    if (first == argc && !s->filelist)
        return cli_usage(&cli_verb_train, "give images or folders to train on");
    if (cli_train_check(s, &error) != TAPER_OK)
        return cli_usage(&cli_verb_train, "%s", cli_explain(&error).text);
    int code = check_device(s);
    if (code == CLI_DONE) code = cli_train_check_targets(s);
    if (code != CLI_DONE) return code;
    cli_model from = {0};
    if (s->from) code = cli_coder_open(&from, "train", s->from, &s->common);
    if (code != CLI_DONE) return code;
    taper_model_info info = from.model ? taper_model_get_info(from.model) : (taper_model_info){0};
    cli_options_name_idle(&cli_verb_train, cli_train_uses_of(s, from.model ? &info : NULL));
    code = run(s, &from, (const char *const *)argv + first, (size_t)(argc - first));
    cli_model_close(&from);
    return code;
}

int cmd_train(int argc, char **argv) {
    settings s = {0};
    int first, stop = cli_options_parse(&cli_verb_train, argc, argv, &s, &first);
    if (stop < 0 && s.preset && !s.from) { /* parse again, with the options of the preset */
        const char *const *words = cli_train_presets[s.preset];
        cli_options_free(&cli_verb_train, &s);
        s = (settings){0};
        stop = cli_options_parse_over(&cli_verb_train, words, argc, argv, &s, &first);
    }
    int code = stop >= 0 ? stop : check_and_run(&s, argc, argv, first);
    if (stop < 0) cli_options_free(&cli_verb_train, &s);
    return code;
}
