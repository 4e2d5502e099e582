/* container_files.c -- see container_files.h. */
#include "../pictures.h"
#include "codec/bitplane/strips.h"
#include "codec/bitplane/raised_planes.h"
#include "codec/pixels/pixel_group.h"
#include "container_files.h"
#include "formats/directory.h"
#include "formats/model_file.h"
#include "model_files.h"
#include "page_files.h"
#include <stdio.h>
#include <string.h>

enum { RATE_CLASSES = FORMATS_MAX_RATE_CLASSES, RAISED = 3 /* units of a group */ };

/* All that a container is made from. */
typedef struct layout {
    const container_recipe *r;
    const taper_model *model;
    formats_front front;
    formats_geometry geometry[MOST_IMAGES];
    uint32_t group_first[MOST_GROUPS + 1], layer_end[MOST_CHUNKS], checksum[MOST_CHUNKS];
    uint8_t group_rate_class[MOST_GROUPS], image_rate_class[MOST_IMAGES], layer_kind[MOST_CHUNKS];
    uint64_t chunk_at[MOST_CHUNKS + 1];
    uint32_t raised_at[MOST_GROUPS + 1];
    formats_raised raised[RAISED * MOST_GROUPS];
    formats_buffer chunk[MOST_CHUNKS]; /* [layer][group] */
    uint64_t seed;
} layout;

/* --- header and sections ----------------------------------------------------------------- */

file_parts file_parts_begin(void) {
    return (file_parts){formats_buffer_make(1 << 20), formats_buffer_make(1 << 20), 0};
}

void file_parts_add(file_parts *parts, const char type[4], const uint8_t *bytes, size_t n,
                    int packed) {
    formats_buffer frame = formats_buffer_make(1 << 20);
    if (packed) plain_zstd_frame(bytes, n, &frame);
    int smaller = packed && frame.size < n;
    const uint8_t *stored = smaller ? frame.data : bytes;
    size_t size = smaller ? frame.size : n;
    formats_write_bytes(&parts->table, type, 4);
    formats_write_u32le(&parts->table, formats_crc32c(0, stored, size));
    formats_write_u64le(&parts->table, size);
    formats_write_u64le(&parts->table, n);
    formats_write_bytes(&parts->body, stored, size);
    parts->sections++;
    formats_buffer_free(&frame);
}

void file_parts_end(file_parts *parts, const formats_front *f, uint64_t holds,
                    formats_buffer *out) {
    uint8_t h[FORMATS_HEADER_SIZE] = {0x89, 'T', 'P', 'R', 13, 10, 26, 10, 2};
    h[10] = f->layout, h[11] = f->tail;
    formats_set_u32le(h + 12, (f->rate_classes > 1 ? FORMATS_FEATURE_RATE_CLASSES : 0) +
                                  (f->raised_at ? FORMATS_FEATURE_RAISED : 0) +
                                  (f->layer_kind ? FORMATS_FEATURE_PIXELS : 0) +
                                  (f->has_stages ? FORMATS_FEATURE_STAGES : 0) +
                                  (f->data_bytes ? FORMATS_FEATURE_PAGED : 0));
    formats_set_u32le(h + 16, (uint32_t)holds);
    formats_set_u64le(h + 24, f->model_id);
    formats_set_u64le(h + 32, f->images);
    formats_set_u32le(h + 40, f->groups);
    formats_set_u32le(h + 44, f->layers);
    formats_set_u32le(h + 48, parts->sections);
    formats_set_u32le(h + 52, (uint32_t)(holds >> 32));
    formats_set_u32le(h + 20, formats_crc32c(formats_crc32c(0, h, sizeof h), parts->table.data,
                                             parts->table.size));
    formats_write_bytes(out, h, sizeof h);
    formats_write_bytes(out, parts->table.data, parts->table.size);
    formats_write_bytes(out, parts->body.data, parts->body.size);
    formats_buffer_free(&parts->table), formats_buffer_free(&parts->body);
}

