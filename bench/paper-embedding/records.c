/* records.c -- see records.h. */
#include "bench/paper-embedding/records.h"
#include "bench/paper-embedding/settings.h"
#include "bench/bench.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 4096 };

const uint32_t embedding_k[EMBEDDING_KS] = {1, 3, 5, 7};

/* --- reading --------------------------------------------------------------------------- */

/* The number that follows "KEY": in a line; 0: there is none. */
static int number_of(const char *line, const char *key, double *value) {
    char text[64], *end;
    snprintf(text, sizeof text, "\"%s\":", key);
    const char *at = strstr(line, text);
    if (!at) return 0;
    double x = strtod(at + strlen(text), &end);
    if (end == at + strlen(text)) return 0;
    *value = x;
    return 1;
}

static int holds_all(const char *line, va_list texts) {
    for (const char *text; (text = va_arg(texts, const char *));)
        if (!strstr(line, text)) return 0;
    return 1;
}

int embedding_find(const embedding *e, const char *file, double *value, ...) {
    char *path = figures_path(e->figures.out, "%s.jsonl", file), line[LINE];
    FILE *from = fopen(path, "r");
    int found = 0;
    while (from && fgets(line, sizeof line, from)) {
        va_list texts;
        va_start(texts, value);
        if (holds_all(line, texts) && number_of(line, "value", value)) found = 1;
        va_end(texts);
    }
    if (from) fclose(from);
    free(path);
    return found;
}

/* What of the cell: "cell":"NAME". */
static void name_of(const embedding_cell *cell, char text[96]) {
    snprintf(text, 96, "\"cell\":\"%s\"", cell->name);
}

static void take_error(embedding_record *r, const char *line, double value) {
    double k = 0.0, tested = 0.0;
    number_of(line, "k", &k);
    for (size_t i = 0; i < EMBEDDING_KS; i++)
        if (k == embedding_k[i]) {
            r->error[i] = value;
            number_of(line, "low", &r->low[i]), number_of(line, "high", &r->high[i]);
            if (number_of(line, "tested", &tested)) r->tested = (size_t)tested;
        }
}

static void take_line(embedding_record *r, const char *line) {
    double value = 0.0;
    number_of(line, "value", &value);
    if (strstr(line, "\"metric\":\"test_error_percent\"")) take_error(r, line, value);
    if (strstr(line, "\"metric\":\"minutes\"")) r->minutes = value;
    if (strstr(line, "\"metric\":\"alpha\"")) r->alpha = value;
    if (strstr(line, "\"metric\":\"free_units_test_error_percent\"")) r->free_error = value;
    const char *settings = strstr(line, "\"settings\":\"");
    if (!settings) return;
    settings += strlen("\"settings\":\"");
    snprintf(r->settings, sizeof r->settings, "%.*s", (int)strcspn(settings, "\""), settings);
}

int embedding_record_read(const embedding *e, const embedding_cell *cell, embedding_record *out) {
    char *path = figures_path(e->figures.out, "%s.jsonl", cell->set), line[LINE], name[96];
    FILE *from = fopen(path, "r");
    *out = (embedding_record){0};
    name_of(cell, name);
    while (from && fgets(line, sizeof line, from))
        if (strstr(line, name)) take_line(out, line);
    if (from) fclose(from);
    free(path);
    return out->tested > 0;
}

/* --- writing --------------------------------------------------------------------------- */

/* All lines of the file but the cell's. */
static void copy_others(FILE *to, const char *path, const embedding_cell *cell) {
    char line[LINE], name[96];
    FILE *from = fopen(path, "r");
    name_of(cell, name);
    while (from && fgets(line, sizeof line, from))
        if (!strstr(line, name)) fputs(line, to);
    if (from) fclose(from);
}

static void put(FILE *to, const embedding *e, const embedding_cell *c, const embedding_record *r,
                const char *metric, double value, const char *unit, const char *more) {
    char bench[32], config[1200], split[24] = "";
    const char *variant = c->method->variant;
    if (c->split) snprintf(split, sizeof split, "\"split\":%u,", c->split);
    snprintf(bench, sizeof bench, "embedding/%s", c->set);
    int n =
        snprintf(config, sizeof config,
                 "{\"cell\":\"%s\",\"method\":\"%s\",\"%s\":\"%s\",\"dims\":%u,%s\"seed\":%u,"
                 "\"labels_percent\":%g,%s\"device\":\"%s\",\"settings\":\"%s\"%s}",
                 c->name, c->method->name, c->method->kind == EMBEDDING_LINEAR ? "start" : "alpha",
                 variant[0] ? variant : "none", c->dims, split, c->seed,
                 embedding_settings_of(r->settings).labels_percent, more, e->device_name,
                 r->settings, e->quick ? ",\"data\":\"drawn digits, quick\"" : "");
    if (n < 0 || (size_t)n >= sizeof config) figures_die("a configuration that is too long");
    bench_write(to, bench, metric, value, unit, config);
}

static void put_record(FILE *to, const embedding *e, const embedding_cell *cell,
                       const embedding_record *r) {
    for (size_t i = 0; i < EMBEDDING_KS; i++) {
        char more[120];
        snprintf(more, sizeof more, "\"k\":%u,\"tested\":%zu,\"low\":%.3f,\"high\":%.3f,",
                 embedding_k[i], r->tested, r->low[i], r->high[i]);
        put(to, e, cell, r, "test_error_percent", r->error[i], "%", more);
    }
    put(to, e, cell, r, "minutes", r->minutes, "min", "");
    if (r->free_error > 0.0)
        put(to, e, cell, r, "free_units_test_error_percent", r->free_error, "%", "\"k\":3,");
    if (r->alpha > 0.0) put(to, e, cell, r, "alpha", r->alpha, "", "");
}

void embedding_record_write(const embedding *e, const embedding_cell *cell,
                            const embedding_record *record) {
    char *path = figures_path(e->figures.out, "%s.jsonl", cell->set),
         *lock = figures_path(e->figures.work, "records.lock"), *text = NULL;
    size_t n = 0;
    int held = open(lock, O_RDWR | O_CREAT, 0644);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (held < 0 || fcntl(held, F_SETLKW, &whole) != 0) figures_die("cannot lock %s", lock);
    FILE *to = open_memstream(&text, &n);
    if (!to) figures_die("no memory for records");
    copy_others(to, path, cell);
    put_record(to, e, cell, record);
    if (fclose(to) != 0) figures_die("no memory for records");
    figures_write(path, text, n);
    close(held);
    free(text), free(lock), free(path);
}
