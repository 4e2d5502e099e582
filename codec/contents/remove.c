/* remove.c -- taper_remove: a container without some of its images. Chunks of groups that keep all
 * images are copied; those of groups that lose some are coded again, into a temporary file. */
#include "codec/contents/kept_front.h"
#include "codec/contents/regroup.h"
#include "codec/contents/regroup_exact.h"
#include "codec/contents/taken.h"
#include "codec/groups/stage_layers.h"
#include "codec/decoder/verify.h"
#include "codec/decoder/front_load.h"
#include "codec/taper.h"
#include "formats/packed.h"
#include "formats/sized.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The chunks of a group that was coded again: [layers of the source + 1] bounds in the file; that
 * of the exact layer is elsewhere. */
typedef struct spooled_group {
    uint64_t *chunk_at; /* NULL: the group is copied */
    uint64_t exact_at, exact_size;
} spooled_group;

typedef struct removing {
    taper_remove_options options;
    taper_limits limits;
    const taper_source *source;
    codec_unstaged unstaged; /* the same without stages of the model in layers */
    formats_front front, result;
    uint8_t *keep;                 /* [images + further names] */
    const formats_also **taken_by; /* [images] see formats_carried */
    codec_kept kept;
    spooled_group *group; /* [groups of the result] */
    FILE *spool;
    uint64_t spooled; /* bytes */
    taper_model *own; /* the container's model, if none was given */
} removing;

/* --- which images -------------------------------------------------------------------------- */

static taper_status mark_images(removing *r, const uint64_t *image, size_t n, taper_error *error) {
    const uint64_t all = (uint64_t)r->front.images + r->front.alsos;
    uint64_t left = all;
    TAPER_TRY(formats_front_take(&r->result, all, 1, &r->keep, error));
    memset(r->keep, 1, (size_t)all);
    for (size_t k = 0; k < n; k++) {
        if (image[k] >= all)
            return formats_fail(error, TAPER_ERR_ARG, "there is no image %llu, only %llu",
                                (unsigned long long)image[k], (unsigned long long)all);
        left -= r->keep[image[k]];
        r->keep[image[k]] = 0;
    }
    if (left) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "no image would be left, and a container has at least one; delete the file "
                        "instead");
}

static taper_status check_source(const removing *r, taper_error *error) {
    const formats_front *f = &r->front;
    const uint64_t end = f->front_size + f->chunk_at[(uint64_t)f->layers * f->groups];
    if (r->source->size < end)
        return formats_fail_fact(error, TAPER_ERR_ARG, TAPER_FACT_BYTES_MISSING,
                                 end - r->source->size,
                                 "the container is cut: %llu of its bytes are missing",
                                 (unsigned long long)(end - r->source->size));
    TAPER_TRY(codec_front_check_models(f, 0, &r->limits, error));
    uint8_t *copied = malloc((size_t)f->groups + 1);
    if (!copied) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to remove images");
    for (uint32_t g = 0; g < f->groups; g++) copied[g] = codec_kept_in_group(f, r->keep, g) != 0;
    const taper_status status = codec_refuse_damage(f, r->source, UINT64_MAX, copied, error);
    free(copied);
    return status;
}

/* --- groups that lose some images ----------------------------------------------------------- */

static int loses_some(const removing *r, uint32_t group) {
    const formats_front *f = &r->front;
    const uint32_t g = r->kept.group[group];
    return codec_kept_in_group(f, r->keep, g) < f->group_first[g + 1] - f->group_first[g];
}

static taper_status open_spool(removing *r, taper_error *error) {
    r->spool = r->options.spool ? r->options.spool : tmpfile();
    if (r->spool) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_IO,
                        "cannot make a temporary file; is the disk for temporary files full or "
                        "read-only?");
}

/* Get the model, before the front's own is moved. */
static taper_status open_model(removing *r, taper_error *error) {
    if (!r->options.model) TAPER_TRY(codec_front_model(&r->front, &r->limits, &r->own, error));
    const taper_model *model = r->options.model ? r->options.model : r->own;
    TAPER_TRY(codec_front_match(&r->front, model, error));
    return codec_model_need_whole(model, "removing images", error);
}

static codec_regrouping regrouping_of(removing *r) {
    return (codec_regrouping){.front = &r->front,
                              .source = r->source,
                              .file = &r->unstaged.from,
                              .model = r->options.model ? r->options.model : r->own,
                              .keep = r->keep,
                              .account = &r->result.account};
}

static taper_status spool(removing *r, const formats_buffer *bytes, taper_error *error) {
    if (fseeko(r->spool, 0, SEEK_END) ||
        (bytes->size && fwrite(bytes->data, 1, bytes->size, r->spool) != bytes->size))
        return formats_fail(error, TAPER_ERR_IO,
                            "cannot write the temporary file: is its disk full?");
    r->spooled += bytes->size;
    return TAPER_OK;
}

