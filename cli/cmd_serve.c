/* cmd_serve.c -- serves containers over HTTP: files and ranges, pictures, IIIF. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "serve/serve.h"
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *listen, *log, *base, *model;
    int64_t clients, per_address, header_bytes, ranges, idle, queued, max_age;
    uint64_t cache;
    int live;
} settings;

static const cli_option options[] = {
    {"listen", 'l', CLI_STRING, "ADDRESS:PORT", offsetof(settings, listen),
     .initial = "127.0.0.1:8000",
     .help = "listen here; :8000 is port 8000 of all addresses, port 0 any free one"},
    {"log", 0, CLI_STRING, "FILE", offsetof(settings, log),
     .help = "append a line of JSON for each request here; default: standard error"},
    {"live", 0, CLI_FLAG, .offset = offsetof(settings, live),
     .help = "containers may be growing: wait for their bytes"},
    {"base-url", 0, CLI_STRING, "URL", offsetof(settings, base),
     .help = "what addresses in answers begin with, behind a proxy: https://images.example.org"},
    {"max-age", 0, CLI_INT, "SECONDS", offsetof(settings, max_age), .initial = "60", .min = 0,
     .max = 31536000, .help = "how long readers may use what they have without asking again"},
    {"cache", 0, CLI_SIZE, "SIZE", offsetof(settings, cache), .initial = "64M",
     .help = "memory for pictures that are kept for later requests"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "the model of containers that neither carry one nor were made with a built-in one"},
    CLI_THREADS_OPTION(settings),
    {"clients", 0, CLI_INT, "N", offsetof(settings, clients), .initial = "1000", .min = 1,
     .max = 1000000, .group = "limits", .help = "connections at once"},
    {"per-address", 0, CLI_INT, "N", offsetof(settings, per_address), .initial = "32", .min = 0,
     .max = 1000000, .group = "limits", .help = "connections of one address; 0: any number"},
    {"header-bytes", 0, CLI_INT, "N", offsetof(settings, header_bytes), .initial = "8192",
     .min = 512, .max = 1048576, .group = "limits", .help = "bytes of the head of a request"},
    {"ranges", 0, CLI_INT, "N", offsetof(settings, ranges), .initial = "16", .min = 1, .max = 16,
     .group = "limits", .help = "ranges of one request"},
    {"idle", 0, CLI_INT, "SECONDS", offsetof(settings, idle), .initial = "60", .min = 1,
     .max = 86400, .group = "limits",
     .help = "close connections on which nothing moves for so long"},
    {"queue", 0, CLI_INT, "N", offsetof(settings, queued), .initial = "64", .min = 1, .max = 100000,
     .group = "limits", .help = "pictures that wait to be made; further requests get status 503"},
    CLI_LIMIT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_serve = {
    .name = "serve",
    .run = cmd_serve,
    .what = "serve containers, and pictures from them, over HTTP",
    .synopsis = "[options] PATH...",
    .options = options,
    .about =
        "Serves containers and folders of them to browsers and programs, until SIGTERM or ^C. It "
        "listens on this machine only unless --listen says otherwise, writes nothing but the log, "
        "and serves nothing outside the given paths. For a static gallery no program is needed: "
        "any web server can send containers.\n\n"
        "Addresses: /set.taper is the file, with ranges; /set.taper?bytes=N its first N bytes; "
        "/set.taper/ a page of its images, /set.taper/index.json a list; "
        "/set.taper/NAME.jpg, or a number from 1, a picture; so .png. Pictures take ?width=N, "
        "?height=N or ?scale=1/4, ?bytes=N to be made from a prefix, and ?quality=N. "
        "/iiif/set.taper%2FNAME/info.json is an image of the IIIF Image API 3.0, level 1. A folder "
        "that is given alone is /; otherwise addresses begin with the last name of a path.\n\n"
        "After SIGTERM no connection is accepted, and requests that run are finished; a second "
        "signal ends them. SIGHUP opens the log again.\n\n"
        "With --live a container that is shorter than its front matter says is taken to be "
        "growing: a request for its bytes waits, at most as long as --idle says, whenever it comes "
        "to the present end.",
    .examples = "taper serve photos.taper\n"
                "taper serve --listen :8080 --log access.jsonl /srv/galleries\n"
                "curl -r 0-16383 http://127.0.0.1:8000/photos.taper    # its beginning\n"
                "curl -O 'http://127.0.0.1:8000/photos.taper/1.jpg?width=800'\n"};

static void say_ready(void *user, const char *url) {
    const settings *s = user;
    cli_note(&s->common, "serve", "%s", url);
}

static unsigned number(int64_t n) { return (unsigned)n; }

static serve_options options_of(const settings *s, char *const *path, size_t n,
                                const taper_model *model) {
    return (serve_options){.path = path,
                           .paths = n,
                           .listen = s->listen,
                           .base = s->base,
                           .log = s->log,
                           .clients = number(s->clients),
                           .per_address = number(s->per_address),
                           .header_bytes = number(s->header_bytes),
                           .ranges = number(s->ranges),
                           .idle_seconds = number(s->idle),
                           .queued = number(s->queued),
                           .threads = cli_threads(&s->common),
                           .max_age_seconds = number(s->max_age),
                           .cache_bytes = s->cache,
                           .limits = cli_limits(&s->common),
                           .model = model,
                           .is_live = s->live,
                           .ready = say_ready,
                           .user = (void *)(uintptr_t)s};
}

/* It becomes a part of addresses and of header fields. */
static int check_base(const char *base) {
    const size_t n = base ? strlen(base) : 0;
    if (!n) return CLI_DONE;
    const bool is_web = !strncmp(base, "http://", 7) || !strncmp(base, "https://", 8);
    if (is_web && n < 256 && base[n - 1] != '/' && strcspn(base, " \"<>\\\r\n\t") == n)
        return CLI_DONE;
    return cli_usage(&cli_verb_serve,
                     "--base-url begins with http:// or https:// and does not end in a slash");
}

static int serve(const settings *s, char **path, size_t n) {
    cli_model model = {0};
    taper_error error = {0};
    int code = check_base(s->base);
    if (code == CLI_DONE && s->model) code = cli_coder_open(&model, "serve", s->model, &s->common);
    if (code != CLI_DONE) return code;
    const serve_options how = options_of(s, path, n, model.model);
    const taper_status status = serve_run(&how, &error);
    if (status == TAPER_ERR_ARG && !error.item)
        code = cli_usage(&cli_verb_serve, "%s", error.text);
    else if (status != TAPER_OK)
        code = cli_fail("serve", error.item ? path[error.item - 1] : NULL, status, &error);
    cli_model_close(&model);
    return code;
}

int cmd_serve(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_serve, argc, argv, &s, &first);
    if (code >= 0) return code;
    code = first == argc ? cli_usage(&cli_verb_serve, "give a container, or a folder of them")
                         : serve(&s, argv + first, (size_t)(argc - first));
    cli_options_free(&cli_verb_serve, &s);
    return code;
}