/* --- images, groups, layers -------------------------------------------------------------- */

static void place_groups(layout *l) {
    const container_recipe *r = l->r;
    uint32_t groups = l->front.groups, at = 0, left[RATE_CLASSES] = {0};
    for (uint32_t i = 0; i < r->images; i++) {
        l->image_rate_class[i] = (uint8_t)(i % l->front.rate_classes);
        left[l->image_rate_class[i]]++;
    }
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t rate_class = g % l->front.rate_classes,
                 others = (groups - 1 - g) / l->front.rate_classes;
        uint32_t size = r->group[g] ? r->group[g] : left[rate_class] / (others + 1);
        if (!others) size = left[rate_class];
        l->group_rate_class[g] = (uint8_t)rate_class;
        l->group_first[g] = at;
        at += size, left[rate_class] -= size;
    }
    l->group_first[groups] = at;
    if (at != r->images) abort();
}

static int has_passes(const layout *l, uint32_t layer) {
    return !l->r->kinds || l->r->kinds[layer] == 'p';
}

/* Of two rate classes the second goes ahead, and has nothing new in the second of three layers of
 * passes. */
static void end_layers(layout *l) {
    uint32_t rate_classes = l->front.rate_classes, layers = 0, k = 0;
    uint32_t all = l->model->tables.n_passes * (l->r->passes ? l->r->passes : 8) / 8;
    for (uint32_t i = 0; i < l->front.layers; i++) layers += (uint32_t)has_passes(l, i);
    for (uint32_t i = 0; i < l->front.layers; i++) {
        uint32_t *to = l->layer_end + (size_t)i * rate_classes;
        for (uint32_t t = 0; t < rate_classes; t++) {
            const uint32_t before = i ? to[(int32_t)t - (int32_t)rate_classes] : 0;
            uint32_t end = all * (k + 1) * (k + 2) / (layers * (layers + 1) + !layers) + 5 * t;
            if (end < k + 1) end = k + 1;
            if (t && k == 1) end = before;
            to[t] = !has_passes(l, i) ? before : k + 1 == layers || end > all ? all : end;
        }
        k += (uint32_t)has_passes(l, i);
    }
}

/* Of every other group: the first unit, the second, and the last, which the model never sends. */
static void raise_planes(layout *l) {
    uint32_t n = 0;
    for (uint32_t g = 0; g < l->front.groups; g++) {
        uint16_t last = (uint16_t)(l->model->tables.units - 1);
        if (g % 2 == 0) {
            l->raised[n++] = (formats_raised){0, (uint8_t)(1 + g % 3)};
            if (last > 1) l->raised[n++] = (formats_raised){1, 2};
            if (last > 0) l->raised[n++] = (formats_raised){last, 1};
        }
        l->raised_at[g + 1] = n;
    }
    l->front.raised_at = l->raised_at, l->front.raised = l->raised;
}

static void begin(layout *l) {
    const container_recipe *r = l->r;
    for (uint32_t i = 0; i < r->images; i++)
        l->geometry[i] = r->image[i].width ? r->image[i] : r->image[0];
    l->front = (formats_front){.model_id = l->model->info.id,
                               .layout = (uint8_t)r->one_by_one,
                               .tail = (uint8_t)(r->tail != 0),
                               .first_cut = r->tail ? (r->groups > 1) : 0,
                               .images = r->images,
                               .groups = r->one_by_one ? r->images : r->groups,
                               .layers = r->one_by_one == 1 && !r->kinds ? 1 : r->layers,
                               .geometry = l->geometry,
                               .group_first = l->group_first,
                               .rate_classes = r->rate_classes ? r->rate_classes : 1,
                               .layer_end = l->layer_end,
                               .chunks_per_checksum = r->span ? r->span : 1,
                               .chunk_at = l->chunk_at,
                               .checksum = l->checksum};
    if (l->front.groups > MOST_GROUPS || l->front.groups * l->front.layers > MOST_CHUNKS) abort();
    for (uint32_t i = 0; r->kinds && i < l->front.layers; i++)
        l->layer_kind[i] = has_passes(l, i) ? 0 : (uint8_t)(r->kinds[i] - '0');
    if (r->kinds) l->front.layer_kind = l->layer_kind, l->front.has_pixels = 1;
    place_groups(l);
    end_layers(l);
    if (r->raised) raise_planes(l);
    if (l->front.rate_classes == 1) return;
    l->front.group_rate_class = l->group_rate_class,
    l->front.image_rate_class = l->image_rate_class;
    if (formats_front_place_images(&l->front) != TAPER_OK) abort();
}

