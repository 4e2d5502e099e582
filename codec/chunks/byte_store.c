/* byte_store.c -- see byte_store.h. */
#include "codec/chunks/byte_store.h"
#include <stdlib.h>
#include <string.h>

static uint64_t end_of(const codec_byte_piece *p) { return p->at + p->size; }

/* --- the tree --------------------------------------------------------------------------- */

/* The first piece that ends at or after `at`, or NULL. */
static codec_byte_piece *first_to(const codec_byte_store *s, uint64_t at) {
    codec_byte_piece *found = NULL, *p = s->root;
    while (p)
        if (end_of(p) < at)
            p = p->right;
        else
            found = p, p = p->left;
    return found;
}

/* The piece that contains the byte `at`, or else the first piece after it, or NULL. */
static codec_byte_piece *first_from(const codec_byte_store *s, uint64_t at) {
    codec_byte_piece *found = NULL, *p = s->root;
    while (p)
        if (end_of(p) <= at)
            p = p->right;
        else
            found = p, p = p->left;
    return found;
}

static codec_byte_piece *last_of(const codec_byte_store *s) {
    codec_byte_piece *p = s->root;
    while (p && p->right) p = p->right;
    return p;
}

/* Split a tree into the pieces that begin before `at`, and the others. */
static void split(codec_byte_piece *tree, uint64_t at, codec_byte_piece **before,
                  codec_byte_piece **behind) {
    while (tree)
        if (tree->at < at) {
            *before = tree;
            before = &tree->right;
            tree = tree->right;
        } else {
            *behind = tree;
            behind = &tree->left;
            tree = tree->left;
        }
    *before = *behind = NULL;
}

/* Join two trees; all pieces of the first are before all of the second. */
static codec_byte_piece *join(codec_byte_piece *before, codec_byte_piece *behind) {
    codec_byte_piece *joined, **to = &joined;
    while (before && behind)
        if (before->priority >= behind->priority) {
            *to = before;
            to = &before->right;
            before = before->right;
        } else {
            *to = behind;
            to = &behind->left;
            behind = behind->left;
        }
    *to = before ? before : behind;
    return joined;
}

/* The link to the piece that begins at `at`, or else where a piece of this priority is inserted. */
static codec_byte_piece **place_of(codec_byte_store *s, uint64_t at, uint64_t priority) {
    codec_byte_piece **link = &s->root;
    while (*link && (*link)->at != at && (*link)->priority >= priority)
        link = at < (*link)->at ? &(*link)->left : &(*link)->right;
    return link;
}

