/* labelled_set.c -- see labelled_set.h. */
#include "cli/train/labelled_set.h"
#include "cli/labels/label_warnings.h"
#include "formats/status.h"
#include "train/train.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named_set {
    const cli_labelled_set *classes;
    const formats_imageset *set;
} named_set;

static const char *name_image(void *user, const cli_seen_image *image, char *room, size_t size) {
    const named_set *n = user;
    snprintf(room, size, "%s", formats_imageset_name(n->set, image->image));
    return room;
}

static const char *name_class(void *user, int32_t label) {
    return ((const named_set *)user)->classes->name[label];
}

/* Hashes of all images, of which each process has some. */
static taper_status hash_images(const train_dataset *data, uint64_t *hash, taper_error *error) {
    for (size_t i = 0; i < data->n; i++)
        if (data->label[i] != UINT32_MAX && train_is_here(data, i))
            hash[i] = formats_digest_image(&data->image[i]);
    return train_sum_bytes(data->ranks, (uint8_t *)hash, data->n * sizeof *hash, error);
}

static taper_status find_twins(cli_labelled_set *s, const char *verb, const train_dataset *data,
                               const formats_imageset *set, taper_error *error) {
    cli_seen_images seen = {.n = 0};
    const named_set named = {s, set};
    const cli_twin_names names = {(void *)&named, name_image, name_class};
    uint64_t *hash = calloc(data->n + 1, sizeof *hash);
    if (!hash) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu images", data->n);
    const taper_status status = hash_images(data, hash, error);
    for (size_t i = 0; i < data->n && status == TAPER_OK; i++)
        if (data->label[i] != UINT32_MAX)
            cli_seen_images_add(&seen, (cli_seen_image){.hash = hash[i],
                                                        .label = (int32_t)data->label[i],
                                                        .image = data->number[i]});
    if (status == TAPER_OK && train_is_first(data->ranks))
        s->twins = cli_warn_twins(verb, &seen, &names);
    cli_seen_images_free(&seen);
    free(hash);
    return status;
}

static taper_status take_classes(cli_labelled_set *s, const train_dataset *data,
                                 const formats_imageset *set, taper_error *error) {
    const size_t n = formats_imageset_class_count(set);
    bool has_room = true;
    s->name = calloc(n + 1, sizeof *s->name);
    s->members = calloc(n + 1, sizeof *s->members);
    s->classes = s->name ? n : 0;
    for (size_t c = 0; c < s->classes && has_room; c++)
        has_room = (s->name[c] = strdup(formats_imageset_class_name(set, c))) != NULL;
    if (!s->name || !s->members || !has_room)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the names of %zu classes", n);
    for (size_t i = 0; i < data->n; i++)
        if (data->label[i] != UINT32_MAX) s->members[data->label[i]]++;
    return TAPER_OK;
}

taper_status cli_labelled_set_take(cli_labelled_set *s, const char *verb, const train_dataset *data,
                                   const formats_imageset *set, bool equal_votes,
                                   taper_error *error) {
    *s = (cli_labelled_set){.classes = 0};
    if (!data->label) return TAPER_OK;
    TAPER_TRY(take_classes(s, data, set, error));
    const char *const *name = (const char *const *)s->name;
    if (train_is_first(data->ranks)) {
        s->small = cli_warn_small_classes(verb, name, s->members, s->classes);
        if (equal_votes) cli_warn_unequal_classes(verb, name, s->members, s->classes);
    }
    return find_twins(s, verb, data, set, error);
}

void cli_labelled_set_free(cli_labelled_set *s) {
    for (size_t c = 0; c < s->classes; c++) free(s->name[c]);
    free(s->name), free(s->members);
    *s = (cli_labelled_set){.classes = 0};
}
