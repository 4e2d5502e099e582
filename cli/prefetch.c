/* prefetch.c -- see prefetch.h. A decoder that is supplied with the front matter alone plans the
 * ranges of each group. */
#include "cli/prefetch.h"
#include <pthread.h>
#include <stdlib.h>

enum {
    BATCH = 8 << 20, /* bytes that are requested at a time: a quarter of what is kept */
    GAP = 8 << 10,   /* bytes between ranges that are not worth a request */
    AROUND = 4 << 10 /* small images share checksums with their neighbours within so many bytes */
};

struct cli_prefetch {
    const taper_container *container;
    remote_file *remote;
    taper_decoder *planner;
    uint32_t groups;
    uint64_t cut;
    bool *wanted; /* [groups] not requested yet */
    pthread_mutex_t lock;
    taper_range *range; /* [count] of the batch */
    size_t count, room;
};

/* --- the planner --- */

static taper_status supply_front(const cli_prefetch *p, const cli_container *c,
                                 taper_error *error) {
    const size_t n = (size_t)c->info.front_bytes;
    void *front = malloc(n);
    if (!front) return TAPER_ERR_NOMEM;
    taper_status status = formats_source_read(&c->source, 0, front, n, error);
    if (status == TAPER_OK) status = taper_decoder_supply(p->planner, 0, front, n, error);
    free(front);
    return status;
}

static void want(cli_prefetch *p, const uint64_t *image, uint64_t count) {
    for (uint32_t g = 0; !image && g < p->groups; g++) p->wanted[g] = true;
    for (uint64_t k = 0; image && k < count; k++) {
        taper_image_info info = {.size = sizeof info};
        if (taper_container_get_image(p->container, image[k], &info, NULL) == TAPER_OK)
            p->wanted[info.group] = true;
    }
}

cli_prefetch *cli_prefetch_new(const cli_container *c, const uint64_t *image, uint64_t count,
                               uint64_t cut, uint32_t scale) {
    remote_stats stats;
    if (!c->stream.remote) return NULL;
    remote_get_stats(c->stream.remote, &stats);
    cli_prefetch *p = stats.is_whole ? NULL : calloc(1, sizeof *p);
    if (!p) return NULL;
    const taper_open_options how = {.size = sizeof how, .model = taper_container_model(c->open)};
    *p = (cli_prefetch){.container = c->open,
                        .remote = c->stream.remote,
                        .groups = c->info.groups,
                        .cut = cut,
                        .wanted = calloc(c->info.groups, sizeof *p->wanted)};
    pthread_mutex_init(&p->lock, NULL);
    remote_expect_end(p->remote, 0); /* what is read is requested here */
    if (p->wanted && taper_decoder_new_streaming(&p->planner, &how, NULL) == TAPER_OK &&
        taper_decoder_set_scale(p->planner, scale, NULL) == TAPER_OK &&
        supply_front(p, c, NULL) == TAPER_OK) {
        want(p, image, count);
        return p;
    }
    cli_prefetch_free(p); /* then what is read is requested in the order of the file */
    remote_expect_end(c->stream.remote, cut);
    return NULL;
}

void cli_prefetch_free(cli_prefetch *p) {
    if (!p) return;
    taper_decoder_free(p->planner);
    pthread_mutex_destroy(&p->lock);
    free(p->wanted), free(p->range);
    free(p);
}

/* --- batches --- */

/* Add the ranges of a group, and return their bytes. */
static uint64_t add_group(cli_prefetch *p, uint32_t group) {
    uint64_t first, count, bytes = 0;
    size_t n = 0;
    if (taper_container_group(p->container, group, &first, &count, NULL) != TAPER_OK) return 0;
    const uint64_t image = taper_container_image_at(p->container, first);
    taper_range *room = p->range ? p->range + p->count : NULL;
    if (taper_decoder_plan(p->planner, image, p->cut, room, p->room - p->count, &n, NULL)) return 0;
    if (n > p->room - p->count) {
        const size_t more = 2 * (p->count + n);
        taper_range *larger = realloc(p->range, more * sizeof *larger);
        if (!larger) return 0;
        p->range = larger, p->room = more;
        if (taper_decoder_plan(p->planner, image, p->cut, p->range + p->count, n, &n, NULL))
            return 0;
    }
    for (size_t k = p->count; k < p->count + n; k++) {
        taper_range *r = &p->range[k];
        bytes += r->size;
        if (r->size >= AROUND) continue;
        const uint64_t before = r->offset < AROUND ? r->offset : AROUND;
        r->offset -= before, r->size += before + AROUND;
    }
    p->count += n;
    return bytes;
}

static int compare_ranges(const void *a, const void *b) {
    const taper_range *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void cli_prefetch_group(cli_prefetch *p, uint32_t group) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    uint64_t bytes = 0;
    p->count = 0;
    if (p->wanted[group])
        for (uint32_t g = group; g < p->groups && bytes < BATCH; g++) {
            if (!p->wanted[g]) continue;
            p->wanted[g] = false;
            bytes += add_group(p, g);
        }
    if (p->count) qsort(p->range, p->count, sizeof *p->range, compare_ranges);
    remote_prefetch(p->remote, p->range, p->count, GAP);
    pthread_mutex_unlock(&p->lock);
}
