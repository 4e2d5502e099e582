/* recut.c -- containers into containers: truncate, repack, merge, verify. No pixels are touched. */
#include "assemble.h"
#include "encoder.h"
#include "group_reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- truncate -------------------------------------------------------------------------- */

/* Chunks of a source under its own, longer directory. */
typedef struct source_chunks {
    const taper_source *source;
    uint64_t data_at;
    const uint64_t *chunk_at;
    uint32_t groups;
} source_chunks;

static taper_status read_source_chunk(void *user, uint32_t layer, uint32_t group, uint64_t from,
                                      void *to, size_t n) {
    const source_chunks *c = user;
    uint64_t at = c->data_at + c->chunk_at[(uint64_t)layer * c->groups + group] + from;
    return c->source->read(c->source->user, at, to, n);
}

/* TAPER_ERR_CORRUPT when a checksum fails over chunks that begin before this byte of the source:
 * what carries damage on would give it a fresh checksum. */
static taper_status refuse_damage(const formats_front *front, const taper_source *from,
                                  uint64_t before, taper_error *error);

taper_status taper_truncate(const taper_source *from, uint64_t max_bytes, const taper_sink *to,
                            const taper_limits *limits, taper_error *error) {
    formats_front front;
    TAPER_TRY(codec_front_load(from, limits, &front, error));
    uint64_t chunks = (uint64_t)front.layers * front.groups, data = front.chunk_at[chunks];
    uint64_t *chunk_at = malloc(((size_t)chunks + 1) * sizeof *chunk_at);
    taper_status status =
        chunk_at ? TAPER_OK : formats_fail(error, TAPER_ERR_NOMEM, "no memory for the directory");
    if (status == TAPER_OK)
        status = refuse_damage(&front, from, front.layout ? UINT64_MAX : max_bytes, error);
    if (status == TAPER_OK) {
        memcpy(chunk_at, front.chunk_at, ((size_t)chunks + 1) * sizeof *chunk_at);
        source_chunks source = {from, front.front_size, chunk_at, front.groups};
        uint64_t here = from->size > front.front_size ? from->size - front.front_size : 0;
        if (here < data) codec_clip_data(&front, here); /* the source is cut itself */
        status = codec_shorten(&front, max_bytes, error);
        codec_chunks reader = {&source, read_source_chunk};
        if (status == TAPER_OK) status = codec_assemble(&front, &reader, to, error);
    }
    free(chunk_at);
    formats_front_free(&front);
    return status;
}

/* --- repack ---------------------------------------------------------------------------- */

