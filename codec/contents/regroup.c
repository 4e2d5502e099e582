/* regroup.c -- see regroup.h. */
#include "codec/contents/regroup.h"
#include "codec/decoder/group_reader.h"
#include "codec/groups/chunk_padding.h"
#include "codec/pixels/pixel_store.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

/* The codes of the images that stay, of a group that is decoded. */
typedef struct kept_group {
    const codec_group_reader *from;
    codec_grid *grid; /* [images] of those that have windows */
    uint32_t *window; /* [windows] of the old group, ascending */
    size_t images, windows, stride;
    int16_t *code; /* [units][stride] */
    formats_block block;
    codec_pixel_group pixels; /* the planes; n 0: their chunks are copied */
} kept_group;

static void lay_out(kept_group *k, const codec_code_tables *tables, formats_layout *at) {
    k->stride = codec_group_stride(k->windows);
    k->grid = formats_lay(at, k->images, sizeof *k->grid);
    k->window = formats_lay(at, k->windows, sizeof *k->window);
    k->code = formats_lay(at, tables->units * (uint64_t)k->stride, sizeof *k->code);
}

/* The image in place i of the group. */
static uint32_t image_of(const codec_regrouping *of, uint32_t g, uint32_t i) {
    return formats_front_image(of->front, of->front->group_first[g] + i);
}

static const formats_geometry *shape_of(const codec_regrouping *of, uint32_t g, uint32_t i) {
    return &of->front->geometry[image_of(of, g, i)];
}

/* List grids and windows of the images that stay; indexed ones have none. */
static void list_kept(kept_group *k, const codec_regrouping *of, uint32_t g) {
    size_t windows = 0, images = 0;
    for (uint32_t i = 0; i < k->from->images; i++) {
        const formats_geometry *shape = shape_of(of, g, i);
        if (!of->keep[image_of(of, g, i)] || shape->indexed) continue;
        k->grid[images++] = codec_windows_grid(of->model->window, shape->width, shape->height);
        for (uint32_t w = k->from->first[i]; w < k->from->first[i + 1]; w++)
            k->window[windows++] = w;
    }
}

/* Signed magnitudes at the finest step; bits that are not known are 0. */
static void copy_codes(kept_group *k) {
    const codec_strips *strips = &k->from->strips;
    const codec_code_tables *t = strips->coder->group.tables;
    for (size_t i = 0; i < k->windows; i++) {
        const uint32_t strip = codec_strip_of(strips, k->window[i]);
        const uint32_t w = k->window[i] - strips->first[strip];
        const codec_group *g = &strips->coder[strip].group;
        for (uint32_t u = 0; u < t->units; u++) {
            const int32_t level = g->level[(size_t)u * g->stride + w];
            const uint32_t unknown = t->planes[u] - codec_planes_known(g, u, w);
            k->code[u * k->stride + i] = (int16_t)(level * (1 << unknown));
        }
    }
}

static taper_status no_memory(const codec_regrouping *of, taper_status status, uint64_t bytes,
                              taper_error *error) {
    return status == TAPER_ERR_LIMIT
               ? formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                                   formats_account_step(of->account, bytes),
                                   "coding a group again needs more memory than the limit of %llu "
                                   "bytes",
                                   (unsigned long long)of->account->limit)
               : formats_fail(error, status, "no memory to code a group again");
}

/* On failure *k needs no free. */
static taper_status take_kept(kept_group *k, const codec_regrouping *of, uint32_t g,
                              const codec_group_reader *from, taper_error *error) {
    const codec_code_tables *tables = from->strips.coder->group.tables;
    formats_layout at = {0};
    *k = (kept_group){.from = from};
    for (uint32_t i = 0; i < from->images; i++) {
        if (!of->keep[image_of(of, g, i)] || shape_of(of, g, i)->indexed) continue;
        k->images++, k->windows += from->first[i + 1] - from->first[i];
    }
    lay_out(k, tables, &at);
    const uint64_t bytes = at.used;
    const taper_status status = formats_block_take(&k->block, &at, of->account);
    if (status != TAPER_OK) return no_memory(of, status, bytes, error);
    lay_out(k, tables, &at);
    list_kept(k, of, g);
    copy_codes(k);
    return TAPER_OK;
}

/* --- a last chunk that was cut ----------------------------------------------------------- */

/* How far the cut group was known: complete passes, and windows of the new group in the next. */
typedef struct known_part {
    uint32_t pass, windows;
} known_part;

