/* image_names.c -- see image_names.h. A hash table holds each image under its name and under its
 * name without the end; names themselves stay in the container. */
#include "serve/content/image_names.h"
#include "serve/content/text.h"
#include "serve/request/target.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 256 };

struct serve_image_names {
    const taper_container *container;
    uint64_t count, slots; /* slots: a power of two */
    uint32_t *slot;        /* [slots]: 1 + image; 0: empty */
};

static uint64_t hash_of(const char *name, size_t n) {
    const uint64_t hash = serve_hash(SERVE_HASH_BEGIN, name, n);
    return hash ^ hash >> 29; /* the table uses the low bits */
}

/* The length of a name without what follows its last dot. */
static size_t stem_of(const char *name) {
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    const char *first = slash ? slash + 1 : name;
    return dot && dot > first ? (size_t)(dot - name) : strlen(name);
}

static const char *name_of(const serve_image_names *names, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    return taper_container_get_image(names->container, i, &info, NULL) == TAPER_OK ? info.name
                                                                                   : NULL;
}

/* Images of equal names lie behind each other. Of very many only the first can be found, so that
 * a hostile container takes no more time, neither here nor in look_up. */
static void add(serve_image_names *names, uint64_t i, const char *name, size_t n) {
    uint64_t at = hash_of(name, n) & (names->slots - 1);
    for (int tries = 0; names->slot[at]; tries++) {
        if (tries == MOST_TRIES) return;
        at = (at + 1) & (names->slots - 1);
    }
    names->slot[at] = (uint32_t)(i + 1);
}

serve_image_names *serve_image_names_make(const taper_container *container) {
    taper_container_info info = {.size = sizeof info};
    serve_image_names *names = calloc(1, sizeof *names);
    if (!names || taper_container_get_info(container, &info, NULL) != TAPER_OK)
        return free(names), NULL;
    names->container = container;
    names->count = info.images + info.further_names;
    if (!info.has_names || names->count >= UINT32_MAX / 8) return names;
    for (names->slots = 16; names->slots < 3 * names->count;) names->slots *= 2;
    names->slot = calloc((size_t)names->slots, sizeof *names->slot);
    if (!names->slot) return free(names), NULL;
    for (uint64_t i = 0; i < names->count; i++) {
        const char *name = name_of(names, i);
        if (!name) continue;
        const size_t n = strlen(name), stem = stem_of(name);
        add(names, i, name, n);
        if (stem < n) add(names, i, name, stem);
    }
    return names;
}

void serve_image_names_free(serve_image_names *names) {
    if (names) free(names->slot);
    free(names);
}

uint64_t serve_image_names_memory(const serve_image_names *names) {
    return sizeof *names + names->slots * sizeof *names->slot;
}

/* The first image whose name, or stem, is asked[n]. */
static uint64_t look_up(const serve_image_names *names, const char *asked, size_t n, bool is_stem) {
    uint64_t found = UINT64_MAX;
    if (!names->slots) return found;
    uint64_t at = hash_of(asked, n) & (names->slots - 1);
    for (int tries = 0; names->slot[at] && tries <= MOST_TRIES;
         tries++, at = (at + 1) & (names->slots - 1)) {
        const uint64_t i = names->slot[at] - 1;
        const char *name = i < found ? name_of(names, i) : NULL;
        if (!name) continue;
        const size_t length = is_stem ? stem_of(name) : strlen(name);
        if (length == n && !memcmp(name, asked, n)) found = i;
    }
    return found;
}

static uint64_t by_name(const serve_image_names *names, const char *asked, size_t n) {
    const uint64_t found = look_up(names, asked, n, false);
    return found != UINT64_MAX ? found : look_up(names, asked, n, true);
}

static uint64_t by_number(const serve_image_names *names, const char *asked, size_t n) {
    uint64_t number = 0;
    if (!n || n > 12) return UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        if (asked[i] < '0' || asked[i] > '9') return UINT64_MAX;
        number = 10 * number + (uint64_t)(asked[i] - '0');
    }
    return number && number <= names->count ? number - 1 : UINT64_MAX;
}

uint64_t serve_image_find(const serve_image_names *names, const char *asked) {
    const size_t n = strlen(asked);
    const uint64_t found = by_name(names, asked, n);
    return found != UINT64_MAX ? found : by_number(names, asked, n);
}

uint64_t serve_image_find_picture(const serve_image_names *names, const char *asked) {
    const size_t stem = stem_of(asked);
    uint64_t found = look_up(names, asked, strlen(asked), false);
    if (found == UINT64_MAX) found = by_name(names, asked, stem);
    return found != UINT64_MAX ? found : by_number(names, asked, stem);
}
