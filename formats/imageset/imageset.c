/* imageset.c -- opens a set of images and reads them one at a time; see imageset.h. */
#define XXH_STATIC_LINKING_ONLY /* a state on the stack */
#include "formats/imageset/imageset.h"
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/imageset/frame_cursor.h"
#include "formats/imageset/imageset_inputs.h"
#include "formats/imageset/imageset_labels.h"
#include "formats/imageset/imageset_names.h"
#include "formats/images/jpeg.h"
#include "formats/metadata/icc.h"
#include "formats/metadata/metadata.h"
#include "formats/metadata/settle.h"
#include "formats/images/png.h"
#include "formats/images/pnm.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

struct formats_imageset {
    formats_image_list list;
    formats_frame_cursor *frames; /* has a lock of its own */
};

/* --- opening --- */

/* Standard input can be read only once. */
static taper_status check_stdin(const list_builder *b, const char *const *paths, size_t n_paths,
                                const char *filelist) {
    size_t named = filelist && strcmp(filelist, "-") == 0;
    for (size_t i = 0; i < n_paths; i++) named += strcmp(paths[i], "-") == 0;
    if (named < 2) return TAPER_OK;
    return formats_fail(b->error, TAPER_ERR_ARG,
                        "standard input is named twice; name it once, as an image or as the list");
}

static taper_status add_inputs(list_builder *b, const char *const *paths, size_t n_paths,
                               const char *filelist, int null_list) {
    TAPER_TRY(check_stdin(b, paths, n_paths, filelist));
    for (size_t i = 0; i < n_paths; i++) TAPER_TRY(formats_imageset_add_input(b, paths[i]));
    if (filelist) TAPER_TRY(formats_imageset_add_list(b, filelist, null_list));
    if (b->list->count) return TAPER_OK;
    const char *first = n_paths ? paths[0] : filelist ? filelist : "";
    if (!first[0]) return formats_fail(b->error, TAPER_ERR_ARG, "no input was named");
    const char *more = n_paths + (filelist != NULL) > 1 ? " and the other inputs" : "";
    return formats_fail(
        b->error, TAPER_ERR_ARG,
        "'%.120s'%s: no image can be read there (%zu skipped); name files or folders with images",
        first, more, b->skipped);
}

taper_status formats_imageset_open(formats_imageset **out, const char *const *paths, size_t n_paths,
                                   const formats_imageset_options *options,
                                   formats_imageset_skip_fn *skip, void *skip_user,
                                   taper_error *error) {
    *out = NULL;
    formats_imageset_options o = options ? *options : (formats_imageset_options){0};
    formats_imageset *set = calloc(1, sizeof *set);
    list_builder b = {.list = set ? &set->list : NULL,
                      .skip = skip,
                      .skip_user = skip_user,
                      .error = error,
                      .follow_links = o.follow_links,
                      .all_frames = o.all_frames};
    taper_status status = TAPER_OK;
    if (set) set->frames = formats_frame_cursor_make();
    if (!set || !set->frames)
        status = formats_no_memory_to_list(error);
    else {
        set->list.limits = formats_limits_or_default(o.limits);
        set->list.account = formats_account_within(&set->list.limits);
        status = add_inputs(&b, paths, n_paths, o.filelist, o.null_list);
        if (status == TAPER_OK) status = formats_imageset_name_images(&b);
        if (status == TAPER_OK) status = formats_imageset_assign_labels(&b, o.labels);
    }
    if (status == TAPER_OK)
        *out = set;
    else
        formats_imageset_close(set);
    return status;
}

void formats_imageset_close(formats_imageset *set) {
    if (!set) return;
    formats_frame_cursor_free(set->frames);
    formats_image_list_free(&set->list);
    free(set);
}

uint64_t formats_imageset_memory(const formats_imageset *set) { return set->list.account.used; }

/* --- reading --- */

/* 1 if the colours of an image are others than those of sRGB. */
static int is_wide(const formats_metadata *m) {
    enum { BT709_PRIMARIES = 1, UNSPECIFIED = 2, BT709 = 1, BT601 = 6, SRGB = 13 };
    if (m->icc.size) return !formats_icc_is_srgb(m->icc.bytes, m->icc.size);
    if (!m->has_cicp) return 0;
    return (m->cicp[0] != BT709_PRIMARIES && m->cicp[0] != UNSPECIFIED) ||
           (m->cicp[1] != SRGB && m->cicp[1] != BT709 && m->cicp[1] != BT601 &&
            m->cicp[1] != UNSPECIFIED);
}