/* Passes that every group of the source has whole. */
static taper_status common_passes(const formats_front *front, const taper_source *from,
                                  const taper_model *model, const taper_limits *limits,
                                  uint32_t *passes, taper_error *error) {
    *passes = front->layer_end[front->layers - 1];
    uint64_t end = front->front_size + front->chunk_at[(uint64_t)front->layers * front->groups];
    if (from->size >= end && !front->tail) return TAPER_OK;
    for (uint32_t g = 0; g < front->groups; g++) {
        codec_group_reader r;
        TAPER_TRY(codec_group_reader_open(&r, model, front, g, limits->max_memory, error));
        taper_status status = codec_group_reader_load(&r, front, g, from, error);
        if (r.state.pass < *passes) *passes = r.state.pass;
        codec_group_reader_close(&r);
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

/* Image i of a decoded group as codes: magnitudes with zeros below the depth. */
static int16_t *codes_of(const codec_group_reader *r, uint32_t i, size_t *bytes) {
    const codec_group *g = &r->state;
    uint32_t first = r->first[i], windows = r->first[i + 1] - first, units = g->tables->units;
    *bytes = (size_t)windows * units * sizeof(int16_t);
    int16_t *code = malloc(*bytes + 1);
    if (!code) return NULL;
    uint32_t partial = g->position ? g->tables->pass[g->pass].unit : units;
    for (uint32_t u = 0; u < units; u++)
        for (uint32_t w = 0; w < windows; w++) {
            int depth = g->depth[u] + (u == partial && first + w < g->position);
            int32_t level = g->level[(size_t)u * g->stride + first + w];
            code[(size_t)w * units + u] = (int16_t)(level * (1 << (g->tables->planes[u] - depth)));
        }
    return code;
}

static taper_status repack_group(taper_encoder *encoder, const formats_front *front,
                                 const taper_source *from, const taper_model *model, uint32_t g,
                                 const taper_limits *limits, taper_error *error) {
    codec_group_reader r;
    TAPER_TRY(codec_group_reader_open(&r, model, front, g, limits->max_memory, error));
    taper_status status = codec_group_reader_load(&r, front, g, from, error);
    if (status == TAPER_OK && r.bad)
        status = formats_fail(error, TAPER_ERR_CORRUPT,
                              "layer %u of group %u is damaged (checksum); fetch the file again",
                              r.layer, g);
    for (uint32_t i = 0; i < r.images && status == TAPER_OK; i++) {
        uint32_t image = front->group_first[g] + i;
        formats_geometry shape = front->geometry[image];
        size_t bytes;
        taper_image codes = {shape.width, shape.height, shape.channels, shape.depth, NULL};
        codes.pixels = codes_of(&r, i, &bytes);
        status =
            codes.pixels
                ? codec_encoder_add_codes(encoder, &codes, bytes, formats_front_name(front, image),
                                          front->label ? front->label[image] : -1, error)
                : formats_fail(error, TAPER_ERR_NOMEM, "no memory for an image's codes");
        free(codes.pixels);
    }
    codec_group_reader_close(&r);
    return status;
}

static taper_status copy_classes(taper_encoder *encoder, const formats_front *front,
                                 taper_error *error) {
    if (!front->label) return TAPER_OK;
    const char **name = malloc(((size_t)front->classes + 1) * sizeof *name);
    if (!name) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for class names");
    for (uint32_t k = 0; k < front->classes; k++) name[k] = formats_front_class_name(front, k);
    taper_status status = taper_encoder_set_classes(encoder, name, front->classes, error);
    free(name);
    return status;
}

static taper_status repack_front(const formats_front *front, const taper_source *from,
                                 const taper_model *model, const taper_encode_options *options,
                                 const taper_sink *to, taper_error *error) {
    uint32_t passes;
    TAPER_TRY(codec_front_match(front, model, error));
    TAPER_TRY(common_passes(front, from, model, options->limits, &passes, error));
    if (!passes)
        return formats_fail(
            error, TAPER_ERR_TRUNCATED,
            "the container is cut before its first pass is whole: nothing to repack");
    taper_encoder *encoder;
    TAPER_TRY(taper_encoder_new(&encoder, model, options, error));
    codec_encoder_limit_passes(encoder, passes);
    taper_status status = copy_classes(encoder, front, error);
    for (uint32_t g = 0; g < front->groups && status == TAPER_OK; g++)
        status = repack_group(encoder, front, from, model, g, options->limits, error);
    if (status == TAPER_OK) status = taper_encoder_finish(encoder, to, error);
    taper_encoder_free(encoder);
    return status;
}

taper_status taper_repack(const taper_source *from, const taper_model *model, taper_layout layout,
                          uint32_t group_images, const taper_sink *to, const taper_limits *given,
                          taper_error *error) {
    taper_limits limits = formats_limits_or_default(given);
    formats_front front;
    TAPER_TRY(codec_front_load(from, &limits, &front, error));
    taper_model *own = NULL;
    taper_status status = TAPER_OK;
    if (!model && front.model)
        status = taper_model_load(&own, front.model, front.model_size, &limits, error);
    else if (!model)
        status = formats_fail(error, TAPER_ERR_MODEL,
                              "container does not carry its model %016llx; give it with -m",
                              (unsigned long long)front.model_id);
    taper_encode_options options = {.layout = layout,
                                    .group_images = group_images,
                                    .embed_model = front.model != NULL,
                                    .model_bytes = front.model,
                                    .model_size = front.model_size,
                                    .limits = &limits};
    if (status == TAPER_OK)
        status = repack_front(&front, from, model ? model : own, &options, to, error);
    taper_model_free(own);
    formats_front_free(&front);
    return status;
}

/* --- merge ----------------------------------------------------------------------------- */

typedef struct shard {
    formats_front front;
    uint32_t first_group;
} shard;

typedef struct merge {
    const taper_source *source;
    shard *shard;
    size_t n;
} merge;

static taper_status read_merged(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                                size_t n) {
    const merge *m = user;
    size_t s = m->n - 1;
    while (m->shard[s].first_group > group) s--;
    const formats_front *f = &m->shard[s].front;
    uint64_t chunk = (uint64_t)layer * f->groups + group - m->shard[s].first_group;
    return m->source[s].read(m->source[s].user, f->front_size + f->chunk_at[chunk] + from, to, n);
}

/* May this shard stand beside the first? */
static taper_status check_shard(const formats_front *a, const formats_front *b, uint64_t size,
                                size_t i, taper_error *error) {
    uint64_t end = b->front_size + b->chunk_at[(uint64_t)b->layers * b->groups];
    if (b->tail || size < end)
        return formats_fail(error, TAPER_ERR_ARG,
                            "container %zu is cut; merge takes whole containers", i + 1);
    if (a->model_id != b->model_id)
        return formats_fail(error, TAPER_ERR_MODEL,
                            "container %zu was made with another model (%016llx)", i + 1,
                            (unsigned long long)b->model_id);
    if (a->layout != b->layout || a->layers != b->layers ||
        memcmp(a->layer_end, b->layer_end, a->layers * sizeof *a->layer_end))
        return formats_fail(error, TAPER_ERR_ARG,
                            "container %zu has another layout or other layers; encode all shards "
                            "with the same options and the same --group",
                            i + 1);
    if (a->classes != b->classes)
        return formats_fail(
            error, TAPER_ERR_ARG,
            "container %zu has other classes; encode all shards with the same labels", i + 1);
    for (uint32_t k = 0; k < a->classes; k++)
        if (strcmp(formats_front_class_name(a, k), formats_front_class_name(b, k)))
            return formats_fail(error, TAPER_ERR_ARG,
                                "class %u has another name in container %zu; encode all shards "
                                "with the same labels",
                                k, i + 1);
    return TAPER_OK;
}

/* The merged front's counts and arrays of fixed size. */
static taper_status size_merged(const merge *m, formats_front *f) {
    const formats_front *a = &m->shard[0].front;
    *f = (formats_front){.model_id = a->model_id, .layout = a->layout, .layers = a->layers};
    uint64_t images = 0, groups = 0;
    int names = 0, labels = 0;
    for (size_t s = 0; s < m->n; s++) {
        m->shard[s].first_group = (uint32_t)groups;
        images += m->shard[s].front.images;
        groups += m->shard[s].front.groups;
        names |= m->shard[s].front.names != NULL;
        labels |= m->shard[s].front.label != NULL;
    }
    if (images >= UINT32_MAX) return TAPER_ERR_LIMIT;
    f->images = (uint32_t)images;
    f->groups = (uint32_t)groups;
    f->geometry = calloc(images + 1, sizeof *f->geometry);
    f->group_first = calloc(groups + 1, sizeof *f->group_first);
    f->layer_end = calloc(f->layers, sizeof *f->layer_end);
    f->chunk_at = calloc((size_t)f->layers * groups + 1, sizeof *f->chunk_at);
    int ok = f->geometry && f->group_first && f->layer_end && f->chunk_at;
    if (names) ok = (f->name_at = calloc(images + 1, sizeof *f->name_at)) != NULL && ok;
    if (labels) ok = (f->label = calloc(images + 1, sizeof *f->label)) != NULL && ok;
    if (ok) memcpy(f->layer_end, a->layer_end, f->layers * sizeof *f->layer_end);
    return ok ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void fill_merged(const merge *m, formats_front *f) {
    uint32_t image = 0, group = 0;
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->shard[s].front;
        for (uint32_t g = 0; g < b->groups; g++)
            f->group_first[group++] = image + b->group_first[g];
        memcpy(f->geometry + image, b->geometry, b->images * sizeof *b->geometry);
        for (uint32_t i = 0; f->label && i < b->images; i++)
            f->label[image + i] = b->label ? b->label[i] : -1;
        image += b->images;
    }
    f->group_first[group] = image;
    uint64_t at = 0, c = 0;
    for (uint32_t l = 0; l < f->layers; l++)
        for (size_t s = 0; s < m->n; s++) {
            const formats_front *b = &m->shard[s].front;
            for (uint32_t g = 0; g < b->groups; g++) {
                uint64_t chunk = (uint64_t)l * b->groups + g;
                at += b->chunk_at[chunk + 1] - b->chunk_at[chunk];
                f->chunk_at[++c] = at;
            }
        }
}

/* Names of all shards in one block; from the second shard on under a folder of its number, so that
 * none collide. */
static taper_status merge_names(const merge *m, formats_front *f) {
    if (!f->name_at) return TAPER_OK;
    formats_buffer block = formats_buffer_make(UINT32_MAX);
    uint32_t image = 0;
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->shard[s].front;
        for (uint32_t i = 0; i < b->images; i++, image++) {
            char text[4200];
            const char *name = formats_front_name(b, i);
            if (s == 0 && name)
                snprintf(text, sizeof text, "%s", name);
            else if (name)
                snprintf(text, sizeof text, "shard-%zu/%.4000s", s + 1, name);
            else
                snprintf(text, sizeof text, "shard-%zu/%06u.png", s + 1, i + 1);
            f->name_at[image] = (uint32_t)block.size;
            formats_write_bytes(&block, text, strlen(text) + 1);
        }
    }
    f->names = (char *)formats_buffer_take(&block, &(size_t){0});
    return block.status == TAPER_OK && f->names ? TAPER_OK : TAPER_ERR_NOMEM;
}

/* Class names and embedded model are the first shard's: move them over. */
static void take_shared(const merge *m, formats_front *f) {
    formats_front *a = &m->shard[0].front;
    f->classes = f->label ? a->classes : 0;
    f->class_names = a->class_names, a->class_names = NULL;
    f->class_name_at = a->class_name_at, a->class_name_at = NULL;
    f->model = a->model, a->model = NULL;
    f->model_size = a->model_size;
}

taper_status taper_merge(const taper_source *from, size_t n, const taper_sink *to,
                         const taper_limits *limits, taper_error *error) {
    if (!n)
        return formats_fail(error, TAPER_ERR_ARG, "nothing to merge; name at least one container");
    merge m = {from, calloc(n, sizeof *m.shard), n};
    taper_status status =
        m.shard ? TAPER_OK
                : formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu containers", n);
    for (size_t i = 0; i < n && status == TAPER_OK; i++) {
        status = codec_front_load(&from[i], limits, &m.shard[i].front, error);
        if (status == TAPER_OK)
            status = check_shard(&m.shard[0].front, &m.shard[i].front, from[i].size, i, error);
        if (status == TAPER_OK)
            status = refuse_damage(&m.shard[i].front, &from[i], UINT64_MAX, error);
    }
    formats_front front = {0};
    if (status == TAPER_OK) {
        status = size_merged(&m, &front);
        if (status == TAPER_OK) fill_merged(&m, &front), status = merge_names(&m, &front);
        if (status != TAPER_OK) formats_fail(error, status, "no memory for the merged directory");
    }
    if (status == TAPER_OK) {
        uint64_t chunks = (uint64_t)front.layers * front.groups;
        take_shared(&m, &front);
        front.chunks_per_checksum =
            codec_checksum_span(front.layout, front.chunk_at[chunks], chunks);
        codec_chunks reader = {&m, read_merged};
        status = codec_assemble(&front, &reader, to, error);
    }
    formats_front_free(&front);
    for (size_t i = 0; m.shard && i < n; i++) formats_front_free(&m.shard[i].front);
    free(m.shard);
    return status;
}

/* --- verify ---------------------------------------------------------------------------- */

/* One checksum block: chunks first .. last - 1 of a layer. */
static taper_status verify_block(const formats_front *f, const taper_source *from, uint64_t first,
                                 uint64_t last, uint32_t sum, uint8_t *scratch, size_t room,
                                 taper_verify_report *report) {
    uint64_t at = f->front_size + f->chunk_at[first], end = f->front_size + f->chunk_at[last];
    if (end > from->size) { /* cut: count what is there by chunk */
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
    for (uint64_t i = at; i < end; i += room) {
        size_t n = end - i < room ? (size_t)(end - i) : room;
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

/* All blocks of checksums that begin before a byte of the source. */
static taper_status verify_data(const formats_front *f, const taper_source *from, uint64_t before,
                                taper_verify_report *report, taper_error *error) {
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
        "%llu of %llu chunks are damaged, the first at byte %llu; fetch the file again",
        (unsigned long long)report->chunks_bad, (unsigned long long)report->chunks,
        (unsigned long long)report->first_bad_offset);
}

static taper_status refuse_damage(const formats_front *front, const taper_source *from,
                                  uint64_t before, taper_error *error) {
    taper_verify_report report = {.chunks = (uint64_t)front->layers * front->groups};
    TAPER_TRY(verify_data(front, from, before, &report, error));
    return report.chunks_bad ? fail_damaged(&report, error) : TAPER_OK;
}

taper_status taper_verify(const taper_source *from, taper_verify_report *report,
                          const taper_limits *limits, taper_error *error) {
    *report = (taper_verify_report){0};
    formats_front front;
    TAPER_TRY(codec_front_load(from, limits, &front, error));
    report->chunks = (uint64_t)front.layers * front.groups;
    uint64_t end = front.front_size + front.chunk_at[report->chunks];
    report->bytes_missing = end > from->size ? end - from->size : 0;
    taper_status status = verify_data(&front, from, UINT64_MAX, report, error);
    if (status == TAPER_OK && from->size > end)
        status = formats_fail(error, TAPER_ERR_CORRUPT, "%llu bytes follow the container's end",
                              (unsigned long long)(from->size - end));
    if (status == TAPER_OK && report->chunks_bad) status = fail_damaged(report, error);
    formats_front_free(&front);
    return status;
}
