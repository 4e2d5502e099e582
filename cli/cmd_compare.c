/* cmd_compare.c -- compares rate and distortion with JPEG and other codecs on the same images. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/left_out.h"
#include "cli/common/progress.h"
#include "cli/common/signals.h"
#include "cli/compare/comparison.h"
#include "cli/compare/report.h"
#include "cli/compare/subject.h"
#include "cli/device.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct settings {
    cli_common common;
    const char *model, *output, *rivals, *filelist;
    cli_numbers bpp;
    int64_t max_count, examples;
    int alpha, follow_links, frames, null_list;
} settings;

enum { USE_REPORT = 1 };
static const char *const k_uses[] = {"a report: --output DIR", NULL};
static const cli_option k_options[] = {
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "encode with this model: a file, or the built-in photo or tiny [photo]"},
    {"output", 'o', CLI_STRING, "DIR", offsetof(settings, output),
     .help = "write rd.csv, plots and index.html to this folder; -f replaces unchanged ones"},
    {"rivals", 'r', CLI_STRING, "LIST", offsetof(settings, rivals), .initial = "all",
     .help = "compare with these of jpeg,jpeg2000,webp,avif,jxl; or all, or none"},
    {"bpp", 0, CLI_NUMBERS, "LIST", offsetof(settings, bpp), .min = 1e-6, .max = 1e6,
     .help = "cut at these bits per pixel; default: 15 sizes, each 1.41 times the one before"},
    {"count", 'n', CLI_INT, "N", offsetof(settings, max_count), .min = 0, .max = 1e15,
     .initial = "0", .help = "use only the first N images, with a model; 0: all"},
    {"examples", 0, CLI_INT, "N", offsetof(settings, examples), .min = 0, .max = 6, .initial = "6",
     .help = "images shown on the page, each beside the other codecs", .uses = USE_REPORT},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "read paths of images from this file, one per line; - is standard input"},
    CLI_NULL_OPTION(settings),
    CLI_FOLLOW_OPTION(settings),
    CLI_FRAMES_OPTION(settings),
    CLI_ALPHA_OPTION(settings, "white"),
    CLI_CODING_OPTIONS(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_compare = {
    .name = "compare",
    .run = cmd_compare,
    .what = "compare sizes and quality with JPEG and other codecs",
    .synopsis = "[options] [-m MODEL] [CONTAINER] IMAGES...",
    .options = k_options,
    .uses = k_uses,
    .about = "Encodes the images with the model, or takes a container (the first operand that is "
             "one) whose originals the images are. Cuts it at several sizes, decodes each cut, and "
             "measures PSNR, SSIM and MS-SSIM against the originals. Does the same for JPEG, JPEG "
             "2000, WebP, AVIF and JPEG XL if their libraries are available. AVIF, at its best "
             "setting, is by far the slowest.\n\n"
             "Sizes are counted in up to three ways. `file`: all bytes. `file+model`: all bytes, "
             "plus the model once for the set. `payload`: only the entropy-coded data of the other "
             "codec, as if its headers were free. BD-rate is the mean difference of bytes at equal "
             "PSNR; negative is better. A model that is built in is not counted in the table.\n\n"
             "The page of --output shows images first: two codecs in one place, with a line "
             "between them to move, at five cuts. Each other codec gets at most as many bytes as "
             "taper.",
    .examples =
        "taper compare -m cifar.tpm test_batch.bin                # a table\n"
        "taper compare -m photos.tpm -o report photos/            # and report/index.html\n"
        "taper compare -r jpeg,webp set.taper originals/          # a container with its model\n"};

typedef struct state {
    settings s;
    const char *container;
    taper_limits limits;
    formats_imageset *set;
    cli_model model;
    taper_model_info model_info;
    cli_subject subject;
    cli_originals originals;
    cli_comparison *result;
    cli_progress progress;
    cli_left_out left;
    int made_folder; /* this run created the folder of -o */
} state;

/* --- what the library calls back -------------------------------------------------------------- */

static void tell_skip(void *user, const char *path, const taper_error *why) {
    cli_left_out_image(&((state *)user)->left, path, why->status, why);
}

