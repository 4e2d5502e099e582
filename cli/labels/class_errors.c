/* class_errors.c -- see class_errors.h. */
#include "cli/labels/class_errors.h"
#include "cli/common/plain_text.h"
#include "formats/status.h"
#include <stdlib.h>

enum { FEW_CLASSES = 20, WORST = 5, NAME_ROOM = 80 };

bool cli_class_errors_open(cli_class_errors *e, size_t classes) {
    *e = (cli_class_errors){.name = malloc((classes + 1) * sizeof *e->name),
                            .wrong = malloc((classes + 1) * sizeof *e->wrong),
                            .tested = malloc((classes + 1) * sizeof *e->tested)};
    return e->name && e->wrong && e->tested;
}

void cli_class_errors_free(cli_class_errors *e) {
    free(e->name), free(e->wrong), free(e->tested);
    *e = (cli_class_errors){.n = 0};
}

void cli_class_errors_add(cli_class_errors *e, const char *name, uint64_t wrong, uint64_t tested) {
    e->name[e->n] = name, e->wrong[e->n] = wrong, e->tested[e->n++] = tested;
    e->unknown += !tested;
}

taper_status cli_class_errors_balance(cli_class_errors *e, taper_error *error) {
    e->balanced = (taper_error_rate){.size = sizeof e->balanced};
    return taper_balance_errors(e->wrong, e->tested, (uint32_t)e->n, &e->balanced, error);
}

static taper_error_rate rate_of(const cli_class_errors *e, size_t c) {
    taper_error_rate rate = {.size = sizeof rate};
    taper_rate_errors(e->wrong[c], e->tested[c], &rate, NULL); /* it has been tested */
    return rate;
}

/* --- for people ------------------------------------------------------------------------ */

void cli_class_errors_say_balanced(const cli_class_errors *e, cli_class_line_fn *put, void *user) {
    const taper_error_rate *b = &e->balanced;
    const size_t known = e->n - e->unknown;
    char line[CLI_CLASS_LINE], unknown[120] = "";
    if (e->unknown)
        snprintf(unknown, sizeof unknown,
                 "; %zu class%s without a test image, which may have any error", e->unknown,
                 e->unknown == 1 ? " is" : "es are");
    snprintf(line, sizeof line,
             "balanced error %.2f %%, the mean of %zu class%s; 95 %% interval %.2f to %.2f %%%s",
             100.0 * b->rate, known, formats_plural(known, "es"), 100.0 * b->low, 100.0 * b->high,
             unknown);
    put(user, line);
}

static void say_class(const cli_class_errors *e, size_t c, cli_class_line_fn *put, void *user) {
    char line[CLI_CLASS_LINE], name[NAME_ROOM];
    cli_plain_text(name, sizeof name, e->name[c]);
    if (e->tested[c]) {
        const taper_error_rate r = rate_of(e, c);
        snprintf(line, sizeof line, "  %6.2f %%  %s: %llu of %llu; 95 %% interval %.2f to %.2f %%",
                 100.0 * r.rate, name, (unsigned long long)r.wrong, (unsigned long long)r.tested,
                 100.0 * r.low, 100.0 * r.high);
    } else
        snprintf(line, sizeof line, "       ?    %s: no test image", name);
    put(user, line);
}

/* a has a higher error than b; classes without a test image come last, others in their order. */
static bool is_worse(const cli_class_errors *e, size_t a, size_t b) {
    const double none = -1.0;
    const double x = e->tested[a] ? (double)e->wrong[a] / (double)e->tested[a] : none;
    const double y = e->tested[b] ? (double)e->wrong[b] / (double)e->tested[b] : none;
    return x > y || (!(x < y) && a < b);
}

/* Each pass finds the worst after the one before. */
static void say_worst(const cli_class_errors *e, cli_class_line_fn *put, void *user) {
    size_t before = SIZE_MAX;
    for (int i = 0; i < WORST; i++) {
        size_t worst = SIZE_MAX;
        for (size_t c = 0; c < e->n; c++)
            if ((before == SIZE_MAX || is_worse(e, before, c)) && c != before &&
                (worst == SIZE_MAX || is_worse(e, c, worst)))
                worst = c;
        if (worst == SIZE_MAX || !e->tested[worst] || !e->wrong[worst]) return;
        say_class(e, worst, put, user);
        before = worst;
    }
}

void cli_class_errors_say_classes(const cli_class_errors *e, bool all, cli_class_line_fn *put,
                                  void *user) {
    if (!e->n) return;
    if (all || e->n <= FEW_CLASSES) {
        put(user, "errors of each class:");
        for (size_t c = 0; c < e->n; c++) say_class(e, c, put, user);
        return;
    }
    if (!e->balanced.wrong) return;
    put(user, "the classes with the highest errors (-v: all):");
    say_worst(e, put, user);
}

/* --- for programs ---------------------------------------------------------------------- */

void cli_class_errors_json_balanced(const taper_error_rate *b, cli_json *to) {
    cli_json_number(to, "balanced_percent", 100.0 * b->rate);
    cli_json_number(to, "balanced_low_percent", 100.0 * b->low);
    cli_json_number(to, "balanced_high_percent", 100.0 * b->high);
}

void cli_class_errors_json_classes(const cli_class_errors *e, cli_json *to) {
    cli_json_open(to, "class_errors", '[');
    for (size_t c = 0; c < e->n; c++) {
        cli_json_open(to, NULL, '{');
        cli_json_string(to, "class", e->name[c]);
        cli_json_uint(to, "tested", e->tested[c]);
        cli_json_uint(to, "wrong", e->wrong[c]);
        if (e->tested[c]) {
            const taper_error_rate r = rate_of(e, c);
            cli_json_number(to, "percent", 100.0 * r.rate);
            cli_json_number(to, "low_percent", 100.0 * r.low);
            cli_json_number(to, "high_percent", 100.0 * r.high);
        }
        cli_json_close(to);
    }
    cli_json_close(to);
}
