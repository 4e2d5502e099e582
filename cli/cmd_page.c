/* cmd_page.c -- a page that shows a container in a browser, from any web server. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/common/spool.h"
#include "cli/viewer/viewer_page.h"
#include "formats/file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct settings {
    cli_common common;
    const char *output, *single, *url, *title, *model;
} settings;

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "DIR", offsetof(settings, output),
     .help = "write the page into this folder, with a copy of the container"},
    {"single", 0, CLI_STRING, "FILE", offsetof(settings, single),
     .help = "write one self-contained page instead, x.html, with the images in it"},
    {"url", 0, CLI_STRING, "URL", offsetof(settings, url),
     .help = "read the container from this address, as seen from the page, and copy nothing"},
    {"title", 0, CLI_STRING, "TEXT", offsetof(settings, title),
     .help = "the title of the page; default: the name of the container"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "the model, unless it is in the container or built in"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_page = {
    .name = "page",
    .run = cmd_page,
    .what = "write a page that shows a container in a browser",
    .synopsis = "[options] (-o DIR | --single FILE) CONTAINER",
    .options = options,
    .about =
        "Writes a gallery for any web server that answers ranges: index.html, its script, the "
        "decoder as WebAssembly, and the model. Copy the folder to the server. The page fetches "
        "the bytes that it shows: first all images coarsely, then more of those that are looked "
        "at. It loads nothing from elsewhere.\n\n"
        "With --url the container stays where it is: give a relative address, such as "
        "../sets/holiday.taper, or http(s)://. Another server must allow the page to read it "
        "(CORS, with the header Range).\n\n"
        "--single makes one file for small sets. It needs no server, and opens from a disk.",
    .examples = "taper page -o /var/www/holiday holiday.taper\n"
                "taper page -o page --url https://data.example/set.taper set.taper\n"
                "taper page --single holiday.html holiday.taper\n"};

enum { MOST_FILES = 16 };

/* A file of the page that is written. */
typedef struct written {
    char *path;
    cli_output out;
    bool is_open;
} written;

typedef struct job {
    const settings *s;
    const char *input, *name; /* name: the last part of input */
    char *title, *container_address;
    char model_name[24]; /* ID.tpm, as web/js has it; "": none */
    cli_container container;
    cli_model model;
    const void *model_bytes; /* NULL: the container carries it */
    size_t model_size;
    written file[MOST_FILES];
    size_t files;
    uint64_t bytes;
} job;

static int no_memory(const job *j) { return cli_fail("page", j->input, TAPER_ERR_NOMEM, NULL); }

/* --- names --- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The name of the container without its suffix. */
static char *default_title(const char *name) {
    char *title = strdup(!strcmp(name, "-") ? "images" : name);
    char *dot = title ? strrchr(title, '.') : NULL;
    if (dot && dot > title) *dot = 0;
    return title;
}

/* A file name as an address below the page. */
static char *address_of(const char *name) {
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (!to) return NULL;
    cli_viewer_put_address(to, name);
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}

/* --- the model --- */

/* Finds the file of the model, unless the container carries it. */
static int find_model(job *j) {
    const taper_container_info *info = &j->container.info;
    if (info->model_bytes) return CLI_DONE;
    const char *builtin = taper_model_builtin_of(info->model_id);
    const char *name = j->s->model ? j->s->model : builtin;
    if (!name) return cli_container_bind(&j->container, NULL, "page", j->input, &j->s->common);
    int code = cli_model_open(&j->model, "page", name, &j->s->common);
    if (code == CLI_DONE)
        code = cli_container_bind(&j->container, j->model.model, "page", j->input, &j->s->common);
    if (code != CLI_DONE) return code;
    j->model_bytes = j->model.bytes, j->model_size = j->model.size;
    snprintf(j->model_name, sizeof j->model_name, "%016llx.tpm",
             (unsigned long long)info->model_id);
    return CLI_DONE;
}

/* --- files --- */