/* Note what is known of an image that was read, and pass its metadata on. */
static void note_metadata(image_entry *entry, formats_metadata *found, formats_metadata *wanted) {
    if (found->exif.size || found->xmp.size) atomic_fetch_or(&entry->seen, FORMATS_LOST_EXIF);
    if (is_wide(found)) atomic_fetch_or(&entry->seen, SEEN_PROFILE);
    if (wanted)
        *wanted = *found;
    else
        formats_metadata_free(found);
}

static taper_status decode_by_reader(const formats_image_list *list, image_entry *entry,
                                     const uint8_t *bytes, size_t n, taper_image *out,
                                     formats_metadata *metadata, taper_error *error) {
    formats_picture picture;
    formats_metadata found = {0};
    const formats_reader *reader = list->files[entry->file].reader;
    TAPER_TRY(formats_picture_open(&picture, reader, bytes, n, &list->limits, error));
    const taper_status status = formats_picture_read(&picture, 0, out, &found, error);
    if (status == TAPER_OK && picture.frames > 1) atomic_store(&entry->frames, picture.frames);
    formats_picture_close(&picture);
    note_metadata(entry, &found, metadata);
    return status;
}

/* One of the frames that are images of their own. */
static taper_status read_frame(const formats_imageset *set, image_entry *entry, taper_image *out,
                               formats_metadata *metadata, taper_error *error) {
    formats_metadata found = {0};
    const taper_status status = formats_frame_cursor_read(
        set->frames, &set->list, entry->file, (uint32_t)entry->part, out, &found, error);
    note_metadata(entry, &found, metadata);
    return status;
}

static taper_status decode(const formats_image_list *list, image_entry *entry, const uint8_t *bytes,
                           size_t n, taper_image *out, formats_metadata *metadata,
                           taper_error *error) {
    const taper_limits *limits = &list->limits;
    formats_orientation upright = {0};
    unsigned seen;
    int has_profile;
    image_kind kind = list->files[entry->file].kind;
    /* one after the other they may change in a stream */
    if (kind == KIND_PNG && formats_jpeg_detect(bytes, n)) kind = KIND_JPEG;
    if (kind == KIND_JPEG && formats_png_detect(bytes, n)) kind = KIND_PNG;
    switch (kind) {
    case KIND_PNG:
        TAPER_TRY(formats_png_orientation(bytes, n, &upright, error));
        TAPER_TRY(formats_png_decode(bytes, n, limits, out, metadata, error));
        has_profile = formats_png_has_profile(bytes, n);
        seen = formats_png_losses(bytes, n);
        if (formats_png_frames(bytes, n) > 1)
            atomic_store(&entry->frames, formats_png_frames(bytes, n));
        break;
    case KIND_JPEG:
        TAPER_TRY(formats_jpeg_decode(bytes, n, limits, out, metadata, error));
        upright = formats_jpeg_orientation(bytes, n);
        has_profile = formats_jpeg_has_profile(bytes, n);
        seen = formats_jpeg_losses(bytes, n);
        break;
    case KIND_READER: return decode_by_reader(list, entry, bytes, n, out, metadata, error);
    default: return formats_pnm_decode(bytes, n, limits, out, NULL, error);
    }
    if (has_profile) seen |= SEEN_PROFILE;
    if (upright.is_uncertain) seen |= SEEN_UNCERTAIN_ORIENTATION;
    atomic_fetch_or(&entry->seen, (unsigned char)seen);
    return TAPER_OK;
}

/* An image that is a file, or one after the other in a pack: up to where the next begins. */
static taper_status read_file(const formats_image_list *list, size_t i, taper_image *out,
                              formats_metadata *metadata, taper_error *error) {
    image_entry *entry = &list->entries[i];
    const image_file *file = &list->files[entry->file];
    const image_pack *pack = file->pack;
    const uint64_t at = file->kind == KIND_READER ? 0 : entry->part;
    uint64_t end = pack ? pack->source.size : 0;
    if (file->kind != KIND_READER && i + 1 < list->count &&
        list->entries[i + 1].file == entry->file)
        end = list->entries[i + 1].part;
    formats_file_bytes b;
    TAPER_TRY(formats_file_bytes_load(pack, at, end - at, file->path, &list->limits, &b, error));
    const taper_status status = decode(list, entry, b.bytes, b.size, out, metadata, error);
    free(b.owned);
    return status;
}

