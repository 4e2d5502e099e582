/* cmd_verify.c -- checks all checksums, and prints how much of a truncated file is present. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include "cli/reach.h"
#include "cli/index/index_file.h"
#include "codec/taper.h"

typedef struct settings {
    cli_common common;
    int strict;
} settings;

static const cli_option options[] = {{"strict", 0, CLI_FLAG, .offset = offsetof(settings, strict),
                                      .help = "exit with 4 if a file is truncated"},
                                     CLI_MESSAGE_OPTIONS(settings),
                                     CLI_JSON_OPTION(settings),
                                     CLI_LIMIT_OPTIONS(settings),
                                     {0}};

const cli_verb cli_verb_verify = {
    .name = "verify",
    .run = cmd_verify,
    .what = "check all checksums, and print how much of a truncated file is present",
    .synopsis = "[options] FILE...",
    .options = options,
    .about =
        "Checks containers, models and indexes, complete or truncated. A container needs no "
        "model; a model that it contains is checked too. A truncated container is valid: what "
        "is present decodes. Of a damaged one, the parts with correct checksums still decode.\n\n"
        "Exit code 0: valid; 3: damaged, or not a container, model or index; 4: truncated, with "
        "--strict only.",
    .examples = "taper verify set.taper\ntaper verify --strict --json *.taper    # for scripts\n"};

/* --- telling --- */

static const char *state_of(const taper_verify_report *r) {
    return r->chunks_bad ? "damaged" : r->bytes_missing ? "cut" : "whole";
}

static void tell_json(const char *path, const cli_container *c, const taper_verify_report *r) {
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_string(&j, "file", path);
    cli_json_string(&j, "kind", "container");
    cli_json_string(&j, "state", state_of(r));
    cli_json_uint(&j, "bytes", c->source.size);
    cli_json_uint(&j, "bytes_missing", r->bytes_missing);
    cli_json_uint(&j, "chunks", r->chunks);
    cli_json_uint(&j, "chunks_whole", r->chunks_whole);
    cli_json_uint(&j, "chunks_bad", r->chunks_bad);
    cli_json_uint(&j, "chunks_cut", r->chunks_cut);
    cli_json_uint(&j, "chunks_missing", r->chunks_missing);
    cli_json_uint(&j, "layers", c->info.layers);
    cli_json_uint(&j, "layers_whole", r->layers_whole);
    if (r->chunks_bad) cli_json_uint(&j, "first_bad_offset", r->first_bad_offset);
    if (cli_reach_matters(c->open, c->source.size)) cli_reach_json(&j, c->open, c->source.size);
    cli_json_end(&j);
}

/* Passes of all images if this many layers are complete. */
static uint32_t passes_of(const cli_container *c, uint32_t layers) {
    uint64_t cut;
    uint32_t passes = 0;
    if (layers) taper_container_layer(c->open, TAPER_ALL_IMAGES, layers - 1, &cut, &passes, NULL);
    return passes;
}

static void tell_person(const char *path, const cli_container *c, const taper_verify_report *r) {
    const uint32_t layers = c->info.layers;
    cli_put_plain(stdout, path);
    printf(": %s", state_of(r));
    if (r->chunks_bad)
        printf(": %llu of %llu chunk%s fail%s the checksum, the first at byte %llu; fetch the file "
               "again",
               (unsigned long long)r->chunks_bad, (unsigned long long)r->chunks,
               formats_plural(r->chunks, "s"), formats_singular(r->chunks_bad),
               (unsigned long long)r->first_bad_offset);
    if (r->bytes_missing)
        printf("%s %llu of %llu bytes are here", r->chunks_bad ? ";" : ":",
               (unsigned long long)c->source.size, (unsigned long long)c->info.file_bytes);
    if (cli_reach_matters(c->open, c->source.size)) { /* one layer only */
        char reach[256];
        cli_reach_sentence(c->open, c->source.size, reach);
        printf("; %s\n", reach);
        return;
    }
    printf("%s %u of %u layer%s whole for all images (%u of %u pass%s)\n",
           r->chunks_bad || r->bytes_missing ? ";" : ":", r->layers_whole, layers,
           formats_plural(layers, "s"), passes_of(c, r->layers_whole), passes_of(c, layers),
           formats_plural(passes_of(c, layers), "es"));
}

