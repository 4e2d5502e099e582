/* cmd_decode.c -- a container, or its front, into image files. Groups are dealt out to worker
 * threads, each with a decoder of its own over the same bytes; what arrives slowly is the business
 * of decode_progressive.c. */
#include "../formats/cifar.h"
#include "../formats/idx.h"
#include "../formats/image.h"
#include "compare/parallel.h"
#include "decoding.h"
#include "inputs.h"
#include "outputs.h"
#include "progress.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *image;
    cli_cut cut;
    double fraction;
    int format, progressive, strict, levels;
} settings;

static const char *const formats[] = {"png", "pnm", "idx", "cifar", NULL}; /* cli_picture_format */
static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "DIR", offsetof(settings, output),
     .help = "folder for the images; with --image also a file, or -"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "the container's model, unless it carries its own or that is built in"},
    {"image", 'i', CLI_STRING, "N", offsetof(settings, image),
     .help = "only this image: its number from 1, or its name"},
    CLI_CUT_OPTIONS(settings),
    CLI_FRACTION_OPTION(settings),
    {"format", 0, CLI_CHOICE, "NAME", offsetof(settings, format), .initial = "png",
     .choices = formats, .help = "kind of files; idx and cifar are one file"},
    {"progressive", 'p', CLI_FLAG, .offset = offsetof(settings, progressive),
     .help = "rewrite the images as bytes arrive, for a pipe"},
    {"strict", 0, CLI_FLAG, .offset = offsetof(settings, strict),
     .help = "exit with 4 when the container was cut"},
    {"levels", 0, CLI_FLAG, .offset = offsetof(settings, levels),
     .help = "no images: print the integers behind them, to compare decoders"},
    {"threads", 'T', CLI_INT, "N", offsetof(settings, common.threads), .initial = "0", .min = 0,
     .max = 1024, .help = "worker threads; 0: one per processor"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_TALK_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_decode = {
    .name = "decode",
    .run = cmd_decode,
    .what = "a container, or any front part of one, into images",
    .synopsis = "[options] [-m MODEL] -o DIR CONTAINER",
    .options = options,
    .about =
        "Decodes a file, a cut file, or - for standard input. --bytes, --bpp, "
        "--bytes-per-image and --fraction decode as if the file had been cut there. Each "
        "image gets the name it came with, as .png, or its number.\n\n"
        "With --progressive the images are first written as soon as the front matter is "
        "there, and again while bytes arrive: each file is replaced in one step.\n\n"
        "Where a checksum fails, the images it concerns are written as far as the data "
        "before it goes, and the exit code is 3.\n\n"
        "--levels prints what the entropy decoder knows, in which two decoders must agree: for "
        "each group a line \"group G passes P position Q\" (complete passes, and the position "
        "whose bit comes next), then for each unit \"unit U depth D:\" and its level at each "
        "position, with a + where a plane more than D is known.",
    .examples = "taper decode -m photos.tpm -o out photos.taper\n"
                "taper decode --image 7 -o seventh.png own-model.taper\n"
                "head -c 100K photos.taper | taper decode -m photos.tpm -o coarse -\n"
                "curl -s URL | taper decode --progressive -m photos.tpm -o out -\n"};

typedef struct worker {
    taper_decoder *decoder;
    cli_canvas canvas;
} worker;

typedef struct job {
    const cli_decode_request *q;
    taper_source source; /* cut where the options say */
    cli_picture_plan plan;
    worker *worker;      /* [threads] */
    taper_image *kept;   /* [plan.count] for formats of one file; else NULL */
    cli_progress progress;
    pthread_mutex_t lock; /* of what follows */
    int code;             /* of the failure that ends the work */
    uint32_t passes;      /* that all images have */
    uint64_t written, damaged;
} job;

/* --- one image --- */

/* Keep the pixels for a format that takes all images at once; the canvas gives them away. */
static taper_status keep(job *j, uint64_t k, cli_canvas *canvas) {
    j->kept[k] = canvas->image;
    *canvas = (cli_canvas){0};
    return TAPER_OK;
}

static int put_image(job *j, uint64_t k, worker *w) {
    taper_error error = {0};
    if (j->kept) return keep(j, k, &w->canvas) == TAPER_OK ? CLI_DONE : CLI_LIMIT;
    unsigned flags = j->q->common->force ? FORMATS_ATOMIC_OVERWRITE : 0;
    taper_status status = cli_picture_write(j->plan.path[k], j->q->format, &w->canvas.image, flags,
                                            &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("decode", j->plan.path[k], status, &error);
}

static int decode_image(job *j, uint64_t k, worker *w, bool *told) {
    taper_error error = {0};
    taper_completeness done = {0};
    taper_status status =
        cli_canvas_render(&w->canvas, w->decoder, j->plan.first + k, &done, &error);
    bool damaged = status == TAPER_ERR_CORRUPT;
    if (damaged && !*told) {
        cli_error("decode", j->q->input, "%s", error.text);
        *told = true;
    }
    if (status != TAPER_OK && !damaged) return cli_fail("decode", j->q->input, status, &error);
    int code = put_image(j, k, w);
    pthread_mutex_lock(&j->lock);
    j->written += code == CLI_DONE;
    j->damaged += damaged;
    if (done.passes < j->passes) j->passes = done.passes;
    pthread_mutex_unlock(&j->lock);
    cli_progress_add(&j->progress, 1);
    return code;
}

/* --- all images --- */

static int open_decoder(const job *j, taper_decoder **out) {
    taper_error error = {0};
    taper_status status =
        taper_decoder_open(out, &j->source, j->q->model, &j->q->limits, &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("decode", j->q->input, status, &error);
}

static void decode_group(void *user, size_t group, unsigned thread) {
    job *j = user;
    worker *w = &j->worker[thread];
    uint64_t first = 0, count = 0;
    bool told = false;
    pthread_mutex_lock(&j->lock);
    int code = j->code;
    pthread_mutex_unlock(&j->lock);
    if (code != CLI_DONE) return;
    if (!w->decoder) code = open_decoder(j, &w->decoder);
    if (code == CLI_DONE) taper_decoder_group_range(w->decoder, (uint32_t)group, &first, &count);
    for (uint64_t place = first; place < first + count && code == CLI_DONE; place++) {
        uint64_t i = taper_decoder_image_at(w->decoder, place);
        if (i >= j->plan.first && i - j->plan.first < j->plan.count)
            code = decode_image(j, i - j->plan.first, w, &told);
    }
    if (code == CLI_DONE) return;
    pthread_mutex_lock(&j->lock);
    if (j->code == CLI_DONE) j->code = code;
    pthread_mutex_unlock(&j->lock);
}

static int decode_images(job *j, uint32_t groups) {
    unsigned threads = cli_threads(j->q->common);
    taper_image_info info;
    j->worker = realloc(j->worker, threads * sizeof *j->worker);
    if (!j->worker) return cli_fail("decode", j->q->input, TAPER_ERR_NOMEM, NULL);
    for (unsigned t = 1; t < threads; t++) j->worker[t] = (worker){0};
    cli_progress_start(&j->progress, j->q->common, "decoding", j->plan.count, "images");
    if (j->plan.count == 1 &&
        taper_decoder_image_info(j->worker[0].decoder, j->plan.first, &info) == TAPER_OK) {
        (void)taper_decoder_set_threads(j->worker[0].decoder, threads); /* else one */
        decode_group(j, info.group, 0);
    } else
        cli_parallel(threads, groups, decode_group, j);
    cli_progress_end(&j->progress);
    for (unsigned t = 1; t < threads; t++) {
        taper_decoder_free(j->worker[t].decoder);
        cli_canvas_free(&j->worker[t].canvas);
    }
    return j->code;
}

/* --- formats of one file --- */

/* All images are held until the file is written: see that they fit. */
static int make_room(job *j) {
    uint64_t total = 0;
    taper_image_info info;
    for (uint64_t k = 0; k < j->plan.count; k++) {
        if (taper_decoder_image_info(j->worker[0].decoder, j->plan.first + k, &info) == TAPER_OK)
            total += info.bytes;
        if (total <= j->q->limits.max_memory / 2) continue;
        cli_error("decode", j->q->output,
                  "one file of all images needs more than half of --max-memory; raise it, or use "
                  "--format png");
        return CLI_LIMIT;
    }
    j->kept = calloc(j->plan.count, sizeof *j->kept);
    return j->kept ? CLI_DONE : cli_fail("decode", j->q->output, TAPER_ERR_NOMEM, NULL);
}

static uint8_t *labels_of(const job *j) {
    uint8_t *label = calloc(j->plan.count, 1);
    taper_image_info info;
    for (uint64_t k = 0; label && k < j->plan.count; k++)
        if (taper_decoder_image_info(j->worker[0].decoder, j->plan.first + k, &info) == TAPER_OK &&
            info.label >= 0 && info.label < 256)
            label[k] = (uint8_t)info.label;
    return label;
}

static taper_status encode_kept(const job *j, uint8_t **bytes, size_t *n, taper_error *error) {
    size_t count = (size_t)j->plan.count;
    taper_status status = TAPER_ERR_NOMEM;
    if (j->q->format == CLI_PICTURE_IDX) {
        size_t length = strlen(j->q->output);
        int gzip = length > 3 && !strcmp(j->q->output + length - 3, ".gz");
        return formats_idx_encode_images(j->kept, count, gzip, bytes, n, error);
    }
    if (j->q->format != CLI_PICTURE_CIFAR)
        return cli_picture_encode(j->q->format, j->kept, bytes, n, error);
    uint8_t *label = labels_of(j);
    if (label) status = formats_cifar_encode(j->kept, label, count, bytes, n, error);
    free(label);
    return status;
}

static int write_one_file(job *j, cli_output *out) {
    taper_error error = {0};
    uint8_t *bytes = NULL;
    size_t n = 0;
    taper_status status = encode_kept(j, &bytes, &n, &error);
    taper_sink sink = cli_output_sink(out);
    if (status == TAPER_OK) status = sink.write(sink.user, bytes, n);
    free(bytes);
    return cli_output_close(out, j->q->output, status, &error);
}

static int decode_to_one_file(job *j, uint32_t groups) {
    cli_output out;
    int code = cli_output_check("decode", j->q->output, j->q->input);
    if (code == CLI_DONE) code = make_room(j);
    if (code == CLI_DONE) code = cli_output_open(&out, "decode", j->q->output, j->q->common);
    if (code != CLI_DONE) return code;
    code = decode_images(j, groups);
    if (code == CLI_DONE) code = write_one_file(j, &out);
    else formats_atomic_file_abort(out.file);
    return code;
}

/* --- the verb --- */

static int tell(const job *j, const taper_container_info *info, uint64_t here) {
    uint64_t used = j->source.size < info->file_bytes ? j->source.size : info->file_bytes;
    cli_note(j->q->common, "decode", "%llu image%s from %llu of %llu bytes: %u of %u passes, in %s",
             (unsigned long long)j->written, j->written == 1 ? "" : "s", (unsigned long long)used,
             (unsigned long long)info->file_bytes, j->passes, info->passes,
             cli_output_name(j->q->output));
    if (here > info->file_bytes)
        cli_warning("decode", j->q->input, "%llu bytes follow the container's end",
                    (unsigned long long)(here - info->file_bytes));
    if (j->damaged) {
        cli_error("decode", j->q->input,
                  "%llu images lack what lies behind a failed checksum; the rest is in order",
                  (unsigned long long)j->damaged);
        return CLI_CORRUPT;
    }
    return j->q->strict && here < info->file_bytes ? CLI_INCOMPLETE : CLI_DONE;
}

static int decode_with(job *j, uint64_t here) {
    taper_container_info info;
    int code = open_decoder(j, &j->worker[0].decoder);
    if (code != CLI_DONE) return code;
    taper_decoder_get_info(j->worker[0].decoder, &info);
    j->passes = info.passes;
    code = cli_picture_plan_make(&j->plan, j->q, j->worker[0].decoder);
    if (code != CLI_DONE) return code;
    if (j->q->one_file) {
        code = decode_to_one_file(j, info.groups);
    } else {
        code = decode_images(j, info.groups);
        cli_pictures_settle();
    }
    return code == CLI_DONE ? tell(j, &info, here) : code;
}

static int decode(cli_decode_request *q, const settings *s, cli_model *model) {
    cli_container container;
    int code = cli_container_open(&container, "decode", q->input, q->common);
    if (code == CLI_DONE)
        code = cli_model_of(model, "decode", container.front.model_id, q->common);
    if (code != CLI_DONE) return code;
    q->model = model->model;
    job j = {.q = q, .source = container.source, .worker = calloc(1, sizeof *j.worker)};
    uint64_t cut = cli_cut_of_container(&s->cut, s->fraction, &container);
    if (cut < j.source.size) j.source.size = cut;
    if (s->levels) {
        code = cli_decode_levels(q, &container.front, &j.source);
        free(j.worker);
        cli_container_close(&container);
        return code;
    }
    pthread_mutex_init(&j.lock, NULL);
    code = j.worker ? decode_with(&j, container.source.size)
                    : cli_fail("decode", q->input, TAPER_ERR_NOMEM, NULL);
    for (uint64_t k = 0; j.kept && k < j.plan.count; k++) formats_image_free(&j.kept[k]);
    if (j.worker) {
        taper_decoder_free(j.worker[0].decoder);
        cli_canvas_free(&j.worker[0].canvas);
    }
    cli_picture_plan_free(&j.plan);
    pthread_mutex_destroy(&j.lock);
    free(j.kept);
    free(j.worker);
    cli_container_close(&container);
    return code;
}

/* Is the output of one image meant to be the file itself? Its suffix may choose the format. */
static bool names_one_file(settings *s) {
    static const char *const suffixes[] = {".png", ".pnm", ".ppm", ".pgm"};
    struct stat st;
    if (s->format >= CLI_PICTURE_IDX) return true;
    if (!s->image) return false;
    if (strcmp(s->output, "-") == 0) return true;
    if (stat(s->output, &st) == 0 && S_ISDIR(st.st_mode)) return false;
    size_t n = strlen(s->output);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (n < 4 || strcasecmp(s->output + n - 4, suffixes[i]) != 0) continue;
        if (!cli_options_given("format")) s->format = i ? CLI_PICTURE_PNM : CLI_PICTURE_PNG;
        return true;
    }
    return false;
}

static int check_usage(const settings *s, int operands) {
    if (operands != 1) return cli_usage(&cli_verb_decode, "give one container, or -");
    if (s->levels && (s->output || s->image || s->progressive || cli_options_given("format")))
        return cli_usage(&cli_verb_decode, "--levels prints levels and draws nothing: without "
                                           "-o, --image, --format and --progressive");
    if (!s->output && !s->levels)
        return cli_usage(&cli_verb_decode, "say where the images go: -o DIR");
    if (cli_cut_count() > 1)
        return cli_usage(&cli_verb_decode,
                         "give one of --bytes, --bpp, --bytes-per-image and --fraction");
    if (s->progressive && cli_cut_count())
        return cli_usage(&cli_verb_decode, "--progressive takes bytes as they come, without a cut");
    if (s->progressive && (s->format >= CLI_PICTURE_IDX || !strcmp(s->output, "-")))
        return cli_usage(&cli_verb_decode, "--progressive rewrites PNG or PNM files: give -o DIR");
    if (s->output && !strcmp(s->output, "-") && !s->image && s->format < CLI_PICTURE_IDX)
        return cli_usage(&cli_verb_decode, "only one image goes to standard output: add --image N");
    return CLI_DONE;
}

int cmd_decode(int argc, char **argv) {
    settings s = {0};
    cli_model model = {0};
    int first, code = cli_options_parse(&cli_verb_decode, argc, argv, &s, &first);
    if (code >= 0) return code;
    code = check_usage(&s, argc - first);
    if (code == CLI_DONE && s.model) code = cli_model_open(&model, "decode", s.model, &s.common);
    if (code != CLI_DONE) return code;
    taper_limits limits = cli_limits(&s.common);
    cli_decode_request q = {.common = &s.common, .input = argv[first], .output = s.output,
                            .image = s.image, .one_file = names_one_file(&s), .strict = s.strict,
                            .model = model.model, .limits = formats_limits_or_default(&limits)};
    q.format = (cli_picture_format)s.format;
    code = s.progressive ? cli_decode_progressive(&q, &model) : decode(&q, &s, &model);
    cli_model_close(&model);
    return code;
}