/* One image of a file of several PNMs; the last one with all bytes that follow. */
static taper_status read_pnm_at(const formats_image_list *list, const image_pack *pack,
                                uint64_t offset, taper_image *out, taper_error *error) {
    uint8_t front[512];
    uint64_t left = pack->source.size - offset, wanted = left;
    size_t n = left < sizeof front ? (size_t)left : sizeof front;
    formats_pnm_header h;
    TAPER_TRY(formats_source_read(&pack->source, offset, front, n, error));
    if (formats_pnm_header_decode(front, n, &list->limits, &h, NULL) == TAPER_OK && h.kind > 3 &&
        h.raster_bytes < left - h.header_bytes)
        wanted = h.header_bytes + h.raster_bytes;
    formats_file_bytes b;
    TAPER_TRY(formats_file_bytes_load(pack, offset, wanted, NULL, &list->limits, &b, error));
    const taper_status status =
        formats_pnm_decode(b.bytes, b.size, &list->limits, out, NULL, error);
    free(b.owned);
    return status;
}

static taper_status read_image(const formats_imageset *set, size_t i, taper_image *out,
                               formats_metadata *metadata, taper_error *error) {
    const formats_image_list *list = &set->list;
    image_entry *entry = &set->list.entries[i];
    const image_file *file = &list->files[entry->file];
    const image_pack *pack = file->pack;
    if (file->frames) return read_frame(set, entry, out, metadata, error);
    if (!pack) return read_file(list, i, out, metadata, error);
    switch (file->kind) {
    case KIND_IDX:
        return formats_idx_read(&pack->source, &pack->idx, (uint32_t)entry->part, out, error);
    case KIND_CIFAR:
        return formats_cifar_read(&pack->source, &pack->cifar, (uint32_t)entry->part, out, error);
    case KIND_PNM: return read_pnm_at(list, pack, entry->part, out, error);
    default: return read_file(list, i, out, metadata, error);
    }
}

/* The time of a file of images, or of a member of an archive. */
static void read_time(const image_file *file, formats_metadata *metadata) {
    struct stat st;
    const int64_t second = 1000000000;
    if (file->kind == KIND_IDX || file->kind == KIND_CIFAR) return;
    metadata->has_modified = file->has_modified;
    metadata->modified_ns = file->modified_ns;
    if (file->pack || stat(file->path, &st) != 0 || !S_ISREG(st.st_mode)) return;
    if (st.st_mtim.tv_sec > INT64_MAX / second - 1 || st.st_mtim.tv_sec < INT64_MIN / second + 1)
        return;
    metadata->has_modified = 1;
    metadata->modified_ns = (int64_t)st.st_mtim.tv_sec * second + st.st_mtim.tv_nsec;
}

taper_status formats_imageset_read(const formats_imageset *set, size_t i, taper_image *out,
                                   formats_metadata *metadata, taper_error *error) {
    const formats_image_list *list = &set->list;
    *out = (taper_image){0};
    if (metadata) *metadata = (formats_metadata){0};
    if (i >= list->count) return formats_fail(error, TAPER_ERR_ARG, "the set has no image %zu", i);
    image_entry *entry = &list->entries[i];
    TAPER_TRY(read_image(set, i, out, metadata, error));
    if (!metadata) return TAPER_OK;
    formats_metadata_settle(metadata, out->channels);
    if (metadata->left_out) atomic_fetch_or(&entry->seen, SEEN_LEFT_OUT);
    read_time(&list->files[entry->file], metadata);
    return TAPER_OK;
}

static size_t count_seen(const formats_imageset *set, unsigned which, const char **first) {
    size_t count = 0;
    *first = NULL;
    for (size_t i = 0; i < set->list.count; i++)
        if ((atomic_load(&set->list.entries[i].seen) & which) && count++ == 0)
            *first = formats_imageset_path(set, i);
    return count;
}

