/* cmd_merge.c -- merges containers of one model, without recoding. */
#include "cli/chosen_images.h"
#include "cli/cli.h"
#include "cli/file_pool.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/joined_shards.h"
#include "cli/name_case.h"
#include "codec/taper.h"
#include "formats/bytes.h"
#include "formats/path_lines.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct settings {
    cli_common common;
    const char *output, *filelist, *model;
    int null_list, partial;
} settings;

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the merged container here; - is standard output"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "the model, unless it is in a container or built in; for large images, complete among "
             "truncated ones"},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "read paths of containers from this file, one per line, after those that are named; - "
             "is standard input"},
    CLI_NULL_OPTION(settings),
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
    .synopsis = "[options] -o FILE [CONTAINER...]",
    .options = options,
    .about =
        "The images keep their order: those of the first container, then those of the second, "
        "and so on. Each decodes as before. The containers must have one model and one layout; "
        "they may be encoded or truncated to any size. A container that was cut in another way, "
        "or is incomplete, is refused: `taper truncate --fraction 1` makes it complete.\n\n"
        "Complete images of 1,536 windows or more can only be joined as they are with truncated "
        "containers if the model is known: built in, in a container, or given by -m. Otherwise "
        "they lose some of their last bits.\n\n"
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
        "A container has at most 16 rate classes of images, whose layers end alike. Containers "
        "that were encoded with --shard have the same ones, so that any number fits; 1/1 is a "
        "whole set. Others may have more together: merge names the first one that does not "
        "fit.\n\n"
        "Any number of containers is joined: more than the system lets one process open are opened "
        "in turn. Where their names are too many for a command line, --filelist names them.",
    .examples = "taper merge -o all.taper shard-*.taper\n"
                "taper truncate --bpp 0.5 -o half.taper big.taper && "
                "taper merge -o all.taper half.taper b.taper\n"
                "find shards -name '*.taper' | taper merge -o all.taper --filelist -\n"};

/* The containers. Arrays are [n]; of `opened` of them container is open. */
typedef struct inputs {
    size_t n, room, opened;
    char **path; /* owned; those of operands first */
    cli_container *container;
    taper_source *source;
    taper_container **open; /* for taper_merge, which closes them */
    cli_file_pool *pool;    /* of the regular files */
} inputs;

static taper_status add_path(void *user, const char *path, size_t relative_at) {
    inputs *in = user;
    (void)relative_at;
    if (!formats_grow(&in->path, in->n, &in->room, sizeof *in->path)) return TAPER_ERR_NOMEM;
    in->path[in->n] = strdup(path);
    return in->path[in->n] ? (in->n++, TAPER_OK) : TAPER_ERR_NOMEM;
}

static int list_inputs(inputs *in, const settings *s, char *const *named, size_t n) {
    taper_error error = {0};
    const taper_limits limits = cli_limits(&s->common);
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && status == TAPER_OK; i++) status = add_path(in, named[i], 0);
    if (status == TAPER_OK && s->filelist)
        status = formats_path_lines_read(s->filelist, s->null_list,
                                         "give --null if its names end in them", &limits, add_path,
                                         in, &error);
    if (status != TAPER_OK) return cli_fail("merge", NULL, status, &error);
    if (in->n) return CLI_DONE;
    return cli_usage(&cli_verb_merge,
                     s->filelist ? "the list names no container" : "give the containers to join");
}

/* A regular file in the pool, anything else as a stream. */
static int open_input(inputs *in, size_t i, const settings *s) {
    struct stat st;
    cli_stream stream = {0};
    taper_error error = {0};
    const char *path = in->path[i];
    int code = CLI_DONE;
    if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        const taper_status status = cli_file_pool_add(in->pool, path, &stream.source, &error);
        if (status != TAPER_OK) code = cli_fail("merge", path, status, &error);
    } else {
        code = cli_stream_open(&stream, "merge", path);
    }
    if (code != CLI_DONE) return code;
    return cli_container_take(&in->container[i], &stream, "merge", path, &s->common);
}

static int open_inputs(inputs *in, const settings *s) {
    taper_error error = {0};
    in->container = calloc(in->n, sizeof *in->container);
    in->source = calloc(in->n, sizeof *in->source);
    in->open = calloc(in->n, sizeof *in->open);
    if (!in->container || !in->source || !in->open)
        return cli_fail("merge", NULL, TAPER_ERR_NOMEM, NULL);
    const taper_status status = cli_file_pool_new(&in->pool, in->n, &error);
    if (status != TAPER_OK) return cli_fail("merge", NULL, status, &error);
    for (; in->opened < in->n; in->opened++) {
        int code = cli_output_check("merge", s->output, in->path[in->opened]);
        if (code == CLI_DONE) code = open_input(in, in->opened, s);
        if (code != CLI_DONE) return code;
    }
    return CLI_DONE;
}

static void close_inputs(inputs *in) {
    for (size_t i = 0; in->open && i < in->n; i++) taper_container_close(in->open[i]);
    for (size_t i = 0; i < in->opened; i++) cli_container_close(&in->container[i]);
    for (size_t i = 0; i < in->n; i++) free(in->path[i]);
    free(in->path), free(in->container), free(in->source), free(in->open);
    cli_file_pool_free(in->pool);
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

/* The open containers for taper_merge, which counts their memory itself. */
static void give_open(inputs *in) {
    for (size_t i = 0; i < in->n; i++) {
        cli_memory_release(in->container[i].held);
        in->open[i] = in->container[i].open, in->source[i] = in->container[i].source;
        in->container[i].open = NULL, in->container[i].held = 0;
    }
}

static int merge(const settings *s, inputs *in, const taper_model *model) {
    cli_output out;
    taper_error error = {0};
    const size_t n = in->n;
    give_open(in);
    const taper_limits limits = cli_limits(&s->common);
    changed_names changed = {0};
    const taper_merge_options how = {.size = sizeof how,
                                     .limits = &limits,
                                     .renamed = count_name,
                                     .user = &changed,
                                     .open = in->open,
                                     .model = model};
    int code = cli_output_open(&out, "merge", s->output, &s->common);
    if (code != CLI_DONE) return code;
    taper_sink sink = cli_output_sink(&out);
    taper_status status = taper_merge(in->source, n, &sink, &how, &error);
    const char *file = error.item ? in->path[error.item - 1] : n == 1 ? in->path[0] : NULL;
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
    inputs in = {0};
    cli_model model = {0};
    int first, code = cli_options_parse(&cli_verb_merge, argc, argv, &s, &first);
    if (code >= 0) return code;
    if (first == argc && !s.filelist)
        return cli_usage(&cli_verb_merge, "give the containers to join");
    if (!s.output) return cli_usage(&cli_verb_merge, "give an output: -o FILE");
    code = list_inputs(&in, &s, argv + first, (size_t)(argc - first));
    if (code == CLI_DONE && s.model) code = cli_coder_open(&model, "merge", s.model, &s.common);
    if (code == CLI_DONE) code = open_inputs(&in, &s);
    if (code == CLI_DONE) code = sort_shards(&s, in.container, in.path, in.n);
    if (code == CLI_DONE) code = look_at_names(&s, in.container, in.n);
    if (code == CLI_DONE) code = merge(&s, &in, model.model);
    close_inputs(&in);
    cli_model_close(&model);
    return code;
}