/* --- codes ------------------------------------------------------------------------------- */

/* Neighbours are alike, and the first units larger than the last: so that everything that is
 * predicted can be. */
static int16_t draw_code(layout *l, const codec_code_tables *t, uint32_t u, int32_t before) {
    uint32_t top = (1u << t->planes[u]) - 1;
    int32_t v = before;
    if (t->density) return (int16_t)(conformance_below(&l->seed, 3) ? before : !before);
    if (l->r->flat || !top) return 0;
    if (l->r->sparse && conformance_below(&l->seed, 24)) return 0;
    if (conformance_below(&l->seed, 3) == 0) v = conformance_draw(&l->seed, (int32_t)top);
    if (conformance_below(&l->seed, 4) == 0) v /= 4;
    v += conformance_draw(&l->seed, 2);
    if (conformance_below(&l->seed, 10) < u / 2 + 1) v = conformance_draw(&l->seed, 1);
    return (int16_t)(v > (int32_t)top ? (int32_t)top : v < -(int32_t)top ? -(int32_t)top : v);
}

static void encode_group(layout *l, uint32_t g) {
    const formats_front *f = &l->front;
    codec_grid grid[MOST_IMAGES];
    uint32_t first = f->group_first[g], n = 0;
    for (uint32_t i = first; i < f->group_first[g + 1]; i++) {
        formats_geometry image = l->geometry[formats_front_image(f, i)];
        if (image.indexed) continue;
        grid[n++] = codec_windows_grid(l->model->window, image.width, image.height);
    }
    if (!n) return;
    codec_strips state;
    codec_code_tables raised = {0};
    const codec_code_tables *tables = &l->model->tables;
    uint32_t n_raised;
    const formats_raised *units = formats_front_raised(f, g, &n_raised);
    if (n_raised &&
        codec_raised_planes_make(&raised, tables, units, n_raised, NULL, NULL) != TAPER_OK)
        abort();
    if (n_raised) tables = &raised;
    if (codec_strips_alloc(&state, tables, grid, n, NULL, NULL) != TAPER_OK) abort();
    uint32_t windows = state.first[state.n];
    size_t stride = (size_t)codec_group_stride(windows);
    int16_t *code = calloc(tables->units * stride, sizeof *code);
    if (!code) abort();
    for (uint32_t u = 0; u < tables->units; u++) {
        int16_t *to = code + (size_t)u * stride;
        for (uint32_t p = 0; p < windows; p++) to[p] = draw_code(l, tables, u, p ? to[p - 1] : 0);
    }
    for (uint32_t layer = 0; layer < f->layers; layer++) {
        formats_buffer *chunk = &l->chunk[layer * f->groups + g];
        if (!has_passes(l, layer)) continue;
        uint32_t end = codec_raised_planes_end(tables, formats_front_layer_end(f, layer, g));
        int ended;
        if (codec_strips_encode(&state, code, stride, end, 0, chunk, &ended) != TAPER_OK) abort();
    }
    free(code);
    codec_strips_free(&state);
    codec_raised_planes_free(&raised);
}

/* --- pixels ------------------------------------------------------------------------------ */

static const formats_geometry *pixels_of(const void *user, size_t i) {
    const formats_geometry *const *of = user;
    return of[i];
}

