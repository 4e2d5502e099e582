/* merge_metadata.c -- see merge_metadata.h. */
#include "formats/merge_metadata.h"
#include <stdlib.h>
#include <string.h>

static taper_status refuse_memory(taper_status status, taper_error *error) {
    return formats_fail(error, status, "no memory for the metadata of the images");
}

taper_status formats_metadata_carry(const formats_front *from, const formats_carried *which,
                                    const formats_account *account, formats_metadata_writer *to,
                                    taper_error *error) {
    formats_metadata_reader *reader;
    const taper_limits limits = {.size = sizeof limits,
                                 .max_memory =
                                     formats_account_left(account) + from->account.used + 1,
                                 .taken = account->taken + account->used};
    if (!from->metadata) return TAPER_OK;
    TAPER_TRY(formats_metadata_reader_open(&reader, from, &limits, error));
    taper_status status = TAPER_OK;
    uint64_t first = which->first;
    for (uint32_t i = 0; i < from->images && status == TAPER_OK; i++) {
        taper_metadata m;
        const formats_also *by = which->taken_by ? which->taken_by[i] : NULL;
        if (which->keep && !which->keep[i]) continue;
        status = formats_metadata_reader_get(reader, i, &m, error);
        if (status != TAPER_OK) break;
        if (by) m.has_modified = by->has_modified, m.modified_ns = by->modified_ns;
        status = formats_metadata_writer_add(to, first++, &m);
        if (status != TAPER_OK) refuse_memory(status, error);
    }
    formats_metadata_reader_close(reader);
    return status;
}

taper_status formats_metadata_give(formats_metadata_writer *writer, formats_front *to,
                                   taper_error *error) {
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    content.account = formats_front_account(to);
    const taper_status status = formats_metadata_writer_finish(writer, to->images, &content);
    if (status == TAPER_OK) {
        to->metadata = formats_buffer_take(&content, &to->metadata_size);
        return TAPER_OK;
    }
    formats_buffer_free(&content);
    if (status == TAPER_ERR_LIMIT)
        return formats_front_refuse(to, formats_account_left(&to->account) + 1, error);
    return refuse_memory(status, error);
}

/* Copy the only source's. */
static taper_status copy(const formats_front *from, formats_front *to, taper_error *error) {
    if (!from->metadata) return TAPER_OK;
    TAPER_TRY(formats_front_take(to, from->metadata_size, 1, &to->metadata, error));
    memcpy(to->metadata, from->metadata, from->metadata_size);
    to->metadata_size = from->metadata_size;
    return TAPER_OK;
}

taper_status formats_merge_metadata(const formats_front *front, size_t n, formats_front *to,
                                    taper_error *error) {
    uint64_t first = 0;
    taper_status status = TAPER_OK;
    int any = 0;
    for (size_t s = 0; s < n; s++) any |= front[s].metadata != NULL;
    if (!any) return TAPER_OK;
    if (n == 1) return copy(front, to, error);
    formats_metadata_writer *writer = formats_metadata_writer_new();
    if (!writer) return refuse_memory(TAPER_ERR_NOMEM, error);
    for (size_t s = 0; s < n && status == TAPER_OK; s++) {
        const formats_carried all = {.first = first};
        status = formats_metadata_carry(&front[s], &all, &to->account, writer, error);
        if (status != TAPER_OK && error) error->item = s + 1;
        first += front[s].images;
    }
    if (status == TAPER_OK) status = formats_metadata_give(writer, to, error);
    formats_metadata_writer_free(writer);
    return status;
}
