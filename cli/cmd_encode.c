/* cmd_encode.c -- encodes images into one container: the options, and the course of a run.
 *
 * encode_images.h gives the images to the encoder. Without a size limit the container is written
 * directly. With a limit it is spooled first, and encode_cut.h writes it. encode_report.h tells
 * what was made. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/common/signals.h"
#include "cli/common/spool.h"
#include "cli/device.h"
#include "cli/encode_cut.h"
#include "cli/encode_images.h"
#include "cli/encode_report.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const allocations[] = {"even", "mean", "equal", NULL}; /* taper_allocation */
enum { USE_SET = 1, USE_SEARCH = 2 };
/* In the order of taper_drawings. */
static const char *const drawings[] = {"auto", "exact", "lossy", NULL};
const char *const cli_encode_uses[] = {"--layout set", "--embed-with", NULL};
const cli_option cli_encode_options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(cli_encode_settings, output),
     .help = "write the container here; - is standard output"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(cli_encode_settings, model),
     .initial = CLI_DEFAULT_MODEL,
     .help = "a model made by `taper train`, or the built-in photo or tiny"},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(cli_encode_settings, filelist),
     .help = "read paths of inputs from this file, one per line; - is standard input"},
    CLI_NULL_OPTION(cli_encode_settings),
    CLI_FOLLOW_OPTION(cli_encode_settings),
    CLI_FRAMES_OPTION(cli_encode_settings),
    CLI_ALPHA_OPTION(cli_encode_settings, "keep"),
    {"labels", 0, CLI_STRING, "FILE", offsetof(cli_encode_settings, labels),
     .help = "class labels: IDX, CSV `name,label`, or one label per line"},
    {"strip", 0, CLI_FLAG, .offset = offsetof(cli_encode_settings, strip),
     .help = "keep no metadata: no colour profiles, EXIF, XMP or times of files"},
    {"dedup", 0, CLI_FLAG, .offset = offsetof(cli_encode_settings, dedup),
     .help = "store equal images once, under all their names"},
    CLI_CUT_OPTIONS(cli_encode_settings),
    {"psnr", 0, CLI_DOUBLE, "DB", offsetof(cli_encode_settings, psnr), .min = 1, .max = 100,
     .help = "the smallest size with a mean PSNR of DB; takes about three times as long"},
    {"quality", 0, CLI_STRING, "WHAT", offsetof(cli_encode_settings, quality),
     .help = "where each image ends: visual, high, best, or a PSNR in dB; default: visual, or best "
             "with a limit of the size"},
    {"best", 0, CLI_FLAG, .offset = offsetof(cli_encode_settings, best),
     .help = "encode all that the model represents, to cut it later; the same as --quality best"},
    {"least-psnr", 0, CLI_DOUBLE, "DB", offsetof(cli_encode_settings, least_psnr), .min = 1,
     .max = 100, .help = "no image ends below this PSNR, also with a limit of the size"},
    {"layout", 0, CLI_CHOICE, "NAME", offsetof(cli_encode_settings, layout), .initial = "set",
     .choices = cli_layouts, .help = "order of the data"},
    {"allocation", 0, CLI_CHOICE, "NAME", offsetof(cli_encode_settings, allocation),
     .initial = "even", .choices = allocations,
     .help = "how the bytes of a cut are divided among images"},
    {"lossless", 0, CLI_FLAG, .offset = offsetof(cli_encode_settings, lossless),
     .help = "end the file with what makes every image equal to its original, pixel for pixel"},
    {"drawings", 0, CLI_CHOICE, "HOW", offsetof(cli_encode_settings, drawings), .initial = "auto",
     .choices = drawings, .help = "how drawings are coded: auto, exact or lossy"},
    {"group", 0, CLI_INT, "N", offsetof(cli_encode_settings, group), .initial = "0", .min = 0,
     .max = 65536, .help = "images per group, which are coded together; 0: about a million pixels",
     .uses = USE_SET},
    {"embed-model", 0, CLI_FLAG, .offset = offsetof(cli_encode_settings, embed),
     .help = "store the model in the container: it then decodes without -m"},
    {"embed-with", 0, CLI_STRING, "MODEL", offsetof(cli_encode_settings, search_model),
     .help = "add codes for search by this binary model, such as the built-in search, for `taper "
             "index` and `search`"},
    {"search-bits", 0, CLI_INT, "N", offsetof(cli_encode_settings, search_bits), .initial = "0",
     .min = 0, .max = 65536, .help = "use the first N bits of these codes; 0: all",
     .uses = USE_SEARCH},
    {"embed-search-model", 0, CLI_FLAG, .offset = offsetof(cli_encode_settings, embed_search),
     .help = "also store the model of these codes", .uses = USE_SEARCH},
    {"quick", 0, CLI_FLAG, .offset = offsetof(cli_encode_settings, quick),
     .help = "do not check that longer cuts of a set of up to 4,096 pixels look no worse than "
             "shorter ones; do not measure the PSNR at a size limit"},
    CLI_SHARD_OPTIONS(cli_encode_settings),
    CLI_CODING_OPTIONS(cli_encode_settings),
    CLI_OUTPUT_OPTIONS(cli_encode_settings),
    CLI_MESSAGE_OPTIONS(cli_encode_settings),
    CLI_LIMIT_OPTIONS(cli_encode_settings),
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
        "--embed-search-model also stores that model, so that search needs no -m; it finds the "
        "built-in one without.\n\n"
        "Transparency is kept, unless --alpha says to drop it, to blend images onto white, or to "
        "refuse those that have it. Drawings with few colours are kept exactly, by their colours, "
        "where that is small, and does not cost far more than coding them like photographs; "
        "--drawings chooses otherwise.\n\n"
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
    .details =
        "With --shard I/N part I of N of the images is encoded, I from 1 to N: of M images those "
        "behind the first floor((I - 1) M / N), up to floor(I M / N), in the order in which the "
        "inputs are given, and files of a folder by name. All shards must be given the same "
        "inputs and options. `taper merge` joins them: it finds their order, and names those that "
        "are missing. If N is above M some have no images: they write nothing, and the exit code "
        "is 0. Names, classes and inputs without an image are those of the whole set; shard 1 "
        "reports the latter. A limit of the size is given to `taper truncate`, after merging. All "
        "shards have the same layers, whatever their images. So --shard 1/1 is for whole sets that "
        "will be merged.\n\n"
        "With --resume nothing is done if the output is whole, by all its checksums, and was made "
        "of the same inputs by the same model and options; otherwise it is made again. Inputs are "
        "compared by names, labels and contents, so the shard's files are read. Their times do "
        "not matter, nor do folders above the given ones, limits and threads. A shard that lacks "
        "images, as they could not be used, is made again. A container that does not say what it "
        "was made of is left as it is, and the exit code is 5; -f replaces it.",
    .examples = "taper encode -o holiday.taper holiday/         # with the model for photographs\n"
                "taper encode -m cats.tpm -o cats.taper cats/     # with one of your own\n"
                "taper encode -m cifar.tpm --bytes-per-image 200 -o test.taper test_batch.bin\n"
                "taper encode -m photos.tpm --psnr 32 --embed-model -o photos.taper photos/\n"
                "taper encode --shard 3/8 --resume -o part-3.taper photos/   # job 3 of 8\n"};

