/* rename.c -- taper_rename and taper_strip, and see rename.h: the data are copied as they are, also
 * those of a cut file. */
#include "codec/contents/rename.h"
#include "codec/decoder/front_load.h"
#include "formats/also.h"
#include "formats/container.h"
#include "formats/name_escape.h"
#include "formats/sized.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names after the change: [images + alsos], each borrowed. */
typedef struct new_names {
    const char **name;
    char (*number)[20]; /* names of images without one; NULL: all have one */
} new_names;

static taper_status list_names(formats_front *f, const taper_name *names, size_t n, new_names *to,
                               taper_error *error) {
    const uint64_t all = (uint64_t)f->images + f->alsos;
    TAPER_TRY(formats_front_take(f, all, sizeof *to->name, &to->name, error));
    if (!f->names)
        TAPER_TRY(formats_front_take(f, f->images, sizeof *to->number, &to->number, error));
    for (uint32_t i = 0; i < f->images; i++) {
        if (to->number) snprintf(to->number[i], sizeof *to->number, "%06u.png", i + 1);
        to->name[i] = to->number ? to->number[i] : formats_front_name(f, i);
    }
    for (uint32_t k = 0; k < f->alsos; k++) to->name[f->images + k] = formats_also_name(f, k);
    for (size_t k = 0; k < n; k++) {
        TAPER_TRY(formats_need(names[k].name, "a new name", error));
        if (names[k].image >= all)
            return formats_fail(error, TAPER_ERR_ARG, "there is no image %llu, only %llu",
                                (unsigned long long)names[k].image, (unsigned long long)all);
        if (!formats_name_is_legal(names[k].name))
            return formats_fail(error, TAPER_ERR_ARG,
                                "'%.100s' is no legal name: a relative path of 1 to 4,095 bytes, "
                                "without parts '.' and '..'",
                                names[k].name);
        to->name[names[k].image] = names[k].name;
    }
    return TAPER_OK;
}

/* Put the names of images into the front. */
static taper_status set_image_names(formats_front *f, const new_names *of, taper_error *error) {
    uint64_t bytes = 0;
    char *names;
    uint32_t *at;
    for (uint32_t i = 0; i < f->images; i++) bytes += strlen(of->name[i]) + 1;
    if (bytes > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_LIMIT, "the names take more than 4 GiB");
    TAPER_TRY(formats_front_take(f, bytes, 1, &names, error));
    const taper_status status = formats_front_take(f, f->images, sizeof *at, &at, error);
    if (status != TAPER_OK) {
        free(names);
        return status;
    }
    bytes = 0;
    for (uint32_t i = 0; i < f->images; i++) {
        const size_t length = strlen(of->name[i]) + 1;
        at[i] = (uint32_t)bytes;
        memcpy(names + bytes, of->name[i], length);
        bytes += length;
    }
    free(f->names), free(f->name_at);
    f->names = names, f->name_at = at;
    return TAPER_OK;
}

/* How many of the changes are of images; the others are of further names. */
static size_t count_images(const formats_front *f, const taper_name *names, size_t n) {
    size_t images = 0;
    for (size_t k = 0; k < n; k++) images += names[k].image < f->images;
    return images;
}

taper_status codec_front_rename(formats_front *f, const taper_name *names, size_t n,
                                taper_error *error) {
    new_names all = {0};
    taper_status status = list_names(f, names, n, &all, error);
    const size_t images = count_images(f, names, n);
    if (status == TAPER_OK && images) status = set_image_names(f, &all, error);
    if (status == TAPER_OK && images < n)
        status = formats_also_set(f, f->also, all.name + f->images, f->alsos, error);
    free(all.name), free(all.number);
    return status;
}

static taper_status copy_data(const taper_source *from, uint64_t at, const taper_sink *to) {
    enum { BLOCK = 1 << 16 };
    uint8_t *bytes = malloc(BLOCK);
    taper_status status = bytes ? TAPER_OK : TAPER_ERR_NOMEM;
    for (; at < from->size && status == TAPER_OK; at += BLOCK) {
        const size_t n = from->size - at < BLOCK ? (size_t)(from->size - at) : BLOCK;
        status = from->read(from->user, at, bytes, n);
        if (status == TAPER_OK) status = to->write(to->user, bytes, n);
    }
    free(bytes);
    return status;
}

/* Write the front matter, once it was read again, and the data. */
static taper_status write_container(formats_front *f, const taper_source *from,
                                    const taper_limits *limits, const taper_sink *to,
                                    taper_error *error) {
    const uint64_t data_at = f->front_size;
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    formats_front again;
    out.account = formats_front_account(f);
    taper_status status = formats_front_write(f, &out, error);
    if (status == TAPER_OK) {
        const taper_limits left = formats_limits_minus(limits, f->account.used);
        status = formats_front_read(out.data, out.size, &left, &again, error);
        if (status == TAPER_OK) formats_front_free(&again);
    }
    if (status != TAPER_OK) {
        formats_buffer_free(&out);
        return status;
    }
    status = to->write(to->user, out.data, out.size);
    formats_buffer_free(&out);
    if (status == TAPER_OK) status = copy_data(from, data_at, to);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "the container could not be written (%s)",
                              formats_status_name(status));
}

typedef taper_status change_fn(formats_front *f, const taper_name *names, size_t n,
                               taper_error *error);

static taper_status write_changed(change_fn *change, const taper_source *from,
                                  const taper_name *names, size_t n, const taper_sink *to,
                                  const taper_limits *given, taper_error *error) {
    taper_limits limits;
    formats_front front;
    TAPER_TRY(formats_limits_take(&limits, given, error));
    TAPER_TRY(codec_front_load(from, &limits, &front, error));
    front.has_part = 0; /* the maker's digests are of the container as it was */
    taper_status status = codec_front_check_models(&front, 0, &limits, error);
    if (status == TAPER_OK) status = change(&front, names, n, error);
    if (status == TAPER_OK) status = write_container(&front, from, &limits, to, error);
    formats_front_free(&front);
    return status;
}

taper_status taper_rename(const taper_source *from, const taper_name *names, size_t n,
                          const taper_sink *to, const taper_limits *limits, taper_error *error) {
    TAPER_TRY(formats_need_source(from, error));
    TAPER_TRY(formats_need_sink(to, error));
    TAPER_TRY(formats_need_array(names, n, sizeof *names, "the names", error));
    return write_changed(codec_front_rename, from, names, n, to, limits, error);
}

static taper_status strip(formats_front *f, const taper_name *names, size_t n, taper_error *error) {
    (void)names, (void)n, (void)error;
    free(f->metadata);
    f->metadata = NULL, f->metadata_size = 0;
    for (uint32_t k = 0; k < f->alsos; k++) f->also[k].has_modified = 0, f->also[k].modified_ns = 0;
    return TAPER_OK;
}

taper_status taper_strip(const taper_source *from, const taper_sink *to, const taper_limits *limits,
                         taper_error *error) {
    TAPER_TRY(formats_need_source(from, error));
    TAPER_TRY(formats_need_sink(to, error));
    return write_changed(strip, from, NULL, 0, to, limits, error);
}
