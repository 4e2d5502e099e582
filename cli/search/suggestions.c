/* suggestions.c -- see suggestions.h. */
#include "cli/search/suggestions.h"
#include "cli/common/progress.h"
#include "cli/search/label_line.h"
#include "cli/search/neighbour_votes.h"
#include "formats/bytes.h"
#include <math.h>
#include <stdlib.h>

enum { LINES = 1024 }; /* lines per block of output */

typedef struct suggestion {
    size_t image, nearest; /* number in the set */
    int32_t label;
    uint32_t votes;
    double distance;
} suggestion;

typedef struct suggestions {
    const cli_labelled_codes *known;
    size_t k;
    const double *weights; /* of votes, or NULL */
    suggestion *item;      /* [known->unlabelled] */
    uint8_t *is_met;       /* [images of the set] 1: has a suggestion */
} suggestions;

/* --- suggestions ---------------------------------------------------------------------------- */

static int by_votes(const void *a, const void *b) {
    const suggestion *x = a, *y = b;
    if (x->votes != y->votes) return x->votes < y->votes ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

static taper_status find_some(suggestions *s, cli_neighbour_votes *v, size_t first, size_t n,
                              taper_error *error) {
    const cli_labelled_codes *known = s->known;
    TAPER_TRY(cli_neighbour_votes_find(v, known->rest + first * known->width, 0, n, error));
    for (size_t i = 0; i < n; i++) {
        const size_t image = known->rest_image[first + i];
        s->item[first + i] = (suggestion){.image = image,
                                          .nearest = known->image[v->neighbour[i * s->k]],
                                          .label = v->label[i],
                                          .votes = (uint32_t)cli_neighbour_votes_for(v, i),
                                          .distance = sqrt(v->distance[i * s->k])};
        s->is_met[image] = 1;
    }
    return TAPER_OK;
}

static taper_status find_all(suggestions *s, taper_error *error) {
    const cli_labelled_codes *known = s->known;
    cli_neighbour_votes v = {.known = known,
                             .k = &s->k,
                             .n_k = 1,
                             .most_k = s->k,
                             .weights = s->weights,
                             .classes = cli_code_set_classes(known->set)};
    cli_progress progress;
    cli_progress_start(&progress, known->set->common, "searching", known->unlabelled, "images");
    taper_status status = cli_neighbour_votes_open(&v);
    for (size_t i = 0; i < known->unlabelled && !status; i += v.room) {
        const size_t n = formats_smaller(v.room, known->unlabelled - i);
        status = find_some(s, &v, i, n, error);
        cli_progress_add(&progress, n);
    }
    cli_progress_end(&progress);
    cli_neighbour_votes_close(&v);
    qsort(s->item, known->unlabelled, sizeof *s->item, by_votes);
    return status;
}

/* --- output --------------------------------------------------------------------------------- */

static void put_line(const suggestions *s, size_t image, const suggestion *item, FILE *to) {
    const cli_code_set *set = s->known->set;
    const int32_t label = item ? item->label : cli_code_set_label(set, image);
    cli_label_line line = {.set = set, .image = image, .known = set};
    if (label >= 0) line.label = cli_code_set_class(set, (size_t)label);
    if (item) {
        line.votes = item->votes, line.of = s->k;
        line.nearest = item->nearest, line.distance = item->distance;
    }
    (set->common->json ? cli_label_line_json : cli_label_line_csv)(&line, to);
}

/* Print lines from..to - 1: suggestions, then all other images of the set. */
static taper_status put_some(const suggestions *s, size_t from, size_t to, const taper_sink *sink) {
    cli_text text;
    TAPER_TRY(cli_text_open(&text));
    const size_t n = s->known->unlabelled;
    if (!from && !s->known->set->common->json) cli_label_heading_csv(false, text.to);
    for (size_t i = from; i < to; i++)
        if (i < n)
            put_line(s, s->item[i].image, &s->item[i], text.to);
        else if (!s->is_met[i - n])
            put_line(s, i - n, NULL, text.to);
    return cli_text_write(&text, sink);
}

static taper_status put_all(const suggestions *s, cli_output *out) {
    const taper_sink sink = cli_output_text_sink(out);
    const size_t n = s->known->unlabelled + cli_code_set_images(s->known->set);
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && !status; i += LINES)
        status = put_some(s, i, formats_smaller(i + LINES, n), &sink);
    return status;
}

static void tell(const suggestions *s) {
    const cli_code_set *set = s->known->set;
    const size_t n = s->known->unlabelled;
    size_t unsure = 0;
    while (unsure < n && s->item[unsure].votes < s->k) unsure++;
    if (set->common->json) return;
    fflush(stdout); /* flush the labels first, because both may be one file */
    cli_note(set->common, set->verb,
             "%zu suggestion%s by %zu vote%s of %zu labelled image%s; %zu not unanimous: these "
             "come first",
             n, formats_plural(n, "s"), s->k, formats_plural(s->k, "s"), s->known->n,
             formats_plural(s->known->n, "s"), unsure);
}

int cli_suggest(const cli_labelled_codes *known, size_t k, const double *weights, cli_output *out) {
    taper_error error = {0};
    suggestions s = {.known = known, .k = k, .weights = weights};
    s.item = malloc(known->unlabelled * sizeof *s.item);
    s.is_met = calloc(cli_code_set_images(known->set), 1);
    taper_status status = s.item && s.is_met ? find_all(&s, &error) : TAPER_ERR_NOMEM;
    int code = status ? (int)cli_fail(known->set->verb, NULL, status, &error) : CLI_DONE;
    if (code == CLI_DONE && (status = put_all(&s, out)) != TAPER_OK)
        code = out ? cli_output_close(out, NULL, status, NULL)
                   : (int)cli_fail(known->set->verb, NULL, status, NULL);
    if (code == CLI_DONE) tell(&s);
    free(s.item), free(s.is_met);
    return code;
}
