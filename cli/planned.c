/* planned.c -- see planned.h. */
#include "cli/planned.h"
#include "cli/chosen_images.h"
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_IMAGES = 1025, /* fewer have their front matter in one piece */
    MOST_CHOSEN = 64,    /* for more the front matter is fetched as a whole */
    MOST_RANGES = 4096,
    GAP = 8 << 10
};

/* --- ranges --- */

typedef struct ranges {
    taper_range item[MOST_RANGES];
    size_t count;
} ranges;

static int compare_ranges(const void *a, const void *b) {
    const taper_range *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool has_front(const cli_planned *p) { return taper_decoder_container(p->decoder) != NULL; }

/* Small images share a checksum with their neighbours, of about 4 KB together. These are supplied,
 * too, so that damage is found: as many bytes around the data of an image as its layer may have of
 * them. */
static void widen(const cli_planned *p, taper_range *r) {
    enum { SHARED = 4096 };
    const taper_container_info *info = &p->container.info;
    if (!info->images || info->layout == TAPER_LAYOUT_SET || r->offset < info->front_bytes ||
        r->size >= SHARED)
        return;
    const double chunks = (double)info->groups * info->layers,
                 data = (double)(info->file_bytes - info->front_bytes) + 1,
                 around = 2 * (double)r->size * (1 + SHARED * chunks / data);
    const uint64_t more = around < SHARED ? (uint64_t)around : SHARED,
                   before = r->offset - info->front_bytes;
    const uint64_t less = before < more ? before : more;
    r->offset -= less, r->size += less + more;
}

/* Fetch all of them, and supply them to the decoder. */
static taper_status supply(cli_planned *p, ranges *r, taper_error *error) {
    const taper_source *source = &p->container.source;
    for (size_t k = 0; k < r->count; k++) widen(p, &r->item[k]);
    qsort(r->item, r->count, sizeof *r->item, compare_ranges);
    remote_prefetch(p->container.stream.remote, r->item, r->count, GAP);
    taper_status status = TAPER_OK;
    for (size_t k = 0; k < r->count && status == TAPER_OK; k++) {
        const taper_range at = r->item[k];
        const uint64_t end = source->size < p->container.info.file_bytes || !has_front(p)
                                 ? source->size
                                 : p->container.info.file_bytes;
        if (at.offset > end) break; /* a cut file */
        const uint64_t left = end - at.offset;
        const size_t n = (size_t)(at.size < left ? at.size : left);
        void *bytes = malloc(n + 1);
        status = bytes ? formats_source_read(source, at.offset, bytes, n, error)
                       : formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu bytes", n);
        if (status == TAPER_OK)
            status = taper_decoder_supply(p->decoder, at.offset, bytes, n, error);
        free(bytes);
    }
    return status;
}

/* --- opening --- */

/* Supply the first bytes, which were fetched already, and what the front matter lacks. */
static taper_status supply_front(cli_planned *p, ranges *r, taper_error *error) {
    enum { FIRST = 16 << 10 };
    const uint64_t size = p->container.source.size;
    *r = (ranges){.item = {{0, size < FIRST ? size : FIRST}}, .count = 1};
    TAPER_TRY(supply(p, r, error));
    while (!has_front(p)) {
        TAPER_TRY(
            taper_decoder_plan(p->decoder, 0, UINT64_MAX, r->item, MOST_RANGES, &r->count, error));
        if (!r->count || r->count > MOST_RANGES || r->item[0].offset >= size)
            return TAPER_ERR_TRUNCATED;
        TAPER_TRY(supply(p, r, error));
    }
    return TAPER_OK;
}

static bool is_number(const char *word, uint64_t images, uint64_t *image) {
    int64_t n;
    if (!cli_parse_int(word, &n) || n < 1 || (uint64_t)n > images) return false;
    *image = (uint64_t)n - 1;
    return true;
}

/* Find the image of a name; what that needs of the front matter is supplied. */
static bool find_name(cli_planned *p, ranges *r, const char *word, uint64_t *image) {
    for (int round = 0; round < 64; round++) {
        if (taper_decoder_plan_name(p->decoder, word, 1, r->item, MOST_RANGES, &r->count, image,
                                    NULL) ||
            r->count > MOST_RANGES)
            return false;
        if (*image != UINT64_MAX) return true;
        if (!r->count || supply(p, r, NULL) != TAPER_OK) return false;
    }
    return false;
}

/* A range of numbers, 7-9. */
static bool is_range(const char *word, uint64_t images, uint64_t *first, uint64_t *last) {
    char text[48];
    const char *dash = strchr(word, '-');
    if (!dash || (size_t)(dash - word) >= sizeof text) return false;
    memcpy(text, word, (size_t)(dash - word));
    text[dash - word] = 0;
    return is_number(text, images, first) && is_number(dash + 1, images, last) && *first <= *last;
}

/* The images of a word; false: it is another one than a number, a whole name or a range. */
static bool choose_word(cli_planned *p, ranges *r, const char *word, uint64_t *image,
                        size_t *count) {
    const uint64_t images = p->container.info.images;
    uint64_t first, last;
    if (*count == MOST_CHOSEN) return false;
    if (is_number(word, images, &first) || find_name(p, r, word, &first))
        last = first;
    else if (!is_range(word, images, &first, &last) || last - first >= MOST_CHOSEN - *count)
        return false;
    for (; first <= last; first++) image[(*count)++] = first;
    return true;
}

/* List what the words select. False: others than these, or too many. */
static bool choose(cli_planned *p, ranges *r, const cli_strings *words, uint64_t *image,
                   size_t *count) {
    bool is_fine = true;
    *count = 0;
    for (size_t k = 0; k < words->count && is_fine; k++) {
        char *list = strdup(words->item[k]), *rest = list;
        is_fine = list != NULL;
        while (is_fine && rest) {
            char *word = rest, *comma = strchr(rest, ',');
            rest = comma ? comma + 1 : NULL;
            if (comma) *comma = 0;
            is_fine = choose_word(p, r, word, image, count);
        }
        free(list);
    }
    return is_fine && *count;
}

/* Supply what these images need: rounds of all of them, as leaves come before data. */
static taper_status supply_images(cli_planned *p, ranges *r, const uint64_t *image, size_t count,
                                  uint64_t cut, taper_error *error) {
    const taper_plan_options wanted = {.size = sizeof wanted,
                                       .image = image,
                                       .n = count,
                                       .cut = cut ? cut : 1}; /* 0 is the whole file there */
    for (;;) {
        TAPER_TRY(
            taper_decoder_plan_images(p->decoder, &wanted, r->item, MOST_RANGES, &r->count, error));
        if (r->count > MOST_RANGES) r->count = MOST_RANGES; /* the rest in the next round */
        while (r->count && r->item[r->count - 1].offset >= p->container.source.size) r->count--;
        if (!r->count) return TAPER_OK;
        TAPER_TRY(supply(p, r, error));
    }
}

static bool open_planned(cli_planned *p, ranges *r, const cli_decode_request *q) {
    uint64_t image[MOST_CHOSEN];
    size_t count;
    remote_stats stats;
    cli_container *c = &p->container;
    const taper_open_options how = {.size = sizeof how, .model = q->model, .limits = &q->limits};
    if (cli_stream_try(&c->stream, q->input, NULL) != TAPER_OK) return false;
    c->source = c->stream.source;
    remote_get_stats(c->stream.remote, &stats);
    if (stats.is_whole || taper_decoder_new_streaming(&p->decoder, &how, NULL) != TAPER_OK ||
        taper_decoder_set_scale(p->decoder, q->passes_scale, NULL) != TAPER_OK ||
        supply_front(p, r, NULL) != TAPER_OK)
        return false;
    c->info.size = sizeof c->info;
    if (taper_container_get_info(taper_decoder_container(p->decoder), &c->info, NULL) ||
        c->info.images < LEAST_IMAGES || !choose(p, r, &q->images, image, &count))
        return false;
    c->open = (taper_container *)taper_decoder_container(p->decoder); /* it is not closed */
    return supply_images(p, r, image, count, 1, NULL) == TAPER_OK;
}

bool cli_planned_open(cli_planned *p, const cli_decode_request *q) {
    *p = (cli_planned){.decoder = NULL};
    if (!remote_is_url(q->input) || !q->images.count) return false;
    ranges *r = malloc(sizeof *r);
    const bool is_open = r && open_planned(p, r, q);
    free(r);
    if (!is_open) cli_planned_close(p);
    return is_open;
}

int cli_planned_fetch(cli_planned *p, const cli_decode_request *q, uint64_t cut) {
    taper_error error = {0};
    cli_chosen chosen;
    int code = cli_chosen_make(&chosen, q->verb->name, q->input, p->container.open, q->images.item,
                               q->images.count);
    if (code != CLI_DONE) return code;
    ranges *r = malloc(sizeof *r);
    const taper_status status =
        r ? supply_images(p, r, chosen.image, (size_t)chosen.count, cut, &error) : TAPER_ERR_NOMEM;
    free(r);
    cli_chosen_free(&chosen);
    return status == TAPER_OK ? CLI_DONE : cli_fail("decode", q->input, status, &error);
}

void cli_planned_close(cli_planned *p) {
    p->container.open = NULL;
    cli_container_close(&p->container);
    taper_decoder_free(p->decoder);
    *p = (cli_planned){.decoder = NULL};
}
