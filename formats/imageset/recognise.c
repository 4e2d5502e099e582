/* recognise.c -- see recognise.h. */
#include "formats/imageset/recognise.h"
#include "formats/images/foreign.h"
#include "formats/images/gzip.h"
#include "formats/images/jpeg.h"
#include "formats/metadata/metadata.h"
#include "formats/images/png.h"
#include "formats/images/pnm.h"
#include "formats/imageset/image_names.h"
#include "formats/readers/find_reader.h"
#include <stdlib.h>
#include <string.h>

static taper_status add_numbered_entries(list_builder *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) TAPER_TRY(formats_image_list_add(b, i, 0));
    return TAPER_OK;
}

/* Give the candidate a pack, if it has none, for random access. */
static taper_status need_pack(candidate *c, taper_error *why) {
    if (c->pack) return TAPER_OK;
    formats_file *file;
    TAPER_TRY(formats_file_open(&file, c->file.path, why));
    c->pack = calloc(1, sizeof *c->pack);
    if (!c->pack) {
        formats_file_close(file);
        return formats_no_memory_to_list(why);
    }
    c->pack->file = file;
    c->pack->source = formats_file_source(file);
    return TAPER_OK;
}

static image_pack *take_pack(candidate *c) {
    image_pack *pack = c->pack;
    c->pack = NULL;
    return pack;
}

static int looks_like_idx(const uint8_t *front, size_t n) {
    return n >= 4 && front[0] == 0 && front[1] == 0 && front[2] >= 8 && front[2] <= 14;
}

/* 1 if the content of a gzip file begins like an IDX file, or if too few of its bytes are
 * available: then unpacking decides. */
static taper_status check_packed(candidate *c, taper_error *why) {
    uint8_t front[FORMATS_FOREIGN_FRONT];
    size_t got;
    int is_other;
    TAPER_TRY(formats_gzip_peek(c->front, c->front_size, front, sizeof front, &got, why));
    if (got < 4 || looks_like_idx(front, got)) return TAPER_OK;
    c->is_unknown = 1;
    const char *what = formats_foreign_by_content(front, got, NULL, &is_other);
    if (what) return formats_fail(why, TAPER_ERR_UNSUPPORTED, "%s", what);
    return formats_fail(
        why, TAPER_ERR_CORRUPT,
        "of files packed with gzip only IDX is read: unpack it first (gunzip or tar xf FILE)");
}

/* All bytes of a candidate. */
static taper_status load_all(const candidate *c, const taper_limits *limits,
                             formats_file_bytes *out, taper_error *why) {
    return formats_file_bytes_load(c->pack, 0, c->pack ? c->pack->source.size : 0, c->file.path,
                                   limits, out, why);
}

/* Replace a gzip file by the IDX file in it. */
static taper_status unpack_gzip(candidate *c, const formats_image_list *list, taper_error *why) {
    formats_file_bytes packed;
    uint8_t *plain;
    size_t plain_size;
    const taper_limits left = formats_limits_minus(&list->limits, list->account.used);
    TAPER_TRY(check_packed(c, why));
    TAPER_TRY(load_all(c, &left, &packed, why));
    const taper_status status =
        formats_idx_unpack(packed.bytes, packed.size, &left, &plain, &plain_size, why);
    free(packed.owned);
    TAPER_TRY(status);
    formats_image_pack_free(c->pack);
    c->pack = formats_image_pack_over(plain, plain_size);
    return c->pack ? TAPER_OK : formats_no_memory_to_list(why);
}

static taper_status add_idx(list_builder *b, candidate *c, taper_error *why) {
    formats_idx idx;
    TAPER_TRY(need_pack(c, why));
    TAPER_TRY(formats_idx_open(&c->pack->source, &b->list->limits, &idx, why));
    c->pack->idx = idx;
    why->status = TAPER_OK;
    TAPER_TRY(formats_image_list_add_file(b, &c->file, KIND_IDX, take_pack(c)));
    return add_numbered_entries(b, idx.count);
}

static taper_status add_cifar(list_builder *b, candidate *c, taper_error *why) {
    formats_cifar cifar;
    TAPER_TRY(need_pack(c, why));
    TAPER_TRY(formats_cifar_open(&c->pack->source, &b->list->limits, &cifar, why));
    c->pack->cifar = cifar;
    why->status = TAPER_OK;
    TAPER_TRY(formats_image_list_add_file(b, &c->file, KIND_CIFAR, take_pack(c)));
    return add_numbered_entries(b, cifar.count);
}

/* In a file of binary PNMs: offset of the image after the one at `offset`. The size of the source
 * if there is none, or if only decoding could find it. Fails if the bytes that follow are no image.
 */
