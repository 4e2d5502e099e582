/* cmd_merge.c -- merges containers of one model, without recoding. */
#include "cli/chosen_images.h"
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/joined_shards.h"
#include "cli/name_case.h"
#include "codec/taper.h"
#include <stdlib.h>
#include <sys/resource.h>

typedef struct settings {
    cli_common common;
    const char *output;
    int partial;
} settings;

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the merged container here; - is standard output"},
    {"partial", 0, CLI_FLAG, .offset = offsetof(settings, partial),
     .help = "also merge shards of a set of which others are missing"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_merge = {
    .name = "merge",
    .run = cmd_merge,
    .what = "merge containers of one model, without recoding",
    .synopsis = "[options] -o FILE CONTAINER...",
    .options = options,
    .about =
        "The images keep their order: those of the first container, then those of the second, "
        "and so on. Each decodes as before. The containers must have one model and one layout; "
        "they may be encoded or truncated to any size. A container that was cut in another way, "
        "or is incomplete, is refused: `taper truncate --fraction 1` makes it complete.\n\n"
        "Shards that `taper encode --shard` made are joined in the order of their numbers, "
        "whatever "
        "the order in which they are given. They must be of one list of inputs, one model and the "
        "same options, each there once, and all there: what is wrong is named. Shards without "
        "images have no file and are not missed. With --partial others may be missing, too. The "
        "result, and a shard that was truncated or changed, counts as a container like any "
        "other.\n\n"
        "A name that an earlier container also has is prefixed with a folder, shard-2/ and so "
        "on, and such changes are printed. If that name would be too long, the number of the "
        "image replaces it. Classes with equal names become one.\n\n"
        "Images that were truncated after different bits need different rate classes, of which "
        "a container has 16. If they do not suffice, merge names the first container that does "
        "not fit.",
    .examples = "taper merge -o all.taper shard-*.taper\n"
                "taper truncate --bpp 0.5 -o half.taper big.taper && "
                "taper merge -o all.taper half.taper b.taper\n"};

/* All containers are open at once: raise the limit of this process as far as the system allows. */
static void allow_open_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit); /* if it fails, opening says so */
}

/* Open n containers; *opened: how many must be closed, also on failure. */
static int open_all(const settings *s, char **path, size_t n, cli_container *container,
                    size_t *opened) {
    allow_open_files();
    for (*opened = 0; *opened < n; ++*opened) {
        size_t i = *opened;
        int code = cli_output_check("merge", s->output, path[i]);
        if (code == CLI_DONE)
            code = cli_container_open(&container[i], "merge", path[i], &s->common);
        if (code != CLI_DONE) return code;
    }
    return CLI_DONE;
}

/* Shards into the order of their numbers: containers and their paths. */
static int sort_shards(const settings *s, cli_container *container, char **path, size_t n) {
    cli_joined_shard *of = calloc(n, sizeof *of);
    cli_container *given = malloc(n * sizeof *given);
    int code = of && given ? CLI_DONE : (int)cli_fail("merge", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t i = 0; i < n && code == CLI_DONE; i++) {
        of[i] = (cli_joined_shard){{.size = sizeof of[i].part}, path[i], i};
        given[i] = container[i];
        taper_container_get_part(container[i].open, &of[i].part, NULL);
    }
    if (code == CLI_DONE) code = cli_joined_shards_sort("merge", of, n, s->partial, &s->common);
    for (size_t i = 0; i < n && code == CLI_DONE; i++)
        container[i] = given[of[i].number], path[i] = of[i].path;
    free(of), free(given);
    return code;
}

