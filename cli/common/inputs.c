/* inputs.c -- opening containers and models; see inputs.h. */
#include "cli/common/inputs.h"
#include "cli/common/spool.h"
#include "remote/pool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- bytes and containers --- */

static remote_pool *pool; /* of URLs */
static const char *pool_verb;

static void tell_note(void *user, const char *sentence) {
    const cli_common common = {.quiet = cli_options_given("quiet")};
    (void)user;
    cli_note(&common, pool_verb, "%s", sentence);
}

static void keep_reason(void *user, const char *sentence) {
    (void)user;
    cli_messages_reason(sentence);
}

static FILE *make_spool(void *user) {
    FILE *spool;
    (void)user;
    return cli_spool_open(&spool, NULL) == TAPER_OK ? spool : NULL;
}

static void tell_fetched(void *user, const char *url, const remote_stats *stats) {
    const cli_common common = {.verbose = cli_options_verbose()};
    (void)user;
    cli_detail(&common, 1, pool_verb, "%s: %llu request%s, %llu bytes", url,
               (unsigned long long)stats->requests, formats_plural(stats->requests, "s"),
               (unsigned long long)stats->bytes);
}

int cli_inputs_begin(int argc, char **argv) {
    const remote_options how = {.agent = "taper/" TAPER_VERSION,
                                .spool = make_spool,
                                .note = tell_note,
                                .failed = keep_reason};
    pool_verb = argv[0];
    pool = remote_pool_new(&how, tell_fetched);
    if (!pool) return cli_fail(pool_verb, NULL, TAPER_ERR_NOMEM, NULL);
    remote_pool_hide(pool, argc, argv);
    return CLI_DONE;
}

void cli_inputs_end(void) {
    remote_pool_free(pool);
    pool = NULL;
}

static cli_kind kind_of(const uint8_t front[4]) {
    static const char k_last[] = "RMX"; /* in the order of cli_kind */
    const char *last = front[3] && !memcmp(front, "\x89TP", 3) ? strchr(k_last, front[3]) : NULL;
    return last ? (cli_kind)(CLI_IS_CONTAINER + (last - k_last)) : CLI_IS_OTHER;
}

static taper_status peek_url(const char *path, void *to, size_t n, size_t *got,
                             taper_error *error) {
    remote_file *remote;
    TAPER_TRY(remote_pool_open(pool, &remote, path, error));
    const taper_source source = remote_source(remote);
    *got = source.size < n ? (size_t)source.size : n;
    const taper_status status = formats_source_read(&source, 0, to, *got, error);
    remote_pool_release(pool, remote);
    return status;
}

taper_status cli_peek(const char *path, void *to, size_t n, size_t *got, taper_error *error) {
    return (remote_is_url(path) ? peek_url : formats_file_peek)(path, to, n, got, error);
}

static bool can_peek(const char *path) {
    struct stat st;
    return remote_is_url(path) || (strcmp(path, "-") && !stat(path, &st) && S_ISREG(st.st_mode));
}

int cli_inputs_check(const char *verb, char *const *paths, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint8_t front[4];
        size_t got;
        taper_error error = {0};
        if (!can_peek(paths[i])) continue;
        const taper_status status = cli_peek(paths[i], front, sizeof front, &got, &error);
        if (status != TAPER_OK && (remote_is_url(paths[i]) || !formats_errno_is_of_path(errno)))
            return cli_fail(verb, paths[i], status, &error);
    }
    return CLI_DONE;
}

cli_kind cli_kind_of(const char *path) {
    uint8_t front[4];
    size_t got;
    if (!can_peek(path)) return CLI_IS_UNKNOWN;
    if (cli_peek(path, front, sizeof front, &got, NULL) || got < sizeof front)
        return CLI_IS_UNKNOWN;
    return kind_of(front);
}

static taper_status spool_stream(cli_stream *stream, int descriptor, taper_error *error) {
    TAPER_TRY(cli_spool_open(&stream->spool, error));
    TAPER_TRY(cli_spool_fill(stream->spool, descriptor, error));
    return cli_spool_source(stream->spool, &stream->source, error);
}

