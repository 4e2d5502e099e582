/* semantic_hash.c -- see semantic_hash.h. */
#include "bench/retrieval/semantic_hash.h"
#include "bench/figures/figures.h"
#include "train/sampling/philox.h"
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const retrieval_hash *hash, const uint64_t *code) {
    uint64_t sum = 0;
    for (size_t b = 0; b < hash->bits; b++)
        sum ^= hash->turn[b] & (0 - (code[b / 64] >> (63 - b % 64) & 1));
    return sum;
}

/* The place of a hash: its run, or an empty one. */
static retrieval_hash_run *place_of(const retrieval_hash *hash, uint64_t of) {
    uint64_t at = of & hash->mask;
    while (hash->run[at].size && hash->run[at].hash != of) at = (at + 1) & hash->mask;
    return &hash->run[at];
}

void retrieval_hash_make(retrieval_hash *hash, const taper_index *index) {
    uint64_t code[FORMATS_INDEX_MOST_BITS / 64];
    const size_t n = index->order.n;
    *hash = (retrieval_hash){.bits = index->file.header.bits, .words = index->order.words};
    hash->turn = figures_memory(hash->bits, sizeof *hash->turn);
    for (size_t b = 0; b < hash->bits; b++) {
        uint32_t word[4];
        train_philox(1, b, 0, word);
        hash->turn[b] = (uint64_t)word[0] << 32 | word[1];
    }
    for (hash->mask = 1; hash->mask < 2 * n; hash->mask *= 2) continue;
    hash->run = figures_memory(hash->mask--, sizeof *hash->run);
    for (size_t at = 0; at < n; at++) {
        codec_index_code(&index->order, at, code);
        const uint64_t of = hash_of(hash, code);
        retrieval_hash_run *run = place_of(hash, of);
        if (!run->size) *run = (retrieval_hash_run){.hash = of, .first = (uint32_t)at};
        run->size++;
    }
}

void retrieval_hash_free(retrieval_hash *hash) { free(hash->turn), free(hash->run); }

double retrieval_hash_ball(size_t bits, size_t radius) {
    double all = 1, of_radius = 1;
    for (size_t r = 1; r <= radius && r <= bits; r++)
        all += of_radius *= (double)(bits - r + 1) / (double)r;
    return all;
}

typedef struct hash_search {
    const retrieval_hash *hash;
    retrieval_hash_run *run;
    size_t most, runs, looked_at;
} hash_search;

/* The code with this hash, and those in which up to `radius` bits from `bit` on are turned. */
static void search_from(hash_search *s, uint64_t of, size_t bit, size_t radius) {
    const retrieval_hash_run *run = place_of(s->hash, of);
    s->looked_at++;
    if (run->size && s->runs < s->most) s->run[s->runs++] = *run;
    for (; radius && bit < s->hash->bits; bit++)
        search_from(s, of ^ s->hash->turn[bit], bit + 1, radius - 1);
}

size_t retrieval_hash_search(const retrieval_hash *hash, const uint64_t *query, size_t radius,
                             retrieval_hash_run *run, size_t most, size_t *looked_at) {
    hash_search s = {.hash = hash, .run = run, .most = most};
    search_from(&s, hash_of(hash, query), 0, radius);
    *looked_at = s.looked_at;
    return s.runs;
}
