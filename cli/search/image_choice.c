/* image_choice.c -- see image_choice.h. */
#define _XOPEN_SOURCE 700 /* strtok_r */
#include "cli/search/image_choice.h"
#include "cli/common/messages.h"
#include "formats/imageset/image_names.h"
#include "formats/name_escape.h"
#include "formats/imageset/name_key.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- numbers ------------------------------------------------------------------------------ */

static bool is_number(const cli_image_choice *c, const char *word, uint64_t *i) {
    int64_t number;
    if (!cli_parse_int(word, &number) || number < 1 || (uint64_t)number > c->count) return false;
    *i = (uint64_t)number - 1;
    return true;
}

/* "7-9" */
static bool is_range(const cli_image_choice *c, const char *word, uint64_t *first, uint64_t *last) {
    char begin[24];
    const char *dash = strchr(word, '-');
    if (!dash || dash == word || (size_t)(dash - word) >= sizeof begin) return false;
    snprintf(begin, sizeof begin, "%.*s", (int)(dash - word), word);
    return is_number(c, begin, first) && is_number(c, dash + 1, last) && *first <= *last;
}

/* --- names -------------------------------------------------------------------------------- */

static uint64_t mark_equal(const cli_image_choice *c, const char *word, bool *wanted) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < c->count; i++) {
        const char *name = c->name(c->of, i);
        if (!name || strcmp(name, word) != 0) continue;
        wanted[i] = true, n++;
    }
    return n;
}

static uint64_t mark_pattern(const cli_image_choice *c, const char *word, bool *wanted) {
    uint64_t n = 0;
    if (!strpbrk(word, "*?[")) return 0;
    for (uint64_t i = 0; i < c->count; i++) {
        const char *name = c->name(c->of, i);
        if (!name || fnmatch(word, name, FNM_NOESCAPE) != 0) continue;
        wanted[i] = true, n++;
    }
    return n;
}

/* How well a name fits a word; a lower value is better. */
enum { SAME_NAME, END_OF_NAME, OTHER_SUFFIX, NO_FIT };

/* True if `end`, of m bytes, is the last parts of a key of n bytes. */
static bool is_end(const char *key, size_t n, const char *end, size_t m) {
    return m && m <= n && !memcmp(key + n - m, end, m) && (m == n || key[n - m - 1] == '/');
}

static int fit_keys(const char *name, const char *word) {
    const size_t n = strlen(name), m = strlen(word);
    const size_t n_stem = formats_image_stem(name), m_stem = formats_image_stem(word);
    if (is_end(name, n, word, m)) return n == m ? SAME_NAME : END_OF_NAME;
    const bool is_png = !strcasecmp(name + n_stem, ".png") || !strcasecmp(word + m_stem, ".png");
    return is_png && m_stem < m && is_end(name, n_stem, word, m_stem) ? OTHER_SUFFIX : NO_FIT;
}

typedef char *form_fn(const char *name); /* formats_name_key or formats_name_plain */

static char *in_form(const char *text, form_fn *form) {
    char *name = formats_name_unescape(text), *formed = name ? form(name) : NULL;
    free(name);
    return formed;
}

typedef struct wanted_name {
    char *key, *plain;
} wanted_name;

typedef struct best_fit {
    int fit;
    uint64_t n, first, second; /* number of images that fit best, and two of them */
} best_fit;

/* Names that differ only in Unicode form fit equally, but the one with exactly the bytes of the
 * word fits better. -1 without memory. */
static int fit_name(const char *text, const wanted_name *wanted) {
    char *key = in_form(text, formats_name_key);
    const int fit = key ? fit_keys(key, wanted->key) : -1;
    free(key);
    if (fit < 0 || fit == NO_FIT) return 2 * fit;
    char *plain = in_form(text, formats_name_plain);
    const int result = plain ? 2 * fit + (fit_keys(plain, wanted->plain) != fit) : -1;
    free(plain);
    return result;
}