/* Warn about names that differ by case only, in one or several containers. merge keeps them. */
static int look_at_names(const settings *s, const cli_container *container, size_t n) {
    enum { EACH = 96 }; /* bytes needed to compare a name, in addition to its text */
    size_t images = 0, named = 0, k = 0;
    for (size_t i = 0; i < n; i++) {
        images += (size_t)cli_images_in(&container[i].info);
        named += container[i].info.has_names || container[i].info.further_names;
    }
    if (!named) return CLI_DONE;
    const taper_limits limits = cli_limits(&s->common);
    if (images > limits.max_memory / EACH) {
        taper_error error;
        formats_fail_fact(&error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                          formats_memory_needed(&limits, images * EACH),
                          "the names of %zu images do not fit into --max-memory", images);
        return cli_fail("merge", NULL, error.status, &error);
    }
    const char **name = malloc((images + 1) * sizeof *name);
    if (!name) return cli_fail("merge", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t i = 0; i < n; i++)
        for (uint64_t image = 0; image < cli_images_in(&container[i].info); image++, k++) {
            taper_image_info info = {.size = sizeof info, .name = NULL};
            taper_container_get_image(container[i].open, image, &info, NULL);
            name[k] = info.name;
        }
    int code = cli_name_case_look("merge", s->output, name, images);
    free(name);
    return code;
}

/* Names that change because an earlier container has the same; the first of them. */
typedef struct changed_names {
    uint64_t n;
    char before[204], after[204];
} changed_names;

static void count_name(void *user, const char *before, const char *after) {
    changed_names *changed = user;
    if (changed->n++) return;
    snprintf(changed->before, sizeof changed->before, "%.200s",
             before ? before : "one without a name");
    snprintf(changed->after, sizeof changed->after, "%.200s", after);
}

static void tell_names(const settings *s, const changed_names *changed) {
    if (changed->n)
        cli_note(&s->common, "merge",
                 "%llu name%s changed, because an earlier container has the same: %s is %s%s",
                 (unsigned long long)changed->n, changed->n == 1 ? " is" : "s are", changed->before,
                 changed->after, changed->n > 1 ? ", ..." : "");
}

static int merge(const settings *s, char **path, const taper_source *source, size_t n) {
    cli_output out;
    taper_error error = {0};
    const taper_limits limits = cli_limits(&s->common);
    changed_names changed = {0};
    const taper_merge_options how = {
        .size = sizeof how, .limits = &limits, .renamed = count_name, .user = &changed};
    int code = cli_output_open(&out, "merge", s->output, &s->common);
    if (code != CLI_DONE) return code;
    taper_sink sink = cli_output_sink(&out);
    taper_status status = taper_merge(source, n, &sink, &how, &error);
    const char *file = error.item ? path[error.item - 1] : n == 1 ? path[0] : NULL;
    code = cli_output_close(&out, file, status, &error);
    if (code == CLI_DONE) tell_names(s, &changed);
    if (code == CLI_DONE)
        cli_note(&s->common, "merge", "%zu container%s, %llu bytes, in %s", n,
                 formats_plural(n, "s"), (unsigned long long)out.written,
                 cli_output_name(s->output));
    return code;
}

int cmd_merge(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_merge, argc, argv, &s, &first);
    if (code >= 0) return code;
    size_t n = (size_t)(argc - first), opened = 0;
    if (!n) return cli_usage(&cli_verb_merge, "give the containers to join");
    if (!s.output) return cli_usage(&cli_verb_merge, "give an output: -o FILE");
    cli_container *container = calloc(n, sizeof *container);
    taper_source *source = calloc(n, sizeof *source);
    if (!container || !source)
        code = cli_fail("merge", NULL, TAPER_ERR_NOMEM, NULL);
    else
        code = open_all(&s, argv + first, n, container, &opened);
    if (code == CLI_DONE) code = sort_shards(&s, container, argv + first, n);
    for (size_t i = 0; i < opened; i++) source[i] = container[i].source;
    if (code == CLI_DONE) code = look_at_names(&s, container, n);
    for (size_t i = 0; i < opened; i++) cli_container_drop_front(&container[i]);
    if (code == CLI_DONE) code = merge(&s, argv + first, source, n);
    for (size_t i = 0; i < opened; i++) cli_container_close(&container[i]);
    free(container);
    free(source);
    return code;
}
