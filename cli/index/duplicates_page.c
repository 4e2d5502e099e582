/* duplicates_page.c -- see duplicates_page.h. Images that a chain of pairs joins are one set of
 * copies. Sets stand in the order of their nearest pair, and within a set each image follows the
 * pair that joined it. */
#include "cli/index/duplicates_page.h"
#include "cli/common/page.h"
#include "cli/index/index_file.h"
#include <stdlib.h>

enum { MOST_SETS = 200, MOST_COPIES = 12, NONE = UINT32_MAX };

typedef struct copies {
    uint32_t *root;     /* [images] union-find; NONE: in no pair */
    uint32_t *next;     /* [images] the next image of its set; NONE: the last */
    uint32_t *last;     /* [images] of a root: the last image of its set */
    uint32_t *distance; /* [images] of the pair that brought it in */
} copies;

static uint32_t root_of(const copies *c, uint32_t image) {
    while (c->root[image] != image) image = c->root[image] = c->root[c->root[image]];
    return image;
}

/* Begin a set of one image, unless it is in one. */
static void enter(copies *c, uint32_t image, uint32_t distance) {
    if (c->root[image] != NONE) return;
    c->root[image] = c->last[image] = image;
    c->next[image] = NONE;
    c->distance[image] = distance;
}

/* Append the set of b to that of a. */
static void join(copies *c, const cli_duplicate *pair) {
    enter(c, pair->a, pair->distance);
    enter(c, pair->b, pair->distance);
    const uint32_t a = root_of(c, pair->a), b = root_of(c, pair->b);
    if (a == b) return;
    c->root[b] = a;
    c->next[c->last[a]] = b;
    c->last[a] = c->last[b];
}

static taper_status take(copies *c, size_t images) {
    c->root = malloc(images * sizeof *c->root);
    c->next = malloc(images * sizeof *c->next);
    c->last = malloc(images * sizeof *c->last);
    c->distance = malloc(images * sizeof *c->distance);
    if (!c->root || !c->next || !c->last || !c->distance) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < images; i++) c->root[i] = NONE;
    return TAPER_OK;
}

static void give(copies *c) { free(c->root), free(c->next), free(c->last), free(c->distance); }

static taper_status put_set(const cli_duplicate_pairs *d, const copies *c, uint32_t root,
                            cli_indexed_pictures *pictures, FILE *to) {
    char caption[48];
    taper_status status = TAPER_OK;
    size_t n = 0, more = 0;
    cli_page_pictures_begin(to, true);
    for (uint32_t image = root; image != NONE && !status; image = c->next[image], n++) {
        if (n >= MOST_COPIES) {
            more++;
            continue;
        }
        snprintf(caption, sizeof caption, "distance %u", c->distance[image]);
        status = cli_indexed_pictures_put_image(pictures, d->index, image, caption, to);
    }
    cli_page_pictures_end(to);
    snprintf(caption, sizeof caption, "and %zu more", more);
    if (more) cli_page_note(to, caption);
    return status;
}

static taper_status put_page(const cli_duplicate_pairs *d, copies *c, cli_indexed_page *page) {
    FILE *to = page->text.to;
    char lead[200];
    size_t sets = 0;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < d->n; i++) join(c, &d->pair[i]);
    snprintf(lead, sizeof lead,
             "%zu pair%s of images within a distance of %u, the nearest first. Copies of one image "
             "share a row.",
             d->n, formats_plural(d->n, "s"), d->within);
    cli_page_begin(to, "Near-duplicates", lead);
    for (size_t i = 0; i < d->n && !status; i++) {
        const uint32_t root = root_of(c, d->pair[i].a);
        if (c->last[root] == NONE) continue; /* it has its row */
        if (sets++ < MOST_SETS) status = put_set(d, c, root, &page->pictures, to);
        c->last[root] = NONE;
    }
    snprintf(lead, sizeof lead, "The first %d of %zu rows.", (int)MOST_SETS, sets);
    if (sets > MOST_SETS) cli_page_text(to, lead);
    cli_page_end(to, "Below each image stands the distance of the pair that brought it here, and "
                     "its file's name.");
    return status;
}

int cli_duplicates_page_write(const cli_duplicate_pairs *pairs, const cli_code_set *set,
                              const char *path, const cli_common *common) {
    const taper_index_info info = cli_index_info(pairs->index);
    cli_indexed_page page;
    copies c = {0};
    const int code = cli_indexed_page_open(&page, set, path, common);
    if (code != CLI_DONE) return code;
    taper_status status = take(&c, (size_t)info.images + 1);
    if (status == TAPER_OK) status = put_page(pairs, &c, &page);
    give(&c);
    return cli_indexed_page_close(&page, status);
}