static taper_status open_stream(cli_stream *stream, const char *path, taper_error *error) {
    struct stat st;
    if (strcmp(path, "-") == 0) return spool_stream(stream, STDIN_FILENO, error);
    if (remote_is_url(path)) {
        TAPER_TRY(remote_pool_open(pool, &stream->remote, path, error));
        stream->source = remote_source(stream->remote);
        return TAPER_OK;
    }
    if (stat(path, &st) != 0) return formats_fail_errno(error, errno, "open");
    if (S_ISREG(st.st_mode)) {
        TAPER_TRY(formats_file_open(&stream->file, path, error));
        stream->source = formats_file_source(stream->file);
        return TAPER_OK;
    }
    if (S_ISDIR(st.st_mode)) return formats_fail_errno(error, EISDIR, "read");
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return formats_fail_errno(error, errno, "open");
    taper_status status = spool_stream(stream, descriptor, error);
    close(descriptor);
    return status;
}

taper_status cli_stream_try(cli_stream *stream, const char *path, taper_error *error) {
    *stream = (cli_stream){0};
    const taper_status status = open_stream(stream, path, error);
    if (status != TAPER_OK) cli_stream_close(stream);
    return status;
}

int cli_stream_open(cli_stream *stream, const char *verb, const char *path) {
    taper_error error = {0};
    const taper_status status = cli_stream_try(stream, path, &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail(verb, path, status, &error);
}

void cli_stream_close(cli_stream *stream) {
    formats_file_close(stream->file);
    remote_pool_release(pool, stream->remote);
    if (stream->spool) fclose(stream->spool);
    *stream = (cli_stream){0};
}

bool cli_stream_is_model(const cli_stream *stream) {
    uint8_t front[4];
    return stream->source.size >= sizeof front &&
           stream->source.read(stream->source.user, 0, front, sizeof front) == TAPER_OK &&
           kind_of(front) == CLI_IS_MODEL;
}

/* For -v; `info` says it in its own way. */
static void tell_container(const cli_container *c, const char *verb, const char *path,
                           const cli_common *common) {
    const taper_container_info *f = &c->info;
    const char *builtin = taper_model_builtin_of(f->model_id);
    if (!strcmp(verb, "info")) return;
    cli_detail(
        common, 1, verb,
        "%s: %llu image%s in %u group%s and %u layer%s, layout %s, front matter of %llu bytes",
        path, (unsigned long long)f->images, formats_plural(f->images, "s"), f->groups,
        formats_plural(f->groups, "s"), f->layers, formats_plural(f->layers, "s"),
        cli_layouts[f->layout], (unsigned long long)f->front_bytes);
    cli_detail(
        common, 1, verb, "%s: %llu of %llu bytes are here; its model, %016llx, is %s", path,
        (unsigned long long)(c->source.size < f->file_bytes ? c->source.size : f->file_bytes),
        (unsigned long long)f->file_bytes, (unsigned long long)f->model_id,
        builtin          ? builtin
        : f->model_bytes ? "in the file"
                         : "not in the file");
}

int cli_container_take(cli_container *c, cli_stream *stream, const char *verb, const char *path,
                       const cli_common *common) {
    taper_error error = {0};
    const taper_limits limits = cli_limits(common);
    const taper_open_options options = {
        .size = sizeof options, .limits = &limits, .without_model = 1};
    *c = (cli_container){.stream = *stream, .source = stream->source};
    *stream = (cli_stream){0};
    taper_status status = taper_container_open(&c->open, &c->source, &options, &error);
    c->info.size = sizeof c->info;
    if (status == TAPER_OK) status = taper_container_get_info(c->open, &c->info, &error);
    if (status != TAPER_OK) {
        cli_container_close(c);
        return cli_fail(verb, path, status, &error);
    }
    c->held = cli_memory_hold(c->info.memory);
    if (c->stream.remote) remote_expect_end(c->stream.remote, c->info.file_bytes);
    tell_container(c, verb, path, common);
    return CLI_DONE;
}

int cli_container_open(cli_container *c, const char *verb, const char *path,
                       const cli_common *common) {
    cli_stream stream;
    *c = (cli_container){0};
    int code = cli_stream_open(&stream, verb, path);
    return code == CLI_DONE ? cli_container_take(c, &stream, verb, path, common) : code;
}

static taper_status strip(const taper_source *from, cli_stream *to, const taper_limits *limits,
                          taper_error *error) {
    TAPER_TRY(cli_spool_open(&to->spool, error));
    const taper_sink sink = cli_spool_sink(to->spool);
    TAPER_TRY(taper_strip(from, &sink, limits, error));
    return cli_spool_source(to->spool, &to->source, error);
}

int cli_container_strip(cli_container *c, const char *verb, const char *path,
                        const cli_common *common) {
    taper_error error = {0};
    cli_stream stripped = {0};
    const taper_limits limits = cli_limits(common);
    const taper_status status = strip(&c->source, &stripped, &limits, &error);
    cli_container_close(c);
    if (status == TAPER_OK) return cli_container_take(c, &stripped, verb, path, common);
    cli_stream_close(&stripped);
    return cli_fail(verb, path, status, &error);
}

void cli_container_drop_front(cli_container *c) {
    taper_container_close(c->open);
    cli_memory_release(c->held);
    c->open = NULL, c->held = 0;
}

void cli_container_close(cli_container *c) {
    cli_container_drop_front(c);
    cli_stream_close(&c->stream);
    *c = (cli_container){0};
}

/* --- models --- */

taper_model_info cli_model_info(const taper_model *model) {
    taper_model_info info = {.size = sizeof info};
    (void)taper_model_get_info(model, &info, NULL);
    return info;
}

static taper_status read_model(cli_model *m, const taper_source *source, int stages,
                               const taper_limits *limits, taper_error *error) {
    if (source->size > limits->max_model_bytes)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MODEL_BYTES, source->size,
                                 "the model takes %llu bytes, more than the limit of %llu",
                                 (unsigned long long)source->size,
                                 (unsigned long long)limits->max_model_bytes);
    m->size = (size_t)source->size;
    m->bytes = m->owned = malloc(m->size + 1);
    if (!m->owned) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read the model");
    TAPER_TRY(formats_source_read(source, 0, m->owned, m->size, error));
    const taper_status status = (stages ? taper_model_load_stages : taper_model_load)(
        &m->own, m->bytes, m->size, limits, error);
    m->model = m->own;
    return status;
}

