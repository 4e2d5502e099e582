/* imageset.c -- opening a set of images and reading them one at a time; see imageset.h. */
#include "imageset.h"
#include "imageset_parts.h"
#include "jpeg.h"
#include "png.h"
#include "pnm.h"
#include <stdlib.h>

/* --- opening --- */

static taper_status add_inputs(imageset_builder *b, const char *const *paths, size_t n_paths,
                               const char *filelist) {
    for (size_t i = 0; i < n_paths; i++) TAPER_TRY(imageset_add_input(b, paths[i]));
    if (filelist) TAPER_TRY(imageset_add_list(b, filelist));
    if (b->set->count) return TAPER_OK;
    const char *first = n_paths ? paths[0] : filelist ? filelist : "";
    if (!first[0]) return formats_fail(b->error, TAPER_ERR_ARG, "no input was named");
    const char *more = n_paths + (filelist != NULL) > 1 ? " and the other inputs" : "";
    return formats_fail(
        b->error, TAPER_ERR_ARG,
        "'%.120s'%s: no image can be read there (%zu skipped); name files or folders with PNG, "
        "PNM, JPEG, IDX or CIFAR images",
        first, more, b->skipped);
}

taper_status formats_imageset_open(formats_imageset **out, const char *const *paths, size_t n_paths,
                                   const formats_imageset_options *options,
                                   formats_imageset_skip_fn *skip, void *skip_user,
                                   taper_error *error) {
    *out = NULL;
    formats_imageset_options o = options ? *options : (formats_imageset_options){0};
    imageset_builder b = {.skip = skip, .skip_user = skip_user, .error = error};
    b.set = calloc(1, sizeof *b.set);
    b.names = formats_image_names_make();
    taper_status status = TAPER_OK;
    if (!b.set || !b.names)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory to list the images");
    else {
        b.set->limits = formats_limits_or_default(o.limits);
        status = add_inputs(&b, paths, n_paths, o.filelist);
        if (status == TAPER_OK) status = imageset_assign_labels(&b, o.labels);
    }
    formats_image_names_free(b.names);
    if (status == TAPER_OK) *out = b.set;
    else formats_imageset_close(b.set);
    return status;
}

void formats_imageset_close(formats_imageset *set) {
    if (!set) return;
    for (size_t i = 0; i < set->file_count; i++) {
        free(set->files[i].path);
        imageset_pack_free(set->files[i].pack);
    }
    for (size_t i = 0; i < set->count; i++) free(set->entries[i].name);
    for (size_t k = 0; k < set->class_count; k++) free(set->class_names[k]);
    free(set->files);
    free(set->entries);
    free(set->class_names);
    free(set);
}

/* --- reading --- */

static taper_status decode(image_kind kind, const uint8_t *bytes, size_t n,
                           const taper_limits *limits, taper_image *out, taper_error *error) {
    switch (kind) {
    case KIND_PNG: return formats_png_decode(bytes, n, limits, out, error);
    case KIND_JPEG: return formats_jpeg_decode(bytes, n, limits, out, error);
    default: return formats_pnm_decode(bytes, n, limits, out, NULL, error);
    }
}

/* An image of its own file. */
static taper_status read_file(const formats_imageset *set, const image_file *file, taper_image *out,
                              taper_error *error) {
    uint8_t *bytes;
    size_t size;
    TAPER_TRY(formats_file_read(file->path, set->limits.max_memory, &bytes, &size, error));
    taper_status status = decode(file->kind, bytes, size, &set->limits, out, error);
    free(bytes);
    return status;
}

/* One image of a file of PNMs, or the last of them with all that follows. */
static taper_status read_pnm_at(const formats_imageset *set, const image_pack *pack,
                                uint64_t offset, taper_image *out, taper_error *error) {
    uint8_t front[512];
    uint64_t left = pack->source.size - offset, wanted = left;
    size_t n = left < sizeof front ? (size_t)left : sizeof front;
    formats_pnm_header h;
    TAPER_TRY(formats_source_read(&pack->source, offset, front, n, error));
    if (formats_pnm_header_decode(front, n, &set->limits, &h, NULL) == TAPER_OK && h.kind > 3 &&
        h.raster_bytes < left - h.header_bytes)
        wanted = h.header_bytes + h.raster_bytes;
    if (wanted > set->limits.max_memory)
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "the image takes %llu bytes; raise --max-memory",
                            (unsigned long long)wanted);
    uint8_t *bytes = malloc((size_t)wanted);
    if (!bytes) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read an image");
    taper_status status = formats_source_read(&pack->source, offset, bytes, (size_t)wanted, error);
    if (status == TAPER_OK)
        status = decode(KIND_PNM, bytes, (size_t)wanted, &set->limits, out, error);
    free(bytes);
    return status;
}

taper_status formats_imageset_read(const formats_imageset *set, size_t i, taper_image *out,
                                   taper_error *error) {
    *out = (taper_image){0};
    if (i >= set->count) return formats_fail(error, TAPER_ERR_ARG, "the set has no image %zu", i);
    const image_entry *entry = &set->entries[i];
    const image_file *file = &set->files[entry->file];
    const image_pack *pack = file->pack;
    if (!pack) return read_file(set, file, out, error);
    switch (file->kind) {
    case KIND_IDX:
        return formats_idx_read(&pack->source, &pack->idx, (uint32_t)entry->part, out, error);
    case KIND_CIFAR:
        return formats_cifar_read(&pack->source, &pack->cifar, (uint32_t)entry->part, out, error);
    case KIND_PNM: return read_pnm_at(set, pack, entry->part, out, error);
    default:
        return decode(file->kind, pack->memory.bytes, pack->memory.size, &set->limits, out, error);
    }
}

/* --- accessors --- */

size_t formats_imageset_count(const formats_imageset *set) { return set->count; }

const char *formats_imageset_name(const formats_imageset *set, size_t i) {
    return i < set->count ? set->entries[i].name : NULL;
}

const char *formats_imageset_path(const formats_imageset *set, size_t i) {
    return i < set->count ? set->files[set->entries[i].file].path : "";
}

int32_t formats_imageset_label(const formats_imageset *set, size_t i) {
    return i < set->count ? set->entries[i].label : -1;
}

size_t formats_imageset_class_count(const formats_imageset *set) { return set->class_count; }

const char *formats_imageset_class_name(const formats_imageset *set, size_t k) {
    return k < set->class_count ? set->class_names[k] : NULL;
}