static known_part known_of(const kept_group *k) {
    const codec_group *g = &k->from->strips.coder->group; /* several images are one strip */
    known_part known = {g->pass, 0};
    while (known.windows < k->windows && k->window[known.windows] < g->position) known.windows++;
    return known;
}

/* Nonzero if a strip is decoded less far than is known. */
static int is_behind(const codec_strips *s, known_part known) {
    for (uint32_t i = 0; i < s->n; i++) {
        const codec_group *g = &s->coder[i].group;
        const uint32_t here = known.windows < s->first[i] ? 0 : known.windows - s->first[i];
        const int is_whole = here >= g->n;
        if (g->pass < known.pass + (uint32_t)is_whole) return 1;
        if (!is_whole && g->pass == known.pass && g->position < here) return 1;
    }
    return 0;
}

/* Decode the layers before the last one. */
static taper_status decode_before(codec_strips *s, const codec_regrouping *of, uint32_t g,
                                  const uint8_t *chunks, const uint64_t *chunk_at) {
    codec_strips_reset(s);
    for (uint32_t l = 0; l + 1 < of->front->layers; l++) {
        if (formats_front_layer_kind(of->front, l) != FORMATS_LAYER_PASSES) continue;
        const uint32_t end = codec_raised_planes_end(s->coder->group.tables,
                                                     formats_front_layer_end(of->front, l, g));
        const codec_chunk_bytes chunk = {chunks + (chunk_at[l] - chunk_at[0]),
                                         (size_t)(chunk_at[l + 1] - chunk_at[l]), 1};
        TAPER_TRY(codec_strips_decode(s, chunk, end));
        codec_strips_end_chunk(s);
    }
    return TAPER_OK;
}

/* The longest prefix of the last chunk, in steps of `step` bytes from *size on, of which less is
 * decoded than is known. */
static taper_status advance(codec_strips *s, codec_chunk_bytes chunk, size_t step, uint32_t end,
                            known_part known, size_t *size) {
    for (size_t n = *size ? *size : step; n < chunk.size; n += step) {
        TAPER_TRY(codec_strips_decode(s, (codec_chunk_bytes){chunk.bytes, n, 0}, end));
        if (!is_behind(s, known)) break;
        *size = n;
    }
    return TAPER_OK;
}

/* Cut the last chunk of out: first in large steps, then byte by byte. */
static taper_status cut_again(const kept_group *k, const codec_regrouping *of, uint32_t g,
                              formats_buffer *out, uint64_t *chunk_at, taper_error *error) {
    const formats_front *f = of->front;
    const codec_code_tables *tables = k->from->strips.coder->group.tables;
    const uint32_t last = f->layers - 1;
    const uint32_t end = codec_raised_planes_end(tables, formats_front_layer_end(f, last, g));
    const uint8_t *chunks = out->data + chunk_at[0];
    const codec_chunk_bytes chunk = {out->data + chunk_at[last],
                                     (size_t)(chunk_at[last + 1] - chunk_at[last]), 0};
    size_t size = 0;
    codec_strips s = {0};
    TAPER_TRY(codec_strips_alloc(&s, tables, k->grid, k->images, of->account, error));
    taper_status status = decode_before(&s, of, g, chunks, chunk_at);
    if (status == TAPER_OK)
        status = advance(&s, chunk, chunk.size / 64 + 1, end, known_of(k), &size);
    codec_strips_end_chunk(&s);
    if (status == TAPER_OK) status = decode_before(&s, of, g, chunks, chunk_at);
    if (status == TAPER_OK) status = advance(&s, chunk, 1, end, known_of(k), &size);
    codec_strips_end_chunk(&s);
    codec_strips_free(&s);
    chunk_at[last + 1] = chunk_at[last] + (size < chunk.size ? size + 1 : size);
    out->size = (size_t)chunk_at[last + 1];
    return status == TAPER_OK ? status : no_memory(of, status, chunk.size, error);
}

/* --- pixel layers ------------------------------------------------------------------------ */

/* The images that stay, for their planes. */
typedef struct kept_shapes {
    const formats_geometry **of; /* [n] */
} kept_shapes;

static const formats_geometry *kept_shape(const void *user, size_t i) {
    return ((const kept_shapes *)user)->of[i];
}

