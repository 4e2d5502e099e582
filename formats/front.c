/* front.c -- see front.h. */
#include "formats/front.h"
#include "formats/holds.h"
#include <stdlib.h>
#include <string.h>

/* --- memory ---------------------------------------------------------------------------- */

taper_status formats_front_charge(formats_front *f, uint64_t bytes, taper_error *error) {
    if (formats_account_take(formats_front_account(f), bytes) == TAPER_OK) return TAPER_OK;
    return formats_front_refuse(f, bytes, error);
}

taper_status formats_front_refuse(const formats_front *f, uint64_t bytes, taper_error *error) {
    return formats_fail_fact(
        error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_account_step(&f->account, bytes),
        "the container's front matter takes more than the limit of %llu bytes of memory",
        (unsigned long long)f->account.limit);
}

taper_status formats_front_take(formats_front *f, uint64_t n, size_t size, void *array,
                                taper_error *error) {
    uint64_t bytes = n >= SIZE_MAX / size ? UINT64_MAX : (n + 1) * size;
    TAPER_TRY(formats_front_charge(f, bytes, error));
    void *block = calloc((size_t)n + 1, size);
    if (!block)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the container's directory");
    memcpy(array, &block, sizeof block);
    return TAPER_OK;
}

void formats_front_free(formats_front *f) {
    free(f->geometry), free(f->group_first), free(f->layer_end), free(f->layer_kind),
        free(f->chunk_at), free(f->checksum), free(f->layer_at), free(f->raised_at),
        free(f->raised);
    free(f->group_rate_class), free(f->image_rate_class), free(f->image_at), free(f->place_of);
    free(f->names), free(f->name_at), free(f->label), free(f->class_names), free(f->class_name_at),
        free(f->also), free(f->also_names), free(f->metadata), free(f->model),
        free(f->search_codes), free(f->search_model);
    memset(f, 0, sizeof *f);
}

/* --- derived values -------------------------------------------------------------------- */

uint64_t formats_front_checksums(const formats_front *f) {
    uint64_t per = f->chunks_per_checksum ? f->chunks_per_checksum : 1;
    return f->layers * ((f->groups + per - 1) / per);
}

const char *formats_front_name(const formats_front *f, uint32_t i) {
    return f->names && i < f->images ? f->names + f->name_at[i] : NULL;
}

const char *formats_front_class_name(const formats_front *f, uint32_t k) {
    return f->class_names && k < f->classes ? f->class_names + f->class_name_at[k] : NULL;
}

/* The groups of each rate class hold as many images as it has. */
static int groups_hold_images(const formats_front *f) {
    uint32_t left[FORMATS_MAX_RATE_CLASSES] = {0};
    for (uint32_t i = 0; i < f->images; i++) left[f->image_rate_class[i]]++;
    for (uint32_t g = 0; g < f->groups; g++) {
        const uint32_t size = f->group_first[g + 1] - f->group_first[g];
        if (left[f->group_rate_class[g]] < size) return 0;
        left[f->group_rate_class[g]] -= size;
    }
    return f->group_first[f->groups] == f->images;
}

taper_status formats_front_place_images(formats_front *f) {
    uint32_t group[FORMATS_MAX_RATE_CLASSES] = {0}; /* of each class: the next to look at */
    uint32_t place[FORMATS_MAX_RATE_CLASSES] = {0}, end[FORMATS_MAX_RATE_CLASSES] = {0};
    f->image_at = malloc(((size_t)f->images + 1) * sizeof *f->image_at);
    f->place_of = malloc(((size_t)f->images + 1) * sizeof *f->place_of);
    if (!f->image_at || !f->place_of) return TAPER_ERR_NOMEM;
    if (!groups_hold_images(f)) return TAPER_ERR_CORRUPT;
    for (uint32_t i = 0; i < f->images; i++) {
        const uint32_t t = f->image_rate_class[i];
        for (; place[t] == end[t]; group[t]++)
            if (f->group_rate_class[group[t]] == t)
                place[t] = f->group_first[group[t]], end[t] = f->group_first[group[t] + 1];
        f->image_at[place[t]] = i;
        f->place_of[i] = place[t]++;
    }
    return TAPER_OK;
}

uint32_t formats_front_group(const formats_front *f, uint32_t image) {
    uint32_t low = 0, high = f->groups, place = formats_front_place(f, image);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (f->group_first[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t formats_front_passes(const formats_front *f, uint32_t layer) {
    uint32_t most = 0;
    for (uint32_t t = 0; t < f->rate_classes; t++) {
        uint32_t end = f->layer_end[(size_t)layer * f->rate_classes + t];
        most = end > most ? end : most;
    }
    return most;
}

/* --- cuts ------------------------------------------------------------------------------ */

uint64_t formats_front_drawn(const formats_front *f, uint64_t bytes) {
    return bytes < formats_front_data(f) ? formats_holds_drawn(f->holds, bytes) : bytes;
}
