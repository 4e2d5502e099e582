/* index_file.c -- see index_file.h. */
#include "cli/index/index_file.h"
#include "cli/common/inputs.h"
#include "cli/common/spool.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include "formats/name_escape.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 200 };

/* --- opening ---------------------------------------------------------------------------- */

static int open_mapped(cli_index *index, const char *verb, const char *path,
                       const cli_common *common) {
    taper_error error = {0};
    const taper_limits limits = cli_limits(common);
    const taper_status status =
        taper_index_open(&index->index, index->bytes, index->size, &limits, &error);
    if (status == TAPER_OK) {
        index->held = cli_memory_hold(cli_index_info(index->index).memory);
        return CLI_DONE;
    }
    cli_index_close(index);
    return cli_fail(verb, path, status, &error);
}

/* Indexes are read at many places: the whole file is fetched. */
static taper_status map_url(const char *path, const void **bytes, uint64_t *size,
                            taper_error *error) {
    cli_stream stream;
    FILE *spool = NULL;
    TAPER_TRY(cli_stream_try(&stream, path, error));
    remote_expect_end(stream.remote, UINT64_MAX);
    taper_status status = cli_spool_open(&spool, error);
    if (status == TAPER_OK) {
        const taper_sink sink = cli_spool_sink(spool);
        status = cli_source_copy(&stream.source, &sink, error);
    }
    if (status == TAPER_OK && fflush(spool) != 0)
        status = formats_fail_errno(error, errno, "write a temporary file");
    if (status == TAPER_OK) status = formats_descriptor_map(fileno(spool), bytes, size, error);
    if (spool) fclose(spool);
    cli_stream_close(&stream);
    return status;
}

int cli_index_open(cli_index *index, const char *verb, const char *path, const cli_common *common) {
    taper_error error = {0};
    *index = (cli_index){.index = NULL};
    const taper_status status = remote_is_url(path)
                                    ? map_url(path, &index->bytes, &index->size, &error)
                                    : formats_file_map(path, &index->bytes, &index->size, &error);
    return status ? (int)cli_fail(verb, path, status, &error)
                  : open_mapped(index, verb, path, common);
}

int cli_index_read_back(cli_index *index, cli_output *out, const cli_common *common) {
    taper_error error = {0};
    int descriptor = -1;
    *index = (cli_index){.index = NULL};
    if (!out->file) return CLI_DONE;
    taper_status status = formats_atomic_file_read_back(out->file, &descriptor, &error);
    if (!status && descriptor < 0) return CLI_DONE;
    if (!status) status = formats_descriptor_map(descriptor, &index->bytes, &index->size, &error);
    return status ? (int)cli_fail(out->verb, out->path, status, &error)
                  : open_mapped(index, out->verb, out->path, common);
}

taper_index_info cli_index_info(const taper_index *index) {
    taper_index_info info = {.size = sizeof info};
    (void)taper_index_get_info(index, &info, NULL);
    return info;
}

void cli_index_close(cli_index *index) {
    taper_index_close(index->index);
    formats_file_unmap(index->bytes, index->size);
    cli_memory_release(index->held);
    *index = (cli_index){.index = NULL};
}

int cli_index_check_model(const char *verb, const taper_model_info *model, const char *path) {
    if (model->binary) return CLI_DONE;
    cli_error(
        verb, path,
        "the codes of this model are real numbers, but an index needs binary codes: give images "
        "and omit -m for the built-in model, or train one with 'taper train-bits --window whole "
        "--independent', or, of images with labels, 'taper train-labels --code binary'; 'taper "
        "embed' and 'classify' take codes of numbers");
    return CLI_USAGE;
}

/* --- codes of a set --------------------------------------------------------------------- */

/* Codes that are not in an index yet, and indexes of parts of the set. */
typedef struct gathering {
    cli_code_set *set;
    const cli_index_options *options;
    size_t width, words, room;
    uint64_t *codes; /* [room][words] */
    int32_t *labels; /* [room] */
    char **names;    /* [room] */
    size_t n;
    uint64_t name_bytes, most_name_bytes; /* bytes of names; they are also copied and encoded */
    cli_index part[MOST_PARTS];
    size_t parts;
} gathering;

