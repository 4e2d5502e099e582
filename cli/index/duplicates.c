/* duplicates.c -- see duplicates.h. Some images at a time are searched among all; the pairs are
 * collected and sorted. */
#include "cli/index/duplicates.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include "cli/common/progress.h"
#include "cli/index/duplicates_page.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 512, MOST_NEAR = 64 };

typedef cli_duplicate pair;

typedef struct pair_search {
    const cli_duplicates *of;
    size_t images, words, k;
    uint32_t within;
    uint64_t *code;             /* [AT_ONCE][words] */
    uint32_t *self;             /* [AT_ONCE] */
    uint32_t *image, *distance; /* [AT_ONCE][k] */
    pair *pair;                 /* [room] */
    size_t pairs, room, full;   /* full: number of images with more than MOST_NEAR near images */
} pair_search;

static void put_pair(const pair_search *p, uint32_t a, uint32_t b, uint32_t distance, FILE *to) {
    const char *first = taper_index_name(p->of->index, a);
    const char *second = taper_index_name(p->of->index, b);
    const char *file = cli_index_list_path(p->of->list, a);
    const char *other_file = cli_index_list_path(p->of->list, b);
    if (p->of->common->json) {
        cli_json j;
        cli_json_begin(&j, to);
        cli_json_string(&j, "kind", "pair");
        cli_json_string(&j, "name", first);
        cli_json_string(&j, "other", second);
        cli_json_uint(&j, "distance", distance);
        cli_json_uint(&j, "image", (uint64_t)a + 1);
        cli_json_uint(&j, "other_image", (uint64_t)b + 1);
        if (file) cli_json_string(&j, "index", file);
        if (other_file) cli_json_string(&j, "other_index", other_file);
        cli_json_end(&j);
        return;
    }
    cli_put_csv_name(to, first ? first : "");
    fputc(',', to);
    cli_put_csv_name(to, second ? second : "");
    fprintf(to, ",%u,%llu,%llu", distance, a + 1ULL, b + 1ULL);
    if (file) fputc(',', to), cli_put_csv_name(to, file);
    if (other_file) fputc(',', to), cli_put_csv_name(to, other_file);
    fputc('\n', to);
}

static taper_status add_pair(pair_search *p, pair new) {
    if ((p->pairs + 1) * sizeof new > cli_limits(p->of->common).max_memory) return TAPER_ERR_LIMIT;
    if (!formats_grow(&p->pair, p->pairs, &p->room, sizeof new)) return TAPER_ERR_NOMEM;
    p->pair[p->pairs++] = new;
    return TAPER_OK;
}

/* Collect the pairs of n images that were searched. A pair comes from the image with the lower
 * number. If an image has too many near images to find all, pairs come from both, so that every
 * image is in a pair. */
static taper_status add_pairs(pair_search *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t *image = p->image + i * p->k, *distance = p->distance + i * p->k;
        const uint32_t self = p->self[i];
        const bool is_full = p->k > MOST_NEAR && image[p->k - 1] != UINT32_MAX;
        p->full += is_full;
        for (size_t j = 0; j < p->k && image[j] != UINT32_MAX; j++) {
            if (image[j] > self) TAPER_TRY(add_pair(p, (pair){distance[j], self, image[j]}));
            if (image[j] < self && is_full)
                TAPER_TRY(add_pair(p, (pair){distance[j], image[j], self}));
        }
    }
    return TAPER_OK;
}

static int by_distance(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* Sort by distance and remove duplicates. */
static void sort_pairs(pair_search *p) {
    size_t kept = 0;
    if (p->pairs) qsort(p->pair, p->pairs, sizeof *p->pair, by_distance);
    for (size_t i = 0; i < p->pairs; i++)
        if (!kept || by_distance(&p->pair[kept - 1], &p->pair[i]) != 0)
            p->pair[kept++] = p->pair[i];
    p->pairs = kept;
}

static taper_status put_pairs(const pair_search *p, const taper_sink *sink) {
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < p->pairs && !status; i += AT_ONCE) {
        cli_text text;
        TAPER_TRY(cli_text_open(&text));
        for (size_t k = i; k < i + AT_ONCE && k < p->pairs; k++)
            put_pair(p, p->pair[k].a, p->pair[k].b, p->pair[k].distance, text.to);
        status = cli_text_write(&text, sink);
    }
    return status;
}

static int search_all(pair_search *p) {
    taper_error error = {0};
    cli_progress progress;
    taper_status status = TAPER_OK;
    cli_progress_start(&progress, p->of->common, "comparing", p->images, "images");
    for (size_t at = 0; at < p->images && !status; at += AT_ONCE) {
        const size_t n = formats_smaller(AT_ONCE, p->images - at);
        for (size_t i = 0; i < n; i++)
            p->self[i] = taper_index_code(p->of->index, at + i, p->code + i * p->words);
        if (p->self[0] == UINT32_MAX) status = TAPER_ERR_NOMEM; /* to sort several indexes */
        const taper_index_search search = {.size = sizeof(taper_index_search),
                                           .queries = p->code,
                                           .n_queries = n,
                                           .k = p->k,
                                           .recall = 1,
                                           .within = &p->within,
                                           .threads = cli_threads(p->of->common)};
        if (!status)
            status =
                taper_index_nearest(p->of->index, &search, p->image, p->distance, NULL, &error);
        if (!status) status = add_pairs(p, n);
        cli_progress_add(&progress, n);
    }
    cli_progress_end(&progress);
    if (status == TAPER_ERR_LIMIT && !error.text[0])
        formats_fail(&error, status,
                     "%zu pairs lie within %u, for which memory is short: give a smaller --within",
                     p->pairs, p->within);
    return status ? (int)cli_fail("search", NULL, status, &error) : CLI_DONE;
}

static void tell(const pair_search *p) {
    cli_note(p->of->common, "search", "%zu pair%s of %zu images", p->pairs,
             formats_plural(p->pairs, "s"), p->images);
    if (p->full)
        cli_warning("search", NULL,
                    "%zu image%s more than %d near ones, of which not all pairs are listed; a "
                    "smaller --within parts them",
                    p->full, p->full == 1 ? " has" : "s have", (int)MOST_NEAR);
}

int cli_put_duplicates(const cli_duplicates *d, const taper_sink *sink, taper_status *written) {
    const char *heading = d->list ? "name,other,distance,image,other_image,index,other_index\n"
                                  : "name,other,distance,image,other_image\n";
    const taper_index_info info = cli_index_info(d->index);
    pair_search p = {
        .of = d, .images = info.images, .words = (info.bits + 63) / 64, .within = d->within};
    p.k = formats_smaller(MOST_NEAR + 1, p.images);
    p.code = malloc(AT_ONCE * p.words * sizeof *p.code);
    p.self = malloc(AT_ONCE * sizeof *p.self);
    p.image = malloc(AT_ONCE * p.k * sizeof *p.image);
    p.distance = malloc(AT_ONCE * p.k * sizeof *p.distance);
    int code = p.code && p.self && p.image && p.distance
                   ? search_all(&p)
                   : (int)cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    if (code == CLI_DONE) {
        sort_pairs(&p);
        *written = d->common->json ? TAPER_OK : sink->write(sink->user, heading, strlen(heading));
        if (!*written) *written = put_pairs(&p, sink);
        if (!*written) tell(&p);
        const cli_duplicate_pairs pairs = {d->index, p.pair, p.pairs, p.within};
        if (!*written && d->html)
            code = cli_duplicates_page_write(&pairs, d->set, d->html, d->common);
    }
    free(p.code), free(p.self), free(p.image), free(p.distance), free(p.pair);
    return code;
}