/* Copy what is known of an image's plane, as a decoder shows it. */
static taper_status take_plane(codec_pixel_group *pixels, size_t to, const codec_pixel_image *from,
                               formats_account *account) {
    const formats_geometry *of = &from->of;
    taper_image image = {of->width, of->height, (uint8_t)(of->channels + of->alpha), of->depth,
                         NULL};
    const size_t bytes = formats_image_bytes(&image);
    TAPER_TRY(formats_account_take(account, bytes));
    image.pixels = calloc(bytes, 1);
    taper_status status = image.pixels ? TAPER_OK : TAPER_ERR_NOMEM;
    if (image.pixels && of->indexed) {
        codec_pixels_store(from, 1, &image);
    } else if (image.pixels) {
        image.channels--;
        codec_pixels_add_alpha(from, 1, &image);
    }
    if (status == TAPER_OK) status = codec_pixel_image_take(pixels, to, &image);
    free(image.pixels);
    formats_account_give(account, bytes);
    return status;
}

/* Copy the planes of the images that stay. *pixels begins zeroed, and the caller closes it. */
static taper_status take_planes(const kept_group *k, const codec_regrouping *of, uint32_t g,
                                codec_pixel_group *pixels) {
    kept_shapes shapes = {malloc(((size_t)k->from->images + 1) * sizeof *shapes.of)};
    size_t n = 0;
    if (!shapes.of) return TAPER_ERR_NOMEM;
    for (uint32_t i = 0; i < k->from->images; i++)
        if (of->keep[image_of(of, g, i)]) shapes.of[n++] = shape_of(of, g, i);
    taper_status status = codec_pixel_group_open(pixels, n, kept_shape, &shapes, of->account);
    free(shapes.of);
    n = 0;
    for (uint32_t i = 0; i < k->from->images && status == TAPER_OK; i++) {
        const codec_pixel_image *from = codec_group_reader_pixels(k->from, i);
        if (!of->keep[image_of(of, g, i)]) continue;
        if (from && codec_pixels_has_plane(&from->of))
            status = take_plane(pixels, n, from, of->account);
        n++;
    }
    return status;
}

/* --- coding ------------------------------------------------------------------------------ */

/* Do all images stay that have windows, or planes? Then their chunks stay as they are. */
static int loses_none(const kept_group *k, const codec_regrouping *of, uint32_t g, int planes) {
    for (uint32_t i = 0; i < k->from->images; i++) {
        const formats_geometry *shape = shape_of(of, g, i);
        const int is_of_these = planes ? codec_pixels_has_plane(shape) : !shape->indexed;
        if (is_of_these && !of->keep[image_of(of, g, i)]) return 0;
    }
    return 1;
}

static codec_file_range chunk_of(const codec_regrouping *of, uint32_t l, uint32_t g) {
    return codec_chunk_range(of->front, l, g);
}

static taper_status copy_chunk(const codec_regrouping *of, codec_file_range chunk,
                               formats_buffer *out, taper_error *error) {
    if (!chunk.size) return TAPER_OK;
    uint8_t *to = formats_buffer_extend(out, (size_t)chunk.size);
    if (!to) return no_memory(of, out->status, chunk.size, error);
    return codec_source_read(of->source, chunk.at, to, (size_t)chunk.size, error);
}

/* What is behind a chunk of the last layer that was cut. */
static taper_status pad_chunk(const codec_regrouping *of, uint32_t strips, formats_buffer *out,
                              taper_error *error) {
    const uint64_t n = codec_chunk_padding_bytes(strips);
    uint8_t *to = formats_buffer_extend(out, (size_t)n);
    if (!to) return no_memory(of, out->status, n, error);
    codec_chunk_padding_copy(strips, 0, to, (size_t)n);
    return TAPER_OK;
}

/* End a chunk of the last layer that was cut, of so many strips: it is padded, if all of it is
 * known. Of passes that are not all known, it is cut again. */
static taper_status end_chunk(const kept_group *k, const codec_regrouping *of, uint32_t g,
                              uint32_t strips, formats_buffer *out, uint64_t *chunk_at,
                              taper_error *error) {
    const uint32_t last = of->front->layers - 1;
    const codec_group *was = &k->from->strips.coder->group;
    const uint32_t end =
        codec_raised_planes_end(was->tables, formats_front_layer_end(of->front, last, g));
    const int has_passes = formats_front_layer_kind(of->front, last) == FORMATS_LAYER_PASSES;
    TAPER_TRY(pad_chunk(of, has_passes ? strips : 1, out, error));
    chunk_at[last + 1] = out->size;
    return has_passes && was->pass < end ? cut_again(k, of, g, out, chunk_at, error) : TAPER_OK;
}