static void gathering_free(gathering *g) {
    for (size_t i = 0; i < g->n; i++) free(g->names[i]);
    for (size_t i = 0; i < g->parts; i++) cli_index_close(&g->part[i]);
    free(g->codes), free(g->labels), free(g->names);
}

/* Allocate codes for as many images as fit twice into the remaining memory, including sorting. */
static taper_status gathering_open(gathering *g, cli_code_set *set, size_t width,
                                   const cli_index_options *options) {
    const uint64_t memory = cli_limits(set->common).max_memory / 2;
    *g = (gathering){.set = set, .options = options, .width = width, .words = (width + 63) / 64};
    const uint64_t each = 2 * 8 * g->words + 128;
    g->most_name_bytes = memory / 4;
    g->room = formats_smaller(cli_code_set_images(set), (size_t)(memory / each) + 1);
    g->codes = malloc(g->room * g->words * sizeof *g->codes);
    g->labels = malloc(g->room * sizeof *g->labels);
    g->names = malloc(g->room * sizeof *g->names);
    return g->codes && g->labels && g->names ? TAPER_OK : TAPER_ERR_NOMEM;
}

/* Number of bits that all codes have; fewer than those of the model in a truncated container. */
static uint32_t known_bits(const gathering *g) {
    uint32_t bits = (uint32_t)g->width;
    if (g->set->containers) {
        const uint32_t least = cli_container_set_least_bits(g->set->containers);
        if (least < bits) bits = least;
    }
    return g->options->bits && g->options->bits < bits ? g->options->bits : bits;
}

/* Reduce the rows of codes to fewer words. */
static void shorten(gathering *g, uint32_t bits) {
    const size_t words = (bits + 63) / 64;
    for (size_t i = 0; i < g->n; i++) {
        memmove(g->codes + i * words, g->codes + i * g->words, words * sizeof *g->codes);
        if (bits % 64) g->codes[(i + 1) * words - 1] &= ~(uint64_t)0 << (64 - bits % 64);
    }
}

static void falling_weights(uint32_t bits, uint16_t weight[16]) {
    const uint32_t layers = taper_index_layers(bits);
    for (uint32_t l = 0; l < layers; l++) weight[l] = (uint16_t)(1u << (layers - 1 - l));
}

/* What the whole index is to say; .parts 0: nothing. */
static taper_part part_of_set(const gathering *g) {
    taper_part part = {.size = sizeof part};
    if (!g->options->part) return part;
    part = *g->options->part;
    part.left_out -= g->set->count;
    return part;
}

static taper_status build_index(gathering *g, const taper_part *part, const taper_sink *sink,
                                taper_error *error) {
    const size_t classes = cli_code_set_classes(g->set);
    const uint32_t bits = known_bits(g);
    uint16_t weight[16];
    const char **class_name = malloc((classes + 1) * sizeof *class_name);
    if (!class_name) return TAPER_ERR_NOMEM;
    for (size_t k = 0; k < classes; k++) class_name[k] = cli_code_set_class(g->set, k);
    falling_weights(bits, weight);
    shorten(g, bits);
    const taper_index_set set = {.size = sizeof(taper_index_set),
                                 .codes = g->codes,
                                 .n = g->n,
                                 .bits = bits,
                                 .model_id = g->options->model_id,
                                 .weights = g->options->are_even ? NULL : weight,
                                 .names = (const char *const *)g->names,
                                 .labels = classes ? g->labels : NULL,
                                 .class_names = class_name,
                                 .classes = (uint32_t)classes,
                                 .part = part};
    const taper_status status = taper_index_build(&set, cli_threads(g->set->common), sink, error);
    for (size_t i = 0; i < g->n; i++) free(g->names[i]);
    g->n = 0, g->name_bytes = 0;
    free(class_name);
    return status;
}