/* A sample of alpha: soft, with noise in its lower bits; or a mask, by the image's height. */
static uint32_t draw_alpha(layout *l, const formats_geometry *of, uint32_t x, uint32_t y) {
    const uint32_t most = (1u << of->depth) - 1;
    if (of->height % 2) return (x + y) % 7 < 3 ? 0 : (x + y) % 7 < 6 ? most : most / 3;
    const uint32_t noise = conformance_below(&l->seed, most / 64 + 1);
    return ((x * 7 + y * 3) % 32 * (most / 32) + noise) & most;
}

/* Blocks of few colours, and some new ones. */
static uint32_t draw_sample(layout *l, uint32_t block, uint32_t c) {
    return conformance_below(&l->seed, 12) ? (block * 37 * (c + 1) + 11) % 256
                                           : conformance_below(&l->seed, 256);
}

static void draw_pixels(layout *l, const formats_geometry *of, uint16_t *to16, uint8_t *to8) {
    const uint32_t channels = of->channels + of->alpha;
    for (uint32_t y = 0; y < of->height; y++)
        for (uint32_t x = 0; x < of->width; x++)
            for (uint32_t c = 0; c < channels; c++) {
                const size_t at = ((size_t)y * of->width + x) * channels + c;
                const uint32_t v = c < of->channels ? draw_sample(l, (x / 3 + 5 * (y / 4)) % 5, c)
                                                    : draw_alpha(l, of, x, y);
                to16[at] = (uint16_t)v, to8[at] = (uint8_t)v;
            }
}

/* An exact layer is random: any bytes are legal. The first bit of every third group says that
 * samples are plain. */
static void draw_exact(layout *l, uint32_t g, formats_buffer *chunk) {
    const formats_front *f = &l->front;
    uint32_t bytes = 24;
    for (uint32_t at = f->group_first[g]; at < f->group_first[g + 1]; at++) {
        const formats_geometry *of = &l->geometry[formats_front_image(f, at)];
        bytes += of->width * of->height * (of->channels + of->alpha);
    }
    for (uint32_t i = 0; i < bytes; i++) {
        const uint8_t byte = (uint8_t)conformance_below(&l->seed, 256);
        formats_write_u8(chunk, i ? byte : g % 3 == 2 ? byte & 127 : byte | 128);
    }
}

static void encode_pixels(layout *l, uint32_t g) {
    const formats_front *f = &l->front;
    const formats_geometry *of[MOST_IMAGES];
    const uint32_t first = f->group_first[g], n = f->group_first[g + 1] - first;
    codec_pixel_group pixels;
    for (uint32_t i = 0; i < n; i++) of[i] = &l->geometry[formats_front_image(f, first + i)];
    if (codec_pixel_group_open(&pixels, n, pixels_of, of, NULL) != TAPER_OK) abort();
    for (uint32_t i = 0; i < n; i++) {
        const size_t samples = (size_t)of[i]->width * of[i]->height * 4;
        uint16_t *to16 = malloc(samples * sizeof *to16);
        uint8_t *to8 = malloc(samples);
        if (!to16 || !to8) abort();
        draw_pixels(l, of[i], to16, to8);
        const taper_image image = {of[i]->width, of[i]->height,
                                   (uint8_t)(of[i]->channels + of[i]->alpha), of[i]->depth,
                                   of[i]->depth == 16 ? (void *)to16 : to8};
        if (codec_pixel_image_take(&pixels, i, &image) != TAPER_OK) abort();
        free(to16), free(to8);
    }
    for (uint32_t layer = 0; layer < f->layers; layer++) {
        formats_buffer *chunk = &l->chunk[layer * f->groups + g];
        const uint8_t kind = l->layer_kind[layer];
        if (kind == FORMATS_LAYER_MODEL) continue;
        if (kind == FORMATS_LAYER_EXACT)
            draw_exact(l, g, chunk);
        else if (!has_passes(l, layer) &&
                 codec_pixel_group_encode(&pixels, (formats_layer_kind)kind, chunk) != TAPER_OK)
            abort();
    }
    codec_pixel_group_close(&pixels);
}

/* --- stages of the model ----------------------------------------------------------------- */