/* A pseudo-random number, the same in every run (splitmix64). */
static uint64_t priority_of(uint64_t at) {
    at = (at + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    at = (at ^ at >> 27) * 0x94d049bb133111ebu;
    return at ^ at >> 31;
}

static void remove_piece(codec_byte_store *s, codec_byte_piece *p) {
    *place_of(s, p->at, 0) = join(p->left, p->right);
    s->n--;
    formats_account_give(s->account, sizeof *p + p->capacity);
    free(p->memory);
    free(p);
}

void codec_byte_store_free(codec_byte_store *s) {
    while (s->root) remove_piece(s, s->root);
}

/* --- storing ---------------------------------------------------------------------------- */

/* Insert a piece of n bytes where nothing is stored. */
static taper_status insert(codec_byte_store *s, uint64_t at, const void *bytes, size_t n) {
    TAPER_TRY(formats_account_take(s->account, sizeof(codec_byte_piece) + (uint64_t)n));
    codec_byte_piece *p = malloc(sizeof *p);
    uint8_t *memory = malloc(n);
    if (!p || !memory) {
        formats_account_give(s->account, sizeof *p + (uint64_t)n);
        free(p);
        free(memory);
        return TAPER_ERR_NOMEM;
    }
    *p = (codec_byte_piece){
        .at = at, .memory = memory, .size = n, .capacity = n, .priority = priority_of(at)};
    memcpy(memory, bytes, n);
    codec_byte_piece **link = place_of(s, at, p->priority);
    split(*link, at, &p->left, &p->right);
    *link = p;
    s->n++;
    return TAPER_OK;
}

/* Reallocate a piece to this capacity, with its bytes at `from`. */
static taper_status move(codec_byte_store *s, codec_byte_piece *p, size_t from, size_t capacity) {
    const size_t more = capacity > p->capacity ? capacity - p->capacity : 0;
    TAPER_TRY(formats_account_take(s->account, more));
    uint8_t *memory = malloc(capacity);
    if (!memory) {
        formats_account_give(s->account, more);
        return TAPER_ERR_NOMEM;
    }
    memcpy(memory + from, p->memory + p->from, p->size);
    if (capacity < p->capacity) formats_account_give(s->account, p->capacity - capacity);
    free(p->memory);
    p->memory = memory, p->from = from, p->capacity = capacity;
    return TAPER_OK;
}

/* Reserve memory for more bytes at both ends. If there is too little, reserve as much again as the
 * piece has, so that it is seldom moved. If that exceeds the limit, reserve just these bytes. */
static taper_status reserve(codec_byte_store *s, codec_byte_piece *p, uint64_t before,
                            uint64_t behind) {
    const size_t free_behind = p->capacity - p->from - p->size;
    if (before + p->size + behind > FORMATS_MOST_BYTES) return TAPER_ERR_LIMIT;
    if (before <= p->from && behind <= free_behind) return TAPER_OK;
    const size_t from = before > p->from ? (size_t)before + p->size : p->from;
    const size_t spare = behind > free_behind ? (size_t)behind + p->size : free_behind;
    const taper_status status = move(s, p, from, from + p->size + spare);
    if (status == TAPER_OK) return status;
    return move(s, p, (size_t)before, (size_t)(before + p->size + behind));
}

/* The largest of the pieces from `first` on that begin at or before `end`. *stop: the end of the
 * last of them, at least `end`. */
static codec_byte_piece *largest_of(const codec_byte_store *s, codec_byte_piece *first,
                                    uint64_t end, uint64_t *stop) {
    codec_byte_piece *largest = first;
    *stop = end;
    for (codec_byte_piece *p = first; p && p->at <= end; p = first_from(s, end_of(p))) {
        if (p->size > largest->size) largest = p;
        if (end_of(p) > *stop) *stop = end_of(p);
    }
    return largest;
}

/* Join these bytes and the pieces from `first` on that touch at .. at + n - 1. Smaller pieces are
 * copied to the largest, so a byte is copied about log n times. */
static taper_status unite(codec_byte_store *s, codec_byte_piece *first, uint64_t at,
                          const void *bytes, size_t n) {
    const uint64_t begin = first->at < at ? first->at : at, end = at + n;
    uint64_t stop;
    codec_byte_piece *to = largest_of(s, first, end, &stop);
    TAPER_TRY(reserve(s, to, to->at - begin, stop - end_of(to)));
    uint8_t *base = to->memory + to->from - (to->at - begin); /* the byte `begin` */
    for (codec_byte_piece *p = first, *next; p && p->at <= end; p = next) {
        next = first_from(s, end_of(p));
        if (p == to) continue;
        memcpy(base + (p->at - begin), p->memory + p->from, p->size);
        remove_piece(s, p);
    }
    to->from = (size_t)(base - to->memory);
    to->at = begin, to->size = (size_t)(stop - begin);
    memcpy(base + (at - begin), bytes, n);
    return TAPER_OK;
}

/* Nonzero if some of the bytes at .. at + n - 1 are stored and different. */
static int differs(const codec_byte_store *s, uint64_t at, const uint8_t *bytes, size_t n) {
    const uint64_t end = at + n;
    while ((at = codec_byte_store_next(s, at)) < end) {
        const uint8_t *there;
        const uint64_t run = codec_byte_store_run(s, at, &there),
                       both = run < end - at ? run : end - at;
        if (memcmp(there, bytes + (n - (end - at)), (size_t)both)) return 1;
        at += both;
    }
    return 0;
}

taper_status codec_byte_store_put(codec_byte_store *s, uint64_t at, const void *bytes, size_t n,
                                  int *changed) {
    const uint8_t *there;
    *changed = 0;
    if (!n || (codec_byte_store_run(s, at, &there) >= n && !memcmp(there, bytes, n)))
        return TAPER_OK;
    const int replaced = differs(s, at, bytes, n);
    codec_byte_piece *first = first_to(s, at);
    if (first && first->at <= at + n)
        TAPER_TRY(unite(s, first, at, bytes, n));
    else
        TAPER_TRY(insert(s, at, bytes, n));
    *changed = 1 + replaced;
    return TAPER_OK;
}

/* --- queries -------------------------------------------------------------------- */

uint64_t codec_byte_store_run(const codec_byte_store *s, uint64_t at, const uint8_t **bytes) {
    const codec_byte_piece *p = first_from(s, at);
    if (!p || p->at > at) return 0;
    if (bytes) *bytes = p->memory + p->from + (at - p->at);
    return end_of(p) - at;
}

uint64_t codec_byte_store_next(const codec_byte_store *s, uint64_t at) {
    const codec_byte_piece *p = first_from(s, at);
    return !p ? UINT64_MAX : p->at > at ? p->at : at;
}

uint64_t codec_byte_store_end(const codec_byte_store *s) {
    const codec_byte_piece *p = last_of(s);
    return p ? end_of(p) : 0;
}

void codec_byte_store_keep(codec_byte_store *s, uint64_t first, uint64_t end) {
    codec_byte_piece *p;
    while ((p = first_from(s, 0)) != NULL && end_of(p) <= first) remove_piece(s, p);
    while ((p = last_of(s)) != NULL && p->at >= end) remove_piece(s, p);
    if (p && end_of(p) > end) p->size = (size_t)(end - p->at);
    p = first_from(s, 0);
    if (!p || p->at >= first) return;
    p->from += (size_t)(first - p->at), p->size -= (size_t)(first - p->at);
    p->at = first;
}

taper_status codec_byte_store_read(void *store, uint64_t at, void *to, size_t n) {
    const uint8_t *from;
    if (!n) return TAPER_OK;
    if (codec_byte_store_run(store, at, &from) < n) return TAPER_ERR_TRUNCATED;
    memcpy(to, from, n);
    return TAPER_OK;
}
