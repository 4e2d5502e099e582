/* page_cache.h -- pages of a file in memory; the least recently used are dropped. Not for several
 * threads at once. */
#ifndef REMOTE_PAGE_CACHE_H
#define REMOTE_PAGE_CACHE_H
#include <stddef.h>
#include <stdint.h>

/* Bytes of a page. Small, as single images are a few kilobytes, and a read fetches whole pages. */
enum { REMOTE_PAGE = 2048 };

typedef struct remote_cache remote_cache;

/* A cache of at most so many pages, from 1. NULL: no memory. Pages take memory when they come. */
remote_cache *remote_cache_new(uint32_t pages);
void remote_cache_free(remote_cache *cache); /* NULL is fine */

/* The bytes of a page, valid until the next remote_cache_add; NULL: it is not here. Counts as a
 * use. */
const uint8_t *remote_cache_find(remote_cache *cache, uint64_t page);
/* Nonzero if the page is here; no use. */
int remote_cache_has(const remote_cache *cache, uint64_t page);
/* Memory of REMOTE_PAGE bytes for a page, to be filled at once: that of a page that is here, or
 * that of the page that was not used for longest. NULL: no memory. */
uint8_t *remote_cache_add(remote_cache *cache, uint64_t page);

#endif
