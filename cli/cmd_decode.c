/* cmd_decode.c -- decodes a container, or a prefix of one, to image files: the options, and the
 * course of a run. decode_images.h decodes; decode_progressive.c does so while bytes arrive. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/decode_one_file.h"
#include "cli/decode_verb.h"
#include "cli/device.h"
#include "cli/picture_files.h"
#include "cli/planned.h"
#include "cli/reach.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *crop;
    cli_strings images;
    cli_cut cut;
    double fraction;
    int64_t quality;
    int format, scale, all_passes, class_folders, progressive, strict, levels;
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
    {"all-passes", 0, CLI_FLAG, .offset = offsetof(settings, all_passes),
     .help = "with --scale: decode all passes, not those alone that show at this size",
     .uses = USE_IMAGES},
    {"crop", 0, CLI_STRING, "X,Y,W,H", offsetof(settings, crop),
     .help = "write this rectangle of each image: upper left pixel from 0, width, height",
     .uses = USE_IMAGES},
    {"class-folders", 0, CLI_FLAG, .offset = offsetof(settings, class_folders),
     .help = "write each image to a folder named after its class", .uses = USE_IMAGES},
    {"progressive", 'p', CLI_FLAG, .offset = offsetof(settings, progressive),
     .help = "rewrite the images while bytes arrive through a pipe"},
    {"strict", 0, CLI_FLAG, .offset = offsetof(settings, strict),
     .help = "exit with 4 if the file is truncated, or its model lacks stages; a cut that is "
             "asked for, as by --bytes, does not count",
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
        "--bytes-per-image and --fraction decode as if the file had been cut at that size. Files "
        "are named as the images were, or by number: a.jpg becomes a.png, or a.jpg.png if "
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
        "x 5. That takes less time and memory, as it computes small images from the codes. Passes "
        "that hardly show at this size are not decoded, and not fetched of a URL where they have "
        "layers of their own: of photographs the PSNR against all passes is some 42 dB, of grainy "
        "ones 40.5. --all-passes decodes them.\n\n"
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

/* --- the verb --- */

/* True if the container is cut, or its model lacks stages. */
static bool is_incomplete(const cli_decode_job *j) {
    const taper_model_info model = cli_model_info(taper_container_model(j->container->open));
    return j->container->source.size < j->container->info.file_bytes ||
           model.stages_known < model.stages;
}

static int tell(const cli_decode_job *j) {
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
static bool is_one_large(const cli_decode_job *j) {
    taper_image_info info = {.size = sizeof info};
    return strcmp(j->q->output, "-") != 0 && j->plan.count == 1 && cli_decode_info(j, 0, &info) &&
           cli_decode_goes_by_rows(j, 0, &info);
}

static int decode_pictures(cli_decode_job *j) {
    const taper_container_info *info = &j->container->info;
    j->passes = info->passes;
    int code = cli_picture_plan_make(&j->plan, j->q, j->container->open);
    if (code == CLI_DONE) code = cli_decode_list_further(j);
    if (code != CLI_DONE) return code;
    if (!j->is_planned) { /* again, with the memory that names leave */
        taper_decoder_free(j->worker[0].decoder);
        code = cli_decode_open(j, &j->worker[0].decoder);
    }
    if (code != CLI_DONE) return code;
    if (j->plan.one_file && !is_one_large(j)) {
        code = cli_decode_to_one_file(j, info->groups);
    } else {
        if (j->plan.one_file) code = cli_output_check("decode", j->q->output, j->q->input);
        if (code == CLI_DONE) code = cli_decode_images(j, info->groups);
        cli_pictures_sync();
    }
    return code == CLI_DONE ? tell(j) : code;
}

/* planned: a decoder that has the bytes of all chosen images, and becomes this function's; or NULL.
 */
static int decode_container(const cli_decode_request *q, const cli_container *container,
                            uint64_t cut, taper_decoder *planned) {
    cli_decode_job j = {.q = q,
                        .container = container,
                        .cut = cut,
                        .is_planned = planned != NULL,
                        .plan = {.folder = -1},
                        .worker = calloc(1, sizeof *j.worker)};
    if (!j.worker) {
        taper_decoder_free(planned);
        return cli_fail("decode", q->input, TAPER_ERR_NOMEM, NULL);
    }
    pthread_mutex_init(&j.lock, NULL);
    j.worker[0].decoder = planned;
    int code = planned ? CLI_DONE : cli_decode_open(&j, &j.worker[0].decoder);
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

/* A few images of many. */
static int decode_planned(cli_decode_request *q, cli_planned *p, uint64_t cut) {
    int code = cli_planned_fetch(p, q, cut);
    q->chosen = p->image, q->n_chosen = p->count;
    if (code == CLI_DONE) {
        taper_decoder *decoder = p->decoder;
        p->decoder = NULL;
        code = decode_container(q, &p->container, cut, decoder);
    }
    cli_planned_close(p);
    return code;
}

static int decode(cli_decode_request *q, const settings *s) {
    cli_container container;
    cli_planned planned;
    uint64_t cut;
    if (!s->levels && cli_planned_open(&planned, q)) {
        cut = cli_cut_of_container(&s->cut, s->fraction, &planned.container);
        if (cli_planned_takes(&planned, cut)) return decode_planned(q, &planned, cut);
        cli_planned_close(&planned);
    }
    int code = cli_container_open(&container, "decode", q->input, q->common);
    if (code != CLI_DONE) return code;
    cut = cli_cut_of_container(&s->cut, s->fraction, &container);
    q->limits = cli_limits(q->common);
    code = cli_container_bind(&container, q->model, "decode", q->input, q->common);
    if (code == CLI_DONE)
        code = s->levels ? cli_decode_levels(q, container.open, cut)
                         : decode_container(q, &container, cut, NULL);
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
                            .passes_scale = s->all_passes ? 1 : 1u << s->scale,
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