/* For -v; `info` says it in its own way. */
static void tell_model(const taper_model *model, const char *verb, const char *path,
                       const cli_common *common) {
    taper_model_info i = cli_model_info(model);
    if (!strcmp(verb, "info")) return;
    cli_detail(common, 1, verb,
               "model %s: family %s, window %u x %u, %u unit%s, %u pass%s, %llu bytes, id %016llx",
               path, taper_family_name(i.family), i.window_width, i.window_height, i.units,
               formats_plural(i.units, "s"), i.passes, formats_plural(i.passes, "es"),
               (unsigned long long)i.file_bytes, (unsigned long long)i.id);
}

static int read_stream(cli_model *m, const cli_stream *stream, int stages, const char *verb,
                       const char *path, const cli_common *common) {
    taper_error error = {0};
    taper_limits limits = cli_limits(common);
    *m = (cli_model){0};
    taper_status status = read_model(m, &stream->source, stages, &limits, &error);
    if (status == TAPER_OK) tell_model(m->model, verb, path, common);
    if (status == TAPER_OK) return CLI_DONE;
    cli_model_close(m);
    return cli_fail(verb, path, status, &error);
}

int cli_model_read(cli_model *m, const cli_stream *stream, const char *verb, const char *path,
                   const cli_common *common) {
    return read_stream(m, stream, 0, verb, path, common);
}

int cli_stages_read(cli_model *m, const cli_stream *stream, const char *verb, const char *path,
                    const cli_common *common) {
    return read_stream(m, stream, 1, verb, path, common);
}

/* No built-in model has more bytes of weights. */
enum { ENOUGH_FOR_BUILTIN = 1 << 24 };

