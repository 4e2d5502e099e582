/* cmd_truncate.c -- a container into a smaller whole container. */
#include "inputs.h"
#include "outputs.h"

typedef struct settings {
    cli_common common;
    const char *output;
    cli_cut cut;
    double fraction;
} settings;

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the smaller container here; - is standard output"},
    CLI_CUT_OPTIONS(settings),
    CLI_FRACTION_OPTION(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_TALK_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_truncate = {
    .name = "truncate",
    .run = cmd_truncate,
    .what = "cut a container to a size",
    .synopsis = "[options] -o FILE CONTAINER",
    .options = options,
    .about =
        "Writes the largest container that fits, without recoding: it decodes to the same "
        "images as the original's prefix of that size, and is as good as one that was "
        "encoded for the size.\n\n"
        "Any prefix of a container decodes, so `head -c N` cuts as well; what truncate adds "
        "is a directory that fits, so that the result counts as whole. For the layout "
        "`image` it shortens every image by the same share, which head cannot do.",
    .examples = "taper truncate --bytes 1M -o small.taper set.taper\n"
                "taper truncate --bpp 0.5 -o half.taper set.taper    # bits per pixel\n"
                "curl -s URL | taper truncate -b 64K -o front.taper -\n"};

static int truncate_to(const settings *s, const char *path, const cli_container *c,
                       uint64_t ceiling) {
    cli_output out;
    taper_error error = {0};
    taper_limits limits = cli_limits(&s->common);
    int code = cli_output_open(&out, "truncate", s->output, &s->common);
    if (code != CLI_DONE) return code;
    taper_sink sink = cli_output_sink(&out);
    taper_status status = taper_truncate(&c->source, ceiling, &sink, &limits, &error);
    code = cli_output_close(&out, path, status, &error);
    if (code == CLI_DONE)
        cli_note(&s->common, "truncate", "%llu of %llu bytes, %.3g bpp, in %s",
                 (unsigned long long)out.written, (unsigned long long)c->whole_bytes,
                 (double)out.written * 8 / (double)c->pixels, cli_output_name(s->output));
    return code;
}

int cmd_truncate(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_truncate, argc, argv, &s, &first);
    if (code >= 0) return code;
    if (argc - first != 1) return cli_usage(&cli_verb_truncate, "give one container, or -");
    if (!s.output) return cli_usage(&cli_verb_truncate, "say where the result goes: -o FILE");
    if (cli_cut_count() != 1)
        return cli_usage(&cli_verb_truncate,
                         "give one of --bytes, --bpp, --bytes-per-image and --fraction");
    const char *path = argv[first];
    cli_container container;
    code = cli_output_check("truncate", s.output, path);
    if (code == CLI_DONE) code = cli_container_open(&container, "truncate", path, &s.common);
    if (code != CLI_DONE) return code;
    code = truncate_to(&s, path, &container, cli_cut_of_container(&s.cut, s.fraction, &container));
    cli_container_close(&container);
    return code;
}
