/* sets.c -- see sets.h. */
#include "serve/content/sets.h"
#include "formats/metadata/public_metadata.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 64 };

struct serve_set {
    atomic_uint users;
    serve_file *file;
    taper_container *container;
    taper_container_info info;
    serve_image_names *names;
    taper_metadata_reader *metadata; /* NULL: none */
    pthread_mutex_t lock;            /* guards metadata */
    uint64_t memory;
};

struct serve_sets {
    const taper_limits *limits;
    const taper_model *model;
    uint64_t most, used;
    size_t n;
    pthread_mutex_t lock;
    serve_set *kept[MOST_SETS]; /* the last used first */
};

serve_sets *serve_sets_open(const taper_limits *limits, const taper_model *model, uint64_t most) {
    serve_sets *sets = calloc(1, sizeof *sets);
    if (!sets) return NULL;
    sets->limits = limits, sets->model = model, sets->most = most;
    pthread_mutex_init(&sets->lock, NULL);
    return sets;
}

void serve_sets_close(serve_sets *sets) {
    if (!sets) return;
    for (size_t i = 0; i < sets->n; i++) serve_set_release(sets->kept[i]);
    pthread_mutex_destroy(&sets->lock);
    free(sets);
}

void serve_set_hold(serve_set *set) { atomic_fetch_add(&set->users, 1); }

void serve_set_release(serve_set *set) {
    if (!set || atomic_fetch_sub(&set->users, 1) != 1) return;
    taper_metadata_close(set->metadata);
    serve_image_names_free(set->names);
    taper_container_close(set->container);
    serve_file_release(set->file);
    pthread_mutex_destroy(&set->lock);
    free(set);
}

/* --- opening --- */

static taper_status read_file(void *user, uint64_t offset, void *to, size_t n) {
    const int64_t got = serve_file_read(user, offset, to, n);
    return got < 0 ? TAPER_ERR_IO : (size_t)got == n ? TAPER_OK : TAPER_ERR_TRUNCATED;
}

static taper_status open_container(const serve_sets *sets, serve_set *set, taper_error *error) {
    const taper_source source = {.user = set->file, .size = set->file->size, .read = read_file};
    taper_open_options how = {.size = sizeof how, .limits = sets->limits};
    taper_status status = taper_container_open(&set->container, &source, &how, error);
    if (status == TAPER_ERR_MODEL && sets->model) {
        how.model = sets->model;
        status = taper_container_open(&set->container, &source, &how, error);
    }
    return status;
}

static taper_status prepare(serve_set *set, taper_error *error) {
    set->info.size = sizeof set->info;
    TAPER_TRY(taper_container_get_info(set->container, &set->info, error));
    set->names = serve_image_names_make(set->container);
    if (!set->names) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the names");
    if (set->info.metadata_bytes &&
        taper_metadata_open(&set->metadata, set->container, NULL) != TAPER_OK)
        set->metadata = NULL;
    set->memory = set->info.memory + set->info.model_bytes + sizeof *set +
                  serve_image_names_memory(set->names);
    return TAPER_OK;
}

static taper_status open_set(const serve_sets *sets, serve_file *file, serve_set **out,
                             taper_error *error) {
    serve_set *set = calloc(1, sizeof *set);
    *out = NULL;
    if (!set) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the container");
    atomic_init(&set->users, 1);
    pthread_mutex_init(&set->lock, NULL);
    serve_file_hold(set->file = file);
    taper_status status = open_container(sets, set, error);
    if (status == TAPER_OK) status = prepare(set, error);
    if (status == TAPER_OK)
        *out = set;
    else
        serve_set_release(set);
    return status;
}

/* --- those that are kept --- */

static void drop_last(serve_sets *sets) {
    serve_set *last = sets->kept[--sets->n];
    sets->used -= last->memory;
    serve_set_release(last);
}

static serve_set *find(serve_sets *sets, const serve_file *file) {
    for (size_t i = 0; i < sets->n; i++) {
        serve_set *set = sets->kept[i];
        if (strcmp(set->file->tag, file->tag) != 0) continue;
        memmove(sets->kept + 1, sets->kept, i * sizeof *sets->kept);
        serve_set_hold(sets->kept[0] = set);
        return set;
    }
    return NULL;
}

static void keep(serve_sets *sets, serve_set *set) {
    if (set->memory > sets->most) return;
    while (sets->n && (sets->n == MOST_SETS || sets->used + set->memory > sets->most))
        drop_last(sets);
    memmove(sets->kept + 1, sets->kept, sets->n++ * sizeof *sets->kept);
    serve_set_hold(sets->kept[0] = set);
    sets->used += set->memory;
}

taper_status serve_sets_get(serve_sets *sets, serve_file *file, serve_set **out,
                            taper_error *error) {
    pthread_mutex_lock(&sets->lock);
    *out = find(sets, file);
    pthread_mutex_unlock(&sets->lock);
    if (*out) return TAPER_OK;
    serve_set *made;
    TAPER_TRY(open_set(sets, file, &made, error));
    pthread_mutex_lock(&sets->lock);
    *out = find(sets, file); /* another thread may have been quicker */
    if (!*out) keep(sets, made);
    pthread_mutex_unlock(&sets->lock);
    if (*out)
        serve_set_release(made);
    else
        *out = made;
    return TAPER_OK;
}

/* --- what they hold --- */

const taper_container *serve_set_container(const serve_set *set) { return set->container; }
const taper_container_info *serve_set_info(const serve_set *set) { return &set->info; }
const serve_file *serve_set_file(const serve_set *set) { return set->file; }
const serve_image_names *serve_set_names(const serve_set *set) { return set->names; }

void serve_set_colours(serve_set *set, uint64_t i, formats_metadata *to) {
    taper_metadata found = {.size = sizeof found};
    *to = (formats_metadata){0};
    if (!set->metadata) return;
    pthread_mutex_lock(&set->lock);
    if (taper_metadata_get(set->metadata, i, &found, NULL) == TAPER_OK) {
        found.exif = found.xmp = NULL;
        found.exif_size = found.xmp_size = 0;
        if (!formats_metadata_copy(&found, to)) *to = (formats_metadata){0};
    }
    pthread_mutex_unlock(&set->lock);
}
