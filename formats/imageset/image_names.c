/* image_names.c -- unique names, by a hash table; see image_names.h. */
#include "formats/imageset/image_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct given_name {
    const char *name; /* NULL: a free slot */
    unsigned number;  /* next suffix for formats_image_names_next to try */
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

void formats_image_names_free(formats_image_names *names) {
    if (!names) return;
    free(names->slots);
    free(names);
}

/* The lower case of a letter below U+0800; it has the same length in UTF-8. */
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

/* Write the letter at s in lower case to `to`; returns its length, 1 or 2 bytes. */
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

/* FNV-1a with a final mix, because the table uses the low bits. */
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

/* 1 if a path is absolute or has a part "..". */
static int is_unsafe(const char *path) {
    if (path[0] == '/') return 1;
    for (const char *part = path; part; part = strchr(part, '/')) {
        if (*part == '/') part++;
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0')) return 1;
    }
    return 0;
}

/* Copy a path without its empty and "." parts. to: [strlen(path) + 1]. Returns the length. */
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

/* --- names of files --------------------------------------------------------------------- */

size_t formats_image_stem(const char *name) {
    static const char *const suffixes[] = {".png",  ".pnm",  ".pbm",  ".pgm",  ".ppm",  ".pam",
                                           ".jpg",  ".jpe",  ".jpeg", ".jfif", ".webp", ".tif",
                                           ".tiff", ".gif",  ".bmp",  ".dib",  ".avif", ".avifs",
                                           ".heic", ".heif", ".hif",  ".jxl"};
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t m = strlen(suffixes[i]);
        if (n > m && name[n - m - 1] != '/' && strcasecmp(name + n - m, suffixes[i]) == 0)
            return n - m;
    }
    return n;
}

char *formats_image_name(const char *relative) {
    const char *last = strrchr(relative, '/');
    if (is_unsafe(relative) && last) relative = last + 1;
    size_t room = strlen(relative) + sizeof "image";
    char *name = malloc(room);
    if (name && (copy_parts(name, relative) == 0 || strcmp(name, "..") == 0))
        snprintf(name, room, "image");
    return name;
}

/* The slot of a name, or the free slot where it belongs; NULL without memory. */
static given_name *slot_of(formats_image_names *names, const char *name) {
    if (names->count * 2 >= names->capacity && !grow(names)) return NULL;
    return find(names, name);
}

static void take(formats_image_names *names, given_name *slot, const char *name) {
    *slot = (given_name){.name = name};
    names->count++;
}

unsigned *formats_image_names_number(formats_image_names *names, const char *name) {
    given_name *slot = slot_of(names, name);
    if (slot && !slot->name) take(names, slot, name);
    return slot ? &slot->number : NULL;
}

char *formats_image_names_next(formats_image_names *names, char *name) {
    given_name *wanted = name ? slot_of(names, name) : NULL, *slot = wanted;
    if (wanted && wanted->name) {
        const size_t n = formats_image_stem(name), room = strlen(name) + sizeof "-4294967295";
        char *other = malloc(room);
        if (wanted->number < 2) wanted->number = 2;
        while (other && slot->name) {
            snprintf(other, room, "%.*s-%u%s", (int)n, name, wanted->number++, name + n);
            slot = find(names, other);
        }
        free(name);
        name = other;
    }
    if (name && slot) take(names, slot, name);
    if (slot) return name;
    free(name);
    return NULL;
}

/* Naming of files. */
typedef struct file_naming {
    char **name; /* [n] stored names, which are replaced by names of files */
    size_t n;
    const char *const *suffixes; /* NULL-terminated */
    uint8_t *named;              /* [n] 1: has its final name */
    char **short_name;           /* [n] the name with another suffix, for names that must change */
    formats_image_names *given;  /* the names of files that are taken */
    formats_image_names *wanted; /* short names, and how many images ask for each */
} file_naming;

