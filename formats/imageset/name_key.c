/* name_key.c -- see name_key.h. */
#include "formats/imageset/name_key.h"
#include "formats/imageset/decompositions.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- UTF-8 ---------------------------------------------------------------------------------- */

/* Read a UTF-8 character of two or three bytes at s, the lengths of characters that decompose.
 * Returns its length; 0 for all others. */
static size_t read_character(const unsigned char *s, uint32_t *code) {
    if (s[0] >= 0xC2 && s[0] < 0xE0 && (s[1] & 0xC0) == 0x80) {
        *code = (s[0] & 31u) << 6 | (s[1] & 63u);
        return 2;
    }
    if ((s[0] & 0xF0) != 0xE0 || (s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80) return 0;
    *code = (s[0] & 15u) << 12 | (s[1] & 63u) << 6 | (s[2] & 63u);
    return *code < 0x800 ? 0 : 3;
}

static size_t write_character(uint32_t code, char *to) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    to[0] = (char)(0xE0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 63));
    to[2] = (char)(0x80 | (code & 63));
    return 3;
}

/* --- decomposition -------------------------------------------------------------------------- */

enum { MOST_PARTS = 4 }; /* parts of a character */

static const formats_decomposition *find_decomposition(uint32_t code) {
    size_t low = 0, high = formats_decomposition_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (formats_decompositions[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    const int is_there =
        low < formats_decomposition_count && formats_decompositions[low].code == code;
    return is_there ? &formats_decompositions[low] : NULL;
}

/* The parts of a character; returns their number. Only the first part of a decomposition can
 * decompose further. */
static size_t take_apart(uint32_t code, uint32_t part[MOST_PARTS]) {
    const uint32_t syllable = code - 0xAC00;
    if (code >= 0xAC00 && syllable < 11172) { /* Hangul is computed */
        part[0] = 0x1100 + syllable / 588;
        part[1] = 0x1161 + syllable % 588 / 28;
        part[2] = 0x11A7 + syllable % 28;
        return syllable % 28 ? 3 : 2;
    }
    uint32_t behind[MOST_PARTS];
    size_t n = 0, parts = 0;
    for (const formats_decomposition *d; n < MOST_PARTS && (d = find_decomposition(code));) {
        if (d->second) behind[n++] = d->second;
        code = d->first;
    }
    part[parts++] = code;
    while (n && parts < MOST_PARTS) part[parts++] = behind[--n];
    return parts;
}

static unsigned mark_class(uint32_t code) {
    size_t low = 0, high = formats_mark_class_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (formats_mark_classes[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    const int is_mark = low < formats_mark_class_count && formats_mark_classes[low].first <= code;
    return is_mark ? formats_mark_classes[low].mark_class : 0;
}

/* Sort consecutive marks by combining class. */
enum { MOST_MARKS = 32 };

typedef struct mark_run {
    uint32_t code[MOST_MARKS];
    size_t n;
    char *to; /* the end of the key so far */
} mark_run;

static void end_run(mark_run *run) {
    for (size_t i = 0; i < run->n; i++) run->to += write_character(run->code[i], run->to);
    run->n = 0;
}

static void put_character(mark_run *run, uint32_t code) {
    const unsigned class = mark_class(code);
    if (!class || run->n == MOST_MARKS) end_run(run);
    size_t at = run->n++;
    for (; class && at && mark_class(run->code[at - 1]) > class; at--)
        run->code[at] = run->code[at - 1];
    run->code[at] = code;
}

/* Decompose all characters. to: three times the bytes of the text, the most that is needed. */
static void decompose(const char *text, char *to) {
    mark_run run = {.to = to};
    uint32_t code, part[MOST_PARTS];
    for (size_t n; *text; text += n) {
        n = read_character((const unsigned char *)text, &code);
        if (!n) {
            end_run(&run);
            *run.to++ = *text;
            n = 1;
            continue;
        }
        const size_t parts = take_apart(code, part);
        for (size_t i = 0; i < parts; i++) put_character(&run, part[i]);
    }
    end_run(&run);
    *run.to = 0;
}

/* --- paths ---------------------------------------------------------------------------------- */

/* Remove empty parts and "." in place. */
static void drop_parts(char *path) {
    char *to = path;
    for (const char *part = path; *part;) {
        const size_t n = strcspn(part, "/");
        const int is_said = n && !(n == 1 && *part == '.');
        const char *next = part + n + (part[n] == '/');
        if (is_said && to != path) *to++ = '/';
        if (is_said) memmove(to, part, n), to += n;
        part = next;
    }
    *to = 0;
}

char *formats_name_plain(const char *name) {
    char *plain = strdup(name);
    if (plain) drop_parts(plain);
    return plain;
}

char *formats_name_key(const char *name) {
    char *key = malloc(3 * strlen(name) + 1);
    if (!key) return NULL;
    decompose(name, key);
    drop_parts(key);
    return key;
}

/* --- names that look alike ------------------------------------------------------------------ */

static void show_bytes(const char *name, int is_part, char to[FORMATS_NAME_SHOWN]) {
    size_t used = (size_t)snprintf(to, FORMATS_NAME_SHOWN, "%s", is_part ? "..." : "");
    for (; *name && used + 5 <= FORMATS_NAME_SHOWN; name++) {
        const unsigned c = (unsigned char)*name;
        const char *form = c < 0x20 || c >= 0x7F ? "\\x%02x" : "%c";
        used += (size_t)snprintf(to + used, FORMATS_NAME_SHOWN - used, form, c);
    }
}

void formats_names_show(const char *a, const char *b, char shown[2][FORMATS_NAME_SHOWN]) {
    enum { BEFORE = 8 }; /* bytes before the difference, which help to find it */
    size_t at = 0;
    while (a[at] && a[at] == b[at]) at++;
    size_t from = at;
    while (from && a[from - 1] != '/' && at - from < BEFORE) from--;
    const int is_part = from && a[from - 1] != '/';
    show_bytes(a + from, is_part, shown[0]);
    show_bytes(b + from, is_part, shown[1]);
}
