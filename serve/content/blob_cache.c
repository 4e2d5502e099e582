/* blob_cache.c -- see blob_cache.h. */
#include "serve/content/blob_cache.h"
#include "serve/content/text.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

typedef struct entry {
    struct entry *newer, *older, *next; /* next: of the bucket */
    serve_blob *blob;
    uint64_t hash, charge;
    char key[];
} entry;

struct serve_blob_cache {
    uint64_t most, used;
    entry *newest, *oldest, *bucket[BUCKETS];
    pthread_mutex_t lock;
};

serve_blob *serve_blob_new(uint8_t *bytes, size_t n) {
    serve_blob *blob = malloc(sizeof *blob);
    if (!blob) {
        free(bytes);
        return NULL;
    }
    atomic_init(&blob->users, 1);
    blob->bytes = bytes, blob->size = n;
    return blob;
}

void serve_blob_hold(serve_blob *blob) { atomic_fetch_add(&blob->users, 1); }

void serve_blob_release(serve_blob *blob) {
    if (!blob || atomic_fetch_sub(&blob->users, 1) != 1) return;
    free(blob->bytes);
    free(blob);
}

serve_blob_cache *serve_blob_cache_open(uint64_t most) {
    serve_blob_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    cache->most = most;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

static uint64_t hash_of(const char *key) { return serve_hash(SERVE_HASH_BEGIN, key, strlen(key)); }

static void unlink_entry(serve_blob_cache *cache, entry *e) {
    *(e->newer ? &e->newer->older : &cache->newest) = e->older;
    *(e->older ? &e->older->newer : &cache->oldest) = e->newer;
}

static void link_newest(serve_blob_cache *cache, entry *e) {
    e->newer = NULL, e->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = e;
    cache->newest = e;
}

static void drop(serve_blob_cache *cache, entry *e) {
    entry **at = &cache->bucket[e->hash % BUCKETS];
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    unlink_entry(cache, e);
    cache->used -= e->charge;
    serve_blob_release(e->blob);
    free(e);
}

void serve_blob_cache_close(serve_blob_cache *cache) {
    if (!cache) return;
    while (cache->oldest) drop(cache, cache->oldest);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static entry *find(const serve_blob_cache *cache, const char *key, uint64_t hash) {
    entry *e = cache->bucket[hash % BUCKETS];
    while (e && (e->hash != hash || strcmp(e->key, key) != 0)) e = e->next;
    return e;
}

serve_blob *serve_blob_cache_get(serve_blob_cache *cache, const char *key) {
    serve_blob *blob = NULL;
    pthread_mutex_lock(&cache->lock);
    entry *e = find(cache, key, hash_of(key));
    if (e) {
        unlink_entry(cache, e);
        link_newest(cache, e);
        serve_blob_hold(blob = e->blob);
    }
    pthread_mutex_unlock(&cache->lock);
    return blob;
}

void serve_blob_cache_put(serve_blob_cache *cache, const char *key, serve_blob *blob) {
    const size_t n = strlen(key) + 1;
    const uint64_t charge = blob->size + n + sizeof(entry) + sizeof *blob;
    const uint64_t hash = hash_of(key);
    entry *e = charge <= cache->most ? malloc(sizeof *e + n) : NULL;
    if (!e) return;
    *e = (entry){.blob = blob, .hash = hash, .charge = charge};
    memcpy(e->key, key, n);
    serve_blob_hold(blob);
    pthread_mutex_lock(&cache->lock);
    entry *before = find(cache, key, hash);
    if (before) drop(cache, before);
    while (cache->oldest && cache->used + charge > cache->most) drop(cache, cache->oldest);
    e->next = cache->bucket[hash % BUCKETS];
    cache->bucket[hash % BUCKETS] = e;
    link_newest(cache, e);
    cache->used += charge;
    pthread_mutex_unlock(&cache->lock);
}
