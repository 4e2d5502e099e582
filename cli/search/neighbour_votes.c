/* neighbour_votes.c -- see neighbour_votes.h. */
#include "cli/search/neighbour_votes.h"
#include "codec/taper_search.h"
#include "formats/bytes.h"
#include <stdlib.h>

enum { MOST_ROWS = 1024, MOST_FOUND = 1 << 18, MOST_THREADS = 256 };

taper_status cli_neighbour_votes_open(cli_neighbour_votes *v) {
    v->room = formats_larger(1, formats_smaller(MOST_ROWS, MOST_FOUND / v->most_k));
    v->neighbour = malloc(v->room * v->most_k * sizeof *v->neighbour);
    v->distance = malloc(v->room * v->most_k * sizeof *v->distance);
    v->label = malloc(v->room * v->n_k * sizeof *v->label);
    return v->neighbour && v->distance && v->label ? TAPER_OK : TAPER_ERR_NOMEM;
}

void cli_neighbour_votes_close(cli_neighbour_votes *v) {
    free(v->neighbour), free(v->distance), free(v->label);
    v->neighbour = NULL, v->distance = NULL, v->label = NULL;
}

taper_status cli_neighbour_votes_find(cli_neighbour_votes *v, const float *codes, size_t first,
                                      size_t n, taper_error *error) {
    const cli_labelled_codes *known = v->known;
    const unsigned threads =
        (unsigned)formats_smaller(cli_threads(known->set->common), MOST_THREADS);
    const taper_search search = {.references = known->codes,
                                 .n_references = known->n,
                                 .queries = codes,
                                 .n_queries = n,
                                 .first = first,
                                 .width = known->width,
                                 .k = v->most_k,
                                 .threads = threads};
    TAPER_TRY(taper_nearest(&search, v->neighbour, v->distance, error));
    for (size_t k = 0; k < v->n_k; k++) {
        const taper_votes votes = {v->neighbour, n,        v->most_k,           v->k[k],
                                   known->label, known->n, (uint32_t)v->classes};
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
