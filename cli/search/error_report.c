/* error_report.c -- see error_report.h. */
#include "cli/search/error_report.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include "formats/status.h"
#include <string.h>

enum { MOST_ROWS = 20, MOST_PAIRS = 10, NAME_ROOM = 13 };

/* --- for people ------------------------------------------------------------------------ */

static uint64_t at(const cli_error_report *r, size_t truth, size_t voted) {
    return r->confusion[truth * r->classes + voted];
}

/* True if the class occurs as a true label or as a vote. */
static bool occurs(const cli_error_report *r, size_t k) {
    for (size_t j = 0; j < r->classes; j++)
        if (at(r, k, j) || at(r, j, k)) return true;
    return false;
}

static int name_width(const char *text) {
    int n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80; /* UTF-8 characters */
    return n;
}

/* Print a name in a column, truncated. */
static void put_name(const char *name, int width, bool left, FILE *to) {
    char text[NAME_ROOM];
    cli_plain_text(text, sizeof text, name);
    const int blanks = width - name_width(text);
    if (!left) fprintf(to, "%*s", blanks > 0 ? blanks : 0, "");
    fputs(text, to);
    if (left) fprintf(to, "%*s", blanks > 0 ? blanks : 0, "");
}

static int column_width(const char *name) {
    enum { LEAST = 7 };
    char text[NAME_ROOM];
    cli_plain_text(text, sizeof text, name);
    const int width = name_width(text);
    return width < LEAST ? LEAST : width;
}

static void print_matrix(const cli_error_report *r, const size_t *used, size_t n, FILE *to) {
    fputs("true label, and what it was taken for:\n", to);
    put_name("", NAME_ROOM, true, to);
    for (size_t j = 0; j < n; j++) {
        fputc(' ', to);
        put_name(r->name[used[j]], column_width(r->name[used[j]]), false, to);
    }
    fputc('\n', to);
    for (size_t i = 0; i < n; i++) {
        put_name(r->name[used[i]], NAME_ROOM, true, to);
        for (size_t j = 0; j < n; j++)
            fprintf(to, " %*llu", column_width(r->name[used[j]]),
                    (unsigned long long)at(r, used[i], used[j]));
        fputc('\n', to);
    }
}

/* Print the most frequent confusions; each step finds the largest below the one before. */
static void print_pairs(const cli_error_report *r, FILE *to) {
    uint64_t before = UINT64_MAX;
    size_t before_at = 0;
    for (int pair = 0; pair < MOST_PAIRS; pair++) {
        uint64_t most = 0;
        size_t most_at = 0;
        for (size_t i = 0; i < r->classes * r->classes; i++) {
            const uint64_t here = r->confusion[i];
            const bool is_later = here < before || (here == before && i > before_at);
            if (i / r->classes == i % r->classes || !is_later || here <= most) continue;
            most = here, most_at = i;
        }
        if (!most) return;
        put_name(r->name[most_at / r->classes], 0, true, to);
        fputs(" was taken for ", to);
        put_name(r->name[most_at % r->classes], 0, true, to);
        fprintf(to, " %llu time%s\n", (unsigned long long)most, formats_plural(most, "s"));
        before = most, before_at = most_at;
    }
}

size_t cli_error_report_used(const cli_error_report *r, size_t *used, size_t room) {
    size_t n = 0;
    for (size_t k = 0; k < r->classes; k++) {
        if (!occurs(r, k)) continue;
        if (n < room) used[n] = k;
        n++;
    }
    return n;
}

static void put_line(void *to, const char *line) {
    fputs(line, to);
    fputc('\n', to);
}

void cli_error_report_print(const cli_error_report *r, FILE *to) {
    size_t used[MOST_ROWS];
    for (size_t i = 0; i < r->n; i++) {
        const cli_class_errors mean = {
            .n = r->by_class->n, .unknown = r->by_class->unknown, .balanced = r->balanced[i]};
        fprintf(to, "error %.2f %% by %zu vote%s: %llu of %llu; 95 %% interval %.2f to %.2f %%\n",
                r->rate[i].rate * 100, r->k[i], formats_plural(r->k[i], "s"),
                (unsigned long long)r->rate[i].wrong, (unsigned long long)r->rate[i].tested,
                r->rate[i].low * 100, r->rate[i].high * 100);
        cli_class_errors_say_balanced(&mean, put_line, to);
    }
    cli_class_errors_say_classes(r->by_class, r->all_classes, put_line, to);
    if (!r->confusion) return;
    const size_t n = cli_error_report_used(r, used, MOST_ROWS);
    if (n > MOST_ROWS)
        print_pairs(r, to);
    else
        print_matrix(r, used, n, to);
}

/* --- for programs ---------------------------------------------------------------------- */

void cli_error_report_json(const cli_error_report *r, FILE *to) {
    cli_json j;
    cli_json_begin(&j, to);
    cli_json_string(&j, "kind", "errors");
    cli_json_uint(&j, "tested", r->rate[0].tested);
    cli_json_open(&j, "errors", '[');
    for (size_t i = 0; i < r->n; i++) {
        cli_json_open(&j, NULL, '{');
        cli_json_uint(&j, "k", r->k[i]);
        cli_json_uint(&j, "wrong", r->rate[i].wrong);
        cli_json_number(&j, "percent", r->rate[i].rate * 100);
        cli_json_number(&j, "low_percent", r->rate[i].low * 100);
        cli_json_number(&j, "high_percent", r->rate[i].high * 100);
        cli_class_errors_json_balanced(&r->balanced[i], &j);
        cli_json_close(&j);
    }
    cli_json_close(&j);
    cli_class_errors_json_classes(r->by_class, &j);
    cli_json_open(&j, "classes", '[');
    for (size_t k = 0; k < r->classes; k++) cli_json_string(&j, NULL, r->name[k]);
    cli_json_close(&j);
    if (r->confusion) {
        cli_json_open(&j, "confusion", '[');
        for (size_t i = 0; i < r->classes; i++) {
            cli_json_open(&j, NULL, '[');
            for (size_t k = 0; k < r->classes; k++) cli_json_uint(&j, NULL, at(r, i, k));
            cli_json_close(&j);
        }
        cli_json_close(&j);
    }
    cli_json_end(&j);
}