static void tell_done(void *user, size_t images) {
    state *st = user;
    cli_progress_add(&st->progress, images);
}

static void tell_examples(void *user, size_t jobs) {
    state *st = user;
    cli_progress_start(&st->progress, &st->s.common, "the page", jobs, "rows of pictures");
}

static taper_status read_original(void *user, size_t i, taper_image *out, taper_error *error) {
    const state *st = user;
    return cli_originals_read(&st->originals, i, out, error);
}

static cli_rd_job images_of(state *st) {
    return (cli_rd_job){.user = st,
                        .threads = cli_threads(&st->s.common),
                        .read = read_original,
                        .done = tell_done};
}

/* --- inputs ----------------------------------------------------------------------------------- */

/* True if the file is a container, by its first bytes, or by its name if it cannot be read. */
static bool is_container(const char *path) {
    const cli_kind kind = cli_kind_of(path);
    return kind == CLI_IS_UNKNOWN ? formats_has_extension(path, ".taper")
                                  : kind == CLI_IS_CONTAINER;
}

/* Remove the first operand that is a container from the list. */
static size_t take_container(state *st, char **operand, size_t n, const char **inputs) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!st->container && is_container(operand[i]))
            st->container = operand[i];
        else
            inputs[kept++] = operand[i];
    return kept;
}

/* Open the given model, or the built-in one that the container needs. */
static int find_model(state *st) {
    const char *name = st->s.model;
    uint8_t head[32]; /* enough for taper_model_builtin_for */
    size_t n;
    if (!name && cli_peek(st->container, head, sizeof head, &n, NULL) == TAPER_OK)
        name = taper_model_builtin_for(head, n);
    return name ? cli_coder_open(&st->model, "compare", name, &st->s.common) : CLI_DONE;
}

static int load_model(state *st) {
    int code = find_model(st);
    if (code != CLI_DONE || !st->model.model) return code;
    st->model_info = cli_model_info(st->model.model);
    st->subject.model = st->model.model;
    st->subject.model_bytes = st->model.size;
    st->result->is_builtin = taper_model_builtin_of(st->model_info.id) != NULL;
    return CLI_DONE;
}

/* Check that the report overwrites no other file. */
static int check_folder(const settings *s) {
    const char *foreign = s->common.force ? cli_own_report_foreign(s->output) : NULL;
    if (foreign) {
        cli_error("compare", s->output,
                  "has a file %s that is not as `taper compare` wrote it: it is not overwritten, "
                  "even with -f; remove it, or give another -o",
                  foreign);
        return CLI_IO;
    }
    for (size_t i = 0; cli_report_files[i] && !s->common.force; i++) {
        char path[4096];
        struct stat is;
        if (snprintf(path, sizeof path, "%s/%s", s->output, cli_report_files[i]) <
                (int)sizeof path &&
            lstat(path, &is) == 0) {
            cli_error("compare", path, "exists; -f overwrites the report in this folder");
            return CLI_IO;
        }
    }
    return CLI_DONE;
}

/* Create the folder, or check the one that is there. */
static int prepare_folder(state *st) {
    const settings *s = &st->s;
    struct stat is;
    st->made_folder = mkdir(s->output, 0777) == 0;
    if (st->made_folder) return CLI_DONE;
    if (errno != EEXIST) {
        cli_error("compare", s->output, "cannot make the folder: %s", strerror(errno));
        return CLI_IO;
    }
    if (stat(s->output, &is) != 0 || !S_ISDIR(is.st_mode)) {
        cli_error("compare", s->output, "is not a folder; give -o the name of one");
        return CLI_IO;
    }
    return check_folder(s);
}

/* True if a name is in the comma-separated list. */
static bool is_listed(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == 0)) return true;
    return false;
}