static int open_builtin(cli_model *m, const char *verb, const char *name,
                        const cli_common *common) {
    taper_error error = {0};
    const taper_limits limits = cli_limits(common);
    *m = (cli_model){0};
    m->bytes = taper_model_builtin_bytes(name, &m->size);
    taper_status status = taper_model_builtin(&m->own, name, &error);
    if (!status && (limits.max_model_bytes < ENOUGH_FOR_BUILTIN ||
                    limits.max_work < cli_model_info(m->own).most_work)) {
        taper_model_free(m->own); /* loading says what it needs */
        status = taper_model_load(&m->own, m->bytes, m->size, &limits, &error);
    }
    if (status != TAPER_OK) return cli_fail(verb, name, status, &error);
    m->model = m->own;
    tell_model(m->model, verb, name, common);
    return CLI_DONE;
}

int cli_container_bind(cli_container *c, const taper_model *model, const char *verb,
                       const char *path, const cli_common *common) {
    taper_error error = {0};
    const taper_status status = taper_container_bind(c->open, model, &error);
    if (status != TAPER_OK) return cli_fail(verb, path, status, &error);
    if (!model) tell_model(taper_container_model(c->open), verb, path, common);
    return CLI_DONE;
}

static int open_model(cli_model *m, int stages, const char *verb, const char *path,
                      const cli_common *common) {
    cli_stream stream;
    *m = (cli_model){0};
    if (taper_model_builtin_bytes(path, NULL)) return open_builtin(m, verb, path, common);
    int code = cli_stream_open(&stream, verb, path);
    if (code == CLI_DONE) code = read_stream(m, &stream, stages, verb, path, common);
    cli_stream_close(&stream);
    return code;
}

int cli_model_open(cli_model *m, const char *verb, const char *path, const cli_common *common) {
    return open_model(m, 0, verb, path, common);
}

/* Refuse an embedding model. */
static int check_coder(int code, cli_model *m, const char *verb, const char *path) {
    if (code != CLI_DONE || !cli_model_info(m->model).embedding) return code;
    cli_model_close(m);
    cli_error(verb, path,
              "an embedding model has no decoder: it cannot make or decode containers; use it with "
              "`taper embed`, `taper classify` and, of bits, `taper index`");
    return CLI_USAGE;
}

int cli_coder_open(cli_model *m, const char *verb, const char *path, const cli_common *common) {
    return check_coder(cli_model_open(m, verb, path, common), m, verb, path);
}

int cli_stages_open(cli_model *m, const char *verb, const char *path, const cli_common *common) {
    const int code = check_coder(open_model(m, 1, verb, path, common), m, verb, path);
    if (code != CLI_DONE) return code;
    const taper_model_info i = cli_model_info(m->model);
    if (i.stages_known == i.stages) return code;
    char drawn[80] = "all passes are drawn, but not refined";
    if (i.passes_known < i.passes)
        snprintf(
            drawn, sizeof drawn, "at most %u of %u passes are drawn%s", i.passes_known, i.passes,
            i.family == TAPER_FAMILY_CONV && !i.restoration_hidden ? ", and not restored" : "");
    cli_warning(verb, path, "the model has %u of its %u stages, %llu of %llu bytes: %s",
                i.stages_known, i.stages, (unsigned long long)m->size,
                (unsigned long long)i.file_bytes, drawn);
    return code;
}

void cli_model_close(cli_model *m) {
    taper_model_free(m->own);
    free(m->owned);
    *m = (cli_model){0};
}

/* --- where to cut --- */

int cli_cut_count(void) {
    static const char *const names[] = {"bytes", "bpp", "bytes-per-image", "fraction", "psnr"};
    int n = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) n += cli_options_given(names[i]);
    return n;
}

uint64_t cli_cut_ceiling(const cli_cut *cut, uint64_t images, uint64_t pixels) {
    double most = 1.8e19;
    if (cli_options_given("bytes")) return cut->bytes;
    if (cli_options_given("bpp")) most = cut->bpp * (double)pixels / 8;
    if (cli_options_given("bytes-per-image")) most = cut->bytes_per_image * (double)images;
    return most < 1.8e19 ? (uint64_t)most : UINT64_MAX;
}

uint64_t cli_cut_of_container(const cli_cut *cut, double fraction, const cli_container *c) {
    if (cli_options_given("fraction")) return (uint64_t)((double)c->info.file_bytes * fraction);
    return cli_cut_ceiling(cut, c->info.images, c->info.pixels);
}
