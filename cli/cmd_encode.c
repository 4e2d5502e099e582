/* cmd_encode.c -- images and a model into one container.
 *
 * Images are read ahead by a few threads (readahead.h), coded by the encoder's own, and laid out at
 * the end. Without a ceiling the container goes straight to its place; with one, or a target
 * quality, it is spooled first and the largest prefix that fits is written. */
#include "../codec/group_reader.h"
#include "../formats/image.h"
#include "inputs.h"
#include "outputs.h"
#include "progress.h"
#include "psnr_cut.h"
#include "readahead.h"
#include "signals.h"
#include "spool.h"
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *filelist, *labels;
    cli_cut cut;
    double psnr;
    int layout, allocation, embed, alpha;
    int64_t group;
} settings;

enum alpha_policy { ALPHA_REFUSE, ALPHA_DROP, ALPHA_WHITE };

static const char *const layouts[] = {"set", "image", NULL}; /* in the order of taper_layout */
static const char *const allocations[] = {"even", "mean", "equal", NULL}; /* taper_allocation */
static const char *const alphas[] = {"refuse", "drop", "white", NULL};
enum { USE_SET = 1 };
static const char *const uses[] = {"--layout set", NULL};
static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the container here; - is standard output"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .initial = CLI_DEFAULT_MODEL,
     .help = "made by `taper train`; or photo or tiny, which are built in"},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "read names of inputs from this file, one a line"},
    {"labels", 0, CLI_STRING, "FILE", offsetof(settings, labels),
     .help = "class labels: IDX, or CSV `name,label`, or one label a line"},
    CLI_CUT_OPTIONS(settings),
    {"psnr", 0, CLI_DOUBLE, "DB", offsetof(settings, psnr), .min = 1, .max = 100,
     .help = "as small as the images' mean PSNR stays at DB"},
    {"layout", 0, CLI_CHOICE, "NAME", offsetof(settings, layout), .initial = "set",
     .choices = layouts, .help = "order of the data"},
    {"allocation", 0, CLI_CHOICE, "NAME", offsetof(settings, allocation), .initial = "even",
     .choices = allocations, .help = "which images get how many of the bytes"},
    {"group", 0, CLI_INT, "N", offsetof(settings, group), .initial = "0", .min = 0, .max = 65536,
     .help = "images coded together; 0: about a million pixels", .uses = USE_SET},
    {"embed-model", 0, CLI_FLAG, .offset = offsetof(settings, embed),
     .help = "put the model into the container, so that it decodes alone"},
    {"alpha", 0, CLI_CHOICE, "WHAT", offsetof(settings, alpha), .initial = "refuse",
     .choices = alphas, .help = "images with transparency"},
    {"threads", 'T', CLI_INT, "N", offsetof(settings, common.threads), .initial = "0", .min = 0,
     .max = 1024, .help = "worker threads; 0: one per processor"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_TALK_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_encode = {
    .name = "encode",
    .run = cmd_encode,
    .what = "images and a model into one container",
    .synopsis = "[options] -o FILE INPUT...",
    .options = options,
    .uses = uses,
    .about =
        "Inputs are files (PNG, PNM, PAM, JPEG), folders with all below them, IDX files (.gz "
        "too), CIFAR binary files, and - for standard input. Names are kept; classes come "
        "from --labels, from CIFAR records, or from the first folders below a folder. "
        "Without a ceiling everything the model knows is encoded, about 50 dB: cut the "
        "container later as you need it.\n\n"
        "The layout `set` makes each prefix of the file the whole set, coarser; `image` puts "
        "each image's data together, so that one read fetches one image.\n\n"
        "Wherever the container is cut, --allocation says which images have got how many of its "
        "bytes: `even` sends a bit where it lowers the squared error most, `mean` where it raises "
        "the images' mean PSNR most (plainer images go ahead), `equal` gives all images about the "
        "same PSNR (richer images go ahead). Both are for sets of hundreds of images.\n\n"
        "Images with transparency are refused, unless --alpha says to drop the alpha "
        "channel, or to lay the image on white.\n\n"
        "An input that cannot be used is named and left out; the exit code is then 1. When "
        "that is all of them, nothing is written, and the exit code is that of the first "
        "failure.",
    .examples = "taper encode -o holiday.taper holiday/         # with the model for photographs\n"
                "taper encode -m cats.tpm -o cats.taper cats/     # with one of your own\n"
                "taper encode -m cifar.tpm --bytes-per-image 200 -o test.taper test_batch.bin\n"
                "taper encode -m photos.tpm --psnr 32 --embed-model -o photos.taper photos/\n"};

typedef struct state {
    settings s;
    taper_limits limits;
    cli_model model;
    formats_imageset *set;
    taper_encoder *encoder;
    FILE *coding; /* where chunks wait while encoding */
    size_t *kept; /* [count]: the container's image i is the set's image kept[i] */
    size_t count;
    size_t skipped; /* files that gave no image when the set was listed */
    size_t failed;  /* images that could not be read or taken */
    uint64_t pixels;
    taper_status first_failure; /* of an input */
    cli_progress progress;
} state;

/* --- inputs --- */

static void input_failed(state *st, const char *path, taper_status status, const taper_error *why) {
    if (st->first_failure == TAPER_OK) st->first_failure = status;
    cli_fail("encode", path, status, why);
}

static void on_skip(void *user, const char *path, const taper_error *why) {
    state *st = user;
    if (cli_is_same_file(path, st->s.output)) return; /* an earlier result in the input folder */
    st->skipped++;
    input_failed(st, path, why->status, why);
}

static int open_set(state *st, char **paths, size_t n) {
    taper_error error = {0};
    formats_imageset_options o = {st->s.filelist, st->s.labels, &st->limits};
    cli_progress_start(&st->progress, &st->s.common, "listing the inputs", 0, "files");
    taper_status status = formats_imageset_open(&st->set, (const char *const *)paths, n, &o,
                                                on_skip, st, &error);
    cli_progress_end(&st->progress);
    if (status == TAPER_OK) return CLI_DONE;
    cli_fail("encode", NULL, status, &error);
    bool none_usable = status == TAPER_ERR_ARG && st->skipped && !st->s.labels;
    return cli_exit_code(none_usable ? st->first_failure : status);
}

/* Would writing the output lose an input? Only an existing one can be the same file. */
static int check_output(const state *st, char **paths, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (cli_output_check("encode", st->s.output, paths[i]) != CLI_DONE) return CLI_USAGE;
    if (cli_output_check("encode", st->s.output, st->s.model) != CLI_DONE) return CLI_USAGE;
    return CLI_DONE;
}

static int check_output_in_set(const state *st) {
    const char *before = NULL;
    if (!cli_is_same_file(st->s.output, st->s.output)) return CLI_DONE; /* does not exist */
    for (size_t i = 0; i < formats_imageset_count(st->set); i++) {
        const char *path = formats_imageset_path(st->set, i);
        if (path != before && cli_output_check("encode", st->s.output, path) != CLI_DONE)
            return CLI_USAGE;
        before = path;
    }
    return CLI_DONE;
}

/* Take the alpha channel away: 2 -> 1 or 4 -> 3 channels, in place. */
static void drop_alpha(taper_image *image) {
    size_t channels = image->channels, sample = image->depth / 8u;
    size_t pixels = (size_t)image->width * image->height, colour = (channels - 1) * sample;
    uint8_t *to = image->pixels;
    const uint8_t *from = image->pixels;
    for (size_t i = 0; i < pixels; i++, to += colour, from += channels * sample)
        memmove(to, from, colour);
    image->channels--;
}

static void apply_alpha(const state *st, taper_image *image) {
    if (!formats_image_has_alpha(image) || st->s.alpha == ALPHA_REFUSE) return;
    if (st->s.alpha == ALPHA_DROP) drop_alpha(image);
    else formats_image_flatten(image, 65535);
}

/* --- encoding --- */

/* Bytes of image data per million pixels to stop at; 0: none. It is known early for --bpp, and for
 * IDX and CIFAR files, whose images have one size (and no names); else everything is encoded and
 * cut at the end, which takes longer and gives as good a file. */
static uint64_t early_target(const state *st) {
    taper_image first;
    double bpmp = 0;
    if (cli_options_given("bpp")) bpmp = st->s.cut.bpp * 125000;
    else if (cli_cut_count() && !cli_options_given("psnr") &&
             !formats_imageset_name(st->set, 0) &&
             formats_imageset_path(st->set, 0) ==
                 formats_imageset_path(st->set, formats_imageset_count(st->set) - 1) &&
             formats_imageset_read(st->set, 0, &first, NULL) == TAPER_OK) {
        uint64_t pixels = (uint64_t)first.width * first.height;
        uint64_t count = formats_imageset_count(st->set);
        bpmp = (double)cli_cut_ceiling(&st->s.cut, count, pixels * count) * 1e6 /
               ((double)pixels * (double)count);
        formats_image_free(&first);
    }
    return bpmp > 0 && bpmp < 1e15 ? (uint64_t)bpmp + 1 : 0;
}

static int make_encoder(state *st) {
    taper_error error = {0};
    bool by_psnr = cli_options_given("psnr"); /* prefixes are measured: they must be of the set */
    taper_status status = cli_spool_open(&st->coding, &error);
    if (status != TAPER_OK) return cli_fail("encode", NULL, status, &error);
    taper_encode_options o = {
        .layout = by_psnr ? TAPER_LAYOUT_SET : (taper_layout)st->s.layout,
        .allocation = (taper_allocation)st->s.allocation,
        .group_images = (uint32_t)st->s.group,
        .target_bytes_per_megapixel = early_target(st),
        .embed_model = st->s.embed,
        .model_bytes = st->model.bytes,
        .model_size = st->model.size,
        .threads = cli_threads(&st->s.common),
        .spool = st->coding,
        .limits = &st->limits,
    };
    status = taper_encoder_new(&st->encoder, st->model.model, &o, &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("encode", st->s.model, status, &error);
}

/* Feed image i; what stands against this image alone is told, and the encoding goes on. */
static int add_image(state *st, size_t i, taper_image *image) {
    taper_error error = {0};
    const char *name = formats_imageset_name(st->set, i), *path = formats_imageset_path(st->set, i);
    taper_status status = TAPER_OK;
    apply_alpha(st, image);
    if (name && !formats_name_is_legal(name))
        status = formats_fail(&error, TAPER_ERR_UNSUPPORTED,
                              "its name holds a backslash or control character; rename it");
    if (status == TAPER_OK)
        status = taper_encoder_add(st->encoder, image, name, formats_imageset_label(st->set, i),
                                   &error);
    if (status == TAPER_OK) {
        st->kept[st->count++] = i;
        st->pixels += (uint64_t)image->width * image->height;
        return CLI_DONE;
    }
    if (status != TAPER_ERR_UNSUPPORTED && status != TAPER_ERR_LIMIT)
        return cli_fail("encode", st->s.output, status, &error);
    st->failed++;
    input_failed(st, path, status, &error);
    return CLI_DONE;
}

static int add_all(state *st, cli_readahead *ahead) {
    size_t n = formats_imageset_count(st->set);
    int code = CLI_DONE;
    cli_progress_start(&st->progress, &st->s.common, "encoding", n, "images");
    for (size_t i = 0; i < n && code == CLI_DONE; i++) {
        taper_image image;
        taper_error error = {0};
        taper_status status = cli_readahead_next(ahead, &image, &error);
        if (status == TAPER_OK) {
            code = add_image(st, i, &image);
            formats_image_free(&image);
        } else {
            st->failed++;
            input_failed(st, formats_imageset_path(st->set, i), status, &error);
        }
        cli_progress_add(&st->progress, 1);
    }
    cli_progress_end(&st->progress);
    return code;
}

static int add_classes(state *st) {
    size_t n = formats_imageset_class_count(st->set);
    if (!n) return CLI_DONE;
    const char **name = malloc(n * sizeof *name);
    taper_error error = {0};
    if (!name) return cli_fail("encode", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t k = 0; k < n; k++) name[k] = formats_imageset_class_name(st->set, k);
    taper_status status = taper_encoder_set_classes(st->encoder, name, n, &error);
    free(name);
    return status == TAPER_OK ? CLI_DONE : cli_fail("encode", st->s.labels, status, &error);
}

static int feed(state *st) {
    taper_error error = {0};
    cli_readahead *ahead;
    st->kept = malloc(formats_imageset_count(st->set) * sizeof *st->kept);
    if (!st->kept) return cli_fail("encode", NULL, TAPER_ERR_NOMEM, NULL);
    int code = add_classes(st);
    if (code != CLI_DONE) return code;
    taper_status status =
        cli_readahead_new(&ahead, st->set, cli_threads(&st->s.common), &error);
    if (status != TAPER_OK) return cli_fail("encode", NULL, status, &error);
    code = add_all(st, ahead);
    cli_readahead_free(ahead);
    if (code != CLI_DONE || st->count) return code;
    cli_error("encode", NULL, "all %zu inputs failed: nothing was written",
              st->skipped + st->failed);
    return cli_exit_code(st->first_failure);
}

/* --- writing --- */

static taper_status copy(const taper_source *from, const taper_sink *to, taper_error *error) {
    enum { BLOCK = 1 << 18 };
    uint8_t *bytes = malloc(BLOCK);
    taper_status status = bytes ? TAPER_OK : TAPER_ERR_NOMEM;
    for (uint64_t at = 0; at < from->size && status == TAPER_OK; at += BLOCK) {
        size_t n = from->size - at < BLOCK ? (size_t)(from->size - at) : BLOCK;
        status = formats_source_read(from, at, bytes, n, error);
        if (status == TAPER_OK) status = to->write(to->user, bytes, n);
    }
    free(bytes);
    return status;
}

/* The original of the container's image i, as it was encoded: for the search by PSNR. */
static taper_status read_original(void *user, uint64_t i, taper_image *out, taper_error *error) {
    const state *st = user;
    TAPER_TRY(formats_imageset_read(st->set, st->kept[i], out, error));
    apply_alpha(st, out);
    return TAPER_OK;
}

/* Where to cut the spooled container. */
static taper_status find_ceiling(state *st, const taper_source *source, uint64_t *ceiling,
                                 taper_error *error) {
    *ceiling = cli_cut_ceiling(&st->s.cut, st->count, st->pixels);
    if (!cli_options_given("psnr")) return TAPER_OK;
    cli_psnr_search search = {.source = source, .model = st->model.model, .limits = &st->limits,
                              .threads = cli_threads(&st->s.common), .target_db = st->s.psnr,
                              .read = read_original, .user = st};
    cli_psnr_found found;
    cli_progress_start(&st->progress, &st->s.common, "looking for the cut", 0, "steps");
    taper_status status = cli_psnr_cut(&search, &found, error);
    cli_progress_end(&st->progress);
    TAPER_TRY(status);
    *ceiling = found.bytes;
    if (!found.reached)
        cli_warning("encode", st->s.output,
                    "the model reaches %.2f dB on these images, not %g: everything is kept",
                    found.psnr_db, st->s.psnr);
    else
        cli_note(&st->s.common, "encode", "%.2f dB, measured on %llu of %zu images", found.psnr_db,
                 (unsigned long long)found.images, st->count);
    return TAPER_OK;
}

/* Where the layer that a cut falls into ends: repack takes only what all images have, so that less
 * would fall below the quality that was found. */
static taper_status end_of_layer(const taper_source *whole, const taper_limits *limits,
                                 uint64_t *cut, taper_error *error) {
    formats_front f;
    TAPER_TRY(codec_front_load(whole, limits, &f, error));
    uint32_t l = 0;
    while (l < f.layers && f.front_size + f.chunk_at[(uint64_t)l * f.groups] < *cut) l++;
    *cut = f.front_size + f.chunk_at[(uint64_t)l * f.groups];
    formats_front_free(&f);
    return TAPER_OK;
}

/* The spooled container, cut, in the layout that was asked for. */
static taper_status write_cut(const state *st, const taper_source *whole, uint64_t ceiling,
                              const taper_sink *sink, taper_error *error) {
    bool other_layout = cli_options_given("psnr") && st->s.layout == TAPER_LAYOUT_IMAGE;
    if (!other_layout && whole->size <= ceiling) return copy(whole, sink, error);
    if (!other_layout) return taper_truncate(whole, ceiling, sink, &st->limits, error);
    taper_source prefix = *whole;
    if (ceiling < prefix.size) prefix.size = ceiling;
    TAPER_TRY(end_of_layer(whole, &st->limits, &prefix.size, error));
    return taper_repack(&prefix, st->model.model, TAPER_LAYOUT_IMAGE, 0, sink, &st->limits, error);
}

static taper_status write_through_spool(state *st, const taper_sink *sink, taper_error *error) {
    FILE *spool;
    taper_source whole;
    uint64_t ceiling;
    TAPER_TRY(cli_spool_open(&spool, error));
    taper_sink first = cli_spool_sink(spool);
    taper_status status = taper_encoder_finish(st->encoder, &first, error);
    if (status == TAPER_OK || status == TAPER_ERR_IO) {
        taper_status flushed = cli_spool_source(spool, &whole, error);
        if (flushed != TAPER_OK) status = flushed;
    }
    if (status == TAPER_OK) status = find_ceiling(st, &whole, &ceiling, error);
    if (status == TAPER_OK) status = write_cut(st, &whole, ceiling, sink, error);
    fclose(spool);
    return status;
}

static int write_container(state *st, cli_output *out) {
    taper_error error = {0};
    taper_sink sink = cli_output_sink(out);
    taper_status status = cli_cut_count() ? write_through_spool(st, &sink, &error)
                                          : taper_encoder_finish(st->encoder, &sink, &error);
    int code = cli_output_close(out, st->s.output, status, &error);
    if (code == CLI_DONE)
        cli_note(&st->s.common, "encode",
                 "%zu image%s, %llu bytes, %.1f per image, %.4g bpp, in %s", st->count,
                 st->count == 1 ? "" : "s", (unsigned long long)out->written,
                 (double)out->written / (double)st->count,
                 (double)out->written * 8 / (double)st->pixels, cli_output_name(st->s.output));
    return code;
}

/* --- the verb --- */

static int encode(state *st, char **paths, size_t n) {
    cli_output out;
    int code = check_output(st, paths, n);
    if (code == CLI_DONE) code = cli_model_open(&st->model, "encode", st->s.model, &st->s.common);
    /* before the long work, so that a name that cannot be written to costs no time */
    if (code == CLI_DONE) code = open_set(st, paths, n);
    if (code == CLI_DONE) code = check_output_in_set(st);
    if (code == CLI_DONE) code = make_encoder(st);
    if (code != CLI_DONE) return code;
    code = cli_output_open(&out, "encode", st->s.output, &st->s.common);
    if (code != CLI_DONE) return code;
    code = feed(st);
    if (code == CLI_DONE) return write_container(st, &out);
    formats_atomic_file_abort(out.file);
    return code;
}

int cmd_encode(int argc, char **argv) {
    state st = {0};
    settings *s = &st.s;
    int first, code = cli_options_parse(&cli_verb_encode, argc, argv, s, &first);
    if (code >= 0) return code;
    if (first == argc && !s->filelist)
        return cli_usage(&cli_verb_encode, "give the images: files, folders, IDX or CIFAR files");
    if (!s->output) return cli_usage(&cli_verb_encode, "say where the container goes: -o FILE");
    if (cli_cut_count() > 1)
        return cli_usage(&cli_verb_encode,
                         "give one of --bytes, --bpp, --bytes-per-image and --psnr");
    cli_options_name_idle(&cli_verb_encode, s->layout == TAPER_LAYOUT_SET ? USE_SET : 0);
    st.limits = cli_limits(&s->common);
    st.limits = formats_limits_or_default(&st.limits);
    code = encode(&st, argv + first, (size_t)(argc - first));
    if (code == CLI_DONE && st.skipped + st.failed) {
        cli_error("encode", NULL, "%zu of %zu inputs failed and were left out",
                  st.skipped + st.failed, st.skipped + formats_imageset_count(st.set));
        code = CLI_SOME_FAILED;
    }
    taper_encoder_free(st.encoder);
    if (st.coding) fclose(st.coding);
    formats_imageset_close(st.set);
    cli_model_close(&st.model);
    free(st.kept);
    return code;
}