/* Add the requested codecs to the result. An unknown name is a usage error. */
static int choose_rivals(state *st) {
    const char *list = st->s.rivals, *names[CLI_MAX_RIVALS + 1] = {NULL};
    size_t n = 0;
    for (size_t i = 0; cli_rivals[i]; i++) names[i] = cli_rivals[i]->name;
    for (const char *at = list; strcmp(list, "all") && strcmp(list, "none") && at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char word[32] = "";
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        const char *near = cli_nearest(word, names);
        if (cli_rival_find(word)) continue;
        return near
                   ? cli_usage(&cli_verb_compare, "no rival '%s'; did you mean '%s'?", word, near)
                   : cli_usage(&cli_verb_compare,
                               "no rival '%s'; there are jpeg, jpeg2000, webp, avif and jxl", word);
    }
    for (size_t i = 0; cli_rivals[i]; i++) {
        if (!strcmp(list, "none") || (strcmp(list, "all") && !is_listed(list, names[i]))) continue;
        cli_contender *c = &st->result->contender[n++];
        c->rival = cli_rivals[i];
        taper_error why;
        if (cli_rival_load(c->rival, &why) != TAPER_OK)
            snprintf(c->failure, sizeof c->failure, "absent: %s", why.text);
        else
            c->rival->version(c->version, sizeof c->version);
    }
    st->result->n_contenders = n;
    return CLI_DONE;
}

/* --- measuring -------------------------------------------------------------------------------- */

static int make_subject(state *st) {
    taper_error error = {0};
    taper_status status;
    size_t n = formats_imageset_count(st->set);
    if (st->s.max_count && (size_t)st->s.max_count < n) n = (size_t)st->s.max_count;
    if (st->container) {
        status = cli_subject_open(&st->subject, st->container, &st->originals, &error);
        return status == TAPER_OK ? CLI_DONE : cli_fail("compare", st->container, status, &error);
    }
    cli_subject_encoding how = {.max_images = n,
                                .threads = cli_threads(&st->s.common),
                                .skip = tell_skip,
                                .done = tell_done,
                                .user = st};
    cli_progress_start(&st->progress, &st->s.common, "encoding", n, "images");
    status = cli_subject_encode(&st->subject, &how, &st->originals, &error);
    cli_progress_end(&st->progress);
    bool is_none = !st->originals.count && st->left.failed && status == TAPER_ERR_UNSUPPORTED;
    if (status == TAPER_OK || is_none) cli_left_out_report(&st->left, st->set);
    if (status == TAPER_OK) return CLI_DONE;
    cli_fail("compare", is_none ? NULL : st->s.model, status, &error);
    return is_none ? st->left.code : cli_exit_code(status);
}

/* The cuts of --bpp, or the default ones. */
static size_t choose_cuts(state *st, uint64_t *cuts) {
    const cli_subject *subject = &st->subject;
    size_t n = 0;
    if (!st->s.bpp.count) return cli_subject_ladder(subject, cuts, CLI_RD_MAX_POINTS);
    for (size_t i = 0; i < st->s.bpp.count && n < CLI_RD_MAX_POINTS; i++) {
        double bytes = st->s.bpp.item[i] * (double)subject->info.pixels / 8;
        if (bytes < (double)subject->info.front_bytes || bytes > (double)subject->source.size)
            cli_warning("compare", NULL, "%g bpp is left out: the container spans %.3g to %.3g bpp",
                        st->s.bpp.item[i],
                        (double)subject->info.front_bytes * 8 / (double)subject->info.pixels,
                        (double)subject->source.size * 8 / (double)subject->info.pixels);
        else
            cuts[n++] = (uint64_t)bytes;
    }
    return n;
}

static int measure_own(state *st) {
    uint64_t cuts[CLI_RD_MAX_POINTS];
    taper_error error = {0};
    cli_comparison *result = st->result;
    size_t n = choose_cuts(st, cuts);
    if (!n) return cli_usage(&cli_verb_compare, "--bpp leaves no cut to measure");
    result->images = st->subject.info.images;
    result->pixels = st->subject.info.pixels;
    cli_progress_start(&st->progress, &st->s.common, "decoding cuts", n * st->originals.count,
                       "images");
    cli_rd_job images = images_of(st);
    taper_status status =
        cli_subject_curve(&st->subject, &images, cuts, n, &result->curve[0], &error);
    cli_progress_end(&st->progress);
    if (status != TAPER_OK) return cli_fail("compare", st->container, status, &error);
    result->n_curves = 1;
    if (st->subject.model_bytes)
        result->curve[result->n_curves++] = cli_subject_with_model(&st->subject, &result->curve[0]);
    return CLI_DONE;
}