/* For -v: statistics of the chunks. */
static void tell_chunks(const settings *s, const char *path, const taper_verify_report *r) {
    cli_detail(&s->common, 1, "verify",
               "%s: chunks: %llu, of them %llu whole, %llu bad, %llu cut, %llu missing", path,
               (unsigned long long)r->chunks, (unsigned long long)r->chunks_whole,
               (unsigned long long)r->chunks_bad, (unsigned long long)r->chunks_cut,
               (unsigned long long)r->chunks_missing);
}

/* --- checking --- */

/* The checksums of a model cover the whole file; loading checks them. */
static int verify_model(const settings *s, const cli_stream *stream, const char *path) {
    cli_model model;
    int code = cli_model_read(&model, stream, "verify", path, &s->common);
    if (code != CLI_DONE) return code;
    if (s->common.json) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_string(&j, "file", path);
        cli_json_string(&j, "kind", "model");
        cli_json_string(&j, "state", "whole");
        cli_json_uint(&j, "bytes", model.size);
        cli_json_end(&j);
    } else {
        cli_put_plain(stdout, path);
        printf(": whole: a model\n");
    }
    cli_model_close(&model);
    return CLI_DONE;
}

static int verify_container(const settings *s, cli_stream *stream, const char *path) {
    cli_container container;
    taper_verify_report report = {.size = sizeof report};
    taper_error error = {0};
    int code = cli_container_take(&container, stream, "verify", path, &s->common);
    if (code != CLI_DONE) return code;
    taper_limits limits = cli_limits(&s->common);
    taper_status status = taper_verify(&container.source, &report, &limits, &error);
    if (status != TAPER_OK && !(status == TAPER_ERR_CORRUPT && report.chunks_bad)) {
        code = cli_fail("verify", path, status, &error);
    } else {
        tell_chunks(s, path, &report);
        if (s->common.json)
            tell_json(path, &container, &report);
        else
            tell_person(path, &container, &report);
        if (report.chunks_bad)
            code = CLI_CORRUPT;
        else if (report.bytes_missing && s->strict)
            code = CLI_INCOMPLETE;
    }
    cli_container_close(&container);
    return code;
}

/* Also checks the codes, which opening does not read. */
static int verify_index(const settings *s, const char *path) {
    cli_index index;
    taper_error error = {0};
    int code = cli_index_open(&index, "verify", path, &s->common);
    if (code != CLI_DONE) return code;
    const taper_status status = taper_index_check(index.index, &error);
    if (status != TAPER_OK) {
        code = cli_fail("verify", path, status, &error);
    } else if (s->common.json) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_string(&j, "file", path);
        cli_json_string(&j, "kind", "index");
        cli_json_string(&j, "state", "whole");
        cli_json_uint(&j, "bytes", index.size);
        cli_json_end(&j);
    } else {
        cli_put_plain(stdout, path);
        printf(": whole: an index\n");
    }
    cli_index_close(&index);
    return code;
}

static int verify_file(const settings *s, char *path) {
    cli_stream stream;
    int code = cli_inputs_check("verify", &path, 1);
    if (code != CLI_DONE) return code;
    if (cli_kind_of(path) == CLI_IS_INDEX) return verify_index(s, path);
    code = cli_stream_open(&stream, "verify", path);
    if (code != CLI_DONE) return code;
    code = cli_stream_is_model(&stream) ? verify_model(s, &stream, path)
                                        : verify_container(s, &stream, path);
    cli_stream_close(&stream);
    return code;
}

int cmd_verify(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_verify, argc, argv, &s, &first);
    if (code >= 0) return code;
    if (first == argc) return cli_usage(&cli_verb_verify, "give the files to check");
    int worst = CLI_DONE;
    for (int i = first; i < argc; i++) {
        code = verify_file(&s, argv[i]);
        if (worst == CLI_DONE || (worst == CLI_INCOMPLETE && code != CLI_DONE)) worst = code;
    }
    return worst;
}
