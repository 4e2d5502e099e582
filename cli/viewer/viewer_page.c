/* viewer_page.c -- the page that shows a container in a browser: its files, and its HTML. */
#include "cli/viewer/viewer_page.h"
#include "cli/common/page.h"
#include "formats/bytes.h"
#include <string.h>

/* viewer_parts.S */
#define PART(name) extern const uint8_t cli_viewer_##name[], cli_viewer_##name##_end[]
PART(html);
PART(css);
PART(css_gz);
PART(script);
PART(script_gz);
PART(more);
PART(more_gz);
PART(wasm);
PART(wasm_gz);
PART(plain);

/* --- files --- */

#define FILE_OF(name, part) \
    { name, cli_viewer_##part, (size_t)(cli_viewer_##part##_end - cli_viewer_##part) }

bool cli_viewer_get_file(size_t k, cli_viewer_file *out) {
    const cli_viewer_file file[] = {
        FILE_OF("viewer.css", css),         FILE_OF("viewer.css.gz", css_gz),
        FILE_OF("viewer.js", script),       FILE_OF("viewer.js.gz", script_gz),
        FILE_OF("viewer-more.js", more),    FILE_OF("viewer-more.js.gz", more_gz),
        FILE_OF("taper.wasm", wasm),        FILE_OF("taper.wasm.gz", wasm_gz),
        FILE_OF("taper-plain.wasm", plain),
    };
    if (k >= sizeof file / sizeof *file) return false;
    *out = file[k];
    return true;
}

bool cli_viewer_has_decoder(void) { return &cli_viewer_wasm_end[0] > &cli_viewer_wasm[0]; }

/* --- texts --- */

static void put_html(FILE *to, const char *text) {
    for (; *text; text++) switch (*text) {
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        case '\'': fputs("&#39;", to); break;
        default: fputc((unsigned char)*text < 32 ? ' ' : *text, to);
        }
}

/* A JSON string that may stand in a <script> element: no < ends it. NULL: null. */
static void put_json(FILE *to, const char *text) {
    if (!text) {
        fputs("null", to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 32 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&')
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

void cli_viewer_put_address(FILE *to, const char *name) {
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || strchr("-._~", c);
        if (plain)
            fputc(c, to);
        else
            fprintf(to, "%%%02X", c);
    }
}

/* The length of "https://host:port" at the beginning of an address; 0: it is relative. */
static size_t origin_length(const char *address) {
    if (!address || (strncmp(address, "http://", 7) && strncmp(address, "https://", 8))) return 0;
    const size_t scheme = address[4] == 's' ? 8 : 7;
    return scheme + strcspn(address + scheme, "/?#;, \t'\"");
}

/* --- parts of the page --- */

typedef struct composed {
    FILE *to;
    const cli_viewer_page *page;
    bool is_single;
    uint32_t version;
} composed;

static void put_policy(const composed *c) {
    const size_t origin = origin_length(c->page->container);
    if (c->is_single) {
        fputs("default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
              "worker-src data: blob:; style-src 'unsafe-inline'; connect-src blob: data:; ",
              c->to);
    } else {
        fputs("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
              "style-src 'self'; connect-src 'self'",
              c->to);
        if (origin) fprintf(c->to, " %.*s", (int)origin, c->page->container);
        fputs("; ", c->to);
    }
    fputs("img-src 'self' data: blob:; base-uri 'none'; form-action 'none'", c->to);
}

/* A number of all files beside the page. It is in their addresses, so that caches may keep them
 * for ever. */
static uint32_t version(void) {
    cli_viewer_file file;
    uint32_t crc = 0;
    for (size_t k = 0; cli_viewer_get_file(k, &file); k++)
        crc = formats_crc32c(crc, file.from, file.size);
    return crc;
}

/* Decoder and script are fetched together with the page, not one after the other. */
static void put_hints(const composed *c) {
    if (c->is_single) return;
    fprintf(c->to,
            "<link rel=\"modulepreload\" href=\"viewer.js?%08x\">\n"
            "<link rel=\"preload\" href=\"taper.wasm.gz?%08x\" as=\"fetch\" crossorigin>",
            c->version, c->version);
}

static void put_style(const composed *c) {
    if (!c->is_single) {
        fprintf(c->to, "<link rel=\"stylesheet\" href=\"viewer.css?%08x\">", c->version);
        return;
    }
    fputs("<style>\n", c->to);
    fwrite(cli_viewer_css, 1, (size_t)(cli_viewer_css_end - cli_viewer_css), c->to);
    fputs("</style>", c->to);
}

static void put_config(const composed *c) {
    fputs("{\"container\": ", c->to);
    put_json(c->to, c->page->container);
    fputs(", \"name\": ", c->to);
    put_json(c->to, c->page->name);
    fputs(", \"model\": ", c->to);
    put_json(c->to, c->page->model);
    fprintf(c->to, ", \"model_id\": \"%016llx\", \"first\": %u",
            (unsigned long long)c->page->model_id, (unsigned)c->page->first_bytes);
    if (!c->is_single) fprintf(c->to, ", \"version\": \"%08x\"", c->version);
    fputc('}', c->to);
}

/* Bytes as base64 in an element that is no script; the viewer finds it by its id. */
static void put_held(FILE *to, const char *id, const void *bytes, size_t size) {
    fprintf(to, "<script type=\"text/plain\" id=\"%s\">", id);
    cli_page_base64(to, bytes, size);
    fputs("</script>\n", to);
}

static void put_inline(FILE *to, const uint8_t *from, const uint8_t *end) {
    fputs("<script type=\"module\">\n", to);
    fwrite(from, 1, (size_t)(end - from), to);
    fputs("</script>", to);
}

static void put_script(const composed *c) {
    if (!c->is_single) {
        fprintf(c->to, "<script type=\"module\" src=\"viewer.js?%08x\"></script>", c->version);
        return;
    }
    put_held(c->to, "held-wasm", cli_viewer_wasm_gz,
             (size_t)(cli_viewer_wasm_gz_end - cli_viewer_wasm_gz));
    if (c->page->model_bytes)
        put_held(c->to, "held-model", c->page->model_bytes, c->page->model_size);
    put_held(c->to, "held-container", c->page->container_bytes, c->page->container_size);
    put_inline(c->to, cli_viewer_script, cli_viewer_script_end);
    fputc('\n', c->to);
    put_inline(c->to, cli_viewer_more, cli_viewer_more_end);
}

static void put_title(const composed *c) { put_html(c->to, c->page->title); }

static void compose(const composed *c) {
    static const struct {
        const char *mark;
        void (*put)(const composed *c);
    } parts[] = {{"@POLICY@", put_policy}, {"@TITLE@", put_title},   {"@HINTS@", put_hints},
                 {"@STYLE@", put_style},   {"@CONFIG@", put_config}, {"@SCRIPT@", put_script}};
    const char *at = (const char *)cli_viewer_html;
    while (*at) {
        size_t k = 0, n = sizeof parts / sizeof *parts;
        while (k < n && strncmp(at, parts[k].mark, strlen(parts[k].mark)) != 0) k++;
        if (k == n) {
            fputc(*at++, c->to);
            continue;
        }
        parts[k].put(c);
        at += strlen(parts[k].mark);
    }
}

void cli_viewer_put_page(FILE *to, const cli_viewer_page *page) {
    compose(&(composed){.to = to, .page = page, .version = version()});
}

void cli_viewer_put_single(FILE *to, const cli_viewer_page *page) {
    compose(&(composed){.to = to, .page = page, .is_single = true});
}