static taper_status next_pnm(const taper_source *source, uint64_t offset,
                             const taper_limits *limits, uint64_t *next, taper_error *why) {
    uint8_t front[FORMATS_FRONT_BYTES];
    formats_pnm_header h;
    uint64_t size = source->size;
    size_t n = size - offset < sizeof front ? (size_t)(size - offset) : sizeof front;
    TAPER_TRY(formats_source_read(source, offset, front, n, why));
    *next = size;
    if (formats_pnm_header_decode(front, n, limits, &h, NULL) != TAPER_OK || h.kind <= 3)
        return TAPER_OK;
    if (h.raster_bytes >= size - offset - h.header_bytes) return TAPER_OK;
    *next = offset + h.header_bytes + h.raster_bytes;
    n = size - *next < sizeof front ? (size_t)(size - *next) : sizeof front;
    TAPER_TRY(formats_source_read(source, *next, front, n, why));
    if (formats_pnm_detect(front, n)) return TAPER_OK;
    size_t space = 0;
    while (space < n && strchr(" \t\r\n", front[space]) && front[space]) space++;
    uint64_t rest = size - *next;
    *next = size;
    if (space == rest) return TAPER_OK;
    return formats_fail(why, TAPER_ERR_CORRUPT,
                        "no image in the last %llu byte%s; the images before are used",
                        (unsigned long long)rest, formats_plural(rest, "s"));
}

/* 1 if the file is a single binary PNM, as nearly all are. It is then not kept open. */
static int is_single_pnm(const candidate *c, uint64_t size, const taper_limits *limits) {
    formats_pnm_header h;
    if (formats_pnm_header_decode(c->front, c->front_size, limits, &h, NULL) != TAPER_OK) return 1;
    return h.kind <= 3 || h.raster_bytes >= size - h.header_bytes;
}

static taper_status add_pnm(list_builder *b, candidate *c, taper_error *why) {
    const taper_limits *limits = &b->list->limits;
    TAPER_TRY(need_pack(c, why));
    if (c->pack->file && is_single_pnm(c, c->pack->source.size, limits)) {
        why->status = TAPER_OK;
        TAPER_TRY(formats_image_list_add_file(b, &c->file, KIND_PNM, NULL));
        return formats_image_list_add(b, 0, 1);
    }
    const taper_source source = c->pack->source;
    why->status = TAPER_OK;
    TAPER_TRY(formats_image_list_add_file(b, &c->file, KIND_PNM, take_pack(c)));
    for (uint64_t offset = 0; offset < source.size;) {
        taper_error odd = {.status = TAPER_OK};
        uint64_t next = source.size;
        TAPER_TRY(formats_image_list_add(b, offset, 1));
        taper_status status = next_pnm(&source, offset, limits, &next, &odd);
        TAPER_TRY(formats_skip_or_fail(b, c->file.path, status, &odd));
        offset = next;
    }
    return TAPER_OK;
}

/* One PNG or JPEG; in a stream as many as follow each other. Bytes behind the last are ignored, as
 * in files. */
static taper_status add_pictures(list_builder *b, candidate *c, image_kind kind, taper_error *why) {
    const formats_memory all = c->pack ? c->pack->memory : (formats_memory){NULL, 0};
    why->status = TAPER_OK;
    TAPER_TRY(formats_image_list_add_file(b, &c->file, kind, take_pack(c)));
    for (size_t at = 0;;) {
        TAPER_TRY(formats_image_list_add(b, at, 1));
        if (!all.bytes) return TAPER_OK;
        const uint8_t *bytes = all.bytes + at;
        const size_t n = all.size - at;
        at += formats_png_detect(bytes, n) ? formats_png_end(bytes, n) : formats_jpeg_end(bytes, n);
        const size_t left = all.size - at;
        if (!formats_png_detect(all.bytes + at, left) && !formats_jpeg_detect(all.bytes + at, left))
            return TAPER_OK;
    }
}

static taper_status count_frames(const list_builder *b, const candidate *c,
                                 const formats_reader *reader, uint32_t *frames, taper_error *why) {
    const taper_limits *limits = &b->list->limits;
    formats_picture picture;
    formats_file_bytes all;
    TAPER_TRY(load_all(c, limits, &all, why));
    const taper_status status =
        formats_picture_open(&picture, reader, all.bytes, all.size, limits, why);
    if (status == TAPER_OK) *frames = picture.frames;
    if (status == TAPER_OK) formats_picture_close(&picture);
    free(all.owned);
    return status;
}

static taper_status add_frames(list_builder *b, candidate *c, const formats_reader *reader,
                               uint32_t frames, taper_error *why) {
    c->file.reader = reader;
    c->file.frames = frames > 1 ? frames : 0;
    why->status = TAPER_OK;
    TAPER_TRY(formats_image_list_add_file(b, &c->file, KIND_READER, take_pack(c)));
    for (uint32_t i = 0; i < frames; i++) TAPER_TRY(formats_image_list_add(b, i, 1));
    return TAPER_OK;
}