/* Code group `group` of the result again, and append its chunks to the spool. */
static taper_status regroup(removing *r, uint32_t group, taper_error *error) {
    const codec_regrouping of = regrouping_of(r);
    const uint64_t begin = r->spooled;
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    uint64_t *at;
    out.account = &r->result.account;
    TAPER_TRY(formats_front_take(&r->result, r->front.layers, sizeof *at, &at, error));
    r->group[group].chunk_at = at;
    taper_status status = codec_regroup(&of, r->kept.group[group], &out, at, error);
    if (status == TAPER_OK) status = spool(r, &out, error);
    for (uint32_t l = 0; l <= r->front.layers; l++) at[l] += begin;
    formats_buffer_free(&out);
    return status;
}

/* --- chunks --------------------------------------------------------------------------------- */

/* Nonzero: the chunk is in the spool, at *at. */
static int is_spooled(const removing *r, uint32_t l, uint32_t group, uint64_t *at, uint64_t *size) {
    const spooled_group *of = &r->group[group];
    if (!of->chunk_at) return 0;
    *at = of->chunk_at[l], *size = of->chunk_at[l + 1] - *at;
    if (formats_front_layer_kind(&r->front, l) == FORMATS_LAYER_EXACT)
        *at = of->exact_at, *size = of->exact_size;
    return 1;
}

static uint64_t chunk_length(const removing *r, uint32_t layer, uint32_t group) {
    const uint32_t l = r->kept.layer[layer];
    const uint64_t c = (uint64_t)l * r->front.groups + r->kept.group[group];
    uint64_t at, size;
    return is_spooled(r, l, group, &at, &size) ? size
                                               : r->front.chunk_at[c + 1] - r->front.chunk_at[c];
}

static taper_status read_chunk(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                               size_t n) {
    const removing *r = user;
    const uint32_t l = r->kept.layer[layer];
    const uint64_t c = (uint64_t)l * r->front.groups + r->kept.group[group];
    uint64_t at, size;
    if (!is_spooled(r, l, group, &at, &size))
        return r->source->read(r->source->user, r->front.front_size + r->front.chunk_at[c] + from,
                               to, n);
    return fseeko(r->spool, (off_t)(at + from), SEEK_SET) || fread(to, 1, n, r->spool) != n
               ? TAPER_ERR_IO
               : TAPER_OK;
}

static void place_chunks(removing *r) {
    formats_front *f = &r->result;
    uint64_t c = 0;
    for (uint32_t l = 0; l < f->layers; l++)
        for (uint32_t g = 0; g < f->groups; g++, c++)
            f->chunk_at[c + 1] = f->chunk_at[c] + chunk_length(r, l, g);
    f->chunks_per_checksum = codec_checksum_span(f->layout, f->chunk_at[c], c);
}

/* --- the exact layer of groups that were coded again ---------------------------------------- */

static taper_status write_file(void *user, const void *bytes, size_t n) {
    return fwrite(bytes, 1, n, user) == n ? TAPER_OK : TAPER_ERR_IO;
}

static taper_status read_file(void *user, uint64_t offset, void *to, size_t n) {
    return fseeko(user, (off_t)offset, SEEK_SET) || fread(to, 1, n, user) != n ? TAPER_ERR_IO
                                                                               : TAPER_OK;
}

static taper_status spool_exact(removing *r, const codec_exact_regrouping *e, taper_error *error) {
    taper_status status = TAPER_OK;
    for (uint32_t g = 0; g < r->result.groups && status == TAPER_OK; g++) {
        const uint64_t c = (r->front.layers - 1) * (uint64_t)r->front.groups + r->kept.group[g];
        formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
        if (!r->group[g].chunk_at || r->front.chunk_at[c] == r->front.chunk_at[c + 1]) continue;
        out.account = &r->result.account;
        r->group[g].exact_at = r->spooled;
        status = codec_regroup_exact(e, r->kept.group[g], g, &out, error);
        if (status == TAPER_OK) status = spool(r, &out, error);
        r->group[g].exact_size = out.size;
        formats_buffer_free(&out);
    }
    return status;
}

/* made: an empty file for the container without these chunks. */
static taper_status code_exact(removing *r, FILE *made, taper_error *error) {
    formats_front *f = &r->result;
    const codec_chunks chunks = {.user = r, .read = read_chunk};
    const taper_sink sink = {made, write_file};
    const codec_regrouping of = regrouping_of(r);
    codec_exact_regrouping exact;
    place_chunks(r);
    TAPER_TRY(codec_assemble(f, &chunks, UINT64_MAX, &r->limits, &sink, error));
    if (fflush(made) || fseeko(made, 0, SEEK_END))
        return formats_fail(error, TAPER_ERR_IO,
                            "cannot write the temporary file: is its disk full?");
    const taper_source source = {made, (uint64_t)ftello(made), read_file};
    TAPER_TRY(codec_exact_regrouping_open(&exact, &of, f, &source, error));
    const taper_status status = spool_exact(r, &exact, error);
    codec_exact_regrouping_close(&exact);
    formats_unpack_free(f, (uint8_t *)f->checksum,
                        formats_front_checksums(f) * sizeof *f->checksum);
    f->checksum = NULL;
    return status;
}

