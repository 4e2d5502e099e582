/* cmd_encode.c -- encodes images into one container.
 *
 * Images are read ahead by some threads (readahead.h), coded by the threads of the encoder, and
 * laid out at the end. Without a size limit the container is written directly. With a limit it is
 * spooled first and measured; with a target quality, the largest prefix that fits is written. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/left_out.h"
#include "cli/common/outputs.h"
#include "cli/common/progress.h"
#include "cli/common/readahead.h"
#include "cli/common/signals.h"
#include "cli/common/spool.h"
#include "cli/device.h"
#include "cli/encode_quality.h"
#include "cli/equal_images.h"
#include "cli/encode_verb.h"
#include "cli/name_case.h"
#include "cli/psnr_cut.h"
#include "cli/index/search_layer.h"
#include "codec/taper.h"
#include "formats/bytes.h"
#include "formats/metadata/public_metadata.h"
#include "formats/metadata/settle.h"
#include "formats/name_escape.h"
#include "formats/image.h"
#include <stdlib.h>
#include <sys/stat.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *filelist, *labels;
    cli_cut cut;
    double psnr, least_psnr;
    const char *quality;
    int best, lossless;
    int drawings, layout, allocation, embed, embed_search, alpha, follow_links, frames, null_list,
        quick, strip, dedup;
    int64_t group, search_bits;
    const char *search_model;
} settings;

static const char *const allocations[] = {"even", "mean", "equal", NULL}; /* taper_allocation */
enum { USE_SET = 1, USE_SEARCH = 2 };
/* In the order of taper_drawings. */
static const char *const drawings[] = {"auto", "exact", "lossy", NULL};
const char *const cli_encode_uses[] = {"--layout set", "--embed-with", NULL};
const cli_option cli_encode_options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the container here; - is standard output"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model), .initial = CLI_DEFAULT_MODEL,
     .help = "a model made by `taper train`, or the built-in photo or tiny"},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "read paths of inputs from this file, one per line; - is standard input"},
    CLI_NULL_OPTION(settings),
    CLI_FOLLOW_OPTION(settings),
    CLI_FRAMES_OPTION(settings),
    CLI_ALPHA_OPTION(settings, "keep"),
    {"labels", 0, CLI_STRING, "FILE", offsetof(settings, labels),
     .help = "class labels: IDX, CSV `name,label`, or one label per line"},
    {"strip", 0, CLI_FLAG, .offset = offsetof(settings, strip),
     .help = "keep no metadata: no colour profiles, EXIF, XMP or times of files"},
    {"dedup", 0, CLI_FLAG, .offset = offsetof(settings, dedup),
     .help = "store equal images once, under all their names"},
    CLI_CUT_OPTIONS(settings),
    {"psnr", 0, CLI_DOUBLE, "DB", offsetof(settings, psnr), .min = 1, .max = 100,
     .help = "the smallest size with a mean PSNR of DB; takes about three times as long"},
    {"quality", 0, CLI_STRING, "WHAT", offsetof(settings, quality),
     .help = "where each image ends: visual, high, best, or a PSNR in dB; default: visual, or best "
             "with a limit of the size"},
    {"best", 0, CLI_FLAG, .offset = offsetof(settings, best),
     .help = "encode all that the model represents, to cut it later; the same as --quality best"},
    {"least-psnr", 0, CLI_DOUBLE, "DB", offsetof(settings, least_psnr), .min = 1, .max = 100,
     .help = "no image ends below this PSNR, also with a limit of the size"},
    {"layout", 0, CLI_CHOICE, "NAME", offsetof(settings, layout), .initial = "set",
     .choices = cli_layouts, .help = "order of the data"},
    {"allocation", 0, CLI_CHOICE, "NAME", offsetof(settings, allocation), .initial = "even",
     .choices = allocations, .help = "how the bytes of a cut are divided among images"},
    {"lossless", 0, CLI_FLAG, .offset = offsetof(settings, lossless),
     .help = "end the file with what makes every image equal to its original, pixel for pixel"},
    {"drawings", 0, CLI_CHOICE, "HOW", offsetof(settings, drawings), .initial = "auto",
     .choices = drawings, .help = "how drawings are coded: auto, exact or lossy"},
    {"group", 0, CLI_INT, "N", offsetof(settings, group), .initial = "0", .min = 0, .max = 65536,
     .help = "images per group, which are coded together; 0: about a million pixels",
     .uses = USE_SET},
    {"embed-model", 0, CLI_FLAG, .offset = offsetof(settings, embed),
     .help = "store the model in the container: it then decodes without -m"},
    {"embed-with", 0, CLI_STRING, "MODEL", offsetof(settings, search_model),
     .help = "add codes for search by this binary model, for `taper index` and `search`"},
    {"search-bits", 0, CLI_INT, "N", offsetof(settings, search_bits), .initial = "0", .min = 0,
     .max = 65536, .help = "use the first N bits of these codes; 0: all", .uses = USE_SEARCH},
    {"embed-search-model", 0, CLI_FLAG, .offset = offsetof(settings, embed_search),
     .help = "also store the model of these codes", .uses = USE_SEARCH},
    {"quick", 0, CLI_FLAG, .offset = offsetof(settings, quick),
     .help = "do not check that longer cuts of a set of up to 4,096 pixels look no worse than "
             "shorter ones; do not measure the PSNR at a size limit"},
    CLI_CODING_OPTIONS(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_encode = {
    .name = "encode",
    .run = cmd_encode,
    .what = "encode images into one container",
    .synopsis = "[options] -o FILE INPUT...",
    .options = cli_encode_options,
    .uses = cli_encode_uses,
    .about =
        "Inputs are image files (PNG, PNM, PAM, JPEG, WebP, TIFF, GIF, BMP, AVIF, HEIC, JPEG XL), "
        "folders with everything below them, archives (tar, zip, 7z), IDX files (.gz too), CIFAR "
        "binary files, and - for standard input. Names are kept. Classes "
        "come from --labels, from CIFAR records, or from the names of the first folders below a "
        "folder.\n\n"
        "Without a size limit each image ends near the visual threshold: --quality visual, 40 dB, "
        "or 3 dB above the error that a JPEG, WebP or AVIF has already. `high` is 45 dB, or 6 dB "
        "above that error; a number is taken as it is. --best encodes everything that the model "
        "represents, about 50 dB, to cut the container later; so does a size limit, which then "
        "cuts it, unless --quality is given, too. --least-psnr is a floor for each image: with a "
        "size limit the data up to the floor come first.\n\n"
        "With the layout `set` each prefix of the file is the whole set at lower quality. With "
        "`image` the data of each image is contiguous, so that one read fetches one image. With "
        "`gallery` small layers of all images come first, then the rest of each image: one read "
        "fetches all images coarsely, and one more completes any of them.\n\n"
        "--allocation determines how the bytes of a cut are divided among images. `even` sends "
        "the bits first that reduce the squared error most. `mean` sends those first that raise "
        "the mean PSNR most, which favours plain images. `equal` gives all images about the "
        "same PSNR, which favours detailed images. Both are for sets of hundreds of images.\n\n"
        "--embed-with adds a binary code of each image for search, made by another model. Every "
        "cut of the container can then be searched (`taper index -m MODEL`, `taper search -m "
        "MODEL`), and images may have any size. The codes are part of the front matter. "
        "--embed-search-model also stores that model, so that search needs no -m.\n\n"
        "Transparency is kept, unless --alpha says to drop it, to blend images onto white, or to "
        "refuse those that have it. Drawings with few colours are kept exactly, by their colours, "
        "where that is small; --drawings chooses otherwise.\n\n"
        "Pictures are rotated and mirrored as their orientation in EXIF or XMP says. A warning "
        "names pictures whose orientation is ambiguous. Metadata are kept: colour profiles, "
        "density, "
        "EXIF, XMP, and the times of files. With --bytes, --bpp or --bytes-per-image only what "
        "changes the look is kept, such as profiles other than sRGB; with --strip nothing.\n\n"
        "--lossless ends the file with what makes every image equal to its original, pixel for "
        "pixel, hidden colours under transparency included. A photograph then takes about 70% of "
        "its PNG file. Each shorter cut is a picture: the exact part comes last, behind 0.75 bits "
        "per pixel, or behind what --quality names, and makes one image after the other exact, "
        "from the top. Metadata are kept as without it. It needs a linear model, as `photo` is, "
        "and keeps whole images in memory.\n\n"
        "With --dedup an image that is equal to an earlier one, in all pixels and metadata, takes "
        "some ten bytes: its name, class and time. `extract` and `decode` write both files. Images "
        "of IDX and CIFAR files are not compared.\n\n"
        "Inputs that cannot be used are named and skipped, and the exit code is 1. Inputs with "
        "the same problem (alpha, a format that is not read) are counted in one line; -v names "
        "each. If no input can be used, nothing is written, and the exit code is 3 (damaged), 5 "
        "(missing or not permitted), 6 (above a limit) or 2 (not supported, or several of "
        "these). A failing disk (5) or a lack of memory (6) ends the run, and nothing is "
        "written.\n\n"
        "Of an animation or a file of pages the first picture is taken. With --frames all each is "
        "an image: of a.gif with 12 frames a-01.gif to a-12.gif.\n\n"
        "Files in a folder that are not images are skipped and counted. Links to files are "
        "followed. Links to folders are not, except with --follow-links those that lead to a "
        "place below the given folder.",
    .examples = "taper encode -o holiday.taper holiday/         # with the model for photographs\n"
                "taper encode -m cats.tpm -o cats.taper cats/     # with one of your own\n"
                "taper encode -m cifar.tpm --bytes-per-image 200 -o test.taper test_batch.bin\n"
                "taper encode -m photos.tpm --psnr 32 --embed-model -o photos.taper photos/\n"};

typedef struct state {
    settings s;
    const cli_encode_target *target; /* NULL: the output is a container of these images */
    cli_encode_start start;
    taper_limits limits;
    cli_model model;
    formats_imageset *set;
    taper_encoder *encoder;
    cli_search_layer search;
    FILE *coding; /* temporary file for chunks */
    size_t *kept; /* [count] number in the set of each image of the container */
    size_t count;
    cli_equal_images *equal; /* with --dedup; else NULL */
    size_t *same;            /* [sames] number in the set of each image that is stored as another */
    size_t sames;
    cli_left_out left;
    uint64_t pixels;
    cli_progress progress;
    cli_quality quality;
    int has_aims;         /* images end by themselves, or have a floor */
    uint64_t early;       /* bytes per million pixels at which coding stops; 0: no limit */
    bool again;           /* second run, without that limit */
    FILE *spool;          /* the container, if there is a limit; with --psnr not cut yet */
    taper_source spooled; /* the same */
    cli_psnr_found found; /* PSNR of the output; images 0: not measured */
    taper_error no_psnr;  /* why it could not be measured */
} state;

/* --- inputs --- */

static int open_set(state *st, char **paths, size_t n) {
    taper_error error = {0};
    formats_imageset_options o = {.filelist = st->s.filelist,
                                  .null_list = st->s.null_list,
                                  .labels = st->s.labels,
                                  .limits = &st->limits,
                                  .follow_links = st->s.follow_links,
                                  .all_frames = st->s.frames};
    cli_progress_start(&st->progress, &st->s.common, "listing the inputs", 0, "files");
    taper_status status = formats_imageset_open(&st->set, (const char *const *)paths, n, &o,
                                                cli_left_out_file, &st->left, &error);
    cli_progress_end(&st->progress);
    if (status == TAPER_OK) {
        cli_memory_hold(formats_imageset_memory(st->set)); /* open until the end */
        st->limits = cli_limits(&st->s.common);
        return CLI_DONE;
    }
    bool none_usable = status == TAPER_ERR_ARG && st->left.failed && !st->s.labels;
    cli_left_out_report(&st->left, NULL);
    cli_fail("encode", NULL, status, &error);
    return none_usable ? st->left.code : cli_exit_code(status);
}

/* True if the output is one of the inputs, which writing would destroy. */
static int check_output(const state *st, char **paths, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (cli_output_check("encode", st->s.output, paths[i]) != CLI_DONE) return CLI_USAGE;
    if (cli_output_check("encode", st->s.output, st->s.model) != CLI_DONE) return CLI_USAGE;
    return CLI_DONE;
}

static int check_output_in_set(const state *st) {
    const char *before = NULL;
    if (!cli_is_same_file(st->s.output, st->s.output))
        return CLI_DONE; /* the output does not exist */
    for (size_t i = 0; i < formats_imageset_count(st->set); i++) {
        const char *path = formats_imageset_path(st->set, i);
        if (path != before && cli_output_check("encode", st->s.output, path) != CLI_DONE)
            return CLI_USAGE;
        before = path;
    }
    return CLI_DONE;
}

/* --- encoding --- */

/* Bytes of image data per million pixels at which coding stops; 0: no limit. Known early for --bpp,
 * and for IDX and CIFAR files, whose images have one size and no names. Otherwise everything is
 * encoded and cut at the end, which takes longer but gives the same quality. */
static uint64_t early_target(const state *st) {
    taper_image first;
    double bpmp = 0;
    if (cli_options_given("bpp"))
        bpmp = st->s.cut.bpp * 125000;
    else if (cli_cut_count() && !cli_options_given("psnr") && !formats_imageset_name(st->set, 0) &&
             formats_imageset_path(st->set, 0) ==
                 formats_imageset_path(st->set, formats_imageset_count(st->set) - 1) &&
             formats_imageset_read(st->set, 0, &first, NULL, NULL) == TAPER_OK) {
        uint64_t pixels = (uint64_t)first.width * first.height;
        uint64_t count = formats_imageset_count(st->set);
        bpmp = (double)cli_cut_ceiling(&st->s.cut, count, pixels * count) * 1e6 /
               ((double)pixels * (double)count);
        formats_image_free(&first);
    }
    return bpmp > 0 && bpmp < 1e15 ? (uint64_t)bpmp + 1 : 0;
}

/* Let the images have aims, where the quality or a floor asks for it. Models for which these are
 * not
 * known encode everything, as that was not asked for. */
static taper_status begin_aims(state *st, taper_error *error) {
    const int is_asked = st->s.least_psnr > 0 || st->s.quality;
    st->has_aims = st->quality.kind != CLI_QUALITY_BEST || st->quality.least_db > 0;
    if (!st->has_aims) return TAPER_OK;
    taper_status status = taper_encoder_set_aim(st->encoder, st->quality.psnr_db, error);
    if (status != TAPER_ERR_UNSUPPORTED || is_asked) return status;
    st->has_aims = 0;
    return TAPER_OK;
}

static int make_encoder(state *st) {
    taper_error error = {0};
    const int is_best = st->quality.kind == CLI_QUALITY_BEST;
    st->early = st->again || !is_best ? 0 : early_target(st);
    bool by_psnr =
        cli_options_given("psnr"); /* prefixes are measured, which needs the layout set */
    taper_status status = cli_spool_open(&st->coding, &error);
    if (status != TAPER_OK) return cli_fail("encode", NULL, status, &error);
    taper_encode_options o = {
        .size = sizeof o,
        .layout = by_psnr ? TAPER_LAYOUT_SET : (taper_layout)st->s.layout,
        .allocation = (taper_allocation)st->s.allocation,
        .drawings = (taper_drawings)st->s.drawings,
        .group_images = (uint32_t)st->s.group,
        .target_bytes_per_megapixel = st->early,
        .embed_model = st->s.embed,
        .quick = st->s.quick,
        .model_bytes = st->model.bytes,
        .model_size = st->model.size,
        .threads = cli_threads(&st->s.common),
        .spool = st->coding,
        .limits = &st->limits,
        .measure = !cli_cut_count(),
        .beyond_aims = is_best,
        .lossless = st->s.lossless,
    };
    status = taper_encoder_new(&st->encoder, st->model.model, &o, &error);
    if (status == TAPER_OK) status = begin_aims(st, &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("encode", st->s.model, status, &error);
}

/* Report that image i cannot be used; not on a second run. */
static int leave_out(state *st, size_t i, taper_status status, const taper_error *why) {
    bool is_told = st->again && status != TAPER_ERR_IO && status != TAPER_ERR_NOMEM;
    if (is_told) return CLI_DONE;
    return cli_left_out_image(&st->left, formats_imageset_path(st->set, i), status, why);
}

/* What is kept of metadata. --psnr is no limit of the size: what is wanted is a quality. */
static cli_keeps keeps(const state *st) {
    if (st->s.strip) return CLI_KEEPS_NOTHING;
    return cli_cut_count() && !cli_options_given("psnr") ? CLI_KEEPS_LOOK : CLI_KEEPS_ALL;
}

/* Drop what is not kept. */
static void reduce_metadata(const state *st, formats_metadata *m) {
    const double mse = m->quantisation_mse; /* no metadata, but how good the image is */
    if (keeps(st) == CLI_KEEPS_LOOK) formats_metadata_keep_look(m);
    if (keeps(st) == CLI_KEEPS_NOTHING) formats_metadata_free(m);
    m->quantisation_mse = mse;
}

static taper_status add_metadata(const state *st, formats_metadata *m, taper_error *error) {
    const taper_metadata own = formats_metadata_public(m);
    return taper_encoder_set_metadata(st->encoder, &own, error);
}

/* Add image i to the encoder. An error of this image only is reported, and encoding continues. */
static int add_image(state *st, size_t i, taper_image *image, formats_metadata *metadata) {
    taper_error error = {0};
    const char *name = formats_imageset_name(st->set, i), *path = formats_imageset_path(st->set, i);
    taper_status status = TAPER_OK;
    if (name && !formats_name_is_legal(name))
        status = formats_fail(&error, TAPER_ERR_UNSUPPORTED,
                              "its name takes more than 4,095 bytes; rename it");
    if (status == TAPER_OK && st->s.alpha == FORMATS_ALPHA_REFUSE && formats_image_has_alpha(image))
        status = formats_fail_fact(&error, TAPER_ERR_UNSUPPORTED, TAPER_FACT_ALPHA, 0,
                                   "the image has an alpha channel");
    if (status == TAPER_OK && st->s.search_model)
        status = cli_search_layer_check(&st->search, image, &error);
    if (status == TAPER_OK && st->has_aims)
        status =
            taper_encoder_set_aim(st->encoder, cli_quality_aim(&st->quality, metadata), &error);
    if (status == TAPER_OK)
        status =
            taper_encoder_add(st->encoder, image, name, formats_imageset_label(st->set, i), &error);
    if (status == TAPER_OK && keeps(st) != CLI_KEEPS_NOTHING) {
        status = add_metadata(st, metadata, &error);
        if (status != TAPER_OK) return cli_fail("encode", path, status, &error);
    }
    if (status == TAPER_OK && st->s.search_model && !st->again) {
        status = cli_search_layer_take(&st->search, image, &error);
        if (status != TAPER_OK) return cli_fail("encode", path, status, &error);
    }
    if (status == TAPER_OK) {
        st->kept[st->count++] = i;
        st->pixels += (uint64_t)image->width * image->height;
        if (st->again) return CLI_DONE;
        cli_detail(&st->s.common, 2, "encode", "image %zu: %u x %u, %s, %d bits, from %s",
                   st->count, image->width, image->height, image->channels == 1 ? "grey" : "RGB",
                   image->depth, path);
        return CLI_DONE;
    }
    if (status != TAPER_ERR_UNSUPPORTED && status != TAPER_ERR_LIMIT)
        return cli_fail("encode", st->s.output, status, &error);
    return leave_out(st, i, status, &error);
}

static int reads_metadata(const state *st) {
    return st->has_aims || keeps(st) != CLI_KEEPS_NOTHING;
}

/* Image k of the container, again as it was added. */
static taper_status read_earlier(void *user, size_t k, taper_image *out, formats_metadata *metadata,
                                 taper_error *error) {
    const state *st = user;
    *metadata = (formats_metadata){0};
    TAPER_TRY(formats_imageset_read(st->set, st->kept[k], out, reads_metadata(st) ? metadata : NULL,
                                    error));
    formats_image_apply_alpha(out, (formats_alpha)st->s.alpha);
    reduce_metadata(st, metadata);
    return TAPER_OK;
}

/* Add image i, or its name alone if it is equal to one that was added. */
static int add_or_name(state *st, size_t i, taper_image *image, formats_metadata *metadata) {
    const cli_earlier_images earlier = {st, read_earlier};
    const char *name = formats_imageset_name(st->set, i);
    const size_t before = st->count;
    size_t of;
    taper_error error = {0};
    formats_image_apply_alpha(image, (formats_alpha)st->s.alpha);
    reduce_metadata(st, metadata);
    if (!st->equal || !name || !formats_name_is_legal(name))
        return add_image(st, i, image, metadata);
    if (!cli_equal_images_find(st->equal, image, metadata, &earlier, &of)) {
        const int code = add_image(st, i, image, metadata);
        if (st->count > before) cli_equal_images_keep(st->equal, before);
        return code;
    }
    const taper_status status =
        taper_encoder_add_name(st->encoder, of, name, formats_imageset_label(st->set, i),
                               metadata->has_modified ? &metadata->modified_ns : NULL, &error);
    if (status != TAPER_OK) return cli_fail("encode", st->s.output, status, &error);
    st->same[st->sames++] = i;
    if (!st->again)
        cli_detail(&st->s.common, 1, "encode", "%s is equal to %s and stored with it", name,
                   formats_imageset_name(st->set, st->kept[of]));
    return CLI_DONE;
}

static int add_all(state *st, cli_readahead *ahead) {
    size_t n = formats_imageset_count(st->set);
    int code = CLI_DONE;
    cli_progress_start(&st->progress, &st->s.common, "encoding", n, "images");
    for (size_t i = 0; i < n && code == CLI_DONE; i++) {
        taper_image image;
        formats_metadata metadata;
        taper_error error = {0};
        taper_status status = cli_readahead_next(ahead, &image, &metadata, &error);
        if (status == TAPER_OK) {
            code = add_or_name(st, i, &image, &metadata);
            formats_image_free(&image);
            formats_metadata_free(&metadata);
        } else
            code = leave_out(st, i, status, &error);
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

/* Make the lists of images, empty. */
static int make_lists(state *st) {
    const size_t n = formats_imageset_count(st->set);
    if (!st->kept) st->kept = malloc(n * sizeof *st->kept);
    if (!st->same) st->same = malloc(n * sizeof *st->same);
    st->count = st->sames = 0, st->pixels = 0;
    cli_equal_images_free(st->equal);
    st->equal = st->s.dedup ? cli_equal_images_new(n) : NULL;
    return st->kept && st->same && (st->equal || !st->s.dedup)
               ? CLI_DONE
               : cli_fail("encode", NULL, TAPER_ERR_NOMEM, NULL);
}

static int feed(state *st) {
    taper_error error = {0};
    cli_readahead *ahead;
    int code = make_lists(st);
    if (code == CLI_DONE) code = add_classes(st);
    if (code != CLI_DONE) return code;
    taper_status status =
        cli_readahead_new(&ahead, st->set, cli_threads(&st->s.common), reads_metadata(st), &error);
    if (status != TAPER_OK) return cli_fail("encode", NULL, status, &error);
    code = add_all(st, ahead);
    cli_readahead_free(ahead);
    if (code != CLI_DONE) return code;
    if (!st->again) cli_left_out_report(&st->left, st->set);
    if (st->count && st->s.search_model)
        status = cli_search_layer_finish(&st->search, st->encoder, &error);
    if (status != TAPER_OK) return cli_fail("encode", NULL, status, &error);
    if (st->count) return CLI_DONE;
    cli_error("encode", NULL, "no input could be used: nothing was written");
    return st->left.code;
}

/* --- writing --- */

/* The original of image i of the container, as it was encoded; for the search by PSNR. */
static taper_status read_original(void *user, uint64_t i, taper_image *out, taper_error *error) {
    const state *st = user;
    TAPER_TRY(formats_imageset_read(st->set, st->kept[i], out, NULL, error));
    formats_image_apply_alpha(out, (formats_alpha)st->s.alpha);
    return TAPER_OK;
}

static cli_psnr_search search_of(state *st, const taper_source *source) {
    return (cli_psnr_search){.source = source,
                             .model = st->model.model,
                             .limits = &st->limits,
                             .threads = cli_threads(&st->s.common),
                             .target_db = st->s.psnr,
                             .read = read_original,
                             .user = st};
}

/* A cut that is long enough for the floor of quality of all images. */
static uint64_t cut_with_floor(const state *st, uint64_t cut) {
    taper_aim_report r = {.size = sizeof r};
    if (taper_encoder_aims(st->encoder, &r, NULL) != TAPER_OK) return cut;
    return formats_larger(cut, r.cut ? r.cut : st->spooled.size);
}

/* Find the size at which the spooled container has the wanted PSNR. */
static taper_status find_cut(state *st, uint64_t *size, taper_error *error) {
    cli_psnr_search search = search_of(st, &st->spooled);
    cli_note(&st->s.common, "encode", "searching for the cut of %g dB: about six cuts are decoded",
             st->s.psnr);
    cli_progress_start(&st->progress, &st->s.common, "looking for the cut", 0, "steps");
    taper_status status = cli_psnr_cut(&search, &st->found, error);
    cli_progress_end(&st->progress);
    TAPER_TRY(status);
    *size = cut_with_floor(st, st->found.bytes);
    if (!st->found.reached)
        cli_warning("encode", st->s.output,
                    "the model reaches %.2f dB on these images, not %g: everything is kept",
                    st->found.psnr_db, st->s.psnr);
    return TAPER_OK;
}

/* End of the layer in which a cut lies. repack keeps only what all images have, so a shorter cut
 * would fall below the quality that was found. */
static taper_status end_of_layer(const state *st, uint64_t *cut, taper_error *error) {
    const taper_open_options how = {.size = sizeof how, .limits = &st->limits, .without_model = 1};
    taper_container *container;
    taper_container_info info = {.size = sizeof info};
    uint64_t end = 0;
    uint32_t passes;
    TAPER_TRY(taper_container_open(&container, &st->spooled, &how, error));
    taper_status status = taper_container_get_info(container, &info, error);
    for (uint32_t l = 0; status == TAPER_OK && l < info.layers && end < *cut; l++)
        status = taper_container_layer(container, 0, l, &end, &passes, error);
    taper_container_close(container);
    *cut = end;
    return status;
}

/* Write the spooled container with the wanted PSNR, in the requested layout. */
static taper_status write_cut(state *st, const taper_sink *sink, taper_error *error) {
    uint64_t size;
    taper_source prefix = st->spooled;
    TAPER_TRY(find_cut(st, &size, error));
    if (st->s.layout == TAPER_LAYOUT_SET)
        return taper_truncate(&st->spooled, size, sink, &st->limits, error);
    TAPER_TRY(end_of_layer(st, &size, error));
    if (size < prefix.size) prefix.size = size;
    return taper_repack(&prefix, st->model.model, (taper_layout)st->s.layout, 0, sink, &st->limits,
                        error);
}

/* Measure the PSNR of the output. A failure does not prevent writing it. */
static void measure_cut(state *st, const taper_source *cut) {
    cli_psnr_search search = search_of(st, cut);
    if (!cli_options_given("psnr")) search.pixels = CLI_SAMPLE_PIXELS;
    cli_progress_start(&st->progress, &st->s.common, "measuring", 0, "images");
    taper_status status = cli_psnr_measure(&search, &st->found, &st->no_psnr);
    cli_progress_end(&st->progress);
    if (status == TAPER_OK) return;
    st->found.images = 0;
    st->no_psnr.status = status;
}

/* Replace the spooled container by its cut. */
static taper_status spool_cut(state *st, taper_error *error) {
    FILE *spool;
    TAPER_TRY(cli_spool_open(&spool, error));
    taper_sink to = cli_spool_sink(spool);
    taper_status status = write_cut(st, &to, error);
    fclose(st->spool);
    st->spool = spool;
    return status == TAPER_OK ? cli_spool_source(spool, &st->spooled, error) : status;
}

static taper_status write_limited(state *st, const taper_sink *sink, taper_error *error) {
    if (cli_options_given("psnr")) TAPER_TRY(spool_cut(st, error));
    if (!st->s.quick) measure_cut(st, &st->spooled);
    return cli_source_copy(&st->spooled, sink, error);
}

/* Number in the set of image or further name k. */
static size_t number_in_set(const state *st, size_t k) {
    return k < st->count ? st->kept[k] : st->same[k - st->count];
}

/* Total size of the input files; 0: not known for all. */
static uint64_t input_bytes(const state *st) {
    const char *before = NULL;
    uint64_t bytes = 0;
    struct stat file;
    for (size_t k = 0; k < st->count + st->sames; k++) {
        const char *path = formats_imageset_path(st->set, number_in_set(st, k));
        if (path == before) continue;
        if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
        bytes += (uint64_t)file.st_size;
        before = path;
    }
    return bytes;
}

/* The PSNR of a limited output, for the end of the last line. */
static void tell_cut(const state *st, char *words, size_t room) {
    if (st->found.images)
        cli_psnr_words(&st->found, st->count, "",
                       formats_imageset_name(st->set, st->kept[st->found.least_image]), words,
                       room);
    else if (st->no_psnr.status)
        cli_warning("encode", st->s.output, "the PSNR of the output could not be measured: %s",
                    cli_explain(&st->no_psnr).text);
}

/* The lowest PSNR of the set, for the end of the last line; a warning if it is low. */
static void tell_quality(const state *st, char *words, size_t room) {
    taper_encode_quality q = {.size = sizeof q};
    char number[32], exact[48] = "";
    *words = 0;
    if (cli_cut_count()) {
        tell_cut(st, words, room);
        return;
    }
    if (taper_encoder_quality(st->encoder, &q, NULL) != TAPER_OK) return;
    snprintf(number, sizeof number, "image %llu", (unsigned long long)q.least_image + 1);
    const char *whose = q.least_name ? q.least_name : number;
    if (q.exact) snprintf(exact, sizeof exact, "; %llu exact", (unsigned long long)q.exact);
    if (q.exact == st->count)
        snprintf(words, room, "; exact");
    else if (!(q.mean_psnr_db > 0))
        snprintf(words, room, "%s", exact);
    else if (!st->has_aims)
        snprintf(words, room, "; least quality at full length: %.1f dB, %s", q.least_psnr_db,
                 whose);
    else if (st->count == 1)
        snprintf(words, room, "; %.1f dB", q.least_psnr_db);
    else
        snprintf(words, room, "%s; %.1f dB in the mean%s, the least %.1f dB, %s", exact,
                 q.mean_psnr_db, q.exact ? " of the others" : "", q.least_psnr_db, whose);
    if (q.poor)
        cli_warning("encode", whose,
                    "has the lowest PSNR at full length, %.1f dB; %llu image%s end%s below %g dB: "
                    "train a model on images of this kind",
                    q.least_psnr_db, (unsigned long long)q.poor, q.poor == 1 ? "" : "s",
                    q.poor == 1 ? "s" : "", TAPER_POOR_PSNR_DB);
}

/* The price of a floor of quality, and whether it holds. */
static void tell_floor(const state *st) {
    taper_aim_report r = {.size = sizeof r};
    const unsigned long long count = st->count;
    if (!st->s.least_psnr || taper_encoder_aims(st->encoder, &r, NULL) != TAPER_OK) return;
    if (r.ahead && !r.below)
        cli_note(&st->s.common, "encode",
                 "%llu of %llu images have more passes than the others, to reach %g dB; these take "
                 "about %llu bytes",
                 (unsigned long long)r.ahead, count, st->s.least_psnr,
                 (unsigned long long)r.ahead_bytes);
    if (r.below)
        cli_warning("encode", st->s.output, "%llu of %llu images may end below %g dB: %s",
                    (unsigned long long)r.below, count, st->s.least_psnr,
                    cli_cut_count() ? "the limit is too small for all to reach it"
                                    : "the model does not reach it on these");
}

/* Print sizes and quality in one line, and compare them with the input files. */
static void tell_result(const state *st, uint64_t bytes) {
    char quality[4300] = ""; /* a name has up to 4,095 bytes */
    char inputs[48] = "", same[64] = "";
    const uint64_t before = input_bytes(st);
    tell_quality(st, quality, sizeof quality);
    if (st->sames) snprintf(same, sizeof same, " and %zu equal to one of them", st->sames);
    if (before) snprintf(inputs, sizeof inputs, " for %llu of inputs", (unsigned long long)before);
    cli_note(&st->s.common, "encode",
             "%zu image%s%s, %llu bytes%s, %.1f per image%s, %.4g bpp, in %s%s", st->count,
             formats_plural(st->count, "s"), same, (unsigned long long)bytes, inputs,
             (double)bytes / (double)st->count, st->count == 1 ? "" : " in the mean",
             (double)bytes * 8 / (double)st->pixels, cli_output_name(st->s.output), quality);
    tell_floor(st);
    if (before && bytes > before && !st->s.common.quiet)
        cli_warning(
            "encode", st->s.output,
            st->s.lossless
                ? "the container is larger than its inputs, as it keeps the pixels of lossy "
                  "files such as JPEG exactly: without --lossless it is smaller"
                : "the container is larger than its inputs, and lossy: --psnr 40 or another "
                  "limit makes it smaller");
}

/* Report names that were changed to make them unique. */
static void tell_changed_names(const state *st) {
    const char *first;
    size_t n = formats_imageset_prefixed(st->set, &first);
    if (n)
        cli_note(
            &st->s.common, "encode",
            "%zu name%s a prefix, the folder of the input, because inputs have equal names: %s%s",
            n, n == 1 ? " has" : "s have", first, n > 1 ? ", ..." : "");
    n = formats_imageset_numbered(st->set, &first);
    if (n)
        cli_warning("encode", st->s.output,
                    "%zu name%s a number, because the same name occurs twice: %s%s", n,
                    n == 1 ? " has" : "s have", first, n > 1 ? ", ..." : "");
}

/* Warnings about the names in the container, before it is written. */
static int look_at_names(const state *st) {
    tell_changed_names(st);
    const size_t n = st->count + st->sames;
    const char **name = malloc(n * sizeof *name);
    if (!name) return cli_fail("encode", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t k = 0; k < n; k++) name[k] = formats_imageset_name(st->set, number_in_set(st, k));
    int code = cli_name_case_look("encode", st->s.output, name, n);
    free(name);
    return code;
}

static taper_status write_to(state *st, const taper_sink *sink, taper_error *error) {
    return cli_cut_count() ? write_limited(st, sink, error)
                           : taper_encoder_finish(st->encoder, 0, sink, error);
}

static int write_container(state *st, cli_output *out) {
    taper_error error = {0};
    taper_sink sink = cli_output_sink(out);
    taper_status status = write_to(st, &sink, &error);
    int code = cli_output_close(out, st->s.output, status, &error);
    if (code == CLI_DONE) tell_result(st, out->written);
    return code;
}

/* Write the container into a temporary file, and give it to the target. */
static int give_container(state *st) {
    taper_error error = {0};
    taper_source made;
    FILE *spool;
    taper_status status = cli_spool_open(&spool, &error);
    if (status != TAPER_OK) return cli_fail("encode", NULL, status, &error);
    const taper_sink sink = cli_spool_sink(spool);
    status = write_to(st, &sink, &error);
    if (status == TAPER_OK) status = cli_spool_source(spool, &made, &error);
    const int code = status == TAPER_OK
                         ? st->target->finish(st->target->user, &made,
                                              cli_cut_count() || st->s.quality || st->s.best)
                         : (int)cli_fail("encode", st->s.output, status, &error);
    fclose(spool);
    return code;
}

/* --- coding and writing --- */

static taper_status finish_into_spool(state *st, taper_error *error) {
    uint64_t most = cli_cut_ceiling(&st->s.cut, st->count, st->pixels);
    most = cli_options_given("psnr") ? 0 : formats_larger(1, most); /* 0: no limit */
    TAPER_TRY(cli_spool_open(&st->spool, error));
    taper_sink sink = cli_spool_sink(st->spool);
    taper_status status = taper_encoder_finish(st->encoder, most, &sink, error);
    if (status == TAPER_OK || status == TAPER_ERR_IO) {
        taper_status flushed = cli_spool_source(st->spool, &st->spooled, error);
        if (flushed != TAPER_OK) status = flushed;
    }
    return status;
}

static void close_encoder(state *st) {
    taper_encoder_free(st->encoder);
    if (st->coding) fclose(st->coding);
    if (st->spool) fclose(st->spool);
    st->encoder = NULL, st->coding = NULL, st->spool = NULL;
}

/* Encode the images. With a limit, the container is spooled. Images that are plainer than those of
 * the model need fewer bytes than planned: all passes are then encoded in a second run. */
static int code_images(state *st) {
    taper_error error = {0};
    int code = make_encoder(st);
    if (code == CLI_DONE) code = feed(st);
    if (code != CLI_DONE || !cli_cut_count()) return code;
    taper_status status = finish_into_spool(st, &error);
    if (status != TAPER_OK) return cli_fail("encode", st->s.output, status, &error);
    if (!taper_encoder_is_short(st->encoder)) return CLI_DONE;
    cli_detail(&st->s.common, 1, "encode", "the limit allows more: all passes are coded");
    st->again = true;
    close_encoder(st);
    return code_images(st);
}

/* --- the verb --- */

static int open_model(state *st) {
    st->model.model = st->start.model; /* borrowed */
    return st->start.model ? CLI_DONE
                           : cli_coder_open(&st->model, "encode", st->s.model, &st->s.common);
}

static int open_search(state *st) {
    if (st->start.search_bits) st->s.search_bits = st->start.search_bits;
    if (st->start.search_model) {
        st->s.search_model = st->start.output;
        return cli_search_layer_take_model(&st->search, "encode", st->start.search_model,
                                           (uint32_t)st->s.search_bits, &st->s.common);
    }
    return st->s.search_model ? cli_search_layer_open(&st->search, "encode", st->s.search_model,
                                                      (uint32_t)st->s.search_bits, &st->s.common)
                              : CLI_DONE;
}

static int check_names(const state *st) {
    int code = CLI_DONE;
    for (size_t i = 0; st->target && i < formats_imageset_count(st->set) && code == CLI_DONE; i++)
        if (formats_imageset_name(st->set, i))
            code = st->target->check_name(st->target->user, formats_imageset_name(st->set, i));
    return code;
}

static int encode(state *st, char **paths, size_t n) {
    cli_output out = {0};
    int code = check_output(st, paths, n);
    if (code == CLI_DONE) code = open_model(st);
    /* before encoding, to detect at once an output that cannot be written */
    if (code == CLI_DONE) code = open_set(st, paths, n);
    if (code == CLI_DONE) code = check_output_in_set(st);
    if (code == CLI_DONE) code = check_names(st);
    if (code == CLI_DONE) code = open_search(st);
    st->search.carries_model = st->s.embed_search;
    if (code == CLI_DONE && !st->target)
        code = cli_output_open(&out, "encode", st->s.output, &st->s.common);
    if (code != CLI_DONE) return code;
    code = code_images(st);
    if (code == CLI_DONE) code = look_at_names(st);
    if (code == CLI_DONE) return st->target ? give_container(st) : write_container(st, &out);
    formats_atomic_file_abort(out.file);
    return code;
}

/* The quality that the options name. */
static int choose_quality(const cli_verb *verb, state *st) {
    const settings *s = &st->s;
    const int is_cut = s->allocation != TAPER_ALLOCATION_EVEN || cli_cut_count();
    const char *name = s->best || s->lossless || (is_cut && !s->quality) ? "best" : "visual";
    st->quality.least_db = s->least_psnr;
    if (s->lossless && (is_cut || s->best || s->least_psnr > 0))
        return cli_usage(verb, "--lossless keeps everything: leave out --best, --least-psnr, "
                               "--allocation and limits of the size; `truncate` makes shorter "
                               "files, and --quality says where the exact part begins");
    if (s->best && s->quality) return cli_usage(verb, "give --best or --quality, not both");
    if (s->allocation != TAPER_ALLOCATION_EVEN && (s->quality || s->least_psnr > 0))
        return cli_usage(verb, "--quality and --least-psnr share the bytes themselves: leave out "
                               "--allocation");
    if (s->quality && cli_options_given("psnr"))
        return cli_usage(verb, "give --quality, of each image, or --psnr, of the mean");
    if (!cli_quality_parse(s->quality ? s->quality : name, &st->quality)) return CLI_DONE;
    return cli_usage(
        verb,
        "--quality is visual, high, best, or a PSNR of 20 to 60 dB, not %s; of a whole "
        "set, quality is set by --psnr DB, and size by --bpp or --bytes",
        s->quality);
}

/* Open what the images are added to; the first operand names it. */
static int open_target(state *st, char **operand) {
    if (!st->target) return CLI_DONE;
    const char *model = cli_options_given("model") ? st->s.model : NULL;
    const int code = st->target->open(st->target->user, &st->s.common, operand[0], st->s.output,
                                      model, &st->start);
    st->s.embed = st->s.embed_search = 0; /* what is there has its models */
    st->s.output = st->start.output, st->s.layout = (int)st->start.layout;
    const int is_limited = cli_cut_count() || st->s.best || st->s.least_psnr > 0 ||
                           st->s.allocation != TAPER_ALLOCATION_EVEN;
    if (!st->start.lossless || is_limited || st->s.lossless) return code;
    st->s.lossless = 1;
    if (!st->s.quality) cli_quality_parse("best", &st->quality);
    return code;
}

int cli_encode_as(const cli_verb *verb, int argc, char **argv, const cli_encode_target *target) {
    state st = {.target = target};
    settings *s = &st.s;
    int first, code = cli_options_parse(verb, argc, argv, s, &first);
    if (code >= 0) return code;
    code = cli_options_check_quality(verb, argv + first, (size_t)(argc - first));
    if (code != CLI_DONE) return code;
    const int own = target != NULL; /* operands that are no inputs */
    if (argc - first < own) return cli_usage(verb, "give a container, then the images");
    if (first + own == argc && !s->filelist)
        return cli_usage(verb, "give the images: files, folders, IDX or CIFAR files");
    if (!s->output && !target) return cli_usage(verb, "give an output: -o FILE");
    if (cli_cut_count() > 1)
        return cli_usage(verb, "give one of --bytes, --bpp, --bytes-per-image and --psnr");
    if ((code = choose_quality(verb, &st)) != CLI_DONE) return code;
    if ((code = cli_device_for_coding(verb, &s->common)) != CLI_DONE) return code;
    cli_options_name_idle(verb, (s->layout == TAPER_LAYOUT_SET ? USE_SET : 0) |
                                    (s->search_model ? USE_SEARCH : 0));
    st.left =
        (cli_left_out){.common = &s->common, .verb = "encode", .output = s->output, .stores = 1};
    st.left.keeps = keeps(&st);
    st.limits = cli_limits(&s->common);
    code = open_target(&st, argv + first);
    st.left.output = s->output;
    if (code == CLI_DONE) code = encode(&st, argv + first + own, (size_t)(argc - first - own));
    if (code == CLI_DONE && st.left.failed) code = CLI_SOME_FAILED;
    close_encoder(&st);
    cli_search_layer_close(&st.search);
    formats_imageset_close(st.set);
    cli_model_close(&st.model);
    cli_equal_images_free(st.equal);
    free(st.kept), free(st.same);
    return code;
}

int cmd_encode(int argc, char **argv) { return cli_encode_as(&cli_verb_encode, argc, argv, NULL); }