/* A file for one of the readers of formats/readers/. */
static taper_status add_by_reader(list_builder *b, candidate *c, const formats_reader *reader,
                                  taper_error *why) {
    uint32_t frames = 1;
    TAPER_TRY(formats_reader_load(reader, why));
    if (b->all_frames) TAPER_TRY(count_frames(b, c, reader, &frames, why));
    return add_frames(b, c, reader, frames, why);
}

/* A PNG whose frames are wanted is read by another reader, unless it is one of several pictures in
 * a stream, or none of its frames is whole. */
static taper_status add_png(list_builder *b, candidate *c, taper_error *why) {
    const formats_memory all = c->pack ? c->pack->memory : (formats_memory){NULL, 0};
    const int is_alone = !all.bytes || formats_png_end(all.bytes, all.size) == all.size;
    uint32_t frames = 1;
    if (b->all_frames && is_alone && formats_png_may_be_animated(c->front, c->front_size)) {
        const taper_status status = count_frames(b, c, &formats_apng_reader, &frames, why);
        if (status != TAPER_OK && status != TAPER_ERR_CORRUPT) return status;
    }
    why->status = TAPER_OK;
    return frames > 1 ? add_frames(b, c, &formats_apng_reader, frames, why)
                      : add_pictures(b, c, KIND_PNG, why);
}

/* A file whose content is in no supported format. */
static taper_status fail_foreign(candidate *c, taper_error *why) {
    int is_other;
    const char *what = formats_foreign_by_content(c->front, c->front_size, c->file.path, &is_other);
    c->is_unknown = !what || is_other;
    if (c->is_unknown && c->file.path && formats_foreign_by_name(c->file.path)) {
        what = formats_foreign_by_name(c->file.path);
        c->is_unknown = 0;
    }
    if (what) return formats_fail(why, TAPER_ERR_UNSUPPORTED, "%s", what);
    if (!c->front_size) return formats_fail(why, TAPER_ERR_TRUNCATED, "the file is empty");
    return formats_fail(why, TAPER_ERR_CORRUPT, "the file is no image of a known kind");
}

taper_status formats_recognise(list_builder *b, candidate *c, taper_error *why) {
    const uint8_t *front = c->front;
    size_t n = c->front_size;
    if (n == 0) return fail_foreign(c, why);
    if (formats_png_detect(front, n)) return add_png(b, c, why);
    if (formats_jpeg_detect(front, n)) return add_pictures(b, c, KIND_JPEG, why);
    if (formats_pnm_detect(front, n)) return add_pnm(b, c, why);
    const formats_reader *reader = formats_reader_find(front, n);
    const int is_raw = c->file.path && formats_foreign_is_raw(c->file.path);
    if (reader && !is_raw) return add_by_reader(b, c, reader, why);
    if (formats_gzip_detect(front, n)) {
        TAPER_TRY(unpack_gzip(c, b->list, why));
        return add_idx(b, c, why);
    }
    taper_status status = fail_foreign(c, why);
    int is_idx = looks_like_idx(front, n);
    if (is_idx) {
        c->is_unknown = 0;
        status = add_idx(b, c, why);
        if (status == TAPER_OK || formats_is_system_error(status) || why->status == TAPER_OK)
            return status;
    }
    if (!c->may_be_cifar || (!is_idx && status == TAPER_ERR_UNSUPPORTED)) return status;
    taper_error not_cifar = {.status = TAPER_OK};
    taper_status second = add_cifar(b, c, &not_cifar);
    if (second == TAPER_OK || not_cifar.status == TAPER_OK) return second;
    /* a magic number counts more than the extension; a stream has no extension */
    int likely = formats_has_extension(c->file.path, ".bin") && !formats_idx_detect(front, n);
    if (!likely && !formats_is_system_error(second)) return status;
    *why = not_cifar;
    return second;
}

int formats_may_be_image(const uint8_t *front, size_t n) {
    return formats_png_detect(front, n) || formats_jpeg_detect(front, n) ||
           formats_pnm_detect(front, n) || formats_reader_find(front, n) ||
           formats_gzip_detect(front, n) || looks_like_idx(front, n);
}

/* 1 if the extension is that of an image; the file is then damaged. */
static int is_named_image(const char *path) {
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    return formats_image_stem(name) < strlen(name) || formats_has_extension(path, ".bin") ||
           formats_has_extension(path, ".idx");
}

taper_status formats_add_candidate(list_builder *b, candidate *c) {
    taper_error why = {.status = TAPER_OK};
    taper_status status = formats_recognise(b, c, &why);
    formats_image_pack_free(c->pack);
    c->pack = NULL;
    if (status == TAPER_OK || why.status == TAPER_OK) return status;
    if (!c->is_unknown || !c->file.below_folder || is_named_image(c->file.path) ||
        formats_is_system_error(status))
        return formats_skip_or_fail(b, c->file.path, status, &why);
    formats_report_skip(b, FORMATS_SKIP_NO_IMAGE, c->file.path, &why);
    return TAPER_OK;
}
