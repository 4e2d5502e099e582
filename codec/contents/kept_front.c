/* kept_front.c -- see kept_front.h. */
#include "codec/contents/kept_front.h"
#include "formats/also.h"
#include "formats/merge_metadata.h"
#include <stdlib.h>
#include <string.h>

uint32_t codec_kept_in_group(const formats_front *f, const uint8_t *keep, uint32_t g) {
    uint32_t n = 0;
    for (uint32_t p = f->group_first[g]; p < f->group_first[g + 1]; p++)
        n += keep[formats_front_image(f, p)];
    return n;
}

/* Counts, and the groups of the result. */
static taper_status keep_groups(const formats_front *f, codec_kept *kept, formats_front *r,
                                taper_error *error) {
    for (uint32_t i = 0; i < f->images; i++) r->images += kept->keep[i];
    TAPER_TRY(formats_front_take(r, f->groups, sizeof *kept->group, &kept->group, error));
    TAPER_TRY(formats_front_take(r, f->groups, sizeof *r->group_first, &r->group_first, error));
    for (uint32_t g = 0; g < f->groups; g++) {
        const uint32_t n = codec_kept_in_group(f, kept->keep, g);
        if (f->tail && g == f->first_cut) r->first_cut = r->groups;
        if (!n) continue;
        kept->group[r->groups] = g;
        r->group_first[r->groups + 1] = r->group_first[r->groups] + n;
        r->groups++;
    }
    r->tail = f->tail && r->first_cut < r->groups;
    if (!r->tail) r->first_cut = 0;
    return TAPER_OK;
}

static taper_status keep_geometry(const formats_front *f, const uint8_t *keep, formats_front *r,
                                  taper_error *error) {
    TAPER_TRY(formats_front_take(r, r->images, sizeof *r->geometry, &r->geometry, error));
    for (uint32_t i = 0, k = 0; i < f->images; i++)
        if (keep[i]) r->geometry[k++] = f->geometry[i];
    return TAPER_OK;
}

/* --- layers and rate classes --------------------------------------------------------------- */

/* number[t]: the rate class of the result, of those that have images. */
static void number_rate_classes(const formats_front *f, const codec_kept *kept, formats_front *r,
                                uint8_t number[FORMATS_MAX_RATE_CLASSES]) {
    uint8_t used[FORMATS_MAX_RATE_CLASSES] = {0};
    for (uint32_t g = 0; g < r->groups; g++) used[formats_front_rate_class(f, kept->group[g])] = 1;
    for (uint32_t t = 0; t < f->rate_classes; t++)
        if (used[t]) number[t] = (uint8_t)r->rate_classes++;
}

/* Copy the rate classes of groups and images, if there are several. */
static taper_status keep_rate_classes(const formats_front *f, const codec_kept *kept,
                                      const uint8_t *number, formats_front *r, taper_error *error) {
    if (r->rate_classes == 1) return TAPER_OK;
    TAPER_TRY(formats_front_take(r, r->images, 1, &r->image_rate_class, error));
    TAPER_TRY(formats_front_take(r, r->groups, 1, &r->group_rate_class, error));
    for (uint32_t i = 0, k = 0; i < f->images; i++)
        if (kept->keep[i]) r->image_rate_class[k++] = number[f->image_rate_class[i]];
    for (uint32_t g = 0; g < r->groups; g++)
        r->group_rate_class[g] = number[f->group_rate_class[kept->group[g]]];
    TAPER_TRY(formats_front_charge(r, 8 * ((uint64_t)r->images + 1), error));
    const taper_status status = formats_front_place_images(r);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "no memory for the directory of what stays");
}

/* Does an image that stays have pixels in pixel layers? */
static int any_plane(const formats_front *r) {
    for (uint32_t i = 0; i < r->images; i++)
        if (r->geometry[i].alpha || r->geometry[i].indexed) return 1;
    return 0;
}

/* Is layer l dropped? A single rate class has a pass in each layer of passes; pixel layers are for
 * images that have pixels there, and the exact layer is for all. */
