/* range.c -- see range.h. */
#include "serve/request/range.h"
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *text) {
    while (*text == ' ' || *text == '\t') text++;
    return text;
}

/* A decimal number, of any length: what does not fit is UINT64_MAX. False: no digit. */
static bool read_number(const char **text, uint64_t *out) {
    const char *at = *text;
    for (*out = 0; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        *out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *out * 10 + digit;
    }
    if (at == *text) return false;
    *text = at;
    return true;
}

/* One range, "first-last", "first-" or "-length". *is_here: it has a byte of the file. False: it is
 * not legal. */
static bool read_one(const char **text, uint64_t size, serve_range *out, bool *is_here) {
    uint64_t first = 0, last = UINT64_MAX, length = 0;
    const bool is_suffix = **text == '-';
    if (is_suffix) {
        ++*text;
        if (!read_number(text, &length)) return false;
        *is_here = length > 0 && size > 0;
        *out = (serve_range){.first = length < size ? size - length : 0, .last = size - 1};
        return true;
    }
    if (!read_number(text, &first) || **text != '-') return false;
    ++*text;
    if (**text >= '0' && **text <= '9' && (!read_number(text, &last) || last < first)) return false;
    *is_here = first < size;
    *out = (serve_range){.first = first, .last = last < size ? last : size - 1};
    return true;
}

/* Join the last range with those that it overlaps or touches; these then may reach others. */
static void join(serve_range *range, size_t *n) {
    for (size_t i = 0; i + 1 < *n;) {
        serve_range *one = range + i, *last = range + *n - 1;
        if (last->first > one->last + 1 || one->first > last->last + 1) {
            i++;
            continue;
        }
        if (last->first < one->first) one->first = last->first;
        if (last->last > one->last) one->last = last->last;
        const serve_range joined = *one;
        memmove(one, one + 1, (size_t)(last - one) * sizeof *one);
        range[--*n - 1] = joined;
        i = 0;
    }
}

serve_ranges serve_ranges_read(const char *text, uint64_t size, size_t most, serve_range *range,
                               size_t *n) {
    size_t asked = 0;
    *n = 0;
    if (strncasecmp(text, "bytes=", 6) != 0) return SERVE_RANGES_IGNORED;
    for (text = skip_blanks(text + 6);; text = skip_blanks(text + 1)) {
        serve_range one;
        bool is_here = false;
        if (*text == ',') continue; /* empty elements of a list are legal */
        if (*text == '\0') break;
        if (!read_one(&text, size, &one, &is_here)) return SERVE_RANGES_IGNORED;
        text = skip_blanks(text);
        if (*text != ',' && *text != '\0') return SERVE_RANGES_IGNORED;
        if (++asked > most) return SERVE_RANGES_TOO_MANY;
        if (is_here) {
            range[(*n)++] = one;
            join(range, n);
        }
        if (*text == '\0') break;
    }
    if (!asked) return SERVE_RANGES_IGNORED;
    return *n ? SERVE_RANGES_HERE : SERVE_RANGES_OUTSIDE;
}