/* Append the chunk of layer l. */
static taper_status encode_layer(kept_group *k, const codec_regrouping *of, uint32_t g, uint32_t l,
                                 codec_strips *s, formats_buffer *out) {
    const uint32_t kind = formats_front_layer_kind(of->front, l);
    int ended = 0;
    if (!chunk_of(of, l, g).size && codec_chunk_is_cut(of->front, l, g)) return TAPER_OK;
    if (kind != FORMATS_LAYER_PASSES)
        return codec_pixel_group_encode(&k->pixels, (formats_layer_kind)kind, out);
    const uint32_t end = codec_raised_planes_end(k->from->strips.coder->group.tables,
                                                 formats_front_layer_end(of->front, l, g));
    if (!k->windows || codec_strips_last(s)->pass >= end) return TAPER_OK;
    return codec_strips_encode(s, k->code, k->stride, end, 0, out, &ended);
}

static taper_status refuse_cut_exact(const codec_regrouping *of, uint32_t layer, uint32_t g,
                                     taper_error *error) {
    const formats_front *f = of->front;
    if (!codec_chunk_is_cut(f, layer, g)) return TAPER_OK;
    return formats_fail(
        error, TAPER_ERR_UNSUPPORTED,
        "images that share an exact part that was cut cannot be separated; cut "
        "the container to %llu bytes before, where that part begins",
        (unsigned long long)(f->front_size + f->chunk_at[layer * (uint64_t)f->groups] +
                             (of->file->size - of->source->size))); /* with stages, all before */
}

static taper_status encode_layers(kept_group *k, const codec_regrouping *of, uint32_t g,
                                  codec_strips *s, formats_buffer *out, uint64_t *chunk_at,
                                  taper_error *error) {
    const formats_front *f = of->front;
    const int same[2] = {loses_none(k, of, g, 0), loses_none(k, of, g, 1)};
    chunk_at[0] = out->size;
    if (!same[1]) {
        const taper_status status = take_planes(k, of, g, &k->pixels);
        if (status != TAPER_OK) return no_memory(of, status, out->size, error);
    }
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint32_t kind = formats_front_layer_kind(f, l);
        const codec_file_range was = chunk_of(of, l, g);
        const int is_same = same[kind != FORMATS_LAYER_PASSES];
        if (kind == FORMATS_LAYER_EXACT) { /* the last; see regroup_exact.h */
            if (was.size) TAPER_TRY(refuse_cut_exact(of, l, g, error));
            chunk_at[l + 1] = out->size;
            continue;
        }
        taper_status status =
            is_same ? copy_chunk(of, was, out, error) : encode_layer(k, of, g, l, s, out);
        if (status != TAPER_OK) return is_same ? status : no_memory(of, status, was.size, error);
        chunk_at[l + 1] = out->size;
        if (!is_same && codec_chunk_is_cut(f, l, g) && chunk_at[l + 1] > chunk_at[l])
            TAPER_TRY(end_chunk(k, of, g, s->n, out, chunk_at, error));
    }
    return TAPER_OK;
}

static taper_status encode(kept_group *k, const codec_regrouping *of, uint32_t g,
                           formats_buffer *out, uint64_t *chunk_at, taper_error *error) {
    const codec_code_tables *tables = k->from->strips.coder->group.tables;
    codec_strips s = {0};
    if (k->windows)
        TAPER_TRY(codec_strips_alloc(&s, tables, k->grid, k->images, of->account, error));
    const taper_status status = encode_layers(k, of, g, &s, out, chunk_at, error);
    codec_strips_free(&s);
    codec_pixel_group_close(&k->pixels);
    return status;
}

taper_status codec_regroup(const codec_regrouping *of, uint32_t g, formats_buffer *out,
                           uint64_t *chunk_at, taper_error *error) {
    codec_group_readers readers = {.account = of->account};
    codec_group_reader *from;
    kept_group kept;
    taper_status status =
        codec_group_readers_open(&readers, of->model, of->front, g, of->source, &from, error);
    if (status == TAPER_OK && from->bad)
        status = formats_fail(error, TAPER_ERR_CORRUPT,
                              "layer %u of group %u is damaged; fetch the file again", from->layer,
                              from->group);
    if (status == TAPER_OK) {
        status = take_kept(&kept, of, g, from, error);
        if (status == TAPER_OK) {
            status = encode(&kept, of, g, out, chunk_at, error);
            formats_block_free(&kept.block);
        }
    }
    codec_group_readers_close(&readers);
    return status;
}
