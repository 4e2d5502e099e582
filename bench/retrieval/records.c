/* records.c -- see records.h. */
#include "bench/retrieval/records.h"
#include "bench/figures/figures.h"
#include "formats/file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each line ends with 0, and is noted. */
static void split(retrieval_records *r, size_t size) {
    size_t most = 1;
    for (size_t i = 0; i < size; i++) most += r->text[i] == '\n';
    r->line = figures_memory(most, sizeof *r->line);
    for (char *at = r->text; *at;) {
        char *end = at + strcspn(at, "\n");
        if (end > at) r->line[r->n++] = at;
        if (!*end) break;
        *end = 0;
        at = end + 1;
    }
}

retrieval_records retrieval_records_read(const char *out, const char *part) {
    retrieval_records r = {0};
    char *path = figures_path(out, "%s.jsonl", part);
    uint8_t *bytes = NULL;
    size_t size = 0;
    taper_error error = {0};
    if (access(path, R_OK) == 0) {
        figures_check(formats_file_read(path, (uint64_t)1 << 26, &bytes, &size, &error), path,
                      &error);
        r.text = figures_memory(size + 1, 1);
        if (size) memcpy(r.text, bytes, size);
        split(&r, size);
    }
    free(bytes);
    free(path);
    return r;
}

void retrieval_records_free(retrieval_records *r) {
    free(r->text);
    free(r->line);
    *r = (retrieval_records){0};
}

double retrieval_number(const char *line, const char *field) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", field);
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : (double)NAN;
}

static int has_all(const char *line, const char *metric, const char *const *having) {
    char key[64];
    snprintf(key, sizeof key, "\"metric\":\"%s\"", metric);
    if (!strstr(line, key)) return 0;
    for (; *having; having++)
        if (!strstr(line, *having)) return 0;
    return 1;
}

/* Few points: each goes to its place among those before it. */
static void insert(retrieval_curve *c, double x, double y) {
    size_t at = c->n++;
    for (; at && c->x[at - 1] > x; at--) c->x[at] = c->x[at - 1], c->y[at] = c->y[at - 1];
    c->x[at] = x;
    c->y[at] = y;
}

retrieval_curve retrieval_curve_of(const retrieval_records *records, const char *metric,
                                   const char *x, const char *y, const char *const *having) {
    retrieval_curve c = {0};
    c.x = figures_memory(2 * records->n + 2, sizeof *c.x);
    c.y = c.x + records->n + 1;
    for (size_t i = 0; i < records->n; i++) {
        if (!has_all(records->line[i], metric, having)) continue;
        const double at = retrieval_number(records->line[i], x);
        const double is = retrieval_number(records->line[i], y);
        if (!isnan(at) && !isnan(is)) insert(&c, at, is);
    }
    return c;
}

void retrieval_curve_free(retrieval_curve *curve) { free(curve->x); }
