/* leaf.c -- see leaf.h; SPEC.md, "The leaves". */
#include "formats/leaf.h"
#include "formats/directory.h"
#include "formats/packed.h"
#include <stdlib.h>
#include <string.h>

/* --- reading --------------------------------------------------------------------------- */

/* The members that follow from the root and the header. */
static taper_status inherit(const formats_root *r, const formats_front *shared, uint32_t k,
                            const taper_limits *limits, formats_front *f, taper_error *error) {
    const formats_leaf *leaf = &r->leaf[k];
    const size_t ends = (size_t)shared->layers * shared->rate_classes;
    *f = (formats_front){.model_id = shared->model_id,
                         .layout = shared->layout,
                         .tail = shared->tail,
                         .holds = shared->holds,
                         .images = leaf[1].first_image - leaf->first_image,
                         .groups = leaf[1].first_group - leaf->first_group,
                         .layers = shared->layers,
                         .has_pixels = shared->has_pixels,
                         .has_stages = shared->has_stages,
                         .rate_classes = shared->rate_classes,
                         .chunks_per_checksum = shared->chunks_per_checksum,
                         .first_image = leaf->first_image,
                         .first_group = leaf->first_group,
                         .data_bytes = shared->data_bytes,
                         .classes = shared->classes,
                         .front_size = shared->front_size,
                         .account = formats_account_within(limits)};
    if (f->tail && shared->first_cut > leaf->first_group)
        f->first_cut = shared->first_cut - leaf->first_group; /* of a later leaf: >= groups */
    TAPER_TRY(formats_front_take(f, ends, sizeof *f->layer_end, &f->layer_end, error));
    memcpy(f->layer_end, shared->layer_end, ends * sizeof *f->layer_end);
    if (!shared->layer_kind) return TAPER_OK;
    TAPER_TRY(formats_front_take(f, f->layers, 1, &f->layer_kind, error));
    memcpy(f->layer_kind, shared->layer_kind, f->layers);
    return TAPER_OK;
}

/* Chunks lie within their layers: from the start in the first leaf, up to the end in the last.
 * layer_at is from the start of each layer, and becomes what is added to chunk_at. */
static taper_status place_chunks(const formats_root *r, uint32_t k, formats_front *f,
                                 taper_error *error) {
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint64_t begin = f->chunk_at[(uint64_t)l * f->groups],
                       size = f->chunk_at[((uint64_t)l + 1) * f->groups] - begin,
                       most = r->layer_at[l + 1] - r->layer_at[l], at = f->layer_at[l];
        if (at > most || size > most - at || (!k && at) ||
            (k + 1 == r->leaves && at + size != most))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "its chunks of layer %u are not where the root has room", l);
        f->layer_at[l] = r->layer_at[l] + at - begin; /* modulo 2^64 */
    }
    return TAPER_OK;
}

/* Names of the leaf ascend from its separator to the next one. */
static taper_status check_order(const formats_root *r, uint32_t k, const formats_front *f,
                                taper_error *error) {
    const char *before = r->separators + r->separator_at[k];
    for (uint32_t i = 0; i < f->images; i++) {
        const char *name = formats_front_name(f, i);
        if (strcmp(name, before) < 0)
            return formats_fail(error, TAPER_ERR_CORRUPT, "name %u does not ascend", i);
        before = name;
    }
    if (k + 1 < r->leaves && strcmp(before, r->separators + r->separator_at[k + 1]) >= 0)
        return formats_fail(error, TAPER_ERR_CORRUPT, "its names reach into the next leaf");
    return TAPER_OK;
}

typedef taper_status read_fn(formats_front *f, formats_cursor *in, taper_error *error);

/* Unpack the next part and read it. raised: of the directory, whether
 * it has raised planes; NULL: the part is read by `read`. */