/* Put the last stages into the layers that are for them; the front has how many bytes precede. */
static void place_stages(layout *l, const formats_buffer *file) {
    formats_front *f = &l->front;
    formats_model_places places;
    uint32_t layers = 0;
    for (uint32_t i = 0; i < f->layers; i++) layers += l->layer_kind[i] == FORMATS_LAYER_MODEL;
    f->model_in_front = file->size;
    f->has_stages = layers > 0;
    if (!layers) return;
    if (formats_model_find_stages(file->data, file->size, &places, NULL) != TAPER_OK) abort();
    if (places.n <= layers) abort();
    uint32_t stage = places.n - layers;
    f->model_in_front = (size_t)places.end[stage - 1];
    for (uint32_t i = 0; i < f->layers; i++) {
        if (l->layer_kind[i] != FORMATS_LAYER_MODEL) continue;
        const size_t at = (size_t)places.end[stage - 1];
        formats_write_bytes(&l->chunk[i * f->groups], file->data + at,
                            (size_t)places.end[stage++] - at);
    }
}

/* --- chunks ------------------------------------------------------------------------------ */

static void cut_chunks(layout *l) {
    const formats_front *f = &l->front;
    for (uint32_t c = 0; l->r->emptied && c < f->layers * f->groups; c++)
        l->chunk[c].size = (size_t)l->r->emptied - 1;
    for (uint32_t g = f->first_cut; l->r->tail && g < f->groups; g++) {
        formats_buffer *chunk = &l->chunk[(f->layers - 1) * f->groups + g];
        chunk->size = l->r->tail == 1 ? chunk->size * 2 / 3 : g == f->first_cut ? 0 : chunk->size;
    }
}

static void sum_chunks(layout *l) {
    const formats_front *f = &l->front;
    uint32_t per = f->chunks_per_checksum, blocks = (f->groups + per - 1) / per;
    for (uint32_t layer = 0; layer < f->layers; layer++)
        for (uint32_t g = 0; g < f->groups; g++) {
            const formats_buffer *chunk = &l->chunk[layer * f->groups + g];
            uint32_t *sum = &l->checksum[layer * blocks + g / per];
            *sum = formats_crc32c(*sum, chunk->data, chunk->size);
            l->chunk_at[layer * f->groups + g + 1] =
                l->chunk_at[layer * f->groups + g] + chunk->size;
        }
}

/* --- the file ---------------------------------------------------------------------------- */

/* SPEC 5.10, of three images. */
static void add_metadata(file_parts *parts) {
    static const uint8_t index[] = {3,
                                    4,
                                    3,
                                    5, /* payloads */
                                    2,
                                    2,
                                    1, /* pages */
                                    135,
                                    0,
                                    0,
                                    0,
                                    1 | 8 | 16,
                                    1,
                                    1,
                                    13,
                                    0,
                                    1, /* 0: all payloads and a time; 1: the profile */
                                    0x8F,
                                    0xE3,
                                    2, /* gamma 45455 */
                                    2 | 32 | 64 | 128,
                                    3,
                                    1,
                                    2,
                                    3,
                                    4,
                                    5,
                                    6,
                                    7,
                                    0,
                                    200,
                                    1,
                                    100,
                                    0, /* 2: payload 1 */
                                    6,
                                    7,
                                    10};
    static const uint8_t page[] = {7, 7, 'p', 'r', 'o', 'f', 'I', 'I', '*'}, other[] = "\5\5<xmp>";
    formats_buffer content = formats_buffer_make(1 << 10);
    formats_write_u8(&content, sizeof index), formats_write_u8(&content, sizeof index);
    formats_write_bytes(&content, index, sizeof index);
    formats_write_bytes(&content, page, sizeof page);
    formats_write_bytes(&content, other, sizeof other - 1);
    file_parts_add(parts, "meta", content.data, content.size, 0);
    formats_buffer_free(&content);
}

/* SPEC 5.12: the second of three parts of a set that has an image more than three such parts; that
 * image could not be used. */
