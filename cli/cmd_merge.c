/* cmd_merge.c -- several containers of one model into one, without recoding. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/name_case.h"
#include "cli/shard_names.h"
#include "codec/taper.h"
#include <stdlib.h>

typedef struct settings {
    cli_common common;
    const char *output;
} settings;

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the joined container here; - is standard output"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_TALK_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_merge = {
    .name = "merge",
    .run = cmd_merge,
    .what = "join containers of one model into one, without recoding",
    .synopsis = "[options] -o FILE CONTAINER...",
    .options = options,
    .about =
        "The images keep their order: those of the first container, then those of the "
        "second, and so on, and each decodes to what it decoded to. The containers must be of one "
        "model and one layout; they may be encoded or truncated to any size. One that was cut in "
        "other ways, or that did not arrive whole, is refused: `taper truncate --fraction 1` makes "
        "a whole one of what is there.\n\n"
        "A name that an earlier container has, too, gets a folder, shard-2/ and so on (or, too "
        "long for one, its number there), which is told. Classes are joined by their names.\n\n"
        "Images whose data end after other bits than those of others get a rate class of their "
        "own. There are 16: of so many containers that were cut so differently that these do not "
        "do, merge says which is the first that has no room.",
    .examples = "taper merge -o all.taper shard-*.taper\n"
                "taper truncate --bpp 0.5 -o half.taper big.taper && "
                "taper merge -o all.taper half.taper b.taper\n"};

/* Open n containers; *opened is how many of them have to be closed. */
static int open_all(const settings *s, char **path, size_t n, cli_container *container,
                    taper_source *source, size_t *opened) {
    for (*opened = 0; *opened < n; ++*opened) {
        size_t i = *opened;
        int code = cli_output_check("merge", s->output, path[i]);
        if (code == CLI_DONE)
            code = cli_container_open(&container[i], "merge", path[i], &s->common);
        if (code != CLI_DONE) return code;
        source[i] = container[i].source;
    }
    return CLI_DONE;
}

/* The file that the sentence is about: "container 2 was made with another model". */
static const char *file_in_question(char **path, size_t n, const taper_error *error) {
    size_t k = n == 1;
    if (!k && sscanf(error->text, "container %zu", &k) != 1) return NULL;
    return k >= 1 && k <= n ? path[k - 1] : NULL;
}

/* Names that several containers have, which merge changes. */
static int tell_changes(const settings *s, const cli_container *container, size_t n) {
    formats_front *shard = malloc(n * sizeof *shard);
    if (!shard) return cli_fail("merge", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t i = 0; i < n; i++) shard[i] = container[i].front; /* borrowed */
    const int code = cli_shard_names_tell(&s->common, s->output, shard, n);
    free(shard);
    return code;
}

/* Names that differ by case alone, in one container or in several: merge keeps them. */
static int look_at_names(const settings *s, const cli_container *container, size_t n) {
    enum { EACH = 96 }; /* bytes that looking takes for a name, beside the name */
    size_t images = 0, named = 0, k = 0;
    for (size_t i = 0; i < n; i++) {
        images += container[i].front.images;
        named += container[i].front.names != NULL;
    }
    if (!named) return CLI_DONE;
    const taper_limits limits = cli_limits(&s->common);
    if (images > limits.max_memory / EACH) {
        cli_error("merge", NULL,
                  "the names of %zu images do not fit into --max-memory; give --max-memory %lluM",
                  images, (unsigned long long)formats_memory_needed(&limits, images * EACH));
        return CLI_LIMIT;
    }
    const char **name = malloc((images + 1) * sizeof *name);
    if (!name) return cli_fail("merge", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t i = 0; i < n; i++)
        for (uint32_t image = 0; image < container[i].front.images; image++)
            name[k++] = formats_front_name(&container[i].front, image);
    int code = cli_name_case_look("merge", s->output, name, images);
    free(name);
    return code;
}

static int merge(const settings *s, char **path, const taper_source *source, size_t n) {
    cli_output out;
    taper_error error = {0};
    taper_limits limits = cli_limits(&s->common);
    int code = cli_output_open(&out, "merge", s->output, &s->common);
    if (code != CLI_DONE) return code;
    taper_sink sink = cli_output_sink(&out);
    taper_status status = taper_merge(source, n, &sink, &limits, &error);
    code = cli_output_close(&out, file_in_question(path, n, &error), status, &error);
    if (code == CLI_DONE)
        cli_note(&s->common, "merge", "%zu container%s, %llu bytes, in %s", n,
                 formats_plural(n, "s"),
                 (unsigned long long)out.written, cli_output_name(s->output));
    return code;
}

int cmd_merge(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_merge, argc, argv, &s, &first);
    if (code >= 0) return code;
    size_t n = (size_t)(argc - first), opened = 0;
    if (!n) return cli_usage(&cli_verb_merge, "give the containers to join");
    if (!s.output) return cli_usage(&cli_verb_merge, "say where the result goes: -o FILE");
    cli_container *container = calloc(n, sizeof *container);
    taper_source *source = calloc(n, sizeof *source);
    if (!container || !source) code = cli_fail("merge", NULL, TAPER_ERR_NOMEM, NULL);
    else code = open_all(&s, argv + first, n, container, source, &opened);
    if (code == CLI_DONE) code = look_at_names(&s, container, n);
    if (code == CLI_DONE) code = tell_changes(&s, container, n);
    for (size_t i = 0; i < opened; i++) cli_container_drop_front(&container[i]);
    if (code == CLI_DONE) code = merge(&s, argv + first, source, n);
    for (size_t i = 0; i < opened; i++) cli_container_close(&container[i]);
    free(container);
    free(source);
    return code;
}