static taper_status read_part(formats_front *f, formats_cursor *in, const char *what,
                              const int *raised, const taper_limits *limits, read_fn *read,
                              taper_error *error) {
    uint8_t *content;
    uint64_t size;
    TAPER_TRY(formats_part_read(f, in, what, &content, &size, error));
    formats_cursor part = formats_cursor_over(content, (size_t)size);
    taper_status status = raised ? formats_leaf_directory_read(f, &part, *raised, limits, error)
                                 : read(f, &part, error);
    if (status == TAPER_OK && formats_cursor_left(&part))
        status = formats_fail(error, TAPER_ERR_CORRUPT, "bytes follow its %s", what);
    formats_unpack_free(f, content, size);
    return status;
}

static taper_status read_parts(const formats_root *r, uint32_t k, formats_cursor *in,
                               const taper_limits *limits, formats_front *f, taper_error *error) {
    TAPER_TRY(read_part(f, in, "directory", &r->has_raised, limits, NULL, error));
    TAPER_TRY(place_chunks(r, k, f, error));
    if (r->find != FORMATS_FIND_NONE)
        TAPER_TRY(read_part(f, in, "names", NULL, limits, formats_names_read, error));
    if (r->find == FORMATS_FIND_ASCENDING) TAPER_TRY(check_order(r, k, f, error));
    if (r->has_labels)
        TAPER_TRY(read_part(f, in, "labels", NULL, limits, formats_labels_read, error));
    return formats_cursor_left(in)
               ? formats_fail(error, TAPER_ERR_CORRUPT, "bytes follow its content")
               : TAPER_OK;
}

/* Name the leaf in a message about damage. */
static taper_status name_leaf(const formats_front *f, uint32_t k, taper_status status,
                              const taper_error *why, taper_error *error) {
    if (status == TAPER_ERR_TRUNCATED) status = TAPER_ERR_CORRUPT; /* all of its bytes are here */
    if (status == TAPER_ERR_CORRUPT)
        return formats_fail(error, status,
                            "leaf %u of the front matter, images %u to %u, is damaged (%s); fetch "
                            "the file again",
                            k, f->first_image + 1, f->first_image + f->images, why->text);
    if (error) *error = *why;
    return status;
}

taper_status formats_leaf_read(const formats_root *r, const formats_front *shared, uint32_t k,
                               const uint8_t *bytes, const taper_limits *limits, formats_front *f,
                               taper_error *error) {
    taper_error why = {0};
    const formats_leaf *leaf = &r->leaf[k];
    formats_cursor in = formats_cursor_over(bytes, (size_t)(leaf[1].at - leaf->at));
    taper_status status = inherit(r, shared, k, limits, f, &why);
    if (status == TAPER_OK && formats_crc32c(0, bytes, in.size) != leaf->crc)
        status = formats_fail(&why, TAPER_ERR_CORRUPT, "checksum");
    if (status == TAPER_OK) status = read_parts(r, k, &in, limits, f, &why);
    if (status == TAPER_OK) return TAPER_OK;
    status = name_leaf(f, k, status, &why, error);
    formats_front_free(f);
    return status;
}

/* --- writing --------------------------------------------------------------------------- */

/* FORMATS_PACK_LEVEL takes half as long again, for 1 % of the directory at most; large sets have a
 * thousand leaves. */
enum { LEVEL = 15 };

taper_status formats_leaf_write(const formats_front *f, formats_buffer *out) {
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    content.account = out->account;
    formats_leaf_directory_write(f, &content);
    TAPER_TRY(formats_part_write(&content, LEVEL, out));
    if (f->names) {
        formats_names_write(f, &content);
        TAPER_TRY(formats_part_write(&content, LEVEL, out));
    }
    if (!f->label) return TAPER_OK;
    formats_labels_write(f, &content);
    return formats_part_write(&content, LEVEL, out);
}

/* --- finding --------------------------------------------------------------------------- */

uint32_t formats_leaf_find(const formats_front *f, const char *name) {
    for (uint32_t i = 0; f->names && i < f->images; i++)
        if (!strcmp(formats_front_name(f, i), name)) return i;
    return UINT32_MAX;
}
