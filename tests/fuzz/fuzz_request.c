/* fuzz_request.c -- any bytes as parts of a request to `serve`. The first byte chooses the part.
 * What is accepted must be in its range: no name of a path leads elsewhere, no range is outside the
 * file, no picture is larger than its image. */
#include "serve/request/conditions.h"
#include "serve/request/iiif.h"
#include "serve/request/media.h"
#include "serve/request/query.h"
#include "serve/request/range.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_clean(const char *path) {
    for (const char *name = path; name; name = strchr(name, '/')) {
        name += *name == '/';
        if (*name == '.' || *name == '/' || (!*name && name != path)) abort();
    }
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) abort();
    if (serve_path_container(path) > strlen(path)) abort();
}

static void path(const char *text, size_t n) {
    char clean[SERVE_PATH_BYTES];
    const serve_path_kind kind = serve_path_clean(text, n, clean);
    if (kind != SERVE_PATH_IS_FILE && kind != SERVE_PATH_IS_FOLDER) return;
    check_clean(clean);
    serve_media_type(clean);
}

static void query(const char *text) {
    serve_query q;
    if (serve_query_read(text, &q)) return;
    if (q.width > SERVE_MOST_SIDE || q.height > SERVE_MOST_SIDE || q.quality > 100) abort();
    if (q.scale > 16 || (q.scale & (q.scale - 1))) abort();
}

static void ranges(const char *text, uint64_t size) {
    serve_range range[SERVE_MOST_RANGES];
    size_t count;
    if (serve_ranges_read(text, size, SERVE_MOST_RANGES, range, &count) != SERVE_RANGES_HERE)
        return;
    if (!count || count > SERVE_MOST_RANGES) abort();
    for (size_t i = 0; i < count; i++) {
        if (range[i].first > range[i].last || range[i].last >= size) abort();
        for (size_t k = 0; k < i; k++)
            if (range[i].first <= range[k].last && range[k].first <= range[i].last) abort();
    }
}

static void conditions(const char *text) {
    const serve_version version = {.tag = "\"a\"", .modified = 784111777};
    for (int which = 0; which < 5; which++) {
        const serve_conditions c = {.if_match = which == 0 ? text : NULL,
                                    .if_none_match = which == 1 ? text : NULL,
                                    .if_range = which == 2 ? text : NULL,
                                    .if_modified_since = which == 3 ? text : NULL,
                                    .if_unmodified_since = which == 4 ? text : NULL};
        const int status = serve_conditions_check(&c, &version);
        if (status != 0 && status != 304 && status != 412) abort();
        serve_range_applies(&c, &version, 784111800);
    }
    int64_t seconds;
    char date[SERVE_DATE_BYTES];
    if (serve_date_read(text, &seconds)) serve_date_write(seconds, date);
}

static void iiif(const char *text, size_t n, uint32_t width, uint32_t height) {
    serve_iiif asked;
    serve_iiif_picture p;
    const char *why;
    char canonical[SERVE_CANONICAL_BYTES];
    const int status = serve_iiif_read(text, n, &asked, &why);
    if (status != 0 && status != 400 && status != 404 && status != 501) abort();
    if (status) return;
    check_clean(asked.identifier);
    if (asked.kind != SERVE_IIIF_PICTURE) return;
    if (serve_iiif_fit(&asked, width, height, 1 << 26, &p, &why)) return;
    if (!p.width || !p.height || p.width > width - p.x || p.height > height - p.y) abort();
    if (!p.to_width || !p.to_height || p.to_width > p.width || p.to_height > p.height) abort();
    if ((uint64_t)p.to_width * p.to_height > 1 << 26) abort();
    serve_iiif_canonical(&p, width, height, asked.is_png, canonical);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static const uint32_t sides[] = {1, 7, 600, 65500, 1u << 28, 1u << 31};
    if (n < 1) return 0;
    char *text = malloc(n); /* without the first byte, with a NUL */
    if (!text) abort();
    memcpy(text, bytes + 1, n - 1), text[n - 1] = '\0';
    const unsigned what = bytes[0];
    switch (what % 5) {
    case 0: path(text, n - 1); break;
    case 1: query(text); break;
    case 2: ranges(text, what < 25 ? what / 5 : (uint64_t)1 << (what / 5 + 12)); break;
    case 3: conditions(text); break;
    case 4: iiif(text, n - 1, sides[what / 5 % 6], sides[what / 30 % 6]); break;
    }
    free(text);
    return 0;
}