size_t formats_imageset_profiles(const formats_imageset *set, const char **first) {
    return count_seen(set, SEEN_PROFILE, first);
}

size_t formats_imageset_orientations(const formats_imageset *set, const char **first) {
    return count_seen(set, SEEN_UNCERTAIN_ORIENTATION, first);
}

size_t formats_imageset_exifs(const formats_imageset *set, const char **first) {
    return count_seen(set, FORMATS_LOST_EXIF, first);
}

size_t formats_imageset_left_out(const formats_imageset *set, const char **first) {
    return count_seen(set, SEEN_LEFT_OUT, first);
}

size_t formats_imageset_more_pictures(const formats_imageset *set, const char **first) {
    return count_seen(set, FORMATS_LOST_PICTURES, first);
}

size_t formats_imageset_more_frames(const formats_imageset *set, const char **first,
                                    uint64_t *frames) {
    size_t count = 0;
    *first = NULL, *frames = 0;
    for (size_t i = 0; i < set->list.count; i++) {
        const unsigned n = atomic_load(&set->list.entries[i].frames);
        if (n && count++ == 0) *first = formats_imageset_path(set, i);
        *frames += n;
    }
    return count;
}

/* --- accessors --- */

size_t formats_imageset_count(const formats_imageset *set) { return set->list.count; }

const char *formats_imageset_name(const formats_imageset *set, size_t i) {
    return i < set->list.count ? set->list.entries[i].name : NULL;
}

uint64_t formats_imageset_part(const formats_imageset *set, size_t i) {
    return formats_imageset_name(set, i) || i >= set->list.count ? 0 : set->list.entries[i].part;
}

const char *formats_imageset_path(const formats_imageset *set, size_t i) {
    return i < set->list.count ? set->list.files[set->list.entries[i].file].path : "";
}

int32_t formats_imageset_label(const formats_imageset *set, size_t i) {
    return i < set->list.count ? set->list.entries[i].label : -1;
}

size_t formats_imageset_class_count(const formats_imageset *set) { return set->list.class_count; }

const char *formats_imageset_class_name(const formats_imageset *set, size_t k) {
    return k < set->list.class_count ? set->list.class_names[k] : NULL;
}

const char *formats_imageset_single_class(const formats_imageset *set) {
    return set->list.single_class;
}

size_t formats_imageset_prefixed(const formats_imageset *set, const char **first) {
    *first = set->list.prefixed_first;
    return set->list.prefixed;
}

size_t formats_imageset_numbered(const formats_imageset *set, const char **first) {
    *first = set->list.numbered_first;
    return set->list.numbered;
}

size_t formats_imageset_unmatched_lines(const formats_imageset *set, const char **first) {
    *first = set->list.unmatched_line;
    return set->list.unmatched_lines;
}

size_t formats_imageset_overridden_lines(const formats_imageset *set, const char **first) {
    *first = set->list.overridden_line;
    return set->list.overridden_lines;
}

/* --- digests --- */

/* Strings are hashed with their final 0, numbers as 8 bytes in the order of containers: no two
 * different lists give the same bytes. */
static void put_text(XXH3_state_t *h, const char *text) {
    XXH3_64bits_update(h, text, strlen(text) + 1);
}

static void put_number(XXH3_state_t *h, uint64_t number) {
    uint8_t bytes[8];
    formats_set_u64le(bytes, number);
    XXH3_64bits_update(h, bytes, sizeof bytes);
}

uint64_t formats_digest_text(const char *text) { return formats_digest_bytes(text, strlen(text)); }

uint64_t formats_digest_bytes(const void *bytes, size_t n) { return XXH3_64bits(bytes, n); }

uint64_t formats_digest_image(const taper_image *image) {
    const uint64_t key[] = {formats_digest_bytes(image->pixels, formats_image_bytes(image)),
                            (uint64_t)image->width << 32 | image->height,
                            (uint64_t)image->channels << 8 | image->depth};
    return formats_digest_bytes(key, sizeof key);
}

/* The name of image i; of an image without one the name and the place in its file. */
static void put_name(XXH3_state_t *h, const formats_image_list *list, size_t i) {
    const image_entry *entry = &list->entries[i];
    const image_file *file = &list->files[entry->file];
    put_text(h, entry->name ? entry->name : file->path + file->relative_at);
    put_number(h, entry->name ? 0 : entry->part + 1);
}

