/* verify.c -- checking the checksums and models of a container; see verify.h and taper.h. */
#include "codec/decoder/verify.h"
#include "codec/decoder/front_load.h"
#include "codec/model/builtin_models.h"
#include "codec/taper.h"
#include "formats/sized.h"
#include "formats/metadata_reader.h"
#include <stdlib.h>
#include <string.h>

/* One checksum block: chunks first .. last - 1 of a layer. */
static taper_status verify_block(const formats_front *f, const taper_source *from, uint64_t first,
                                 uint64_t last, uint32_t sum, uint8_t *scratch, size_t capacity,
                                 taper_verify_report *report) {
    uint64_t at = f->front_size + f->chunk_at[first], end = f->front_size + f->chunk_at[last];
    if (end > from->size) { /* the file is cut: count chunk by chunk */
        for (uint64_t c = first; c < last; c++) {
            uint64_t begin = f->front_size + f->chunk_at[c],
                     stop = f->front_size + f->chunk_at[c + 1];
            if (begin >= from->size)
                report->chunks_missing++;
            else if (stop > from->size)
                report->chunks_cut++;
            else
                report->chunks_whole++;
        }
        return TAPER_OK;
    }
    uint32_t crc = 0;
    for (uint64_t i = at; i < end; i += capacity) {
        size_t n = end - i < capacity ? (size_t)(end - i) : capacity;
        TAPER_TRY(from->read(from->user, i, scratch, n));
        crc = formats_crc32c(crc, scratch, n);
    }
    if (crc == sum) {
        report->chunks_whole += last - first;
    } else {
        if (!report->chunks_bad) report->first_bad_offset = at;
        report->chunks_bad += last - first;
    }
    return TAPER_OK;
}

/* Check all checksum blocks that begin before this byte of the source and hold a group of `copied`,
 * if that is not NULL. */
static taper_status verify_data(const formats_front *f, const taper_source *from, uint64_t before,
                                const uint8_t *copied, taper_verify_report *report,
                                taper_error *error) {
    enum { ROOM = 1 << 16 };
    uint8_t *scratch = malloc(ROOM);
    if (!scratch) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to verify");
    uint64_t per = f->chunks_per_checksum, block = 0;
    taper_status status = TAPER_OK;
    for (uint32_t l = 0; l < f->layers && status == TAPER_OK; l++) {
        uint64_t whole_before = report->chunks_whole;
        for (uint64_t g = 0; g < f->groups && status == TAPER_OK; g += per, block++) {
            uint64_t last = g + per < f->groups ? g + per : f->groups,
                     row = (uint64_t)l * f->groups;
            if (f->front_size + f->chunk_at[row + g] >= before) continue;
            if (copied && !memchr(copied + g, 1, (size_t)(last - g))) continue;
            status = verify_block(f, from, row + g, row + last, f->checksum[block], scratch, ROOM,
                                  report);
        }
        if (report->layers_whole == l && report->chunks_whole - whole_before == f->groups)
            report->layers_whole++;
    }
    free(scratch);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "the container could not be read to its end");
}

static taper_status fail_damaged(const taper_verify_report *report, taper_error *error) {
    return formats_fail(
        error, TAPER_ERR_CORRUPT,
        "%llu of %llu chunk%s %s damaged, the first at byte %llu; fetch the file again",
        (unsigned long long)report->chunks_bad, (unsigned long long)report->chunks,
        formats_plural(report->chunks, "s"), report->chunks_bad == 1 ? "is" : "are",
        (unsigned long long)report->first_bad_offset);
}

taper_status codec_refuse_damage(const formats_front *front, const taper_source *from,
                                 uint64_t before, const uint8_t *copied, taper_error *error) {
    taper_verify_report report = {.size = sizeof report,
                                  .chunks = (uint64_t)front->layers * front->groups};
    TAPER_TRY(verify_data(front, from, before, copied, &report, error));
    return report.chunks_bad ? fail_damaged(&report, error) : TAPER_OK;
}

/* Load the models that the container carries, and its model if that is built in, to reject what a
 * decoder rejects. */
static taper_status verify_models(const formats_front *f, const taper_limits *limits,
                                  taper_error *error) {
    taper_model *model = NULL, *search = NULL;
    codec_builtin_model builtin;
    taper_status status = TAPER_OK;
    if (f->model || codec_builtin_model_of(f->model_id, &builtin))
        status = codec_front_model(f, limits, &model, error);
    if (model && status == TAPER_OK) status = codec_front_match(f, model, error);
    if (status == TAPER_OK && f->has_stages) status = codec_front_check_models(f, 0, limits, error);
    if (f->search_model && status == TAPER_OK)
        status = codec_front_search_model(f, limits, &search, error);
    taper_model_free(model);
    taper_model_free(search);
    return status;
}

static taper_status verify_metadata(const formats_front *f, const taper_limits *limits,
                                    taper_error *error) {
    formats_metadata_reader *reader;
    TAPER_TRY(formats_metadata_reader_open(&reader, f, limits, error));
    const taper_status status = formats_metadata_reader_check(reader, error);
    formats_metadata_reader_close(reader);
    return status;
}

static taper_status verify(const taper_source *from, taper_verify_report *report,
                           const taper_limits *limits, taper_error *error) {
    formats_front front;
    TAPER_TRY(codec_front_load(from, limits, &front, error));
    report->chunks = (uint64_t)front.layers * front.groups;
    uint64_t end = front.front_size + front.chunk_at[report->chunks];
    report->bytes_missing = end > from->size ? end - from->size : 0;
    taper_status status = verify_data(&front, from, UINT64_MAX, NULL, report, error);
    if (status == TAPER_OK && from->size > end)
        status =
            formats_fail(error, TAPER_ERR_CORRUPT, "%llu byte%s follow%s the container's end",
                         (unsigned long long)(from->size - end),
                         formats_plural(from->size - end, "s"), formats_singular(from->size - end));
    if (status == TAPER_OK && report->chunks_bad) status = fail_damaged(report, error);
    if (status == TAPER_OK) status = codec_front_load_stages(&front, from, error);
    if (status == TAPER_OK) status = verify_models(&front, limits, error);
    if (status == TAPER_OK) status = verify_metadata(&front, limits, error);
    formats_front_free(&front);
    return status;
}

taper_status taper_verify(const taper_source *from, taper_verify_report *report,
                          const taper_limits *given, taper_error *error) {
    taper_verify_report own = {0};
    taper_limits limits;
    TAPER_TRY(formats_need_source(from, error));
    TAPER_TRY(formats_limits_take(&limits, given, error));
    TAPER_TRY(formats_sized_give(report, &own, sizeof own, "taper_verify_report", error));
    const taper_status status = verify(from, &own, &limits, error);
    TAPER_TRY(formats_sized_give(report, &own, sizeof own, "taper_verify_report", error));
    return status;
}
