/* also.c -- see also.h. */
#include "formats/also.h"
#include "formats/metadata_writer.h"
#include "formats/name_block.h"
#include <stdlib.h>
#include <string.h>

#define MOST_NUMBERS (UINT32_MAX - 1) /* images and further names together */

static taper_status illegal(const char *what, taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT, "further names of images: %s", what);
}

/* --- reading --------------------------------------------------------------------------- */

static taper_status read_names(formats_front *f, formats_cursor *in, taper_error *error) {
    uint32_t *at;
    const uint8_t *from = in->bytes + in->at;
    TAPER_TRY(formats_front_take(f, f->alsos, sizeof *at, &at, error));
    const formats_name_block block =
        formats_name_block_find(from, formats_cursor_left(in), f->alsos, at);
    taper_status status = block.found < f->alsos
                              ? illegal("one is not ended", error)
                              : formats_front_take(f, block.used, 1, &f->also_names, error);
    if (status == TAPER_OK) memcpy(f->also_names, from, block.used);
    for (uint32_t k = 0; k < f->alsos && status == TAPER_OK; k++) {
        f->also[k].name_at = at[k];
        if (!block.are_plain && !formats_name_is_legal(f->also_names + at[k]))
            status = illegal("one is not a plain relative path", error);
    }
    formats_read_bytes(in, block.used);
    formats_account_give(formats_front_account(f), ((uint64_t)f->alsos + 1) * sizeof *at);
    free(at);
    return status;
}

static taper_status read_times(formats_front *f, formats_cursor *in, taper_error *error) {
    int64_t size = 1, before = 0;
    uint32_t any = 0;
    for (uint32_t k = 0; k < f->alsos; k++)
        any |= f->also[k].has_modified = (uint8_t)formats_read_varint_max(in, 1);
    unsigned unit = any ? formats_read_u8(in) : 0;
    if (unit > FORMATS_METADATA_MOST_UNIT) return illegal("times have no legal unit", error);
    while (unit--) size *= 10;
    for (uint32_t k = 0; k < f->alsos; k++) {
        if (!f->also[k].has_modified) continue;
        before = (int64_t)((uint64_t)before + formats_unzigzag(formats_read_varint(in)));
        if (before > INT64_MAX / size || before < INT64_MIN / size)
            return illegal("a time is out of range", error);
        f->also[k].modified_ns = before * size;
    }
    return TAPER_OK;
}

taper_status formats_also_read(formats_front *f, formats_cursor *in, taper_error *error) {
    const uint64_t n = formats_read_varint_max(in, MOST_NUMBERS - f->images);
    TAPER_TRY(formats_cursor_check(in, "further names of images", error));
    if (!n || n > formats_cursor_left(in)) return illegal("their number is not legal", error);
    TAPER_TRY(formats_front_take(f, n, sizeof *f->also, &f->also, error));
    f->alsos = (uint32_t)n;
    for (uint32_t k = 0; k < n; k++)
        f->also[k].image = (uint32_t)formats_read_varint_max(in, f->images - 1);
    for (uint32_t k = 0; k < n; k++)
        f->also[k].label = f->label ? (int32_t)formats_read_varint_max(in, f->classes) - 1 : -1;
    TAPER_TRY(formats_cursor_check(in, "further names of images", error));
    TAPER_TRY(read_names(f, in, error));
    TAPER_TRY(read_times(f, in, error));
    return formats_cursor_check(in, "further names of images", error);
}

/* --- writing --------------------------------------------------------------------------- */

/* The largest unit, as a power of ten, in which all times are whole. */
static uint8_t unit_of(const formats_front *f, int64_t *size) {
    uint8_t unit = 0;
    *size = 1;
    for (; unit < FORMATS_METADATA_MOST_UNIT; unit++, *size *= 10)
        for (uint32_t k = 0; k < f->alsos; k++)
            if (f->also[k].has_modified && f->also[k].modified_ns % (*size * 10)) return unit;
    return unit;
}

static void write_times(const formats_front *f, formats_buffer *out) {
    int64_t size, before = 0;
    int any = 0;
    for (uint32_t k = 0; k < f->alsos; k++) {
        any |= f->also[k].has_modified;
        formats_write_u8(out, f->also[k].has_modified);
    }
    if (!any) return;
    formats_write_u8(out, unit_of(f, &size));
    for (uint32_t k = 0; k < f->alsos; k++) {
        if (!f->also[k].has_modified) continue;
        const int64_t time = f->also[k].modified_ns / size;
        formats_write_varint(out, formats_zigzag((uint64_t)time - (uint64_t)before));
        before = time;
    }
}

void formats_also_write(const formats_front *f, formats_buffer *out) {
    formats_write_varint(out, f->alsos);
    for (uint32_t k = 0; k < f->alsos; k++) formats_write_varint(out, f->also[k].image);
    for (uint32_t k = 0; k < f->alsos && f->label; k++)
        formats_write_varint(out, (uint64_t)(f->also[k].label + 1));
    for (uint32_t k = 0; k < f->alsos; k++) {
        const char *name = formats_also_name(f, k);
        formats_write_bytes(out, name, strlen(name) + 1);
    }
    write_times(f, out);
}

/* --- changing -------------------------------------------------------------------------- */

taper_status formats_also_set(formats_front *f, const formats_also *also, const char *const *name,
                              uint32_t n, taper_error *error) {
    uint64_t bytes = 0;
    formats_also *list = NULL;
    char *names = NULL;
    for (uint32_t k = 0; k < n; k++) bytes += strlen(name[k]) + 1;
    if (bytes > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_LIMIT, "the names take more than 4 GiB");
    taper_status status = n ? formats_front_take(f, n, sizeof *list, &list, error) : TAPER_OK;
    if (status == TAPER_OK && n) status = formats_front_take(f, bytes, 1, &names, error);
    if (status != TAPER_OK) {
        free(list);
        return status;
    }
    size_t at = 0;
    for (uint32_t k = 0; k < n; k++) {
        const size_t length = strlen(name[k]) + 1;
        list[k] = also[k];
        list[k].name_at = (uint32_t)at;
        memcpy(names + at, name[k], length);
        at += length;
    }
    free(f->also), free(f->also_names);
    f->also = list, f->also_names = names, f->alsos = n;
    return TAPER_OK;
}
