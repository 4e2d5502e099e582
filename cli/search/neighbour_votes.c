/* neighbour_votes.c -- see neighbour_votes.h. */
#include "cli/search/neighbour_votes.h"
#include "codec/taper_search.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1024, MOST_FOUND = 1 << 18, MOST_THREADS = 256 };

/* --- random order ----------------------------------------------------------------------- */

/* A hash of i: the mixing step of splitmix64 (Steele, Lea & Flood 2014). */
static uint64_t mixed(uint64_t i) {
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* Fisher-Yates shuffle; the same in every run. */
static taper_status mix(cli_neighbour_votes *v) {
    const cli_labelled_codes *known = v->known;
    const size_t bytes = known->width * sizeof *v->mixed, found = v->room * (v->most_k + 1);
    v->mixed = malloc(known->n * bytes);
    v->order = malloc(known->n * sizeof *v->order);
    v->found = malloc(found * sizeof *v->found);
    v->found_distance = malloc(found * sizeof *v->found_distance);
    if (!v->mixed || !v->order || !v->found || !v->found_distance) return TAPER_ERR_NOMEM;
    for (uint32_t i = 0; i < known->n; i++) {
        const size_t j = (size_t)(mixed(i) % (i + 1u));
        if (j < i) v->order[i] = v->order[j];
        v->order[j] = i;
    }
    for (size_t i = 0; i < known->n; i++)
        memcpy(v->mixed + i * known->width, known->codes + v->order[i] * known->width, bytes);
    return TAPER_OK;
}

/* The k neighbours of a query, from k + 1 found ones, without the query itself (row `self`). */
static void keep_others(const cli_neighbour_votes *v, size_t i, size_t self, size_t room) {
    const size_t k = v->most_k;
    for (size_t j = 0, held = 0; held < k; j++) {
        const uint32_t row = v->order[v->found[i * room + j]];
        if (row == self) continue;
        v->neighbour[i * k + held] = row;
        v->distance[i * k + held++] = v->found_distance[i * room + j];
    }
}

static taper_status find_mixed(cli_neighbour_votes *v, taper_search search, taper_error *error) {
    const cli_labelled_codes *known = v->known;
    const bool leaves_out = !search.queries;
    const size_t first = search.first;
    search.references = v->mixed;
    if (leaves_out) search.queries = known->codes + first * known->width, search.k++;
    search.first = 0;
    TAPER_TRY(taper_nearest(&search, v->found, v->found_distance, error));
    for (size_t i = 0; i < search.n_queries; i++)
        keep_others(v, i, leaves_out ? first + i : SIZE_MAX, search.k);
    return TAPER_OK;
}

/* --- votes ------------------------------------------------------------------------------ */

taper_status cli_neighbour_votes_open(cli_neighbour_votes *v) {
    v->room = formats_larger(1, formats_smaller(MOST_ROWS, MOST_FOUND / v->most_k));
    v->neighbour = malloc(v->room * v->most_k * sizeof *v->neighbour);
    v->distance = malloc(v->room * v->most_k * sizeof *v->distance);
    v->label = malloc(v->room * v->n_k * sizeof *v->label);
    if (!v->neighbour || !v->distance || !v->label) return TAPER_ERR_NOMEM;
    return v->known->are_bits ? mix(v) : TAPER_OK;
}

void cli_neighbour_votes_close(cli_neighbour_votes *v) {
    free(v->neighbour), free(v->distance), free(v->label);
    free(v->mixed), free(v->order), free(v->found), free(v->found_distance);
    v->neighbour = NULL, v->distance = NULL, v->label = NULL;
    v->mixed = NULL, v->order = NULL, v->found = NULL, v->found_distance = NULL;
}

taper_status cli_neighbour_votes_find(cli_neighbour_votes *v, const float *codes, size_t first,
                                      size_t n, taper_error *error) {
    const cli_labelled_codes *known = v->known;
    const unsigned threads =
        (unsigned)formats_smaller(cli_threads(known->set->common), MOST_THREADS);
    const taper_search search = {.size = sizeof(taper_search),
                                 .references = known->codes,
                                 .n_references = known->n,
                                 .queries = codes,
                                 .n_queries = n,
                                 .first = first,
                                 .width = known->width,
                                 .k = v->most_k,
                                 .threads = threads};
    TAPER_TRY(v->mixed ? find_mixed(v, search, error)
                       : taper_nearest(&search, v->neighbour, v->distance, error));
    for (size_t k = 0; k < v->n_k; k++) {
        const taper_votes votes = {
            sizeof(taper_votes),  v->neighbour, n, v->most_k, v->k[k], known->label, known->n,
            (uint32_t)v->classes, v->weights};
        TAPER_TRY(taper_vote(&votes, v->label + k * v->room, error));
    }
    return TAPER_OK;
}

size_t cli_neighbour_votes_for(const cli_neighbour_votes *v, size_t i) {
    const uint32_t *near = v->neighbour + i * v->most_k;
    size_t votes = 0;
    for (size_t j = 0; j < v->k[0]; j++) votes += v->known->label[near[j]] == v->label[i];
    return votes;
}