static bool find_best(const cli_image_choice *c, const char *word, best_fit *best) {
    wanted_name wanted = {in_form(word, formats_name_key), in_form(word, formats_name_plain)};
    bool has_memory = wanted.key && wanted.plain;
    *best = (best_fit){.fit = 2 * NO_FIT};
    for (uint64_t i = 0; i < c->count && has_memory; i++) {
        const char *name = c->name(c->of, i);
        const int fit = name ? fit_name(name, &wanted) : 2 * NO_FIT;
        has_memory = fit >= 0;
        if (fit < best->fit) *best = (best_fit){.fit = fit, .first = i};
        if (fit == best->fit && fit < 2 * NO_FIT && ++best->n == 2) best->second = i;
    }
    free(wanted.key), free(wanted.plain);
    return has_memory;
}

/* --- words -------------------------------------------------------------------------------- */

static int none(const cli_image_choice *c, const char *word) {
    cli_error(
        c->verb, c->path,
        "there is no image '%.200s'; give numbers from 1 to %llu, ranges of them, names, ends "
        "of names, or patterns such as '*.jpg'",
        word, (unsigned long long)c->count);
    return CLI_USAGE;
}

static bool look_alike(const char *a, const char *b) {
    char *x = in_form(a, formats_name_key), *y = in_form(b, formats_name_key);
    const bool are_alike = x && y && !strcmp(x, y);
    free(x), free(y);
    return are_alike;
}

static int several(const cli_image_choice *c, const char *word, const best_fit *best) {
    char shown[2][FORMATS_NAME_SHOWN];
    const char *first = c->name(c->of, best->first), *second = c->name(c->of, best->second);
    if (look_alike(first, second)) {
        formats_names_show(first, second, shown);
        cli_error(c->verb, c->path,
                  "'%.200s' may be %llu images, such as '%s' and '%s', which look alike; give the "
                  "number of one: %llu or %llu",
                  word, (unsigned long long)best->n, shown[0], shown[1],
                  (unsigned long long)best->first + 1, (unsigned long long)best->second + 1);
    } else
        cli_error(
            c->verb, c->path,
            "'%.200s' may be %llu images, such as '%.200s' and '%.200s'; give more of the name",
            word, (unsigned long long)best->n, first, second);
    return CLI_USAGE;
}

/* *found: the word fits images, which are marked, or is ambiguous, which is printed. */
static int mark_word(const cli_image_choice *c, const char *word, bool *wanted, bool *found) {
    uint64_t first, last;
    best_fit best = {.fit = NO_FIT};
    *found = true;
    if (is_number(c, word, &first)) {
        wanted[first] = true;
        return CLI_DONE;
    }
    if (mark_equal(c, word, wanted)) return CLI_DONE;
    if (is_range(c, word, &first, &last)) {
        for (uint64_t i = first; i <= last; i++) wanted[i] = true;
        return CLI_DONE;
    }
    if (!find_best(c, word, &best)) return cli_fail(c->verb, NULL, TAPER_ERR_NOMEM, NULL);
    if (best.n == 1) wanted[best.first] = true;
    if (best.n > 1) return several(c, word, &best);
    *found = best.n || mark_pattern(c, word, wanted);
    return CLI_DONE;
}

int cli_images_choose(const cli_image_choice *c, const char *argument, bool *wanted) {
    bool found;
    int code = mark_word(c, argument, wanted, &found); /* a name may contain commas */
    if (code != CLI_DONE || found) return code;
    if (!argument[strspn(argument, ",")] || !strchr(argument, ',')) return none(c, argument);
    char *copy = strdup(argument), *rest = NULL;
    if (!copy) return cli_fail(c->verb, NULL, TAPER_ERR_NOMEM, NULL);
    for (char *word = strtok_r(copy, ",", &rest); word && code == CLI_DONE;
         word = strtok_r(NULL, ",", &rest)) {
        code = mark_word(c, word, wanted, &found);
        if (code == CLI_DONE && !found) code = none(c, word);
    }
    free(copy);
    return code;
}
