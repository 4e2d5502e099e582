/* name_escape.c -- see name_escape.h. */
#include "formats/name_escape.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_escaped(unsigned c) { return (c && c < 0x20) || c == 0x7F || c == '\\'; }

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int formats_name_escaped(const char *text) {
    if (text[1] != 'x' || digit(text[2]) < 0 || digit(text[3]) < 0) return 0;
    const int c = 16 * digit(text[2]) + digit(text[3]);
    return is_escaped((unsigned)c) ? c : 0;
}

char *formats_name_escape(const char *name) {
    char *text = malloc(4 * strlen(name) + 1), *to = text;
    for (; text && *name; name++) {
        if (is_escaped((unsigned char)*name))
            to += snprintf(to, 5, "\\x%02x", (unsigned)(unsigned char)*name);
        else
            *to++ = *name;
    }
    if (text) *to = 0;
    return text;
}

char *formats_name_unescape(const char *text) {
    char *name = malloc(strlen(text) + 1), *to = name;
    while (name && *text) {
        const int c = *text == '\\' ? formats_name_escaped(text) : 0;
        *to++ = c ? (char)c : *text;
        text += c ? 4 : 1;
    }
    if (name) *to = 0;
    return name;
}

/* Is a part of a path empty, "." or ".."? */
static int is_no_name(const char *part, size_t n) {
    return n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.');
}

/* The bytes that a name cannot hold, that end a part of it, or that need a look: 1; others: 0. */
static const uint8_t is_special[256] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,         1,          1,          1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ['/'] = 1, ['\\'] = 1, [0x7F] = 1,
};

/* One pass over the bytes: an index of a million images checks all its names when it is opened. */
int formats_name_is_legal(const char *name) {
    const char *part = name, *c = name;
    for (;; c++) {
        while (!is_special[(unsigned char)*c]) c++;
        if (*c == '/' || !*c) {
            if (is_no_name(part, (size_t)(c - part))) return 0;
            if (!*c) return c - name <= 4095;
            part = c + 1;
        } else if (*c != '\\' || !formats_name_escaped(c)) {
            return 0;
        }
    }
}
