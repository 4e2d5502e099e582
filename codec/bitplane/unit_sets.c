/* unit_sets.c -- see unit_sets.h. */
#include "codec/bitplane/unit_sets.h"
#include <stdlib.h>
#include <string.h>

/* set[units]: the set of each unit. */
static void find_sets(const codec_unit_sets *s, const codec_code_tables *t, uint8_t *set) {
    memset(set, (int)(s->n - 1), t->units);
    for (uint32_t k = s->n - 1; k-- > 0;) /* the last that is written is the first */
        for (uint32_t i = 0; i < s->end[k]; i++) set[t->pass[i].unit] = (uint8_t)k;
}

taper_status codec_unit_sets_make(codec_unit_sets *sets, const codec_code_tables *t,
                                  const uint32_t *end, uint32_t n) {
    codec_unit_sets s = {.n = n};
    *sets = (codec_unit_sets){0};
    for (uint32_t k = 0; k < n; k++) {
        s.end[k] = k + 1 < n ? end[k] : t->n_passes;
        if (s.end[k] > t->n_passes) return TAPER_ERR_CORRUPT;
    }
    uint8_t *set = malloc(t->units);
    s.unit = malloc(t->units * sizeof *s.unit);
    taper_status status = set && s.unit ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) find_sets(&s, t, set);
    for (uint32_t k = 0; k < n && status == TAPER_OK; k++) {
        uint32_t at = s.first[k];
        for (uint32_t u = 0; u < t->units; u++)
            if (set[u] == k) s.unit[at++] = u;
        if (at == s.first[k]) status = TAPER_ERR_CORRUPT;
        s.first[k + 1] = at;
    }
    free(set);
    if (status != TAPER_OK)
        free(s.unit);
    else
        *sets = s;
    return status;
}

taper_status codec_unit_sets_whole(codec_unit_sets *sets, const codec_code_tables *t) {
    return codec_unit_sets_make(sets, t, NULL, 1);
}

void codec_unit_sets_free(codec_unit_sets *s) {
    free(s->unit);
    *s = (codec_unit_sets){0};
}

/* --- what writers choose --------------------------------------------------------------- */

/* Mark the units of passes *pass .. end - 1 and count new ones in *units. */
static void touch(const codec_code_tables *t, uint32_t end, uint32_t *pass, uint8_t *seen,
                  uint32_t *units) {
    for (; *pass < end; ++*pass) {
        uint32_t u = t->pass[*pass].unit;
        *units += !seen[u];
        seen[u] = 1;
    }
}

taper_status codec_unit_sets_choose(codec_unit_sets *sets, const codec_code_tables *t) {
    enum { FEW = 64, PARTS = 3 };
    static const uint32_t part[PARTS] = {20, 8, 3};
    static const uint8_t coarse[] = {5, 4}; /* costs some 0.02 dB of what these sets draw */
    uint32_t end[PARTS], n = 0, pass = 0, units = 0, at = 0;
    if (t->units < FEW) return codec_unit_sets_whole(sets, t);
    uint8_t *seen = calloc(t->units, 1);
    if (!seen) return TAPER_ERR_NOMEM;
    for (uint32_t l = 0; l < t->n_layers && at < PARTS; l++) {
        touch(t, t->layer[l].pass, &pass, seen, &units);
        if (units < t->units / part[at]) continue;
        while (pass < t->n_passes && seen[t->pass[pass].unit])
            pass++; /* as far as these units go */
        if (units == t->units || pass == t->n_passes) break;
        end[n++] = pass;
        while (at < PARTS && units >= t->units / part[at]) at++;
    }
    free(seen);
    TAPER_TRY(codec_unit_sets_make(sets, t, end, n + 1));
    for (uint32_t s = 0; s + 2 < sets->n; s++) sets->coarse[s] = coarse[s];
    return TAPER_OK;
}