static unsigned colour_of(const cli_rival *rival) {
    unsigned i = 0;
    while (cli_rivals[i] && cli_rivals[i] != rival) i++;
    return i + 1; /* curve 0 is that of taper */
}

/* A codec that fails has no curve; the result has the reason, and the comparison continues. */
static void measure_rival(state *st, cli_contender *c, const cli_rd_job *job) {
    cli_comparison *result = st->result;
    taper_error error = {0};
    size_t failed = 0;
    cli_rd_curve *file = &result->curve[result->n_curves], *payload = file + 1;
    cli_progress_start(&st->progress, &st->s.common, c->rival->title, st->originals.count,
                       "images");
    taper_status status = cli_rd_rival(c->rival, job, file, payload, &failed, &error);
    cli_progress_end(&st->progress);
    if (status != TAPER_OK) {
        snprintf(c->failure, sizeof c->failure, "failed: %.280s", cli_explain(&error).text);
        cli_warning("compare", formats_imageset_path(st->set, st->originals.index[failed]),
                    "%s: %s", c->rival->title, cli_explain(&error).text);
        return;
    }
    file->colour = payload->colour = colour_of(c->rival);
    result->n_curves += payload->n ? 2 : 1;
}

static int measure_rivals(state *st) {
    size_t runs, *start = cli_rd_even_runs(st->originals.count, &runs);
    if (!start) return cli_fail("compare", NULL, TAPER_ERR_NOMEM, NULL);
    cli_rd_job job = images_of(st);
    job.runs = runs;
    job.run_start = start;
    for (size_t i = 0; i < st->result->n_contenders; i++)
        if (!st->result->contender[i].failure[0])
            measure_rival(st, &st->result->contender[i], &job);
    free(start);
    return CLI_DONE;
}

/* --- telling ---------------------------------------------------------------------------------- */

/* The command line, quoted for a shell; the caller's to free, NULL without memory. */
static char *command_line(int argc, char **argv) {
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (!to) return NULL;
    fputs("taper", to);
    for (int i = 0; i < argc; i++) {
        bool plain = argv[i][0] && !strpbrk(argv[i], " \t\n'\"\\$&|;<>()*?[]#~`!{}");
        fputs(plain ? " " : " '", to);
        for (const char *c = argv[i]; *c; c++) fputs(*c == '\'' ? "'\\''" : (char[2]){*c, 0}, to);
        if (!plain) fputc('\'', to);
    }
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}

static int write_report(state *st, const char *command) {
    char text[200];
    taper_error plot_failure, error = {0};
    const char *what = st->container ? st->container : st->s.model;
    const char *base = strrchr(what, '/');
    snprintf(text, sizeof text, "%s %.120s", st->container ? "container" : "model",
             base ? base + 1 : what);
    const cli_report report = {.comparison = st->result,
                               .subject = &st->subject,
                               .originals = &st->originals,
                               .what = text,
                               .command = command ? command : "",
                               .watch = cli_signals_watch(),
                               .model = st->model.model ? &st->model_info : NULL,
                               .examples = {.most = (size_t)st->s.examples,
                                            .threads = cli_threads(&st->s.common),
                                            .begin = tell_examples,
                                            .done = tell_done,
                                            .user = st}};
    const int code = check_folder(&st->s); /* again: measuring took its time */
    if (code != CLI_DONE) return code;
    taper_status status = cli_report_write(&report, st->s.output, &plot_failure, &error);
    cli_progress_end(&st->progress);
    if (status != TAPER_OK) return cli_fail("compare", st->s.output, status, &error);
    if (plot_failure.status != TAPER_OK)
        cli_warning("compare", NULL, "%s", cli_explain(&plot_failure).text);
    cli_note(&st->s.common, "compare", "report in %s/index.html", st->s.output);
    return CLI_DONE;
}

static int tell(state *st, const char *command) {
    cli_comparison_find_deltas(st->result);
    if (st->s.common.json)
        cli_comparison_print_json(st->result, stdout);
    else
        cli_comparison_print(st->result, stdout);
    if (fflush(stdout) != 0) {
        cli_error("compare", NULL, "cannot write to standard output: %s", strerror(errno));
        return CLI_IO;
    }
    return st->s.output ? write_report(st, command) : CLI_DONE;
}