static int has_no_names(const image_file *file) {
    return file->pack && (file->kind == KIND_IDX || file->kind == KIND_CIFAR);
}

/* Size and beginning of a file whose images have no names. */
static taper_status put_front(XXH3_state_t *h, const image_file *file, taper_error *error) {
    enum { FRONT = 1 << 16 };
    const taper_source *source = &file->pack->source;
    const size_t n = source->size < FRONT ? (size_t)source->size : FRONT;
    uint8_t *front = malloc(n + 1);
    if (!front) return formats_no_memory_to_list(error);
    const taper_status status = formats_source_read(source, 0, front, n, error);
    if (status == TAPER_OK) {
        put_number(h, source->size);
        XXH3_64bits_update(h, front, n);
    }
    free(front);
    return status;
}

taper_status formats_imageset_digest(const formats_imageset *set, uint64_t *digest,
                                     taper_error *error) {
    const formats_image_list *list = &set->list;
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    put_number(&h, list->class_count);
    for (size_t k = 0; k < list->class_count; k++) put_text(&h, list->class_names[k]);
    for (size_t i = 0; i < list->count; i++) {
        const image_file *file = &list->files[list->entries[i].file];
        const int is_first = !i || list->entries[i - 1].file != list->entries[i].file;
        put_name(&h, list, i);
        if (is_first && has_no_names(file)) TAPER_TRY(put_front(&h, file, error));
    }
    *digest = XXH3_64bits_digest(&h);
    return TAPER_OK;
}

/* The pixels of an image of an IDX or CIFAR file, which are all that it has. */
static taper_status put_pixels(XXH3_state_t *h, const formats_imageset *set, size_t i,
                               taper_error *error) {
    taper_image image;
    TAPER_TRY(formats_imageset_read(set, i, &image, NULL, error));
    put_number(h, image.width), put_number(h, image.height), put_number(h, image.channels);
    XXH3_64bits_update(h, image.pixels, (size_t)formats_image_bytes(&image));
    formats_image_free(&image);
    return TAPER_OK;
}

/* The bytes of the file of image i; in a pack up to the next image. */
static taper_status put_bytes(XXH3_state_t *h, const formats_image_list *list, size_t i,
                              taper_error *error) {
    const image_entry *entry = &list->entries[i];
    const image_file *file = &list->files[entry->file];
    const uint64_t at = file->pack && file->kind != KIND_READER ? entry->part : 0;
    uint64_t end = file->pack ? file->pack->source.size : 0;
    if (file->kind != KIND_READER && i + 1 < list->count && entry[1].file == entry->file)
        end = entry[1].part;
    formats_file_bytes b;
    TAPER_TRY(
        formats_file_bytes_load(file->pack, at, end - at, file->path, &list->limits, &b, error));
    put_number(h, b.size);
    XXH3_64bits_update(h, b.bytes, b.size);
    free(b.owned);
    return TAPER_OK;
}

/* Of a file of frames, which are images of their own, the bytes count once. */
static taper_status put_content(XXH3_state_t *h, const formats_imageset *set, size_t i,
                                int is_first, taper_error *error) {
    const formats_image_list *list = &set->list;
    const image_file *file = &list->files[list->entries[i].file];
    if (has_no_names(file)) return put_pixels(h, set, i, error);
    return file->frames && !is_first ? TAPER_OK : put_bytes(h, list, i, error);
}

taper_status formats_imageset_digest_inputs(const formats_imageset *set, size_t first, size_t end,
                                            uint64_t *digest, taper_error *error) {
    const formats_image_list *list = &set->list;
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    for (size_t i = first; i < end && i < list->count; i++) {
        const image_entry *entry = &list->entries[i];
        const int is_first = i == first || entry[-1].file != entry->file;
        put_name(&h, list, i);
        put_number(&h, (uint64_t)entry->label);
        const taper_status status = put_content(&h, set, i, is_first, error);
        if (status == TAPER_ERR_NOMEM || status == TAPER_ERR_LIMIT) return status;
        if (status != TAPER_OK) put_number(&h, UINT64_MAX);
    }
    *digest = XXH3_64bits_digest(&h);
    return TAPER_OK;
}