static int make_folder(const job *j) {
    taper_error error;
    struct stat st;
    if (mkdir(j->s->output, 0777) == 0) return CLI_DONE;
    const int failed = errno;
    if (failed == EEXIST && stat(j->s->output, &st) == 0 && S_ISDIR(st.st_mode)) return CLI_DONE;
    return cli_fail("page", j->s->output, formats_fail_errno(&error, failed, "make the folder"),
                    &error);
}

/* Opens the next file of the folder. name NULL: the one file of --single. */
static int begin_file(job *j, const char *name, written **out) {
    written *w = *out = &j->file[j->files];
    const char *folder = name ? j->s->output : "";
    const size_t room = strlen(folder) + strlen(name ? name : j->s->single) + 2;
    w->path = malloc(room);
    if (!w->path) return no_memory(j);
    snprintf(w->path, room, "%s%s%s", folder, name ? "/" : "", name ? name : j->s->single);
    int code = cli_output_check("page", w->path, j->input);
    if (code == CLI_DONE) code = cli_output_open(&w->out, "page", w->path, &j->s->common);
    j->files++;
    w->is_open = code == CLI_DONE;
    return code;
}

static int end_file(job *j, written *w, taper_status status, const taper_error *error) {
    const int code = cli_output_finish(&w->out, w->path, status, error);
    j->bytes += w->out.written;
    if (code != CLI_DONE) w->is_open = false;
    return code;
}

static int put_bytes(job *j, const char *name, const void *bytes, size_t size) {
    written *w;
    taper_error error = {0};
    const int code = begin_file(j, name, &w);
    if (code != CLI_DONE) return code;
    const taper_sink sink = cli_output_sink(&w->out);
    return end_file(j, w, sink.write(sink.user, bytes, size), &error);
}

/* Copies the container, as far as it reaches. */
static int copy_container(job *j) {
    written *w;
    taper_error error = {0};
    const int code = begin_file(j, !strcmp(j->name, "-") ? "images.taper" : j->name, &w);
    if (code != CLI_DONE) return code;
    const taper_sink sink = cli_output_sink(&w->out);
    const taper_status status = cli_source_copy(&j->container.source, &sink, &error);
    return end_file(j, w, status, &error);
}

/* --- the page --- */

/* What the page asks for first: enough for a first picture of each image, within limits. */
static uint32_t first_bytes(const taper_container_info *info) {
    enum { EACH = 2700, LEAST = 4096, MOST = 16384 };
    if (info->images > MOST / EACH || info->front_bytes > MOST) return MOST;
    const uint32_t all = (uint32_t)info->front_bytes + (uint32_t)info->images * EACH;
    return all < LEAST ? LEAST : all > MOST ? MOST : all;
}

static int write_html(job *j, const cli_viewer_page *page) {
    written *w;
    cli_text text;
    taper_error error = {0};
    int code = begin_file(j, j->s->single ? NULL : "index.html", &w);
    if (code != CLI_DONE) return code;
    if (cli_text_open(&text) != TAPER_OK) return no_memory(j);
    if (j->s->single)
        cli_viewer_put_single(text.to, page);
    else
        cli_viewer_put_page(text.to, page);
    const taper_sink sink = cli_output_sink(&w->out);
    return end_file(j, w, cli_text_write(&text, &sink), &error);
}

static int write_folder(job *j) {
    cli_viewer_file file;
    int code = make_folder(j);
    for (size_t k = 0; code == CLI_DONE && cli_viewer_get_file(k, &file); k++)
        code = put_bytes(j, file.name, file.from, file.size);
    if (code == CLI_DONE && j->model_bytes)
        code = put_bytes(j, j->model_name, j->model_bytes, j->model_size);
    if (code == CLI_DONE && !j->s->url) code = copy_container(j);
    if (code != CLI_DONE) return code;
    j->container_address = j->s->url ? strdup(j->s->url) : address_of(j->name);
    if (!j->container_address) return no_memory(j);
    const cli_viewer_page page = {.title = j->title,
                                  .container = j->container_address,
                                  .name = j->name,
                                  .model = j->model_bytes ? j->model_name : NULL,
                                  .first_bytes = first_bytes(&j->container.info),
                                  .model_id = j->container.info.model_id};
    return write_html(j, &page);
}