static int is_dropped(const formats_front *f, const formats_front *r, uint32_t l, int has_pass) {
    const uint32_t kind = formats_front_layer_kind(f, l);
    if (kind == FORMATS_LAYER_PASSES)
        return f->rate_classes > 1 && r->rate_classes == 1 && !has_pass;
    return kind != FORMATS_LAYER_EXACT && !any_plane(r);
}

static taper_status keep_kinds(const formats_front *f, const codec_kept *kept, formats_front *r,
                               taper_error *error) {
    if (!r->has_pixels) return TAPER_OK;
    TAPER_TRY(formats_front_take(r, r->layers, 1, &r->layer_kind, error));
    for (uint32_t l = 0; l < r->layers; l++)
        r->layer_kind[l] = (uint8_t)formats_front_layer_kind(f, kept->layer[l]);
    return TAPER_OK;
}

/* The layers that stay. */
static taper_status keep_layers(const formats_front *f, codec_kept *kept, formats_front *r,
                                taper_error *error) {
    uint8_t number[FORMATS_MAX_RATE_CLASSES] = {0};
    number_rate_classes(f, kept, r, number);
    TAPER_TRY(formats_front_take(r, f->layers, sizeof *kept->layer, &kept->layer, error));
    TAPER_TRY(formats_front_take(r, (uint64_t)f->layers * r->rate_classes, sizeof *r->layer_end,
                                 &r->layer_end, error));
    uint32_t before = 0;
    r->has_pixels = (uint8_t)any_plane(r);
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint32_t end = formats_front_layer_end(f, l, kept->group[0]);
        const int dropped = is_dropped(f, r, l, end > before);
        before = end;
        if (dropped) {
            if (l + 1 == f->layers) r->tail = 0, r->first_cut = 0;
            continue;
        }
        for (uint32_t g = 0; g < r->groups; g++) {
            const uint8_t t = number[formats_front_rate_class(f, kept->group[g])];
            r->layer_end[(size_t)r->layers * r->rate_classes + t] =
                formats_front_layer_end(f, l, kept->group[g]);
        }
        r->has_pixels |= formats_front_layer_kind(f, l) != FORMATS_LAYER_PASSES;
        kept->layer[r->layers++] = l;
    }
    TAPER_TRY(keep_kinds(f, kept, r, error));
    return keep_rate_classes(f, kept, number, r, error);
}

/* --- what images have ---------------------------------------------------------------------- */

static taper_status keep_raised(const formats_front *f, const codec_kept *kept, formats_front *r,
                                taper_error *error) {
    uint32_t n, all = 0;
    for (uint32_t g = 0; g < r->groups; g++) {
        formats_front_raised(f, kept->group[g], &n);
        all += n;
    }
    if (!all) return TAPER_OK;
    TAPER_TRY(formats_front_take(r, r->groups, sizeof *r->raised_at, &r->raised_at, error));
    TAPER_TRY(formats_front_take(r, all, sizeof *r->raised, &r->raised, error));
    for (uint32_t g = 0; g < r->groups; g++) {
        const formats_raised *raised = formats_front_raised(f, kept->group[g], &n);
        if (n) memcpy(r->raised + r->raised_at[g], raised, n * sizeof *raised);
        r->raised_at[g + 1] = r->raised_at[g] + n;
    }
    return TAPER_OK;
}

static taper_status keep_names(const formats_front *f, const uint8_t *keep, formats_front *r,
                               taper_error *error) {
    size_t bytes = 0;
    if (!f->names) return TAPER_OK;
    for (uint32_t i = 0; i < f->images; i++)
        if (keep[i]) bytes += strlen(formats_front_name(f, i)) + 1;
    TAPER_TRY(formats_front_take(r, bytes, 1, &r->names, error));
    TAPER_TRY(formats_front_take(r, r->images, sizeof *r->name_at, &r->name_at, error));
    bytes = 0;
    for (uint32_t i = 0, k = 0; i < f->images; i++) {
        const char *name = formats_front_name(f, i);
        if (!keep[i]) continue;
        r->name_at[k++] = (uint32_t)bytes;
        memcpy(r->names + bytes, name, strlen(name) + 1);
        bytes += strlen(name) + 1;
    }
    return TAPER_OK;
}