static int open_spool(cli_index *index, FILE *spool, const cli_common *common, const char *verb) {
    taper_error error = {0};
    taper_status status = fflush(spool) ? TAPER_ERR_IO : TAPER_OK;
    if (!status)
        status = formats_descriptor_map(fileno(spool), &index->bytes, &index->size, &error);
    return status ? (int)cli_fail(verb, NULL, status, &error)
                  : open_mapped(index, verb, NULL, common);
}

/* Write an index of the current codes to an unnamed temporary file. */
static int set_aside(gathering *g) {
    const char *verb = g->set->verb;
    taper_error error = {0};
    FILE *spool = NULL;
    if (g->parts == MOST_PARTS) {
        const taper_limits limits = cli_limits(g->set->common);
        formats_fail_fact(&error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                          formats_memory_step(&limits, limits.max_memory),
                          "the codes need more than %d times the memory that is left",
                          (int)MOST_PARTS);
        return cli_fail(verb, NULL, error.status, &error);
    }
    taper_status status = cli_spool_open(&spool, &error);
    if (!status) {
        const taper_sink sink = cli_spool_sink(spool);
        status = build_index(g, NULL, &sink, &error);
    }
    int code = status ? (int)cli_fail(verb, NULL, status, &error)
                      : open_spool(&g->part[g->parts], spool, g->set->common, verb);
    if (code == CLI_DONE) g->parts++;
    if (spool) fclose(spool); /* its bytes stay mapped */
    return code;
}

const char *cli_index_path(const cli_code_set *set, size_t i, char room[CLI_IMAGE_NAME]) {
    const bool is_file = set->set && formats_imageset_name(set->set, i);
    if (is_file) return formats_imageset_path(set->set, i);
    char *name = formats_name_unescape(cli_code_set_name(set, i, room));
    if (name) snprintf(room, CLI_IMAGE_NAME, "%s", name);
    free(name);
    return room;
}

/* Keep the safe parts of a path. path: buffer for the result. */
static void keep_plain_parts(char *path) {
    char *to = path;
    for (const char *part = path; *part;) {
        const size_t n = strcspn(part, "/");
        const bool is_plain = n && strncmp(part, "..", n) != 0; /* true also for "." */
        const char *next = part + n + (part[n] == '/');
        if (is_plain && to != path) *to++ = '/';
        if (is_plain) memmove(to, part, n), to += n;
        part = next;
    }
    *to = 0;
}

char *cli_index_name(const char *path) {
    enum { MOST = 4095 };
    char *name = formats_name_escape(path);
    if (!name) return NULL;
    keep_plain_parts(name);
    if (!*name) { /* at least one character: a path is not empty */
        free(name);
        return strdup("_");
    }
    size_t n = strlen(name) < MOST ? strlen(name) : MOST;
    name[n] = 0;
    while (!formats_name_is_legal(name) && n) name[--n] = 0; /* an escape that was truncated */
    return name;
}

static int take_rows(void *user, const size_t *number, const taper_image *image, size_t n,
                     const float *codes) {
    (void)image;
    gathering *g = user;
    char path[CLI_IMAGE_NAME];
    for (size_t i = 0; i < n; i++) {
        if (g->n == g->room || (g->n && g->name_bytes > g->most_name_bytes)) {
            const int code = set_aside(g);
            if (code != CLI_DONE) return code;
        }
        const char *name = cli_index_path(g->set, number[i], path);
        taper_index_pack(codes + i * g->width, 1, g->width, (uint32_t)g->width,
                         g->codes + g->n * g->words, NULL);
        g->labels[g->n] = cli_code_set_label(g->set, number[i]);
        g->names[g->n] = cli_index_name(name);
        if (!g->names[g->n]) return cli_fail(g->set->verb, NULL, TAPER_ERR_NOMEM, NULL);
        g->name_bytes += strlen(name);
        g->n++;
    }
    return CLI_DONE;
}

