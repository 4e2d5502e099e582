/* query.c -- see query.h. */
#include "serve/request/query.h"
#include <stddef.h>
#include <string.h>

/* text[n] as a decimal number of at most 18 digits. */
static bool number_of(const char *text, size_t n, uint64_t *out) {
    if (!n || n > 18) return false;
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        *out = *out * 10 + (uint64_t)(text[i] - '0');
    }
    return true;
}

static bool number_within(const char *text, size_t n, uint32_t most, uint32_t *out) {
    uint64_t value;
    if (!number_of(text, n, &value) || value < 1 || value > most) return false;
    *out = (uint32_t)value;
    return true;
}

static bool size_of(const char *text, size_t n, uint64_t *out) {
    static const char units[] = "KMG";
    const char *unit = n && text[n - 1] ? strchr(units, text[n - 1]) : NULL;
    if (!number_of(text, unit ? n - 1 : n, out) || !*out) return false;
    if (!unit) return true;
    const unsigned shift = 10 * (unsigned)(unit - units + 1);
    if (*out > UINT64_MAX >> 1 >> shift) return false;
    *out <<= shift;
    return true;
}

static bool scale_of(const char *text, size_t n, uint32_t *out) {
    if (n < 3 || text[0] != '1' || text[1] != '/') return false;
    return number_within(text + 2, n - 2, 16, out) && !(*out & (*out - 1));
}

static bool is(const char *text, size_t n, const char *name) {
    return strlen(name) == n && !memcmp(text, name, n);
}

/* One name=value, of which the name is key[n] and the value text[length]. */
static const char *read_one(const char *key, size_t n, const char *text, size_t length,
                            serve_query *out) {
    if (is(key, n, "bytes"))
        return size_of(text, length, &out->bytes) ? NULL : "bytes=N: a size from 1, such as 64K";
    if (is(key, n, "width"))
        return number_within(text, length, SERVE_MOST_SIDE, &out->width)
                   ? NULL
                   : "width=N: 1 to 65500 pixels";
    if (is(key, n, "height"))
        return number_within(text, length, SERVE_MOST_SIDE, &out->height)
                   ? NULL
                   : "height=N: 1 to 65500 pixels";
    if (is(key, n, "scale"))
        return scale_of(text, length, &out->scale) ? NULL : "scale=1/N: 1/1, 1/2, 1/4, 1/8, 1/16";
    if (is(key, n, "quality"))
        return number_within(text, length, 100, &out->quality) ? NULL : "quality=N: 1 to 100";
    if (is(key, n, "from"))
        return number_of(text, length, &out->from) && out->from ? NULL : "from=N: a number from 1";
    if (is(key, n, "count"))
        return number_of(text, length, &out->count) && out->count ? NULL
                                                                  : "count=N: a number from 1";
    return NULL;
}

const char *serve_query_read(const char *text, serve_query *out) {
    *out = (serve_query){0};
    while (text && *text) {
        const size_t length = strcspn(text, "&");
        const char *equals = memchr(text, '=', length);
        const size_t n = equals ? (size_t)(equals - text) : length;
        const char *value = equals ? equals + 1 : text + length;
        const char *wrong = read_one(text, n, value, (size_t)(text + length - value), out);
        if (wrong) return wrong;
        text += length + (text[length] == '&');
    }
    return NULL;
}