/* The bytes of a container for a page of its own. */
static int read_container(const job *j, uint8_t **out) {
    const taper_source *from = &j->container.source;
    const taper_limits limits = cli_limits(&j->s->common);
    taper_error error;
    if (from->size > limits.max_memory / 4) {
        formats_fail(&error, TAPER_ERR_LIMIT,
                     "has %llu bytes, too many for one page: write a folder with -o",
                     (unsigned long long)from->size);
        return cli_fail("page", j->input, error.status, &error);
    }
    uint8_t *bytes = *out = malloc((size_t)from->size);
    if (!bytes) return no_memory(j);
    const taper_status status = formats_source_read(from, 0, bytes, (size_t)from->size, &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("page", j->input, status, &error);
}

static int write_single(job *j) {
    uint8_t *bytes = NULL;
    int code = read_container(j, &bytes);
    const cli_viewer_page page = {.title = j->title,
                                  .name = j->name,
                                  .first_bytes = first_bytes(&j->container.info),
                                  .model_id = j->container.info.model_id,
                                  .container_bytes = bytes,
                                  .container_size = (size_t)j->container.source.size,
                                  .model_bytes = j->model_bytes,
                                  .model_size = j->model_size};
    if (code == CLI_DONE) code = write_html(j, &page);
    free(bytes);
    return code;
}

/* Puts all files in place; after a failure none. */
static int close_files(job *j, int code) {
    const taper_error none = {0};
    for (size_t k = 0; k < j->files; k++) {
        written *w = &j->file[k];
        if (w->is_open && code == CLI_DONE)
            code = cli_output_close(&w->out, w->path, TAPER_OK, &none);
        else if (w->is_open && w->out.file)
            formats_atomic_file_abort(w->out.file);
        free(w->path);
    }
    return code;
}

static void tell(const job *j) {
    const settings *s = j->s;
    cli_note(&s->common, "page", "%s%s: %llu bytes%s", s->single ? s->single : s->output,
             s->single ? "" : "/index.html and its files", (unsigned long long)j->bytes,
             s->single ? ""
             : s->url  ? ", without the container"
                       : ", with the container");
}

static int write_page(job *j) {
    int code = find_model(j);
    j->title = j->s->title ? strdup(j->s->title) : default_title(j->name);
    if (code == CLI_DONE && !j->title) code = no_memory(j);
    if (code == CLI_DONE) code = j->s->single ? write_single(j) : write_folder(j);
    code = close_files(j, code);
    if (code == CLI_DONE) tell(j);
    return code;
}

static int run(const settings *s, const char *input) {
    job j = {.s = s, .input = input, .name = last_part(input)};
    int code = cli_container_open(&j.container, "page", input, &s->common);
    if (code == CLI_DONE) code = write_page(&j);
    free(j.title);
    free(j.container_address);
    cli_container_close(&j.container);
    cli_model_close(&j.model);
    return code;
}

static int check_usage(const settings *s, int operands) {
    if (operands != 1) return cli_usage(&cli_verb_page, "give one container");
    if (!s->output == !s->single)
        return cli_usage(&cli_verb_page, "give a folder, -o DIR, or --single FILE.html");
    if (s->single && s->url)
        return cli_usage(&cli_verb_page, "--single holds the container: leave out --url");
    if (cli_viewer_has_decoder()) return CLI_DONE;
    taper_error error;
    formats_fail(&error, TAPER_ERR_UNSUPPORTED,
                 "this program was built without a decoder for browsers: install clang, lld, "
                 "wasi-libc and libclang-rt-dev-wasm32, and build it again");
    return cli_fail("page", "--output", error.status, &error);
}

int cmd_page(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_page, argc, argv, &s, &first);
    if (code >= 0) return code;
    code = check_usage(&s, argc - first);
    if (code == CLI_DONE) code = run(&s, argv[first]);
    cli_options_free(&cli_verb_page, &s);
    return code;
}