/* --- into one index --------------------------------------------------------------------- */

/* Memory for merging: names and labels, both in memory and encoded, and some numbers per code. */
static int check_joining(const taper_index *const *from, size_t n, const char *verb,
                         const cli_common *common) {
    enum { EACH = 48 };
    uint64_t needs = 0;
    for (size_t i = 0; i < n; i++) {
        const taper_index_info info = cli_index_info(from[i]);
        needs += 2 * (info.memory + info.name_bytes) + EACH * info.images;
    }
    const taper_limits limits = cli_limits(common);
    if (needs <= limits.max_memory) return CLI_DONE;
    taper_error error;
    formats_fail_fact(&error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                      formats_memory_needed(&limits, needs),
                      "joining the indexes takes %llu bytes of memory", (unsigned long long)needs);
    return cli_fail(verb, NULL, error.status, &error);
}

static int join(const gathering *g, const char *verb, const cli_index_options *o,
                const taper_part *part, const taper_sink *sink, taper_status *written) {
    const size_t n = o->n_earlier + g->parts;
    taper_error error = {0};
    const taper_index **from = malloc((n + 1) * sizeof *from);
    if (!from) return cli_fail(verb, NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t i = 0; i < o->n_earlier; i++) from[i] = o->earlier[i].index;
    for (size_t i = 0; i < g->parts; i++) from[o->n_earlier + i] = g->part[i].index;
    const int code = check_joining(from, n, verb, o->common);
    const taper_status status =
        code == CLI_DONE ? taper_index_merge_part(from, n, part, sink, &error) : TAPER_OK;
    free(from);
    if (code != CLI_DONE) return code;
    *written = TAPER_OK;
    if (!status || !error.text[0]) *written = status; /* an error of the sink has no text */
    return status && error.text[0] ? (int)cli_fail(verb, NULL, status, &error) : CLI_DONE;
}

static int gather_and_write(gathering *g, const cli_embedder *embedder, const taper_sink *sink,
                            taper_status *written) {
    taper_error error = {0};
    int code = cli_code_set_embed(g->set, embedder, take_rows, g);
    if (code != CLI_DONE) return code;
    if (!g->parts && !g->options->n_earlier) { /* nothing to merge */
        const taper_part part = part_of_set(g);
        const taper_status status = build_index(g, part.parts ? &part : NULL, sink, &error);
        if (status && error.text[0]) return cli_fail(g->set->verb, NULL, status, &error);
        *written = status;
        return CLI_DONE;
    }
    code = g->n ? set_aside(g) : CLI_DONE;
    const taper_part part = part_of_set(g);
    return code == CLI_DONE
               ? join(g, g->set->verb, g->options, part.parts ? &part : NULL, sink, written)
               : code;
}

int cli_index_write(cli_code_set *set, const cli_embedder *embedder,
                    const cli_index_options *options, const taper_sink *sink,
                    taper_status *written) {
    gathering g = {.n = 0};
    *written = TAPER_OK;
    if (!set) return join(&g, "index", options, NULL, sink, written);
    const taper_status status = gathering_open(&g, set, embedder->width, options);
    const int code = status ? (int)cli_fail(set->verb, NULL, status, NULL)
                            : gather_and_write(&g, embedder, sink, written);
    gathering_free(&g);
    return code;
}

int cli_index_make(cli_index *index, cli_code_set *set, const cli_embedder *embedder,
                   const cli_index_options *options) {
    taper_error error = {0};
    FILE *spool = NULL;
    taper_status status = cli_spool_open(&spool, &error);
    *index = (cli_index){.index = NULL};
    if (status) return cli_fail(set->verb, NULL, status, &error);
    const taper_sink sink = cli_spool_sink(spool);
    int code = cli_index_write(set, embedder, options, &sink, &status);
    if (code == CLI_DONE && status) code = cli_fail(set->verb, NULL, status, NULL);
    if (code == CLI_DONE) code = open_spool(index, spool, set->common, set->verb);
    fclose(spool);
    return code;
}