/* Class names stay, also of classes without an image, so that classes keep their numbers. */
static taper_status keep_labels(formats_front *f, const uint8_t *keep, formats_front *r,
                                taper_error *error) {
    if (!f->label) return TAPER_OK;
    TAPER_TRY(formats_front_take(r, r->images, sizeof *r->label, &r->label, error));
    for (uint32_t i = 0, k = 0; i < f->images; i++)
        if (keep[i]) r->label[k++] = f->label[i];
    r->classes = f->classes;
    r->class_names = f->class_names, f->class_names = NULL;
    r->class_name_at = f->class_name_at, f->class_name_at = NULL;
    return TAPER_OK;
}

static taper_status keep_search_codes(const formats_front *f, const uint8_t *keep, formats_front *r,
                                      taper_error *error) {
    const size_t each = formats_front_search_bytes(f);
    if (!f->search_bits) return TAPER_OK;
    r->search_bits = f->search_bits, r->search_model_id = f->search_model_id;
    TAPER_TRY(formats_front_take(r, r->images, each, &r->search_codes, error));
    for (size_t i = 0, k = 0; i < f->images; i++)
        if (keep[i]) memcpy(r->search_codes + k++ * each, f->search_codes + i * each, each);
    return TAPER_OK;
}

/* Further names that stay are of images that stay, too. */
static taper_status keep_further_names(const formats_front *f, const uint8_t *keep,
                                       formats_front *r, taper_error *error) {
    uint32_t *number = NULL, n = 0;
    formats_also *also = NULL;
    const char **name = NULL;
    if (!f->alsos) return TAPER_OK;
    taper_status status = formats_front_take(r, f->images, sizeof *number, &number, error);
    if (status == TAPER_OK) status = formats_front_take(r, f->alsos, sizeof *also, &also, error);
    if (status == TAPER_OK) status = formats_front_take(r, f->alsos, sizeof *name, &name, error);
    for (uint32_t i = 0, next = 0; i < f->images && status == TAPER_OK; i++)
        number[i] = next, next += keep[i];
    for (uint32_t k = 0; k < f->alsos && status == TAPER_OK; k++) {
        if (!keep[f->images + k]) continue;
        also[n] = f->also[k];
        also[n].image = number[f->also[k].image];
        name[n++] = formats_also_name(f, k);
    }
    if (status == TAPER_OK) status = formats_also_set(r, also, name, n, error);
    free(number), free(also), free(name);
    return status;
}

static taper_status keep_metadata(const formats_front *f, const codec_kept *kept, formats_front *r,
                                  taper_error *error) {
    const formats_carried carried = {.keep = kept->keep, .taken_by = kept->taken_by};
    if (!f->metadata) return TAPER_OK;
    formats_metadata_writer *writer = formats_metadata_writer_new();
    if (!writer) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for metadata");
    taper_status status = formats_metadata_carry(f, &carried, &r->account, writer, error);
    if (status == TAPER_OK) status = formats_metadata_give(writer, r, error);
    formats_metadata_writer_free(writer);
    return status;
}

static void move_models(formats_front *f, formats_front *r) {
    r->model = f->model, r->model_size = f->model_size, f->model = NULL;
    r->search_model = f->search_model, r->search_model_size = f->search_model_size;
    f->search_model = NULL;
}

taper_status codec_keep_front(formats_front *f, codec_kept *kept, formats_front *r,
                              taper_error *error) {
    r->model_id = f->model_id, r->layout = f->layout;
    TAPER_TRY(keep_groups(f, kept, r, error));
    TAPER_TRY(keep_geometry(f, kept->keep, r, error));
    TAPER_TRY(keep_layers(f, kept, r, error));
    TAPER_TRY(keep_raised(f, kept, r, error));
    TAPER_TRY(keep_names(f, kept->keep, r, error));
    TAPER_TRY(keep_labels(f, kept->keep, r, error));
    TAPER_TRY(keep_search_codes(f, kept->keep, r, error));
    TAPER_TRY(keep_further_names(f, kept->keep, r, error));
    TAPER_TRY(keep_metadata(f, kept, r, error));
    TAPER_TRY(formats_front_take(r, (uint64_t)r->layers * r->groups, sizeof *r->chunk_at,
                                 &r->chunk_at, error));
    move_models(f, r);
    return TAPER_OK;
}