static void add_part(const layout *l, file_parts *parts) {
    static const uint8_t digests[24] = {1, 2, 3, 4, 5, 6, 7, 8, 0xFF};
    formats_buffer content = formats_buffer_make(1 << 10);
    formats_write_varint(&content, 3);
    formats_write_varint(&content, 1);
    formats_write_varint(&content, 3 * l->r->images + 2);
    formats_write_varint(&content, 1);
    formats_write_bytes(&content, digests, sizeof digests);
    file_parts_add(parts, "part", content.data, content.size, 0);
    formats_buffer_free(&content);
}

static void add_texts(const layout *l, file_parts *parts) {
    formats_buffer content = formats_buffer_make(1 << 20);
    for (uint32_t i = 0; l->r->names && i < l->r->images; i++) {
        char name[80];
        int n =
            l->r->names == 3
                ? snprintf(name, sizeof name, "%u/\xC3\xA9%02u.png", i / 3, i)
                : snprintf(name, sizeof name, "%s/%s%u.png", i % 2 ? "\xC3\xA9t\xC3\xA9" : "a.b",
                           l->r->names > 1 ? "xxxxxxxxxxxxxxxxxxxxxxxxxxxx" : "", i);
        formats_write_bytes(&content, name, (size_t)n + 1);
    }
    if (content.size) file_parts_add(parts, "name", content.data, content.size, l->r->packed);
    formats_buffer_clear(&content);
    if (l->r->labels) {
        formats_write_varint(&content, 3);
        formats_write_bytes(&content, "cat\0\0dog", 9); /* one class has an empty name */
        for (uint32_t i = 0; i < l->r->images; i++) formats_write_varint(&content, i % 4);
        file_parts_add(parts, "labl", content.data, content.size, l->r->packed);
    }
    if (l->r->metadata) add_metadata(parts);
    if (l->r->part) add_part(l, parts);
    if (l->r->ignored) file_parts_add(parts, "xtra", (const uint8_t *)"later", 5, 0);
    formats_buffer_free(&content);
}

void container_file_make(const container_recipe *r, const taper_model *model,
                         const formats_buffer *model_file, formats_buffer *out) {
    layout *l = calloc(1, sizeof *l);
    if (!l) abort();
    l->r = r, l->model = model;
    l->seed = formats_crc32c(0, r->name, strlen(r->name)) + 1ull;
    begin(l);
    for (uint32_t c = 0; c < l->front.layers * l->front.groups; c++)
        l->chunk[c] = formats_buffer_make(1 << 20);
    for (uint32_t g = 0; g < l->front.groups; g++) encode_group(l, g);
    for (uint32_t g = 0; r->kinds && g < l->front.groups; g++) encode_pixels(l, g);
    cut_chunks(l);
    place_stages(l, model_file);
    sum_chunks(l);
    file_parts parts = file_parts_begin();
    formats_buffer directory = formats_buffer_make(1 << 20);
    formats_directory_write(&l->front, &directory);
    file_parts_add(&parts, "DIRE", directory.data, directory.size, r->packed);
    add_texts(l, &parts);
    if (r->embeds) file_parts_add(&parts, "modl", model_file->data, l->front.model_in_front, 0);
    file_parts_end(&parts, &l->front, r->ignored ? UINT64_MAX : r->holds, out);
    size_t data;
    for (uint32_t c = 0; c < l->front.layers * l->front.groups; c++) {
        formats_write_bytes(out, l->chunk[c].data, l->chunk[c].size);
        formats_buffer_free(&l->chunk[c]);
    }
    if (r->pages) page_file_make(out, r->pages, r->packed);
    data = out->size - (size_t)l->chunk_at[l->front.layers * l->front.groups];
    if (r->damage) out->data[data + l->chunk_at[r->damage - 1]] ^= 0x10;
    if (r->trailing) formats_write_u8(out, 0);
    formats_buffer_free(&directory);
    free(l->front.image_at), free(l->front.place_of);
    free(l);
}