/* The first `length` bytes of the name, and the first suffix; NULL without memory. */
static char *with_suffix(const file_naming *f, const char *name, size_t length) {
    const size_t room = length + strlen(f->suffixes[0]) + 1;
    char *text = malloc(room);
    if (text) snprintf(text, room, "%.*s%s", (int)length, name, f->suffixes[0]);
    return text;
}

static int ends_as_files_do(const file_naming *f, const char *name) {
    const size_t n = strlen(name);
    for (const char *const *suffix = f->suffixes; *suffix; suffix++) {
        const size_t m = strlen(*suffix);
        if (n > m && name[n - m - 1] != '/' && !strcasecmp(name + n - m, *suffix)) return 1;
    }
    return 0;
}

/* Keep names that have a suffix of these; make the short name that each of the others asks for. */
static taper_status keep_names(file_naming *f) {
    for (size_t i = 0; i < f->n; i++) {
        const int is_kept = ends_as_files_do(f, f->name[i]);
        if (!is_kept) f->short_name[i] = with_suffix(f, f->name[i], formats_image_stem(f->name[i]));
        const char *name = is_kept ? f->name[i] : f->short_name[i];
        unsigned *number =
            name ? formats_image_names_number(is_kept ? f->given : f->wanted, name) : NULL;
        if (!number) return TAPER_ERR_NOMEM;
        f->named[i] = is_kept && !*number;
        *number = is_kept ? 1 : *number + 1;
    }
    return TAPER_OK;
}

/* Give short names that no other image has or asks for. */
static taper_status give_short_names(file_naming *f, uint8_t *change) {
    for (size_t i = 0; i < f->n; i++) {
        if (!f->short_name[i] || find(f->wanted, f->short_name[i])->number > 1) continue;
        given_name *slot = slot_of(f->given, f->short_name[i]);
        if (!slot) return TAPER_ERR_NOMEM;
        if (slot->name) continue;
        take(f->given, slot, f->short_name[i]);
        free(f->name[i]);
        f->name[i] = f->short_name[i];
        f->named[i] = 1, change[i] = FORMATS_NAME_SUFFIX;
    }
    return TAPER_OK;
}

/* The rest clash: append the suffix to the full name; a number, if that clashes too. */
static taper_status resolve_clashes(file_naming *f, uint8_t *change) {
    for (size_t i = 0; i < f->n; i++) {
        if (f->named[i]) continue;
        char *wanted =
            f->short_name[i] ? with_suffix(f, f->name[i], strlen(f->name[i])) : f->name[i];
        if (f->short_name[i]) free(f->name[i]);
        f->name[i] = formats_image_names_next(f->given, wanted);
        if (!f->name[i]) return TAPER_ERR_NOMEM;
        change[i] = FORMATS_NAME_CLASH;
    }
    return TAPER_OK;
}

taper_status formats_image_names_of_files(char **name, size_t n, const char *const *suffixes,
                                          int folding, uint8_t *change) {
    file_naming f = {.name = name,
                     .n = n,
                     .suffixes = suffixes,
                     .named = calloc(n + 1, 1),
                     .short_name = calloc(n + 1, sizeof *f.short_name),
                     .given = formats_image_names_make(),
                     .wanted = formats_image_names_make()};
    taper_status status = TAPER_ERR_NOMEM;
    memset(change, FORMATS_NAME_KEPT, n);
    if (f.named && f.short_name && f.given && f.wanted) {
        f.given->folding = f.wanted->folding = folding;
        status = keep_names(&f);
        if (status == TAPER_OK) status = give_short_names(&f, change);
        if (status == TAPER_OK) status = resolve_clashes(&f, change);
    }
    formats_image_names_free(f.given), formats_image_names_free(f.wanted);
    for (size_t i = 0; f.short_name && i < n; i++)
        if (f.short_name[i] != name[i]) free(f.short_name[i]);
    free(f.short_name), free(f.named);
    return status;
}
