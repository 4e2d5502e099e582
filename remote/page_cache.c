/* page_cache.c -- see page_cache.h. A hash table of places, which are also a ring by last use. */
#include "remote/page_cache.h"
#include <stdlib.h>

enum { BLOCK = 64 }; /* pages that are allocated together */
#define NONE UINT32_MAX

typedef struct place {
    uint64_t page;
    uint32_t chain;        /* the next place of the same bucket */
    uint32_t newer, older; /* in the ring; the head is place 0's neighbour, see cache */
} place;

struct remote_cache {
    uint32_t most, used, buckets; /* buckets: a power of two */
    uint32_t newest, oldest;
    place *place;     /* [most] */
    uint32_t *bucket; /* [buckets] */
    uint8_t **block;  /* [(most + BLOCK - 1) / BLOCK], NULL until they are needed */
};

remote_cache *remote_cache_new(uint32_t pages) {
    remote_cache *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (remote_cache){.most = pages, .buckets = 1, .newest = NONE, .oldest = NONE};
    while (c->buckets < pages && c->buckets < 1u << 30) c->buckets *= 2;
    c->place = malloc(pages * sizeof *c->place);
    c->bucket = malloc(c->buckets * sizeof *c->bucket);
    c->block = calloc(pages / BLOCK + 1, sizeof *c->block);
    if (!c->place || !c->bucket || !c->block) {
        remote_cache_free(c);
        return NULL;
    }
    for (uint32_t k = 0; k < c->buckets; k++) c->bucket[k] = NONE;
    return c;
}

void remote_cache_free(remote_cache *c) {
    if (!c) return;
    for (uint32_t k = 0; c->block && k < c->most / BLOCK + 1; k++) free(c->block[k]);
    free(c->place), free(c->bucket), free(c->block);
    free(c);
}

static uint32_t *bucket_of(const remote_cache *c, uint64_t page) {
    return &c->bucket[(page * 0x9E3779B97F4A7C15u >> 33) & (c->buckets - 1)];
}

static uint32_t find(const remote_cache *c, uint64_t page) {
    uint32_t k = *bucket_of(c, page);
    while (k != NONE && c->place[k].page != page) k = c->place[k].chain;
    return k;
}

static void leave_ring(remote_cache *c, uint32_t k) {
    const place *p = &c->place[k];
    *(p->newer == NONE ? &c->newest : &c->place[p->newer].older) = p->older;
    *(p->older == NONE ? &c->oldest : &c->place[p->older].newer) = p->newer;
}

static void enter_ring(remote_cache *c, uint32_t k) {
    c->place[k].newer = NONE;
    c->place[k].older = c->newest;
    *(c->newest == NONE ? &c->oldest : &c->place[c->newest].newer) = k;
    c->newest = k;
}

static uint8_t *bytes_of(const remote_cache *c, uint32_t k) {
    return c->block[k / BLOCK] + (size_t)(k % BLOCK) * REMOTE_PAGE;
}

/* A place without a page: a new one, or that of the oldest page. NONE: no memory at all. */
static uint32_t take_place(remote_cache *c) {
    uint32_t k = c->used;
    if (k < c->most && !c->block[k / BLOCK]) c->block[k / BLOCK] = malloc(BLOCK * REMOTE_PAGE);
    if (k < c->most && c->block[k / BLOCK]) {
        c->used++;
        return k;
    }
    k = c->oldest;
    if (k == NONE) return NONE;
    uint32_t *at = bucket_of(c, c->place[k].page);
    while (*at != k) at = &c->place[*at].chain;
    *at = c->place[k].chain;
    leave_ring(c, k);
    return k;
}

const uint8_t *remote_cache_find(remote_cache *c, uint64_t page) {
    const uint32_t k = find(c, page);
    if (k == NONE) return NULL;
    leave_ring(c, k);
    enter_ring(c, k);
    return bytes_of(c, k);
}

int remote_cache_has(const remote_cache *c, uint64_t page) { return find(c, page) != NONE; }

uint8_t *remote_cache_add(remote_cache *c, uint64_t page) {
    uint32_t k = find(c, page);
    if (k != NONE) return bytes_of(c, k);
    k = take_place(c);
    if (k == NONE) return NULL;
    uint32_t *bucket = bucket_of(c, page);
    c->place[k] = (place){.page = page, .chain = *bucket};
    *bucket = k;
    enter_ring(c, k);
    return bytes_of(c, k);
}