static taper_status code_exact_again(removing *r, taper_error *error) {
    if (!r->spool ||
        formats_front_layer_kind(&r->front, r->front.layers - 1) != FORMATS_LAYER_EXACT)
        return TAPER_OK;
    FILE *made = tmpfile();
    if (!made)
        return formats_fail(error, TAPER_ERR_IO,
                            "cannot make a temporary file; is the disk for temporary files full or "
                            "read-only?");
    const taper_status status = code_exact(r, made, error);
    fclose(made);
    return status;
}

/* --- the function --------------------------------------------------------------------------- */

static taper_status regroup_all(removing *r, taper_error *error) {
    formats_front *f = &r->result;
    TAPER_TRY(formats_front_take(f, f->groups, sizeof *r->group, &r->group, error));
    for (uint32_t g = 0; g < f->groups; g++) {
        if (!loses_some(r, g)) continue;
        if (!r->spool) TAPER_TRY(open_spool(r, error));
        TAPER_TRY(regroup(r, g, error));
    }
    return TAPER_OK;
}

static int any_loses_some(const removing *r) {
    for (uint32_t g = 0; g < r->front.groups; g++) {
        const uint32_t n = codec_kept_in_group(&r->front, r->keep, g);
        if (n && n < r->front.group_first[g + 1] - r->front.group_first[g]) return 1;
    }
    return 0;
}

static taper_status remove_images(removing *r, const uint64_t *image, size_t n,
                                  const taper_sink *to, taper_error *error) {
    r->result.account.used = r->front.account.used;
    TAPER_TRY(mark_images(r, image, n, error));
    TAPER_TRY(check_source(r, error));
    const uint64_t before = r->front.account.used;
    TAPER_TRY(codec_front_load_stages(&r->front, r->source, error));
    TAPER_TRY(codec_stage_layers_remove(&r->front, r->source, &r->unstaged, error));
    TAPER_TRY(formats_front_charge(&r->result, r->front.account.used - before, error));
    r->source = &r->unstaged.source;
    TAPER_TRY(
        formats_front_take(&r->result, r->front.images, sizeof *r->taken_by, &r->taken_by, error));
    TAPER_TRY(codec_take_places(&r->front, r->keep, r->taken_by, &r->result, error));
    if (any_loses_some(r)) TAPER_TRY(open_model(r, error));
    r->kept.keep = r->keep, r->kept.taken_by = r->taken_by;
    TAPER_TRY(codec_keep_front(&r->front, &r->kept, &r->result, error));
    TAPER_TRY(regroup_all(r, error));
    TAPER_TRY(code_exact_again(r, error));
    place_chunks(r);
    const codec_chunks chunks = {.user = r, .read = read_chunk};
    codec_stage_layers stages;
    taper_status status =
        codec_stage_layers_insert(&r->result, &chunks, &r->limits, &stages, error);
    if (status == TAPER_OK)
        status = codec_assemble(&r->result, &stages.chunks, UINT64_MAX, &r->limits, to, error);
    codec_stage_layers_free(&stages);
    return status;
}

static void close(removing *r) {
    for (uint32_t g = 0; r->group && g < r->result.groups; g++) free(r->group[g].chunk_at);
    free(r->group), free(r->keep), free(r->taken_by), free(r->kept.group), free(r->kept.layer);
    if (r->spool && !r->options.spool) fclose(r->spool);
    taper_model_free(r->own);
    formats_front_free(&r->result), formats_front_free(&r->front);
}

taper_status taper_remove(const taper_source *from, const uint64_t *image, size_t n,
                          const taper_sink *to, const taper_remove_options *options,
                          taper_error *error) {
    removing r = {.source = from};
    TAPER_TRY(formats_need_source(from, error));
    TAPER_TRY(formats_need_sink(to, error));
    TAPER_TRY(formats_need_array(image, n, sizeof *image, "the images", error));
    TAPER_TRY(
        formats_sized_take(&r.options, sizeof r.options, options, "taper_remove_options", error));
    TAPER_TRY(formats_limits_take(&r.limits, r.options.limits, error));
    r.result.account = formats_account_within(&r.limits);
    TAPER_TRY(codec_front_load(from, &r.limits, &r.front, error));
    const taper_status status = remove_images(&r, image, n, to, error);
    close(&r);
    return status;
}