/* --- the verb --------------------------------------------------------------------------------- */

static int open_inputs(state *st, char **operand, size_t n) {
    const char **inputs = malloc((n + 1) * sizeof *inputs);
    taper_error error = {0};
    if (!inputs) return cli_fail("compare", NULL, TAPER_ERR_NOMEM, NULL);
    size_t kept = take_container(st, operand, n, inputs);
    int code = CLI_DONE;
    if (!kept && !st->s.filelist)
        code = cli_usage(&cli_verb_compare,
                         "give the original images: files, folders, IDX or CIFAR files");
    else if (st->container && st->s.max_count)
        code = cli_usage(&cli_verb_compare,
                         "-n takes part of the images; a container holds all of them: use a model");
    if (code == CLI_DONE) code = cli_device_for_coding(&cli_verb_compare, &st->s.common);
    if (code == CLI_DONE) code = choose_rivals(st);
    if (code == CLI_DONE && st->s.output) code = prepare_folder(st);
    if (!st->container && !st->s.model) st->s.model = CLI_DEFAULT_MODEL;
    if (code == CLI_DONE) code = load_model(st);
    if (code == CLI_DONE) {
        formats_imageset_options options = {.filelist = st->s.filelist,
                                            .null_list = st->s.null_list,
                                            .limits = &st->limits,
                                            .follow_links = st->s.follow_links,
                                            .all_frames = st->s.frames};
        taper_status status = formats_imageset_open(&st->set, inputs, kept, &options,
                                                    cli_left_out_file, &st->left, &error);
        if (status != TAPER_OK) {
            cli_left_out_report(&st->left, NULL);
            code = cli_fail("compare", NULL, status, &error);
            if (status == TAPER_ERR_ARG && st->left.failed) code = (int)st->left.code;
        } else {
            cli_memory_hold(formats_imageset_memory(st->set)); /* open until the end */
            st->limits = cli_limits(&st->s.common);
        }
    }
    st->originals = (cli_originals){.set = st->set, .alpha = (formats_alpha)st->s.alpha};
    free(inputs);
    return code;
}

static int no_room(void) {
    taper_error error = {0};
    formats_fail(&error, TAPER_ERR_NOMEM,
                 "no memory: the other codecs' libraries take up to half a gigabyte");
    return cli_fail("compare", NULL, TAPER_ERR_NOMEM, &error);
}

int cmd_compare(int argc, char **argv) {
    state st = {0};
    char *command = command_line(argc, argv); /* before parsing permutes argv */
    int first, code = cli_options_parse(&cli_verb_compare, argc, argv, &st.s, &first);
    if (code >= 0) {
        free(command);
        return code;
    }
    cli_options_name_idle(&cli_verb_compare, st.s.output ? USE_REPORT : 0);
    st.left = (cli_left_out){.common = &st.s.common, .verb = "compare"};
    st.limits = cli_limits(&st.s.common);
    st.subject.limits = &st.limits;
    st.result = cli_rivals_have_room() ? calloc(1, sizeof *st.result) : NULL;
    code =
        st.result ? cli_inputs_check("compare", argv + first, (size_t)(argc - first)) : no_room();
    if (code == CLI_DONE) code = open_inputs(&st, argv + first, (size_t)(argc - first));
    if (code == CLI_DONE) code = make_subject(&st);
    if (code == CLI_DONE) code = measure_own(&st);
    if (code == CLI_DONE) code = measure_rivals(&st);
    if (code == CLI_DONE) code = tell(&st, command);
    if (code == CLI_DONE && st.container) cli_left_out_report(&st.left, st.set);
    if (code == CLI_DONE && st.left.failed) code = CLI_SOME_FAILED;
    /* remove the empty folder of a failed run */
    if (code != CLI_DONE && st.made_folder) rmdir(st.s.output);
    cli_subject_close(&st.subject);
    cli_originals_close(&st.originals);
    cli_model_close(&st.model);
    formats_imageset_close(st.set);
    free(st.result);
    free(command);
    cli_options_free(&cli_verb_compare, &st.s);
    return code;
}
