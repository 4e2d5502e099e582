/* cmd_truncate.c -- writes a smaller complete container. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/common/spool.h"
#include "cli/truncate_psnr.h"
#include "codec/taper.h"

typedef struct settings {
    cli_common common;
    const char *output, *model, *originals;
    cli_cut cut;
    double fraction, psnr;
    int quick, strip;
} settings;

enum { USE_PSNR = 1 };
static const char *const uses[] = {"--psnr, or without --quick", NULL};
static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the smaller container here; - is standard output"},
    CLI_CUT_OPTIONS(settings),
    CLI_FRACTION_OPTION(settings),
    {"psnr", 0, CLI_DOUBLE, "DB", offsetof(settings, psnr), .min = 1, .max = 100,
     .help = "the smallest size with a mean PSNR of DB"},
    {"originals", 0, CLI_STRING, "FILE", offsetof(settings, originals),
     .help = "measure against these (a file or folder) instead of the whole container",
     .uses = USE_PSNR},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "its model, unless it is in the container or built in", .uses = USE_PSNR},
    {"threads", 'T', CLI_INT, "N", offsetof(settings, common.threads), .initial = "0", .min = 0,
     .max = 1024, .help = "threads for measuring; 0: one per processor", .uses = USE_PSNR},
    {"quick", 0, CLI_FLAG, .offset = offsetof(settings, quick),
     .help = "do not measure the PSNR of the cut"},
    {"strip", 0, CLI_FLAG, .offset = offsetof(settings, strip),
     .help = "drop metadata: colour profiles, EXIF, XMP and times of files"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_truncate = {
    .name = "truncate",
    .run = cmd_truncate,
    .what = "cut a container to a size",
    .synopsis = "[options] -o FILE CONTAINER",
    .options = options,
    .uses = uses,
    .about =
        "Writes the largest container that fits, without recoding. It decodes at least as well "
        "as a prefix of that size, because its front matter is shorter, and as well as a container "
        "that was encoded for that size.\n\n"
        "Metadata of images are kept; --strip makes room of them for the images.\n\n"
        "Any prefix of a container decodes, so `head -c N` also cuts. But truncate writes a "
        "matching directory, so that the result counts as complete. With the layouts `image` "
        "and `gallery` it shortens all images by the same share, which head cannot do.\n\n"
        "Afterwards the mean and the lowest PSNR are printed, measured against the images of "
        "the whole container or against --originals. This decodes about two million pixels, or "
        "one group of images, twice; --quick skips it.\n\n"
        "--psnr finds the size by decoding the images, or a sample of a large set. It compares "
        "them with --originals if given. Otherwise it compares them with the images of the "
        "whole container. The PSNR against the true originals is then a little lower; the "
        "difference is small if the container has high quality. For the layout `set` only.",
    .examples = "taper truncate --bytes 1M -o small.taper set.taper\n"
                "taper truncate --bpp 0.5 -o half.taper set.taper    # bits per pixel\n"
                "taper truncate --psnr 35 --originals photos/ -o 35.taper set.taper\n"
                "curl -s URL | taper truncate -b 64K -o front.taper -\n"};

typedef struct job {
    const settings *s;
    const cli_container *container;
    cli_truncate_psnr wanted;
    char quality[4400]; /* words: a name has up to 4,095 bytes */
} job;

/* The cut is spooled until it has been measured. */
static taper_status write_measured(job *j, uint64_t ceiling, const taper_sink *sink,
                                   taper_error *error) {
    FILE *spool;
    taper_source cut;
    const cli_container *c = j->container;
    const taper_limits limits = cli_limits(&j->s->common);
    TAPER_TRY(cli_spool_open(&spool, error));
    taper_sink to = cli_spool_sink(spool);
    taper_status status = taper_truncate(&c->source, ceiling, &to, &limits, error);
    if (status == TAPER_OK) status = cli_spool_source(spool, &cut, error);
    if (status == TAPER_OK)
        cli_truncate_measure(&j->wanted, c, &cut, &j->s->common, j->quality, sizeof j->quality);
    if (status == TAPER_OK)
        status = cli_source_copy(&cut, sink, error);
    else if (status == TAPER_ERR_IO) /* without a spool the cut is not measured */
        status = taper_truncate(&c->source, ceiling, sink, &limits, error);
    fclose(spool);
    return status;
}

static int truncate_container(job *j) {
    cli_output out;
    taper_error error = {0};
    const settings *s = j->s;
    const cli_container *c = j->container;
    taper_limits limits = cli_limits(&s->common);
    uint64_t ceiling = cli_cut_of_container(&s->cut, s->fraction, c);
    int code = cli_output_open(&out, "truncate", s->output, &s->common);
    if (code != CLI_DONE) return code;
    if (cli_options_given("psnr"))
        code = cli_truncate_find_psnr(&j->wanted, c, &s->common, &ceiling);
    if (code != CLI_DONE) {
        formats_atomic_file_abort(out.file);
        return code;
    }
    bool is_whole = ceiling >= c->info.file_bytes && !s->originals; /* nothing is lost */
    taper_sink sink = cli_output_sink(&out);
    taper_status status = s->quick || is_whole
                              ? taper_truncate(&c->source, ceiling, &sink, &limits, &error)
                              : write_measured(j, ceiling, &sink, &error);
    code = cli_output_close(&out, j->wanted.path, status, &error);
    if (code == CLI_DONE)
        cli_note(&s->common, "truncate", "%llu of %llu bytes, %.3g bpp, in %s%s",
                 (unsigned long long)out.written, (unsigned long long)c->info.file_bytes,
                 (double)out.written * 8 / (double)c->info.pixels, cli_output_name(s->output),
                 j->quality);
    return code;
}

int cmd_truncate(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_truncate, argc, argv, &s, &first);
    if (code >= 0) return code;
    code = cli_options_check_quality(&cli_verb_truncate, argv + first, (size_t)(argc - first));
    if (code != CLI_DONE) return code;
    if (argc - first != 1) return cli_usage(&cli_verb_truncate, "give one container, or -");
    if (!s.output) return cli_usage(&cli_verb_truncate, "give an output: -o FILE");
    if (cli_cut_count() != 1)
        return cli_usage(&cli_verb_truncate,
                         "give one of --bytes, --bpp, --bytes-per-image, --fraction and --psnr");
    cli_options_name_idle(&cli_verb_truncate, cli_options_given("psnr") || !s.quick ? USE_PSNR : 0);
    const char *path = argv[first];
    cli_container container;
    code = cli_output_check("truncate", s.output, path);
    if (code == CLI_DONE) code = cli_container_open(&container, "truncate", path, &s.common);
    if (code == CLI_DONE && s.strip)
        code = cli_container_strip(&container, "truncate", path, &s.common);
    if (code != CLI_DONE) return code;
    job j = {&s, &container, {path, s.model, s.originals, s.psnr}, ""};
    code = truncate_container(&j);
    cli_container_close(&container);
    return code;
}
