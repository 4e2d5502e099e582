/* cmd_repack.c -- writes the same codes in another layout, without the network. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "codec/taper.h"

typedef struct settings {
    cli_common common;
    const char *output, *model;
    int layout, strip;
    int64_t group;
} settings;

enum { USE_SET = 1 };
static const char *const uses[] = {"--layout set", NULL};
static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the new container here; - is standard output"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "its model, unless it is in the container or built in"},
    {"layout", 0, CLI_CHOICE, "NAME", offsetof(settings, layout), .initial = "set",
     .choices = cli_layouts, .help = "order of the data"},
    {"group", 0, CLI_INT, "N", offsetof(settings, group), .initial = "0", .min = 0, .max = 65536,
     .help = "images per group, for the layout set; 0: about a million pixels", .uses = USE_SET},
    {"strip", 0, CLI_FLAG, .offset = offsetof(settings, strip),
     .help = "drop metadata: colour profiles, EXIF, XMP and times of files"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_repack = {
    .name = "repack",
    .run = cmd_repack,
    .what = "change the layout of a container, without recoding",
    .synopsis = "[options] -o FILE CONTAINER",
    .options = options,
    .uses = uses,
    .about =
        "With the layout `set` the data of all images is ordered by importance: each prefix of "
        "the file is the whole set at lower quality. With the layout `image` the data of each "
        "image is contiguous, so that one read fetches one image. With the layout `gallery` small "
        "layers of all images come first, then the rest of each image: one read fetches all images "
        "coarsely, and one more completes any of them. The decoded images are the same.\n\n"
        "Metadata of images are kept, unless --strip is given.\n\n"
        "Of a truncated container, the passes that all images have completely are repacked. "
        "Repack before you truncate.",
    .examples = "taper repack --layout image -m photos.tpm -o one-by-one.taper photos.taper\n"
                "taper repack --layout set --group 500 -o again.taper one-by-one.taper\n"};

static int repack(const settings *s, const char *path, const cli_container *c,
                  const taper_model *model) {
    cli_output out;
    taper_error error = {0};
    taper_limits limits = cli_limits(&s->common);
    int code = cli_output_open(&out, "repack", s->output, &s->common);
    if (code != CLI_DONE) return code;
    taper_sink sink = cli_output_sink(&out);
    taper_status status = taper_repack(&c->source, model, (taper_layout)s->layout,
                                       (uint32_t)s->group, &sink, &limits, &error);
    code = cli_output_close(&out, path, status, &error);
    if (code == CLI_DONE)
        cli_note(&s->common, "repack", "%llu image%s, %llu bytes, in %s",
                 (unsigned long long)c->info.images, formats_plural(c->info.images, "s"),
                 (unsigned long long)out.written, cli_output_name(s->output));
    return code;
}

int cmd_repack(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_repack, argc, argv, &s, &first);
    if (code >= 0) return code;
    if (argc - first != 1) return cli_usage(&cli_verb_repack, "give one container, or -");
    if (!s.output) return cli_usage(&cli_verb_repack, "give an output: -o FILE");
    cli_options_name_idle(&cli_verb_repack, s.layout == TAPER_LAYOUT_SET ? USE_SET : 0);
    const char *path = argv[first];
    cli_container container = {0};
    cli_model model = {0};
    code = cli_output_check("repack", s.output, path);
    if (code == CLI_DONE && s.model) code = cli_coder_open(&model, "repack", s.model, &s.common);
    if (code == CLI_DONE) code = cli_container_open(&container, "repack", path, &s.common);
    if (code == CLI_DONE && s.strip)
        code = cli_container_strip(&container, "repack", path, &s.common);
    if (code == CLI_DONE) code = repack(&s, path, &container, model.model);
    cli_container_close(&container);
    cli_model_close(&model);
    return code;
}