/* --- inputs --- */

static int open_set(cli_encode_run *st, char **paths, size_t n) {
    taper_error error = {0};
    /* Files without an image belong to no shard: the first one tells them. */
    const bool is_first = st->shard.part.part == 0;
    formats_imageset_options o = {.filelist = st->s.filelist,
                                  .null_list = st->s.null_list,
                                  .labels = st->s.labels,
                                  .limits = &st->limits,
                                  .follow_links = st->s.follow_links,
                                  .all_frames = st->s.frames};
    cli_progress_start(&st->progress, &st->s.common, "listing the inputs", 0, "files");
    taper_status status =
        formats_imageset_open(&st->set, (const char *const *)paths, n, &o,
                              is_first ? cli_left_out_file : NULL, &st->left, &error);
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
static int check_output(const cli_encode_run *st, char **paths, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (cli_output_check("encode", st->s.output, paths[i]) != CLI_DONE) return CLI_USAGE;
    if (cli_output_check("encode", st->s.output, st->s.model) != CLI_DONE) return CLI_USAGE;
    return CLI_DONE;
}

static int check_output_in_set(const cli_encode_run *st) {
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

/* --- writing --- */

static taper_status write_to(cli_encode_run *st, const taper_sink *sink, taper_error *error) {
    return cli_cut_count() ? cli_encode_write_limited(st, sink, error)
                           : taper_encoder_finish(st->encoder, 0, sink, error);
}

static int write_container(cli_encode_run *st, cli_output *out) {
    taper_error error = {0};
    taper_sink sink = cli_output_sink(out);
    taper_status status = write_to(st, &sink, &error);
    int code = cli_output_close(out, st->s.output, status, &error);
    if (code == CLI_DONE) cli_encode_tell_result(st, out->written);
    return code;
}

/* Write the container into a temporary file, and give it to the target. */
static int give_container(cli_encode_run *st) {
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

static taper_status finish_into_spool(cli_encode_run *st, taper_error *error) {
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

static void close_encoder(cli_encode_run *st) {
    taper_encoder_free(st->encoder);
    if (st->coding) fclose(st->coding);
    if (st->spool) fclose(st->spool);
    st->encoder = NULL, st->coding = NULL, st->spool = NULL;
}

/* Encode the images. With a limit, the container is spooled. Images that are plainer than those of
 * the model need fewer bytes than planned: all passes are then encoded in a second run. */
static int code_images(cli_encode_run *st) {
    taper_error error = {0};
    int code = cli_encode_begin(st);
    if (code == CLI_DONE) code = cli_encode_add_images(st);
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

static int open_model(cli_encode_run *st) {
    st->model.model = st->start.model; /* borrowed */
    return st->start.model ? CLI_DONE
                           : cli_coder_open(&st->model, "encode", st->s.model, &st->s.common);
}

static int open_search(cli_encode_run *st) {
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

static int check_names(const cli_encode_run *st) {
    int code = CLI_DONE;
    for (size_t i = 0; st->target && i < formats_imageset_count(st->set) && code == CLI_DONE; i++)
        if (formats_imageset_name(st->set, i))
            code = st->target->check_name(st->target->user, formats_imageset_name(st->set, i));
    return code;
}

/* Everything but the images on which the container depends. Limits and the number of threads do
 * not; nor does --quick matter to shards, whose layers are others (2). */
static void describe_options(const cli_encode_run *st, char *text, size_t room) {
    const cli_encode_settings *s = &st->s;
    const uint64_t search = s->search_model ? cli_model_info(st->search.model.model).id : 0;
    snprintf(text, room,
             "encode 1, model %016llx %d, quality %d %a %a %a, lossless %d, allocation %d, "
             "layout %d, group %lld, drawings %d, alpha %d, frames %d, strip %d, dedup %d, "
             "quick %d, search %016llx %lld %d",
             (unsigned long long)cli_model_info(st->model.model).id, s->embed,
             (int)st->quality.kind, st->quality.psnr_db, st->quality.beside_db,
             st->quality.least_db, s->lossless, s->allocation, s->layout, (long long)s->group,
             s->drawings, s->alpha, s->frames, s->strip, s->dedup, s->shard ? 2 : s->quick,
             (unsigned long long)search, (long long)s->search_bits, s->embed_search);
}

/* Choose the images. *is_done: the output is there already, or the shard is empty. */
static int take_shard(cli_encode_run *st, bool *is_done) {
    char how[512];
    *is_done = false;
    describe_options(st, how, sizeof how);
    int code = cli_shard_take(&st->shard, "encode", st->set, how, &st->s.common);
    if (code == CLI_DONE && cli_shard_is_told(&st->shard))
        code = cli_shard_look(&st->shard, "encode", st->s.output, &st->s.common, is_done);
    if (*is_done) cli_left_out_report(&st->left, NULL);
    return code;
}

static int encode(cli_encode_run *st, char **paths, size_t n) {
    cli_output out = {0};
    bool is_done;
    int code = check_output(st, paths, n);
    if (code == CLI_DONE) code = open_model(st);
    /* before encoding, to detect at once an output that cannot be written */
    if (code == CLI_DONE) code = open_set(st, paths, n);
    if (code == CLI_DONE) code = check_output_in_set(st);
    if (code == CLI_DONE) code = check_names(st);
    if (code == CLI_DONE) code = open_search(st);
    st->search.carries_model = st->s.embed_search;
    if (code == CLI_DONE) code = take_shard(st, &is_done);
    if (code != CLI_DONE || is_done) return code;
    if (!st->target) code = cli_output_open(&out, "encode", st->s.output, &st->s.common);
    if (code != CLI_DONE) return code;
    code = code_images(st);
    if (code == CLI_DONE) code = cli_encode_look_at_names(st);
    if (code == CLI_DONE) return st->target ? give_container(st) : write_container(st, &out);
    formats_atomic_file_abort(out.file);
    return code;
}

/* The quality that the options name. */
static int choose_quality(const cli_verb *verb, cli_encode_run *st) {
    const cli_encode_settings *s = &st->s;
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

/* The images of a shard, and whether they are to be encoded at all. A limit of the size is of the
 * whole set, of which a shard knows nothing. */
static int choose_shard(const cli_verb *verb, cli_encode_run *st) {
    const cli_encode_settings *s = &st->s;
    if ((s->shard || s->resume) && st->target)
        return cli_usage(verb, "--shard and --resume are of `taper encode`, which makes shards");
    if ((s->shard || s->resume) && cli_cut_count())
        return cli_usage(verb, "--shard and --resume go without limits of the size, which are of a "
                               "whole set: encode with --best, merge the shards, then "
                               "`taper truncate`");
    if (s->resume && !strcmp(s->output, "-"))
        return cli_usage(verb, "--resume needs an output that can be read: -o FILE");
    return cli_shard_parse(verb, s->shard, s->resume, CLI_IS_CONTAINER, &st->shard);
}

/* Open what the images are added to; the first operand names it. */
static int open_target(cli_encode_run *st, char **operand) {
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
    cli_encode_run st = {.target = target};
    cli_encode_settings *s = &st.s;
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
    if ((code = choose_shard(verb, &st)) != CLI_DONE) return code;
    if ((code = cli_device_for_coding(verb, &s->common)) != CLI_DONE) return code;
    cli_options_name_idle(verb, (s->layout == TAPER_LAYOUT_SET ? USE_SET : 0) |
                                    (s->search_model ? USE_SEARCH : 0));
    st.left =
        (cli_left_out){.common = &s->common, .verb = "encode", .output = s->output, .stores = 1};
    st.left.keeps = cli_encode_keeps(&st);
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
