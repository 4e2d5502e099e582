/* print.c -- see print.h. */
#include "web/libc/print.h"
#include <stdint.h>
#include <string.h>

typedef struct output {
    char *to;
    size_t room, size; /* size: of the text, also where there is no room */
} output;

typedef struct conversion {
    int zeros, longs; /* longs: 0 int, 1 long or size_t, 2 long long */
    size_t width, most;
} conversion;

static void put(output *out, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++, out->size++)
        if (out->size + 1 < out->room) out->to[out->size] = text[i];
}

static void put_padded(output *out, const conversion *c, const char *text, size_t n) {
    const char *pad = c->zeros ? "0" : " ";
    const size_t sign = c->zeros && n && *text == '-';
    put(out, text, sign);
    for (size_t i = n; i < c->width; i++) put(out, pad, 1);
    put(out, text + sign, n - sign);
}

static void put_number(output *out, const conversion *c, uint64_t value, int negative,
                       unsigned base) {
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = "0123456789abcdef"[value % base];
    while (value /= base);
    if (negative) digits[--at] = '-';
    put_padded(out, c, digits + at, sizeof digits - at);
}

static uint64_t take_unsigned(const conversion *c, va_list *args) {
    return c->longs == 2   ? va_arg(*args, unsigned long long)
           : c->longs == 1 ? va_arg(*args, unsigned long)
                           : va_arg(*args, unsigned);
}

static int64_t take_signed(const conversion *c, va_list *args) {
    return c->longs == 2   ? va_arg(*args, long long)
           : c->longs == 1 ? va_arg(*args, long)
                           : va_arg(*args, int);
}

static void put_text(output *out, conversion *c, const char *text) {
    const char *end = memchr(text, 0, c->most);
    c->zeros = 0;
    put_padded(out, c, text, end ? (size_t)(end - text) : c->most);
}

/* Flags, width, precision and size. Returns what follows them. */
static const char *read_conversion(conversion *c, const char *at) {
    *c = (conversion){.most = PTRDIFF_MAX};
    if (*at == '0') c->zeros = 1, at++;
    for (; *at >= '0' && *at <= '9'; at++) c->width = 10 * c->width + (size_t)(*at - '0');
    if (*at == '.')
        for (c->most = 0, at++; *at >= '0' && *at <= '9'; at++)
            c->most = 10 * c->most + (size_t)(*at - '0');
    for (; *at == 'l' || *at == 'z'; at++) c->longs++;
    return at;
}

static int convert(output *out, conversion *c, char kind, va_list *args) {
    int64_t value;
    switch (kind) {
    case 'u': put_number(out, c, take_unsigned(c, args), 0, 10); return 1;
    case 'x': put_number(out, c, take_unsigned(c, args), 0, 16); return 1;
    case 'd':
        value = take_signed(c, args);
        put_number(out, c, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 10);
        return 1;
    case 's': put_text(out, c, va_arg(*args, const char *)); return 1;
    case 'c': put_padded(out, c, &(char){(char)va_arg(*args, int)}, 1); return 1;
    case '%': put_padded(out, c, "%", 1); return 1;
    }
    return 0;
}

int web_vprint(char *to, size_t room, const char *form, va_list args) {
    output out = {to, room, 0};
    conversion c;
    va_list copy;
    va_copy(copy, args);
    for (const char *at = form; *at;) {
        size_t plain = strcspn(at, "%");
        put(&out, at, plain);
        at += plain;
        if (!*at) break;
        const char *end = read_conversion(&c, at + 1);
        if (convert(&out, &c, *end, &copy))
            at = end + 1;
        else
            put(&out, at++, 1);
    }
    va_end(copy);
    if (room) to[out.size < room ? out.size : room - 1] = 0;
    return (int)out.size;
}
