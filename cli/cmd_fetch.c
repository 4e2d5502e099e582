/* cmd_fetch.c -- fetches a file of taper, or what is needed of it, from a URL. */
#include "cli/chosen_images.h"
#include "cli/cli.h"
#include "cli/common/outputs.h"
#include "cli/common/progress.h"
#include "cli/common/spool.h"
#include "cli/fetch_file.h"
#include "cli/fetch_size.h"
#include "cli/prefetch.h"
#include "cli/reach.h"
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *output, *model;
    cli_strings images;
    uint64_t budget;
    double seconds, psnr;
    int scale;
} settings;

static const char *const scales[] = {"1", "1/2", "1/4", "1/8", "1/16", NULL}; /* 2^-k */
static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write it here; - is standard output; default: the name in the URL"},
    {"budget", 'b', CLI_SIZE, "SIZE", offsetof(settings, budget),
     .help = "fetch at most so many bytes: all images of a set, at lower quality"},
    {"time", 0, CLI_DOUBLE, "SECONDS", offsetof(settings, seconds), .min = 0.01, .max = 1e7,
     .help = "fetch for so long"},
    {"psnr", 0, CLI_DOUBLE, "DB", offsetof(settings, psnr), .min = 1, .max = 100,
     .help = "fetch until the mean PSNR is DB, measured on some images; layout set only"},
    {"scale", 0, CLI_CHOICE, "PART", offsetof(settings, scale), .initial = "1", .choices = scales,
     .help = "fetch what images of this part of the width and height need"},
    {"images", 'i', CLI_STRINGS, "LIST", offsetof(settings, images),
     .help = "only these images, by number from 1, range, name, end of a name or pattern"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "the model for --psnr and --images, unless it is in the container or built in"},
    CLI_THREADS_OPTION(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_fetch = {
    .name = "fetch",
    .run = cmd_fetch,
    .what = "fetch a container, or what is needed of it, from a URL",
    .synopsis = "[options] URL",
    .options = options,
    .about =
        "Writes the file behind a URL, or the beginning of it. Every beginning of a container is a "
        "container, which all verbs read.\n\n"
        "If FILE is there already, and is a beginning of the file behind the URL, it goes on where "
        "it ended: after ^C, after a lost connection, or with a larger --budget. That it is one "
        "is seen by its front matter, which has checksums of all data, and by its last bytes. "
        "Another file is not touched without -f.\n\n"
        "--budget, --psnr and --scale may be combined: the smallest of them counts. --time ends at "
        "that time, with what has come.\n\n"
        "The beginning of a file of layout `set` has all images. That of layout `gallery` has all "
        "of them in small, and then the first ones in full; --scale fetches the former. That of "
        "layout `image` has the first images only; `taper truncate` shortens all, but reads the "
        "whole file for it.\n\n"
        "--images writes a container of these images at full quality, as `taper remove` does of "
        "the others. If they are a part of a group, the whole group is fetched; of a container "
        "with a size limit they may then change by a few levels, as `taper remove --help` "
        "tells.\n\n"
        "Models and indexes are fetched whole.",
    .examples = "taper fetch https://example.org/photos.taper\n"
                "taper fetch --budget 1M -o coarse.taper https://example.org/photos.taper\n"
                "taper fetch --time 10 https://example.org/photos.taper\n"
                "taper fetch -i 3,7-9 -o four.taper https://example.org/photos.taper\n"};

typedef struct job {
    const settings *s;
    const char *url, *path;
    int64_t start_ns;
    cli_stream stream;
    cli_container container; /* open NULL: a model, an index or another file */
} job;

/* --- what is said --- */

static double seconds_of(const job *j) { return 1e-9 * (double)(cli_now_ns() - j->start_ns); }

static void tell(const job *j, uint64_t had, uint64_t has) {
    const uint64_t all = j->stream.source.size;
    char size[16];
    const double took = seconds_of(j);
    if (has == had && had)
        cli_note(&j->s->common, "fetch", "%s has %llu of %llu bytes already", j->path,
                 (unsigned long long)has, (unsigned long long)all);
    else
        cli_note(
            &j->s->common, "fetch", "%llu of %llu bytes in %s; %s a second",
            (unsigned long long)has, (unsigned long long)all, cli_output_name(j->path),
            cli_show_size((uint64_t)((double)(has - had) / (took > 1e-3 ? took : 1e-3)), size));
    if (j->container.open) cli_reach_report(&j->s->common, j->container.open, has);
}

/* --- the ways --- */

static int fetch_prefix(job *j, uint64_t front, uint64_t bytes) {
    uint64_t had, has;
    double left = 0;
    if (j->s->seconds > 0) {
        left = j->s->seconds - seconds_of(j);
        if (left < 0.001) left = 0.001;
    }
    const cli_fetch_file f = {.url = j->url,
                              .path = j->path,
                              .common = &j->s->common,
                              .stream = &j->stream,
                              .front = front,
                              .bytes = bytes,
                              .seconds = left};
    const int code = cli_fetch_to_file(&f, &had, &has);
    if (code != CLI_DONE) return code;
    if (j->container.open && has < front) {
        cli_error("fetch", j->url,
                  "only %llu of the %llu bytes of its front matter came in that time; give more",
                  (unsigned long long)has, (unsigned long long)front);
        return CLI_INCOMPLETE;
    }
    tell(j, had, has);
    return CLI_DONE;
}

/* The images that go, where those of `chosen` stay. */
typedef struct left_out {
    uint64_t *image;
    size_t n;
    const taper_model *model;
} left_out;

static taper_status write_chosen(const job *j, const left_out *out, const taper_sink *sink,
                                 taper_error *error) {
    const taper_limits limits = cli_limits(&j->s->common);
    taper_remove_options how = {.size = sizeof how, .model = out->model, .limits = &limits};
    if (!out->n) return cli_source_copy(&j->container.source, sink, error);
    TAPER_TRY(cli_spool_open(&how.spool, error));
    const taper_status status =
        taper_remove(&j->container.source, out->image, out->n, sink, &how, error);
    fclose(how.spool);
    return status;
}

static int put_chosen(const job *j, const left_out *what) {
    cli_output out;
    taper_error error = {0};
    int code = cli_output_open(&out, "fetch", j->path, &j->s->common);
    if (code != CLI_DONE) return code;
    const taper_sink sink = cli_output_sink(&out);
    const taper_status status = write_chosen(j, what, &sink, &error);
    code = cli_output_close(&out, j->url, status, &error);
    if (code == CLI_DONE)
        cli_note(&j->s->common, "fetch", "%llu bytes in %s, of a container of %llu",
                 (unsigned long long)out.written, cli_output_name(j->path),
                 (unsigned long long)j->stream.source.size);
    return code;
}

static bool list_left_out(left_out *out, const cli_chosen *chosen, uint64_t all) {
    out->image = malloc((size_t)(all + 1) * sizeof *out->image);
    uint64_t next = 0;
    for (uint64_t i = 0; out->image && i < all; i++) {
        const bool stays = next < chosen->count && cli_chosen_image(chosen, next) == i;
        next += stays;
        if (!stays) out->image[out->n++] = i;
    }
    return out->image != NULL;
}

static void request(cli_prefetch *p, const cli_container *c, const cli_chosen *chosen) {
    for (uint64_t k = 0; k < chosen->count; k++) {
        taper_image_info info = {.size = sizeof info};
        taper_container_get_image(c->open, cli_chosen_image(chosen, k), &info, NULL);
        cli_prefetch_group(p, info.group);
    }
}

static int fetch_images(job *j) {
    cli_chosen chosen = {0};
    cli_model model = {0};
    left_out out = {0};
    const settings *s = j->s;
    int code = s->model ? cli_coder_open(&model, "fetch", s->model, &s->common) : (int)CLI_DONE;
    if (code == CLI_DONE)
        code = cli_chosen_make(&chosen, "fetch", j->url, j->container.open, s->images.item,
                               s->images.count);
    if (code == CLI_DONE && !list_left_out(&out, &chosen, cli_images_in(&j->container.info)))
        code = cli_fail("fetch", j->url, TAPER_ERR_NOMEM, NULL);
    out.model = model.model;
    if (code == CLI_DONE) {
        cli_prefetch *p =
            cli_prefetch_new(&j->container, chosen.image, chosen.count, UINT64_MAX, 1);
        if (p) request(p, &j->container, &chosen);
        code = put_chosen(j, &out);
        cli_prefetch_free(p);
    }
    free(out.image);
    cli_chosen_free(&chosen);
    cli_model_close(&model);
    return code;
}

static int fetch_container(job *j) {
    const settings *s = j->s;
    uint64_t bytes;
    const cli_fetch_wish wish = {.budget = s->budget,
                                 .psnr_db = s->psnr,
                                 .scale = s->scale ? 1u << s->scale : 0,
                                 .model = s->model};
    if (s->images.count) return fetch_images(j);
    const int code = cli_fetch_size_find(&bytes, &wish, j->url, &j->container, &s->common);
    return code == CLI_DONE ? fetch_prefix(j, j->container.info.front_bytes, bytes) : code;
}

/* --- the verb --- */

/* The last part of the path of a URL; or NULL. */
static char *name_of(const char *url) {
    const char *path = strstr(url, "://") + 3;
    path += strcspn(path, "/?#");
    const size_t n = strcspn(path, "?#");
    size_t first = n;
    while (first && path[first - 1] != '/') first--;
    return first < n && path[first] != '.' ? strndup(path + first, n - first) : NULL;
}

static int fetch(job *j) {
    const settings *s = j->s;
    int code = cli_stream_open(&j->stream, "fetch", j->url);
    if (code != CLI_DONE) return code;
    if (cli_kind_of(j->url) == CLI_IS_CONTAINER) {
        cli_stream shared; /* the container has one of its own */
        code = cli_stream_open(&shared, "fetch", j->url);
        if (code == CLI_DONE)
            code = cli_container_take(&j->container, &shared, "fetch", j->url, &s->common);
        if (code == CLI_DONE) code = fetch_container(j);
        cli_container_close(&j->container);
    } else if (s->budget || s->psnr > 0 || s->scale || s->images.count) {
        cli_error("fetch", j->url, "is no container, of which a part is of use; fetch it whole");
        code = CLI_USAGE;
    } else {
        code = fetch_prefix(j, 20480, j->stream.source.size);
    }
    cli_stream_close(&j->stream);
    return code;
}

static int check_usage(const settings *s, char *const *operand, int n) {
    if (n != 1 || !remote_is_url(operand[0]))
        return cli_usage(&cli_verb_fetch, "give one URL, http://... or https://...");
    if (s->images.count && (s->budget || s->psnr > 0 || s->scale || s->seconds > 0))
        return cli_usage(&cli_verb_fetch, "--images fetches images at full quality: without "
                                          "--budget, --time, --psnr and --scale");
    return CLI_DONE;
}

int cmd_fetch(int argc, char **argv) {
    settings s = {0};
    job j = {.s = &s};
    int first, code = cli_options_parse(&cli_verb_fetch, argc, argv, &s, &first);
    if (code >= 0) return code;
    j.start_ns = cli_now_ns();
    code = check_usage(&s, argv + first, argc - first);
    char *name = code == CLI_DONE && !s.output ? name_of(argv[first]) : NULL;
    j.url = argv[first], j.path = s.output ? s.output : name;
    if (code == CLI_DONE && !j.path)
        code = cli_usage(&cli_verb_fetch, "the URL names no file: give -o FILE");
    if (code == CLI_DONE) code = fetch(&j);
    free(name);
    cli_options_free(&cli_verb_fetch, &s);
    return code;
}
