/* blob_cache.h -- bytes that several requests share, and a cache of them. */
#ifndef SERVE_CONTENT_BLOB_CACHE_H
#define SERVE_CONTENT_BLOB_CACHE_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct serve_blob {
    atomic_uint users;
    size_t size;
    uint8_t *bytes;
} serve_blob;

/* Takes bytes[n], which were malloc'd, also on failure. NULL: no memory. */
serve_blob *serve_blob_new(uint8_t *bytes, size_t n);
void serve_blob_hold(serve_blob *blob);
void serve_blob_release(serve_blob *blob); /* NULL is fine */

typedef struct serve_blob_cache serve_blob_cache;
/* most: bytes of all blobs that are kept, those with their keys; 0: none is kept. NULL: no memory.
 */
serve_blob_cache *serve_blob_cache_open(uint64_t most);
void serve_blob_cache_close(serve_blob_cache *cache); /* NULL is fine */
/* The blob of a key, to be released; NULL: it is not there. */
serve_blob *serve_blob_cache_get(serve_blob_cache *cache, const char *key);
/* Keep a blob; those that were not used for longest go. Without memory nothing is kept. */
void serve_blob_cache_put(serve_blob_cache *cache, const char *key, serve_blob *blob);

#endif
