/* image_names.c -- unique names by a hash table of those given; see image_names.h. */
#include "formats/image_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct given_name {
    const char *name; /* NULL: a free slot */
    unsigned next;    /* the number to try when this name is wanted again */
} given_name;

struct formats_image_names {
    given_name *slots;
    int folding;
    size_t count, capacity; /* capacity is a power of 2, at least twice count */
};

formats_image_names *formats_image_names_make(void) {
    formats_image_names *names = calloc(1, sizeof *names);
    if (!names) return NULL;
    names->capacity = 64;
    names->slots = calloc(names->capacity, sizeof *names->slots);
    if (names->slots) return names;
    free(names);
    return NULL;
}

formats_image_names *formats_image_names_make_folding(void) {
    formats_image_names *names = formats_image_names_make();
    if (names) names->folding = 1;
    return names;
}

void formats_image_names_free(formats_image_names *names) {
    if (!names) return;
    free(names->slots);
    free(names);
}

/* The lower case of a letter below U+0800, which takes as many bytes of UTF-8. */
static uint32_t lower_case(uint32_t c) {
    if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7)) return c + 32;
    if ((c >= 0x100 && c <= 0x12F) || (c >= 0x132 && c <= 0x137) || (c >= 0x14A && c <= 0x177))
        return c | 1;
    if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c + (c & 1);
    if (c == 0x178) return 0xFF;
    if (c >= 0x391 && c <= 0x3A9 && c != 0x3A2) return c + 32;
    if (c >= 0x410 && c <= 0x42F) return c + 32;
    if (c >= 0x400 && c <= 0x40F) return c + 80;
    return c;
}

/* The letter at s in lower case, to `to`; its length, 1 or 2 bytes. */
static size_t fold_one(const char *s, uint8_t to[2]) {
    uint32_t first = (uint8_t)s[0], second = first ? (uint8_t)s[1] : 0;
    if (first < 0xC2 || first > 0xDF || (second & 0xC0) != 0x80) {
        to[0] = (uint8_t)(first < 0x80 ? lower_case(first) : first);
        return 1;
    }
    uint32_t code = lower_case((first & 31) << 6 | (second & 63));
    to[0] = (uint8_t)(0xC0 | code >> 6);
    to[1] = (uint8_t)(0x80 | (code & 63));
    return 2;
}

char *formats_fold_case(const char *text) {
    uint8_t *folded = malloc(strlen(text) + 1), *to = folded;
    if (!folded) return NULL;
    for (size_t n; *text; text += n, to += n) n = fold_one(text, to);
    *to = 0;
    return (char *)folded;
}

/* FNV-1a, with a last mix because the table uses the low bits. */
static uint64_t hash_text(const char *text, int folding) {
    uint64_t hash = 0xCBF29CE484222325u;
    uint8_t letter[2];
    for (size_t n = 1; *text; text += n) {
        letter[0] = (uint8_t)*text;
        if (folding) n = fold_one(text, letter);
        for (size_t i = 0; i < n; i++) hash = (hash ^ letter[i]) * 0x100000001B3u;
    }
    return hash ^ hash >> 32;
}

static int same_text(const char *a, const char *b, int folding) {
    if (!folding) return strcmp(a, b) == 0;
    uint8_t x[2] = {0}, y[2] = {0};
    for (size_t n = 1; *a && *b; a += n, b += n) {
        n = fold_one(a, x);
        if (fold_one(b, y) != n || memcmp(x, y, n)) return 0;
    }
    return *a == *b;
}

static given_name *find(const formats_image_names *names, const char *name) {
    size_t slot = (size_t)hash_text(name, names->folding) & (names->capacity - 1);
    while (names->slots[slot].name && !same_text(names->slots[slot].name, name, names->folding))
        slot = (slot + 1) & (names->capacity - 1);
    return &names->slots[slot];
}

static int grow(formats_image_names *names) {
    formats_image_names larger = {
        .folding = names->folding, .count = names->count, .capacity = names->capacity * 2};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return 0;
    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].name) *find(&larger, names->slots[i].name) = names->slots[i];
    free(names->slots);
    *names = larger;
    return 1;
}

/* Is there a ".." among the parts of a path, or does it begin at the root? */
static int is_unsafe(const char *path) {
    if (path[0] == '/') return 1;
    for (const char *part = path; part; part = strchr(part, '/')) {
        if (*part == '/') part++;
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0')) return 1;
    }
    return 0;
}

/* Copy a path without its empty and "." parts. Returns the length; to has room for strlen(path)
 * + 1. */
static size_t copy_parts(char *to, const char *path) {
    size_t n = 0;
    while (*path) {
        size_t part = strcspn(path, "/");
        int empty = part == 0 || (part == 1 && path[0] == '.');
        if (!empty) {
            if (n) to[n++] = '/';
            memcpy(to + n, path, part);
            n += part;
        }
        path += part;
        if (*path == '/') path++;
    }
    to[n] = '\0';
    return n;
}

/* Length of a name without the suffix of an image format, if it has one behind something. */
static size_t stem_length(const char *name, size_t n) {
    static const char *const suffixes[] = {".png", ".pnm", ".pbm", ".pgm",  ".ppm",
                                           ".pam", ".jpg", ".jpe", ".jpeg", ".jfif"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t m = strlen(suffixes[i]);
        if (n > m && name[n - m - 1] != '/' && strcasecmp(name + n - m, suffixes[i]) == 0)
            return n - m;
    }
    return n;
}

char *formats_image_names_next(formats_image_names *names, const char *relative) {
    if (names->count * 2 >= names->capacity && !grow(names)) return NULL;
    const char *last = strrchr(relative, '/');
    if (is_unsafe(relative) && last) relative = last + 1;
    size_t room = strlen(relative) + sizeof "image-4294967295.png";
    char *stem = malloc(room), *name = malloc(room);
    if (!stem || !name) {
        free(stem);
        free(name);
        return NULL;
    }
    size_t n = copy_parts(stem, relative);
    if (n == 0 || strcmp(stem, "..") == 0) n = (size_t)snprintf(stem, room, "image");
    n = stem_length(stem, n);
    snprintf(name, room, "%.*s.png", (int)n, stem);
    given_name *wanted = find(names, name), *slot = wanted;
    if (wanted->name && wanted->next < 2) wanted->next = 2;
    while (slot->name) {
        snprintf(name, room, "%.*s-%u.png", (int)n, stem, wanted->next++);
        slot = find(names, name);
    }
    slot->name = name;
    names->count++;
    free(stem);
    return name;
}
