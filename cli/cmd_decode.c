/* cmd_decode.c -- decodes a container, or a prefix of one, to image files. Worker threads take
 * groups, each with its own decoder over the same bytes. decode_progressive.c decodes while bytes
 * arrive. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/common/parallel.h"
#include "cli/common/progress.h"
#include "cli/decoding.h"
#include "cli/decode_verb.h"
#include "cli/device.h"
#include "cli/idx_labels.h"
#include "cli/picture_files.h"
#include "cli/picture_metadata.h"
#include "cli/reach.h"
#include "formats/images/cifar.h"
#include "formats/images/idx.h"
#include "formats/image.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *crop;
    cli_strings images;
    cli_cut cut;
    double fraction;
    int64_t quality;
    int format, scale, class_folders, progressive, strict, levels;
} settings;

static const char *const scales[] = {"1", "1/2", "1/4", "1/8", "1/16", NULL}; /* 2^-k */
/* in the order of cli_picture_format */
static const char *const formats[] = {"png",      "pnm", "jpeg",  "webp", "tiff",
                                      "original", "idx", "cifar", NULL};
enum { USE_IMAGES = 1 };
const char *const cli_decode_uses[] = {"images, not --levels", NULL};
const cli_option cli_decode_options[] = {
    {"output", 'o', CLI_STRING, "DIR", offsetof(settings, output),
     .help = "write the images to this folder; a single image also to a file, or -"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "the model, unless it is in the container or built in"},
    {"image", 'i', CLI_STRINGS, "LIST", offsetof(settings, images),
     .help =
         "only these images, by number from 1, range, name, end of a name or pattern: 3,7-9,*.jpg"},
    CLI_CUT_OPTIONS(settings),
    CLI_FRACTION_OPTION(settings),
    {"format", 0, CLI_CHOICE, "NAME", offsetof(settings, format), .initial = "png",
     .choices = formats,
     .help = "format of the files; original: each by its suffix; idx and cifar write one file"},
    {"quality", 0, CLI_INT, "N", offsetof(settings, quality), .initial = "90", .min = 1, .max = 100,
     .help = "quality of JPEG and WebP files, 1 to 100; WebP of 100 is lossless",
     .uses = USE_IMAGES},
    {"scale", 0, CLI_CHOICE, "PART", offsetof(settings, scale), .initial = "1", .choices = scales,
     .help = "write images of this part of the width and height, faster", .uses = USE_IMAGES},
    {"crop", 0, CLI_STRING, "X,Y,W,H", offsetof(settings, crop),
     .help = "write this rectangle of each image: upper left pixel from 0, width, height",
     .uses = USE_IMAGES},
    {"class-folders", 0, CLI_FLAG, .offset = offsetof(settings, class_folders),
     .help = "write each image to a folder named after its class", .uses = USE_IMAGES},
    {"progressive", 'p', CLI_FLAG, .offset = offsetof(settings, progressive),
     .help = "rewrite the images while bytes arrive through a pipe"},
    {"strict", 0, CLI_FLAG, .offset = offsetof(settings, strict),
     .help = "exit with 4 if the container is truncated, or its model lacks stages",
     .uses = USE_IMAGES},
    {"levels", 0, CLI_FLAG, .offset = offsetof(settings, levels),
     .help = "write no images but print decoded integers, to compare decoders"},
    CLI_CODING_OPTIONS(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_decode = {
    .name = "decode",
    .run = cmd_decode,
    .what = "decode a container, or any prefix of one, to images",
    .synopsis = "[options] [-m MODEL] -o DIR CONTAINER",
    .options = cli_decode_options,
    .uses = cli_decode_uses,
    .about =
        "Decodes a file, a truncated file, or - for standard input. --bytes, --bpp, "
        "--bytes-per-image and --fraction decode as if the file had been cut at that size. "
        "Files are named as the images were, or by number: a.jpg becomes a.png, or a.jpg.png if "
        "another image has or gets the name a.png; such changes are printed. A single image is "
        "written to a file if -o is x.png, x.pnm, x.ppm, x.pgm, x.jpg, x.webp or x.tif. All images "
        "are written to one file if -o is x.idx, x.idx.gz or x.bin, or with --format idx or "
        "cifar.\n\n"
        "With --format original each file has the name and the format of its original: PNG, JPEG, "
        "WebP, TIFF, PPM, PGM, PNM and PAM. Others (GIF, BMP, AVIF, HEIC, JPEG XL, PBM) become "
        "PNG.\n\n"
        "PNG, PNM and TIFF keep all samples. JPEG and WebP have 8 bits and lose a little, by "
        "--quality; transparent parts of a JPEG are white.\n\n"
        "--format idx writes labels, if any, into a second file: x-labels-idx1-ubyte for "
        "x-images-idx3-ubyte, and x-labels.idx for x.idx. -f does not replace that file if it "
        "has other labels.\n\n"
        "In the output folder, -f replaces a file only if `taper decode` wrote it and it is "
        "unchanged. Links there are not followed: with -f a link is replaced by a file; a link "
        "instead of a folder is an error. Names that the file system does not accept are "
        "printed and skipped, and the exit code is 1.\n\n"
        "Files get the times that their originals had, and PNG files the metadata that the "
        "container has: colour profiles, density, EXIF, XMP.\n\n"
        "With --progressive the images are written as soon as the front matter has arrived, and "
        "again while bytes arrive. Each file is replaced in one step.\n\n"
        "With --scale each pixel is the mean of 2 x 2 to 16 x 16 pixels, but without the "
        "restoration of models of family conv. Sizes are rounded up: of 15 x 9 pixels, 1/2 has 8 "
        "x 5. That takes less time and memory, as it computes small images from the codes.\n\n"
        "With --crop only the windows are rendered that the rectangle shows, and of large images "
        "only the strips are decoded that it touches. Pixels are those of the whole image. The "
        "rectangle is in pixels of the image of full size, also with --scale.\n\n"
        "If a checksum fails, the affected images are written as far as the data before it "
        "allows, and the exit code is 3.\n\n"
        "--levels is for authors of decoders: it prints the integers that two decoders must "
        "agree on. For each group there is a line \"group G passes P position Q\": the complete "
        "passes, and the position whose bit is next. Then for each unit there is a line \"unit "
        "U depth D:\" with its level at each position; a + marks levels of which more than D "
        "planes are known.",
    .examples = "taper decode -m photos.tpm -o out photos.taper\n"
                "taper decode --image 7 -o seventh.png own-model.taper\n"
                "taper decode --scale 1/8 -o previews photos.taper\n"
                "head -c 100K photos.taper | taper decode -m photos.tpm -o coarse -\n"
                "curl -s URL | taper decode --progressive -m photos.tpm -o out -\n"};

typedef struct worker {
    taper_decoder *decoder;
    cli_canvas canvas;
} worker;

/* A file of the plan that shows an image under a further name. */
typedef struct further_file {
    uint64_t k; /* in the plan */
    uint32_t group;
} further_file;

typedef struct job {
    const cli_decode_request *q;
    const cli_container *container;
    uint64_t cut; /* the container is decoded up to it */
    cli_picture_plan plan;
    further_file *further; /* [n_further] by ascending group */
    size_t n_further;
    worker *worker;    /* [threads] */
    taper_image *kept; /* [plan.count] for formats of one file; else NULL */
    cli_progress progress;
    pthread_mutex_t lock; /* guards the following members */
    int code;             /* exit code of the failure that ends the work */
    uint32_t passes;      /* that all images have */
    bool is_short;        /* some image is incomplete */
    uint64_t written, damaged;
} job;

/* --- one image --- */

static bool info_of(const job *j, uint64_t k, taper_image_info *info) {
    return taper_container_get_image(j->container->open, cli_picture_plan_image(&j->plan, k), info,
                                     NULL) == TAPER_OK;
}

/* For formats of one file the pixels are kept: they move from the canvas to the list. */
static int put_image(job *j, uint64_t k, cli_canvas *canvas) {
    if (!j->kept) return cli_picture_put(&j->plan, j->q, k, &canvas->image, j->q->common->force);
    j->kept[k] = canvas->image;
    *canvas = (cli_canvas){0};
    return CLI_DONE;
}

/* Nonzero: the picture is so large that it is written row by row. */
static bool goes_by_rows(const job *j, uint64_t k, const taper_image_info *info) {
    enum { LARGE = 32 << 20 }; /* bytes of pixels */
    const cli_view view = {j->q->scale, j->q->crop};
    const cli_picture_form form = cli_picture_plan_form(&j->plan, j->q, k);
    return !j->kept && form.format <= CLI_PICTURE_PNM && !form.is_pam &&
           cli_view_bytes(&view, info) > LARGE;
}

/* Render image k of the plan and write it. *shown: its size; *status, *error: of rendering it,
 * where the result is CLI_DONE. */
static int render_image(job *j, uint64_t k, worker *w, taper_image *shown, taper_completeness *done,
                        taper_status *status, taper_error *error) {
    const uint64_t i = cli_picture_plan_image(&j->plan, k);
    const cli_view view = {j->q->scale, j->q->crop};
    taper_image_info info = {.size = sizeof info};
    const int is_known = taper_container_get_image(j->container->open, i, &info, NULL) == TAPER_OK;
    if (is_known && goes_by_rows(j, k, &info)) {
        const cli_picture_rows rows = {w->decoder, i, view.scale, view.crop,
                                       *shown = cli_view_size(&view, &info)};
        return cli_picture_put_rows(&j->plan, j->q, k, &rows, done, status, error);
    }
    *status = cli_canvas_render(&w->canvas, w->decoder, i, &view, done, error);
    if (*status != TAPER_OK && *status != TAPER_ERR_CORRUPT)
        return cli_fail("decode", j->q->input, *status, error);
    *shown = w->canvas.image;
    return put_image(j, k, &w->canvas);
}

static int decode_image(job *j, uint64_t k, worker *w, bool *told) {
    taper_error error = {0};
    taper_completeness done = {0};
    taper_image shown = {0};
    taper_status status;
    const int code = render_image(j, k, w, &shown, &done, &status, &error);
    bool damaged = status == TAPER_ERR_CORRUPT;
    if (damaged && !*told) {
        cli_fail("decode", j->q->input, error.status, &error);
        *told = true;
    }
    if (status != TAPER_OK && !damaged) return code;
    taper_image_info info = {.size = sizeof info};
    const bool is_drawing = info_of(j, k, &info) && info.is_indexed; /* has no passes */
    pthread_mutex_lock(&j->lock);
    j->written += code == CLI_DONE;
    j->damaged += damaged;
    if (done.passes < j->passes && !is_drawing) j->passes = done.passes;
    j->is_short |= damaged || !done.complete;
    pthread_mutex_unlock(&j->lock);
    cli_progress_add(&j->progress, 1);
    char passes[48];
    cli_passes_words(done.passes, done.complete && !damaged ? done.passes : done.passes_in_file,
                     passes);
    if (code == CLI_DONE)
        cli_detail(j->q->common, 2, "decode", "image %llu: %u x %u, %s, in %s%s%s",
                   (unsigned long long)cli_picture_plan_image(&j->plan, k) + 1, shown.width,
                   shown.height, passes, cli_output_name(j->q->output), j->plan.name ? "/" : "",
                   j->plan.name ? j->plan.name[k] : "");
    return code == CLI_SOME_FAILED ? CLI_DONE : code; /* a refused name does not end the work */
}

/* --- all images --- */

static int open_decoder(const job *j, taper_decoder **out) {
    *out = NULL;
    taper_error error = {0};
    /* the front matter counts for the decoder, too */
    const taper_decode_options how = {.size = sizeof how,
                                      .cut = j->cut ? j->cut : 1,
                                      .max_memory = cli_limits(j->q->common).max_memory +
                                                    j->container->info.memory};
    const taper_status status = taper_decoder_new(out, j->container->open, &how, &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("decode", j->q->input, status, &error);
}

static int compare_further(const void *a, const void *b) {
    const further_file *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->k < y->k ? -1 : x->k > y->k;
}

/* List the files of further names, which have the last places in the plan. */
static int list_further(job *j) {
    const uint64_t images = j->container->info.images;
    uint64_t k = j->plan.count;
    while (k && cli_picture_plan_image(&j->plan, k - 1) >= images) k--;
    j->further = malloc((size_t)(j->plan.count - k + 1) * sizeof *j->further);
    if (!j->further) return cli_fail("decode", j->q->input, TAPER_ERR_NOMEM, NULL);
    for (; k < j->plan.count; k++) {
        taper_image_info info = {.size = sizeof info};
        info_of(j, k, &info);
        j->further[j->n_further++] = (further_file){k, info.group};
    }
    qsort(j->further, j->n_further, sizeof *j->further, compare_further);
    return CLI_DONE;
}

/* The first of them of this group or a later one. */
static size_t first_further(const job *j, uint32_t group) {
    size_t low = 0, high = j->n_further;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (j->further[middle].group < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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
    if (code == CLI_DONE)
        taper_container_group(j->container->open, (uint32_t)group, &first, &count, NULL);
    for (uint64_t place = first; place < first + count && code == CLI_DONE; place++) {
        uint64_t k =
            cli_picture_plan_find(&j->plan, taper_container_image_at(j->container->open, place));
        if (k != UINT64_MAX) code = decode_image(j, k, w, &told);
    }
    for (size_t n = first_further(j, (uint32_t)group);
         n < j->n_further && j->further[n].group == group && code == CLI_DONE; n++)
        code = decode_image(j, j->further[n].k, w, &told);
    if (code == CLI_DONE) return;
    pthread_mutex_lock(&j->lock);
    if (j->code == CLI_DONE) j->code = code;
    pthread_mutex_unlock(&j->lock);
}

static int decode_images(job *j, uint32_t groups) {
    unsigned threads = cli_threads(j->q->common);
    taper_image_info info = {.size = sizeof info};
    j->worker = realloc(j->worker, threads * sizeof *j->worker);
    if (!j->worker) return cli_fail("decode", j->q->input, TAPER_ERR_NOMEM, NULL);
    for (unsigned t = 1; t < threads; t++) j->worker[t] = (worker){0};
    cli_progress_start(&j->progress, j->q->common, "decoding", j->plan.count, "images");
    if (j->plan.count == 1 && info_of(j, 0, &info)) {
        (void)taper_decoder_set_threads(j->worker[0].decoder, threads, NULL); /* else one */
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

static bool has_no_alpha(cli_picture_format format) {
    return format == CLI_PICTURE_IDX || format == CLI_PICTURE_CIFAR;
}

static int refuse_alpha(const job *j, const taper_image_info *info) {
    taper_error error;
    formats_fail(&error, TAPER_ERR_UNSUPPORTED,
                 "%.150s has transparency, which this format does not store; use --format png, or "
                 "encode with --alpha white",
                 info->name ? info->name : "an image");
    return cli_fail("decode", j->q->output, error.status, &error);
}

/* Check that all images fit into memory: they are kept until the file is written. */
static int make_room(job *j) {
    uint64_t total = 0;
    taper_image_info info = {.size = sizeof info};
    const cli_view view = {j->q->scale, j->q->crop};
    for (uint64_t k = 0; k < j->plan.count; k++) {
        if (info_of(j, k, &info)) total += cli_view_bytes(&view, &info);
        if (!(info.channels & 1) && has_no_alpha(j->plan.format)) return refuse_alpha(j, &info);
    }
    if (total > j->q->limits.max_memory / 2) {
        taper_error error;
        formats_fail_fact(&error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                          formats_memory_needed(&j->q->limits, 2 * total),
                          "one file of all images needs more than half of the memory that is left; "
                          "use --format png, which needs less");
        return cli_fail("decode", j->q->output, error.status, &error);
    }
    j->kept = calloc(j->plan.count, sizeof *j->kept);
    return j->kept ? CLI_DONE : cli_fail("decode", j->q->output, TAPER_ERR_NOMEM, NULL);
}

/* Labels for IDX and CIFAR. *lacking: number of images without one, which get 0. */
static uint8_t *labels_of(const job *j, uint64_t *lacking) {
    uint8_t *label = calloc(j->plan.count, 1);
    taper_image_info info = {.size = sizeof info};
    *lacking = 0;
    for (uint64_t k = 0; label && k < j->plan.count; k++) {
        bool has = info_of(j, k, &info) && info.label >= 0 && info.label < 256;
        if (has) label[k] = (uint8_t)info.label;
        *lacking += !has;
    }
    return label;
}

static taper_status encode_one(const job *j, uint8_t **bytes, size_t *n, taper_error *error) {
    formats_metadata metadata;
    cli_picture_metadata_get(j->plan.metadata, cli_picture_plan_image(&j->plan, 0), &metadata);
    const cli_picture_form form = cli_picture_plan_form(&j->plan, j->q, 0);
    const taper_status status = cli_picture_encode(&form, j->kept, &metadata, bytes, n, error);
    formats_metadata_free(&metadata);
    return status;
}

/* Set the time of the only file; standard output has none. */
static void date_one(const job *j) {
    formats_metadata metadata;
    if (!strcmp(j->q->output, "-")) return;
    cli_picture_metadata_get(j->plan.metadata, cli_picture_plan_image(&j->plan, 0), &metadata);
    cli_picture_set_time(AT_FDCWD, j->q->output, &metadata);
    formats_metadata_free(&metadata);
}

static taper_status encode_kept(const job *j, uint8_t **bytes, size_t *n, taper_error *error) {
    size_t count = (size_t)j->plan.count;
    uint64_t lacking;
    if (j->plan.format == CLI_PICTURE_IDX)
        return formats_idx_encode_images(j->kept, count, cli_is_gzip_name(j->q->output), bytes, n,
                                         error);
    if (j->plan.format != CLI_PICTURE_CIFAR) return encode_one(j, bytes, n, error);
    uint8_t *label = labels_of(j, &lacking);
    taper_status status = label ? formats_cifar_encode(j->kept, label, count, bytes, n, error)
                                : formats_fail(error, TAPER_ERR_NOMEM, "no memory for the labels");
    free(label);
    if (status == TAPER_OK && lacking)
        cli_warning("decode", j->q->output, "%llu image%s without a label: 0 is written",
                    (unsigned long long)lacking, formats_plural(lacking, "s"));
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
    return cli_output_finish(out, j->q->output, status, &error);
}

static int write_labels(job *j, cli_output *out) {
    taper_error error = {0};
    uint8_t *bytes = NULL;
    size_t n = 0;
    uint64_t lacking;
    uint8_t *label = labels_of(j, &lacking);
    const int is_gzip = cli_is_gzip_name(out->path);
    taper_status status =
        label ? formats_idx_encode_labels(label, (size_t)j->plan.count, is_gzip, &bytes, &n, &error)
              : formats_fail(&error, TAPER_ERR_NOMEM, "no memory for the labels");
    taper_sink sink = cli_output_sink(out);
    if (status == TAPER_OK) status = sink.write(sink.user, bytes, n);
    free(label), free(bytes);
    return cli_output_finish(out, j->q->input, status, &error);
}

/* Put finished outputs in place. */
static int place_both(const job *j, cli_output *images, cli_output *labels) {
    int code = cli_output_close(images, j->q->output, TAPER_OK, NULL);
    if (code != CLI_DONE || !labels->path) return code;
    code = cli_output_close(labels, j->q->input, TAPER_OK, NULL);
    if (code == CLI_DONE) cli_note(j->q->common, "decode", "labels in %s", labels->path);
    return code;
}

/* *path: the file for the labels; NULL: there are no labels, or IDX cannot store them, which is
 * printed. */
static int place_labels(const job *j, char **path) {
    uint64_t lacking;
    *path = NULL;
    if (j->plan.format != CLI_PICTURE_IDX || !j->container->info.has_labels) return CLI_DONE;
    uint8_t *label = labels_of(j, &lacking);
    if (!label) return cli_fail("decode", j->q->output, TAPER_ERR_NOMEM, NULL);
    int code = CLI_DONE;
    if (lacking) {
        cli_warning("decode", j->q->output,
                    "without labels: %llu image%s with none, or one above 255",
                    (unsigned long long)lacking, formats_plural(lacking, "s"));
    } else if (!strcmp(j->q->output, "-")) {
        cli_warning("decode", NULL, "without labels: give -o FILE, and they go beside it");
    } else if (!(*path = cli_idx_labels_path(j->q->output))) {
        code = cli_fail("decode", j->q->output, TAPER_ERR_NOMEM, NULL);
    } else {
        code = cli_idx_labels_check(j->q->common, *path, label, (size_t)j->plan.count);
    }
    free(label);
    return code;
}

static int open_one_file(const job *j, cli_output *out, const char *path) {
    int code = cli_output_check("decode", path, j->q->input);
    return code == CLI_DONE ? cli_output_open(out, "decode", path, j->q->common) : code;
}

static int decode_to_one_file(job *j, uint32_t groups) {
    cli_output images = {0}, labels = {0};
    char *labels_path = NULL;
    int code = make_room(j);
    if (code == CLI_DONE) code = place_labels(j, &labels_path);
    if (code == CLI_DONE) code = open_one_file(j, &images, j->q->output);
    if (code == CLI_DONE && labels_path) code = open_one_file(j, &labels, labels_path);
    if (code == CLI_DONE) code = decode_images(j, groups);
    if (code == CLI_DONE) {
        code = write_one_file(j, &images);
        if (code == CLI_DONE && labels_path) code = write_labels(j, &labels);
        if (code == CLI_DONE) code = place_both(j, &images, &labels);
        if (code == CLI_DONE) date_one(j);
    }
    formats_atomic_file_abort(images.file); /* NULL once closed */
    formats_atomic_file_abort(labels.file);
    free(labels_path);
    return code;
}

/* --- the verb --- */

/* True if the container is cut, or its model lacks stages. */
static bool is_incomplete(const job *j) {
    const taper_model_info model = cli_model_info(taper_container_model(j->container->open));
    return j->container->source.size < j->container->info.file_bytes ||
           model.stages_known < model.stages;
}

static int tell(const job *j) {
    const taper_container_info *info = &j->container->info;
    const uint64_t here = j->container->source.size;
    uint64_t used = j->cut < here ? j->cut : here;
    if (used > info->file_bytes) used = info->file_bytes;
    char passes[48];
    cli_passes_words(j->passes, j->is_short ? info->passes : j->passes, passes);
    cli_note(j->q->common, "decode", "%llu image%s from %llu of %llu bytes: %s, in %s",
             (unsigned long long)j->written, formats_plural(j->written, "s"),
             (unsigned long long)used, (unsigned long long)info->file_bytes, passes,
             cli_output_name(j->q->output));
    cli_reach_report(j->q->common, j->container->open, used);
    if (here > info->file_bytes)
        cli_warning("decode", j->q->input, "%llu byte%s follow%s the container's end",
                    (unsigned long long)(here - info->file_bytes),
                    formats_plural(here - info->file_bytes, "s"),
                    formats_singular(here - info->file_bytes));
    if (j->damaged) {
        cli_error("decode", j->q->input,
                  "%llu image%s lack%s the data after a failed checksum; the rest is correct",
                  (unsigned long long)j->damaged, formats_plural(j->damaged, "s"),
                  formats_singular(j->damaged));
        return CLI_CORRUPT;
    }
    if (cli_pictures_refused(&j->plan, j->q)) return CLI_SOME_FAILED;
    return j->q->strict && is_incomplete(j) ? CLI_INCOMPLETE : CLI_DONE;
}

/* True if the only picture is a file that is written row by row. */
static bool is_one_large(const job *j) {
    taper_image_info info = {.size = sizeof info};
    return strcmp(j->q->output, "-") != 0 && j->plan.count == 1 && info_of(j, 0, &info) &&
           goes_by_rows(j, 0, &info);
}

static int decode_pictures(job *j) {
    const taper_container_info *info = &j->container->info;
    j->passes = info->passes;
    int code = cli_picture_plan_make(&j->plan, j->q, j->container->open);
    if (code == CLI_DONE) code = list_further(j);
    if (code != CLI_DONE) return code;
    taper_decoder_free(j->worker[0].decoder);
    code = open_decoder(j, &j->worker[0].decoder); /* again, with the memory that names leave */
    if (code != CLI_DONE) return code;
    if (j->plan.one_file && !is_one_large(j)) {
        code = decode_to_one_file(j, info->groups);
    } else {
        if (j->plan.one_file) code = cli_output_check("decode", j->q->output, j->q->input);
        if (code == CLI_DONE) code = decode_images(j, info->groups);
        cli_pictures_sync();
    }
    return code == CLI_DONE ? tell(j) : code;
}

static int decode_container(const cli_decode_request *q, const cli_container *container,
                            uint64_t cut) {
    job j = {.q = q,
             .container = container,
             .cut = cut,
             .plan = {.folder = -1},
             .worker = calloc(1, sizeof *j.worker)};
    if (!j.worker) return cli_fail("decode", q->input, TAPER_ERR_NOMEM, NULL);
    pthread_mutex_init(&j.lock, NULL);
    int code = open_decoder(&j, &j.worker[0].decoder);
    if (code == CLI_DONE) code = decode_pictures(&j);
    for (uint64_t k = 0; j.kept && k < j.plan.count; k++) formats_image_free(&j.kept[k]);
    if (j.worker) {
        taper_decoder_free(j.worker[0].decoder);
        cli_canvas_free(&j.worker[0].canvas);
    }
    cli_picture_plan_free(&j.plan);
    pthread_mutex_destroy(&j.lock);
    free(j.kept), free(j.further);
    free(j.worker);
    return code;
}

static int decode(cli_decode_request *q, const settings *s) {
    cli_container container;
    int code = cli_container_open(&container, "decode", q->input, q->common);
    if (code != CLI_DONE) return code;
    const uint64_t cut = cli_cut_of_container(&s->cut, s->fraction, &container);
    q->limits = cli_limits(q->common);
    code = cli_container_bind(&container, q->model, "decode", q->input, q->common);
    if (code == CLI_DONE)
        code = s->levels ? cli_decode_levels(q, container.open, cut)
                         : decode_container(q, &container, cut);
    cli_container_close(&container);
    return code;
}

static int check_usage(const cli_verb *verb, const settings *s, int operands) {
    if (verb == &cli_verb_decode && operands != 1)
        return cli_usage(verb, "give one container, or -");
    if (!operands) return cli_usage(verb, "give a container, or -");
    if (s->levels &&
        (s->output || s->images.count || s->progressive || cli_options_given("format")))
        return cli_usage(verb, "--levels prints levels and renders nothing: without "
                               "-o, --image, --format and --progressive");
    if (!s->output && !s->levels) return cli_usage(verb, "give an output: -o DIR");
    if (cli_cut_count() > 1)
        return cli_usage(verb, "give one of --bytes, --bpp, --bytes-per-image and --fraction");
    if (s->progressive && cli_cut_count())
        return cli_usage(verb, "--progressive cannot be combined with a cut");
    return cli_device_for_coding(verb, &s->common);
}

/* X,Y,W,H in decimal digits. */
static bool read_crop(const char *text, taper_crop *crop) {
    uint32_t *const to[4] = {&crop->x, &crop->y, &crop->width, &crop->height};
    for (int k = 0; k < 4; k++) {
        char *end;
        if (*text < '0' || *text > '9') return false;
        const unsigned long long v = strtoull(text, &end, 10);
        if (v > UINT32_MAX || *end != (k < 3 ? ',' : 0)) return false;
        *to[k] = (uint32_t)v;
        text = end + 1;
    }
    return crop->width && crop->height;
}

static int run(const cli_verb *verb, settings *s, const char *input) {
    cli_model model = {0};
    int code = s->model ? cli_stages_open(&model, "decode", s->model, &s->common) : CLI_DONE;
    if (code != CLI_DONE) return code;
    taper_crop crop;
    if (s->crop && !read_crop(s->crop, &crop)) {
        cli_model_close(&model);
        return cli_usage(verb, "--crop takes four numbers: X,Y,WIDTH,HEIGHT");
    }
    cli_decode_request q = {.verb = verb,
                            .common = &s->common,
                            .input = input,
                            .output = s->output,
                            .images = s->images,
                            .class_folders = s->class_folders,
                            .progressive = s->progressive,
                            .strict = s->strict,
                            .scale = 1u << s->scale,
                            .crop = s->crop ? &crop : NULL,
                            .format_given = cli_options_given("format"),
                            .model = model.model,
                            .limits = cli_limits(&s->common)};
    q.format = (cli_picture_format)s->format;
    q.quality = (int)s->quality;
    code = s->progressive ? cli_decode_progressive(&q) : decode(&q, s);
    cli_model_close(&model);
    return code;
}

int cli_decode_as(const cli_verb *verb, int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(verb, argc, argv, &s, &first);
    if (code >= 0) return code;
    code = check_usage(verb, &s, argc - first);
    if (code == CLI_DONE) /* operands after the container select images, as --image does */
        code =
            cli_strings_append("decode", &s.images, argv + first + 1, (size_t)(argc - first - 1));
    if (code == CLI_DONE) cli_options_name_idle(verb, s.levels ? 0 : USE_IMAGES);
    if (code == CLI_DONE) code = run(verb, &s, argv[first]);
    cli_options_free(verb, &s);
    return code;
}

int cmd_decode(int argc, char **argv) { return cli_decode_as(&cli_verb_decode, argc, argv); }
