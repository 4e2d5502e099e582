/* remove.c -- taper_remove: a container without some of its images. Chunks of groups that keep all
 * images are copied; those of groups that lose some are coded again, into a temporary file. */
#include "codec/contents/kept_front.h"
#include "codec/contents/regroup.h"
#include "codec/contents/taken.h"
#include "codec/groups/stage_layers.h"
#include "codec/decoder/verify.h"
#include "codec/decoder/front_load.h"
#include "codec/taper.h"
#include "formats/sized.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The chunks of a group that was coded again: [layers of the source + 1] bounds in the file. */
typedef struct spooled_group {
    uint64_t *chunk_at; /* NULL: the group is copied */
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

/* Code group `group` of the result again, and append its chunks to the spool. */
static taper_status regroup(removing *r, uint32_t group, taper_error *error) {
    const codec_regrouping of = {.front = &r->front,
                                 .source = &r->unstaged.source,
                                 .whole = &r->unstaged.from,
                                 .model = r->options.model ? r->options.model : r->own,
                                 .keep = r->keep,
                                 .account = &r->result.account};
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    uint64_t *at;
    out.account = &r->result.account;
    TAPER_TRY(formats_front_take(&r->result, r->front.layers, sizeof *at, &at, error));
    r->group[group].chunk_at = at;
    taper_status status = codec_regroup(&of, r->kept.group[group], &out, at, error);
    if (status == TAPER_OK && (fseeko(r->spool, 0, SEEK_END) ||
                               (out.size && fwrite(out.data, 1, out.size, r->spool) != out.size)))
        status =
            formats_fail(error, TAPER_ERR_IO, "cannot write the temporary file: is its disk full?");
    for (uint32_t l = 0; l <= r->front.layers; l++) at[l] += r->spooled;
    r->spooled += out.size;
    formats_buffer_free(&out);
    return status;
}

/* --- chunks --------------------------------------------------------------------------------- */

static uint64_t chunk_length(const removing *r, uint32_t layer, uint32_t group) {
    const uint32_t l = r->kept.layer[layer];
    const uint64_t *at = r->group[group].chunk_at;
    const uint64_t c = (uint64_t)l * r->front.groups + r->kept.group[group];
    return at ? at[l + 1] - at[l] : r->front.chunk_at[c + 1] - r->front.chunk_at[c];
}

static taper_status read_chunk(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                               size_t n) {
    const removing *r = user;
    const uint32_t l = r->kept.layer[layer];
    const uint64_t *at = r->group[group].chunk_at;
    const uint64_t c = (uint64_t)l * r->front.groups + r->kept.group[group];
    if (!at)
        return r->source->read(r->source->user, r->front.front_size + r->front.chunk_at[c] + from,
                               to, n);
    return fseeko(r->spool, (off_t)(at[l] + from), SEEK_SET) || fread(to, 1, n, r->spool) != n
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
    place_chunks(r);
    const codec_chunks chunks = {r, read_chunk};
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
