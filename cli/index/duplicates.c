/* duplicates.c -- see duplicates.h. Some images at a time are searched for among all. */
#include "cli/index/duplicates.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include "cli/common/progress.h"
#include "cli/index/alterations.h"
#include "formats/bytes.h"
#include <stdlib.h>

enum { AT_ONCE = 512, MOST_NEAR = 64 };

typedef struct pair_search {
    const cli_duplicates *of;
    size_t images, words, k;
    uint32_t within;
    uint64_t *code;             /* [AT_ONCE][words] */
    uint32_t *self;             /* [AT_ONCE] */
    uint32_t *image, *distance; /* [AT_ONCE][k] */
    size_t pairs, full;         /* found; images with more than MOST_NEAR near ones */
} pair_search;

static void put_pair(const pair_search *p, uint32_t a, uint32_t b, uint32_t distance, FILE *to) {
    const char *first = taper_index_name(p->of->index, a);
    const char *second = taper_index_name(p->of->index, b);
    if (p->of->common->json) {
        cli_json j;
        cli_json_begin(&j, to);
        cli_json_string(&j, "kind", "pair");
        cli_json_string(&j, "name", first);
        cli_json_string(&j, "other", second);
        cli_json_uint(&j, "distance", distance);
        cli_json_uint(&j, "image", a);
        cli_json_uint(&j, "other_image", b);
        cli_json_end(&j);
        return;
    }
    cli_put_csv_name(to, first ? first : "");
    fputc(',', to);
    cli_put_csv_name(to, second ? second : "");
    fprintf(to, ",%u,%u,%u\n", distance, a, b);
}

/* Of n images that were searched for. */
static taper_status put_pairs(pair_search *p, size_t n, const taper_sink *sink) {
    cli_text text;
    TAPER_TRY(cli_text_open(&text));
    for (size_t i = 0; i < n; i++) {
        const uint32_t *image = p->image + i * p->k, *distance = p->distance + i * p->k;
        p->full += p->k > MOST_NEAR && image[p->k - 1] != UINT32_MAX;
        for (size_t j = 0; j < p->k && image[j] != UINT32_MAX; j++) {
            if (image[j] <= p->self[i]) continue; /* itself, or told from the other side */
            put_pair(p, p->self[i], image[j], distance[j], text.to);
            p->pairs++;
        }
    }
    return cli_text_write(&text, sink);
}

static int search_all(pair_search *p, const taper_sink *sink, taper_status *written) {
    taper_error error = {0};
    cli_progress progress;
    taper_status status = TAPER_OK;
    cli_progress_start(&progress, p->of->common, "comparing", p->images, "images");
    for (size_t at = 0; at < p->images && !status && !*written; at += AT_ONCE) {
        const size_t n = formats_smaller(AT_ONCE, p->images - at);
        for (size_t i = 0; i < n; i++)
            p->self[i] = taper_index_code(p->of->index, at + i, p->code + i * p->words);
        const taper_index_search search = {.queries = p->code,
                                           .n_queries = n,
                                           .k = p->k,
                                           .recall = 1,
                                           .within = &p->within,
                                           .threads = cli_threads(p->of->common)};
        status = taper_index_nearest(p->of->index, &search, p->image, p->distance, NULL, &error);
        if (!status) *written = put_pairs(p, n, sink);
        cli_progress_add(&progress, n);
    }
    cli_progress_end(&progress);
    return status ? (int)cli_fail("search", NULL, status, &error) : CLI_DONE;
}

/* The distance that is meant, and why. */
static int choose_within(const cli_duplicates *d, uint32_t *within) {
    cli_alterations tried;
    if (d->within >= 0) {
        *within = (uint32_t)d->within;
        return CLI_DONE;
    }
    if (!d->set || !d->embedder) {
        cli_error("search", NULL,
                  "how far apart may a pair be? give --within D; or --images and -m MODEL, to find "
                  "out by altered copies of them");
        return CLI_USAGE;
    }
    const int code = cli_alterations_try(&tried, d->index, d->set, d->embedder);
    if (code != CLI_DONE) return code;
    *within = tried.within;
    cli_note(d->common, "search",
             "nine of ten altered copies of %zu images (smaller and back, lighter, cropped) lie "
             "within %u of them: so near is nearly the same (--within)",
             tried.images, tried.within);
    return CLI_DONE;
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
    static const char heading[] = "name,other,distance,image,other_image\n";
    const taper_index_info info = taper_index_get_info(d->index);
    pair_search p = {.of = d, .images = info.images, .words = (info.bits + 63) / 64};
    p.k = formats_smaller(MOST_NEAR + 1, p.images);
    int code = choose_within(d, &p.within);
    if (code != CLI_DONE) return code;
    p.code = malloc(AT_ONCE * p.words * sizeof *p.code);
    p.self = malloc(AT_ONCE * sizeof *p.self);
    p.image = malloc(AT_ONCE * p.k * sizeof *p.image);
    p.distance = malloc(AT_ONCE * p.k * sizeof *p.distance);
    *written = d->common->json ? TAPER_OK : sink->write(sink->user, heading, sizeof heading - 1);
    code = p.code && p.self && p.image && p.distance
               ? search_all(&p, sink, written)
               : (int)cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    if (code == CLI_DONE && !*written) tell(&p);
    free(p.code), free(p.self), free(p.image), free(p.distance);
    return code;
}
