/* fuzz_container.c -- any bytes as a container. Checksums are set right where the structure allows,
 * so that what lies behind them is reached. What opens is decoded pulled, pushed and supplied,
 * which must agree, and goes through verify, truncate, repack and merge. */
#include "tests/open_decoder.h"
#include "../dct_model.h"
#include "codec/decoder/levels.h"
#include "codec/taper.h"
#include "formats/container.h"
#include "formats/leaf.h"
#include "tests/infos.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { HEADER = FORMATS_HEADER_SIZE, SECTION = FORMATS_SECTION_SIZE };

static const taper_limits limits = {.size = sizeof(taper_limits),
                                    .max_pixels = 1 << 14,
                                    .max_images = 200,
                                    .max_memory = 1 << 22,
                                    .max_model_bytes = 1 << 18};

static const taper_merge_options merge_limits = {.size = sizeof merge_limits, .limits = &limits};

static void must(int holds) {
    if (!holds) abort();
}

static const taper_model *the_model(void) {
    static taper_model *model;
    formats_buffer file = formats_buffer_make(1 << 20);
    if (!model) model = dct_model_make((codec_window){4, 4, 3, NULL}, 12, 8, &file);
    formats_buffer_free(&file);
    return model;
}

/* Checksums of header, table and sections, as far as they are there. */
static void seal_sections(uint8_t *h, size_t n) {
    if (n < HEADER) return;
    uint64_t sections = formats_get_u32le(h + 48), at = HEADER + sections * SECTION;
    if (sections > FORMATS_MAX_SECTIONS || at > n) return;
    for (uint64_t i = 0; i < sections; i++) {
        uint8_t *s = h + HEADER + i * SECTION;
        uint64_t stored = formats_get_u64le(s + 8);
        if (stored > n - at) break;
        formats_set_u32le(s + 4, formats_crc32c(0, h + at, (size_t)stored));
        at += stored;
    }
    formats_set_u32le(h + 20, 0);
    formats_set_u32le(h + 20, formats_crc32c(0, h, HEADER + (size_t)sections * SECTION));
}

/* Checksums of leaves and of pages of names in a root that is not packed. */
static void seal_root(uint8_t *h, size_t n) {
    formats_front f;
    formats_root r;
    if (formats_head_read(h, n, &limits, &f, &r, NULL) != TAPER_OK) return;
    const uint64_t leaves_end = r.leaves ? r.leaves_at + r.leaf[r.leaves].at : UINT64_MAX;
    for (uint32_t k = 0; k < r.leaves && leaves_end <= n; k++)
        r.leaf[k].crc = formats_crc32c(0, h + r.leaves_at + r.leaf[k].at,
                                       (size_t)(r.leaf[k + 1].at - r.leaf[k].at));
    const uint32_t pages = formats_root_pages(&r);
    for (uint32_t p = 0; p < pages && r.pages_at + r.page_at[pages] <= n; p++)
        r.page_crc[p] = formats_crc32c(0, h + r.pages_at + r.page_at[p],
                                       (size_t)(r.page_at[p + 1] - r.page_at[p]));
    formats_buffer root = formats_buffer_make(1 << 24);
    if (r.leaves) formats_root_write(&r, &f, &root);
    const size_t at = HEADER + SECTION * (size_t)formats_get_u32le(h + 48);
    if (root.size && formats_get_u64le(h + HEADER + 8) == root.size) /* as it is */
        memcpy(h + at, root.data, root.size);
    formats_buffer_free(&root);
    formats_front_free(&f), formats_root_free(&r);
}

static void seal_front(uint8_t *h, size_t n) {
    seal_sections(h, n);
    seal_root(h, n);
    seal_sections(h, n);
}

/* The same container with true checksums over its chunks and this id of a model; 0: its own. */
static int seal_data(const uint8_t *bytes, size_t n, uint64_t id, formats_buffer *out) {
    formats_front f;
    if (formats_front_read(bytes, n, &limits, &f, NULL) != TAPER_OK) return 0;
    const uint8_t *data = bytes + f.front_size;
    uint64_t here = n - f.front_size, per = f.chunks_per_checksum, block = 0;
    for (uint32_t l = 0; l < f.layers; l++)
        for (uint64_t g = 0; g < f.groups; g += per, block++) {
            const uint64_t *row = f.chunk_at + (uint64_t)l * f.groups;
            uint64_t first = row[g], last = row[g + per < f.groups ? g + per : f.groups];
            if (last <= here)
                f.checksum[block] = formats_crc32c(0, data + first, (size_t)(last - first));
        }
    if (id) f.model_id = id;
    must(formats_front_write(&f, out, NULL) == TAPER_OK);
    uint64_t end = f.chunk_at[(uint64_t)f.layers * f.groups];
    formats_write_bytes(out, data, (size_t)(here < end ? here : end));
    formats_front_free(&f);
    return out->status == TAPER_OK;
}

/* The same at a part of the size. */
static taper_status render_scaled(taper_decoder *decoder, uint64_t i, formats_buffer *pixels) {
    taper_image_info info = {.size = sizeof info};
    const uint32_t scale = 2u << i % 4;
    must(taper_container_get_image(taper_decoder_container(decoder), i, &info, NULL) == TAPER_OK);
    size_t n = (size_t)((info.width - 1) / scale + 1) * ((info.height - 1) / scale + 1) *
               info.channels * (info.depth / 8);
    taper_image out = {.pixels = malloc(n)};
    must(out.pixels != NULL);
    taper_status status = taper_decoder_render_scaled(decoder, i, scale, &out, NULL, NULL);
    if (status == TAPER_OK || status == TAPER_ERR_CORRUPT)
        formats_write_bytes(pixels, out.pixels, n);
    free(out.pixels);
    return status;
}

/* Pixels of all images; images that cannot be drawn within the limits, or whose leaf was not
 * supplied, leave none. */
static taper_status render(taper_decoder *decoder, formats_buffer *pixels) {
    taper_container_info info = {.size = sizeof info};
    taper_status worst = TAPER_OK;
    must(taper_container_get_info(taper_decoder_container(decoder), &info, NULL) == TAPER_OK);
    for (uint64_t i = 0; i < info.images; i++) {
        taper_image_info image = {.size = sizeof image};
        taper_status status =
            taper_container_get_image(taper_decoder_container(decoder), i, &image, NULL);
        must(status == TAPER_OK || status == TAPER_ERR_TRUNCATED);
        if (status != TAPER_OK) worst = status;
        if (status != TAPER_OK) continue;
        taper_image out = {.pixels = malloc((size_t)image.bytes)};
        must(out.pixels != NULL);
        status = taper_decoder_render(decoder, i, &out, NULL, NULL);
        if (status == TAPER_OK || status == TAPER_ERR_CORRUPT)
            formats_write_bytes(pixels, out.pixels, (size_t)image.bytes);
        free(out.pixels);
        if (status == TAPER_OK) status = render_scaled(decoder, i, pixels);
        if (status != TAPER_OK) worst = status;
    }
    return worst;
}

/* Codes of an image and of its first layers, in range. */
static void look_at_codes(taper_decoder *decoder, uint64_t i, const taper_image_info *image,
                          uint32_t layers) {
    const uint32_t units = info_of_model(the_model()).units;
    const size_t n = (size_t)image->columns * image->rows * units;
    float *values = malloc(n * sizeof *values);
    uint8_t *planes = malloc(n);
    uint64_t cut, before = 0;
    uint32_t passes;
    must(values && planes);
    for (uint32_t layer = 0; layer < layers && layer < 3; layer++) {
        must(taper_container_layer(taper_decoder_container(decoder), i, layer, &cut, &passes,
                                   NULL) == TAPER_OK &&
             cut >= before);
        before = cut;
        (void)taper_decoder_codes(decoder, i, 1 + layer % units, passes, values, NULL, NULL, NULL);
    }
    taper_completeness done;
    const taper_status status =
        taper_decoder_codes(decoder, i, units, UINT32_MAX, values, planes, &done, NULL);
    for (size_t k = 0; status == TAPER_OK && k < n; k++)
        must(isfinite(values[k]) && planes[k] < 17);
    must(taper_container_layer(taper_decoder_container(decoder), i, layers, &cut, &passes, NULL) ==
         TAPER_ERR_ARG);
    must(taper_decoder_codes(decoder, i, units + 1, 1, values, NULL, NULL, NULL) == TAPER_ERR_ARG);
    free(values);
    free(planes);
}

/* Of some images, and what the directory tells of groups and classes. */
static void look_around(taper_decoder *decoder) {
    taper_container_info info = {.size = sizeof info};
    must(taper_container_get_info(taper_decoder_container(decoder), &info, NULL) == TAPER_OK);
    for (uint64_t i = 0; i < info.images && i < 4; i++) {
        taper_image_info image = {.size = sizeof image};
        must(taper_container_get_image(taper_decoder_container(decoder), i, &image, NULL) ==
             TAPER_OK);
        must(taper_container_image_at(taper_decoder_container(decoder), i) < info.images);
        look_at_codes(decoder, i, &image, info.layers);
    }
    for (uint32_t g = 0; g < info.groups; g++) {
        uint64_t first, count;
        must(taper_container_group(taper_decoder_container(decoder), g, &first, &count, NULL) ==
             TAPER_OK);
        must(count && first <= info.images && count <= info.images - first);
    }
    for (uint32_t k = 0; k < info.classes; k++)
        must(taper_container_class_name(taper_decoder_container(decoder), k) != NULL);
    must(!taper_container_class_name(taper_decoder_container(decoder), info.classes));
}

/* A further name is of an image, and has its size. */
static void look_at_names(const taper_container *c) {
    taper_container_info info = {.size = sizeof info};
    must(taper_container_get_info(c, &info, NULL) == TAPER_OK);
    for (uint64_t i = info.images; i < info.images + info.further_names; i++) {
        taper_image_info further = {.size = sizeof further}, image = {.size = sizeof image};
        must(taper_container_get_image(c, i, &further, NULL) == TAPER_OK);
        must(further.same_as < info.images && further.name && further.name[0]);
        must(further.label < 0 || taper_container_class_name(c, (uint32_t)further.label));
        must(taper_container_get_image(c, further.same_as, &image, NULL) == TAPER_OK);
        must(further.bytes == image.bytes && further.group == image.group);
    }
    taper_image_info none = {.size = sizeof none};
    must(taper_container_get_image(c, info.images + info.further_names, &none, NULL) ==
         TAPER_ERR_ARG);
}

/* The first further name shows what its image shows. */
static void show_name(taper_decoder *decoder) {
    taper_container_info info = {.size = sizeof info};
    taper_image_info of = {.size = sizeof of};
    const taper_container *c = taper_decoder_container(decoder);
    must(taper_container_get_info(c, &info, NULL) == TAPER_OK);
    if (!info.further_names) return;
    must(taper_container_get_image(c, info.images, &of, NULL) == TAPER_OK);
    taper_image a = {.pixels = calloc((size_t)of.bytes, 1)},
                b = {.pixels = calloc((size_t)of.bytes, 1)};
    must(a.pixels && b.pixels);
    const taper_status status = taper_decoder_render(decoder, of.same_as, &a, NULL, NULL);
    must(taper_decoder_render(decoder, info.images, &b, NULL, NULL) == status);
    if (status == TAPER_OK) must(!memcmp(a.pixels, b.pixels, (size_t)of.bytes));
    free(a.pixels), free(b.pixels);
}

/* Without the first image, and with another first name. */
static void change(const taper_source *source) {
    const uint64_t first = 0;
    const taper_name name = {0, "new"};
    const taper_remove_options how = {.size = sizeof how, .model = the_model(), .limits = &limits};
    formats_buffer out = formats_buffer_make(1 << 22);
    const taper_sink sink = dct_sink(&out);
    taper_decoder *decoder;
    if (taper_remove(source, &first, 1, &sink, &how, NULL) == TAPER_OK) {
        formats_memory memory = {out.data, out.size};
        const taper_source made = formats_memory_source(&memory);
        const taper_status status = open_decoder(&decoder, &made, the_model(), &limits, NULL);
        must(status == TAPER_OK || status == TAPER_ERR_LIMIT);
        if (status == TAPER_OK) look_at_names(taper_decoder_container(decoder));
        if (status == TAPER_OK) close_decoder(decoder);
    }
    out.size = 0;
    (void)taper_rename(source, &name, 1, &sink, &limits, NULL);
    out.size = 0;
    if (taper_strip(source, &sink, &limits, NULL) == TAPER_OK) {
        formats_memory memory = {out.data, out.size};
        const taper_source made = formats_memory_source(&memory);
        taper_container_info info = {.size = sizeof info};
        taper_container *container;
        const taper_open_options options = {
            .size = sizeof options, .limits = &limits, .without_model = 1};
        if (taper_container_open(&container, &made, &options, NULL) == TAPER_OK) {
            must(taper_container_get_info(container, &info, NULL) == TAPER_OK);
            must(!info.metadata_bytes);
            taper_container_close(container);
        }
    }
    formats_buffer_free(&out);
}

/* What verify is to say where all checksums hold: of a model inside what a decoder says that has no
 * other, and of the model for search what it says when it is asked for. */
static taper_status of_models_inside(const taper_source *source) {
    taper_decoder *decoder;
    taper_container_info info = {.size = sizeof info};
    taper_model *model;
    must(open_decoder(&decoder, source, the_model(), &limits, NULL) == TAPER_OK);
    must(taper_container_get_info(taper_decoder_container(decoder), &info, NULL) == TAPER_OK);
    taper_status status = TAPER_OK;
    if (info.model_bytes) {
        taper_decoder *own;
        status = open_decoder(&own, source, NULL, &limits, NULL);
        close_decoder(own);
    }
    if (status == TAPER_OK && info.search_model_bytes) {
        status = taper_container_search_model(taper_decoder_container(decoder), &model, NULL);
        taper_model_free(model);
    }
    close_decoder(decoder);
    return status;
}

/* What a decoder refuses, and bytes are not missing, nobody takes or passes on. */
static void all_refuse(const formats_buffer *file, taper_status opened) {
    formats_memory memory = {file->data, file->size};
    const taper_source source = formats_memory_source(&memory);
    formats_buffer out = formats_buffer_make(1 << 22);
    const taper_sink sink = dct_sink(&out);
    taper_verify_report report = {.size = sizeof report};
    taper_decoder *d;
    if (opened != TAPER_ERR_CORRUPT) return;
    for (int supplied = 0; supplied <= 1; supplied++) {
        must(stream_decoder(&d, the_model(), &limits, NULL) == TAPER_OK);
        const taper_status status = supplied
                                        ? taper_decoder_supply(d, 0, file->data, file->size, NULL)
                                        : taper_decoder_push(d, file->data, file->size, NULL);
        must(status == TAPER_ERR_CORRUPT || status == TAPER_ERR_LIMIT);
        close_decoder(d);
    }
    must(taper_repack(&source, the_model(), TAPER_LAYOUT_SET, 0, &sink, &limits, NULL) != TAPER_OK);
    /* what does not fit the model can be told by who has the model alone; and truncate copies
     * metadata unseen */
    formats_buffer bare = formats_buffer_make(1 << 22);
    const taper_sink to_bare = dct_sink(&bare);
    const int is_bare = taper_strip(&source, &to_bare, &limits, NULL) == TAPER_OK;
    formats_memory bare_memory = {bare.data, bare.size};
    const taper_source looked_at = is_bare ? formats_memory_source(&bare_memory) : source;
    if (taper_verify(&looked_at, &report, &limits, NULL) == TAPER_ERR_CORRUPT) {
        must(taper_truncate(&source, file->size, &sink, &limits, NULL) != TAPER_OK);
        must(taper_merge(&source, 1, &sink, &merge_limits, NULL) != TAPER_OK);
    }
    formats_buffer_free(&out), formats_buffer_free(&bare);
}

/* The metadata of all images, read whole. */
static taper_status of_metadata(const taper_source *source) {
    taper_decoder *decoder;
    taper_container_info info = {.size = sizeof info};
    taper_metadata_reader *r;
    must(open_decoder(&decoder, source, the_model(), &limits, NULL) == TAPER_OK);
    const taper_container *c = taper_decoder_container(decoder);
    must(taper_container_get_info(c, &info, NULL) == TAPER_OK);
    taper_status status = taper_metadata_open(&r, c, NULL);
    unsigned sum = 0;
    look_at_names(c);
    show_name(decoder);
    for (uint64_t i = 0; status == TAPER_OK && i < info.images + info.further_names; i++) {
        taper_metadata m = {.size = sizeof m};
        status = taper_metadata_get(r, i, &m, NULL);
        const uint8_t *const part[] = {m.icc, m.exif, m.xmp};
        const size_t size[] = {m.icc_size, m.exif_size, m.xmp_size};
        for (int k = 0; k < 3; k++)
            if (size[k]) sum += part[k][0] + part[k][size[k] - 1];
    }
    must(sum < UINT32_MAX);
    taper_metadata_close(r);
    close_decoder(decoder);
    return status;
}

static void recut(const taper_source *source, const formats_buffer *file) {
    taper_verify_report report = {.size = sizeof report};
    formats_buffer a = formats_buffer_make(1 << 22), b = formats_buffer_make(1 << 22);
    taper_sink to_a = dct_sink(&a), to_b = dct_sink(&b);
    const taper_status models = of_models_inside(source), metadata = of_metadata(source);
    const taper_status verified = taper_verify(source, &report, &limits, NULL);
    must(verified == (models ? models : metadata) || metadata == TAPER_ERR_LIMIT);
    if (taper_truncate(source, file->size * 3 / 4, &to_a, &limits, NULL) == TAPER_OK)
        must(a.size <= file->size * 3 / 4);
    change(source);
    a.size = 0;
    taper_layout other = (taper_layout)((file->data[10] + file->data[file->size - 1]) % 3);
    (void)taper_repack(source, the_model(), other, 3, &to_a, &limits, NULL);
    taper_source twice[2] = {*source, *source};
    (void)taper_merge(twice, 2, &to_b, &merge_limits, NULL);
    formats_buffer_free(&a), formats_buffer_free(&b);
}

/* Eight bytes FF at the start of a chunk are the one string that no encoder makes; what they decode
 * to depends on how they arrive. */
static int has_illegal_string(const formats_buffer *file) {
    uint32_t run = 0;
    for (size_t i = 0; i < file->size && run < 8; i++) run = file->data[i] == 0xFF ? run + 1 : 0;
    return run == 8;
}

/* A plan's ranges: rising, apart, and not empty. What it wants changes nothing but the cut. */
static void look_at_plan(taper_decoder *decoder, uint64_t i, uint64_t cut) {
    taper_range range[16];
    size_t count;
    uint64_t number;
    const taper_plan_options all = {.size = sizeof all, .cut = cut, .max_bytes = cut, .max_gap = i};
    if (i % 3 == 2)
        (void)taper_decoder_plan_images(decoder, &all, range, 16, &count, NULL);
    else if (i % 2)
        (void)taper_decoder_plan(decoder, i, cut, range, 16, &count, NULL);
    else
        (void)taper_decoder_plan_name(decoder, i ? "n/03.png" : "0.png", cut, range, 16, &count,
                                      &number, NULL);
    for (size_t r = 0; r < count && r < 16; r++) {
        must(range[r].size > 0 && range[r].size <= UINT64_MAX - range[r].offset);
        must(!r || range[r].offset > range[r - 1].offset + range[r - 1].size);
    }
}

/* All bytes, in pieces that come in another order, some of them wrong at first; images are asked
 * for in between. */
static void supply_in_pieces(taper_decoder *decoder, const uint8_t *bytes, size_t size) {
    enum { STRIDE = 7919 };
    uint32_t seed = formats_crc32c(0, bytes, size);
    size_t step = 1 + size / (2 + seed % 37), pieces = (size + step - 1) / step;
    for (int round = 0; round < 2; round++) {
        if (pieces % STRIDE == 0) step = size, pieces = 1; /* else it goes through all of them */
        for (size_t k = 0; k < pieces; k++) {
            size_t at = (k * STRIDE + seed) % pieces * step;
            size_t n = size - at < step ? size - at : step;
            uint8_t wrong = bytes[at] ^ (uint8_t)(1 + (seed + k) % 255);
            (void)taper_decoder_supply(decoder, at, bytes + at, n, NULL);
            if (!round && k % 3 == 1) (void)taper_decoder_supply(decoder, at, &wrong, 1, NULL);
            if (k % 4 == 2) look_at_plan(decoder, k % 5, seed % (2 * size));
            if (round || (k != pieces / 2 && k + 1 != pieces)) continue;
            formats_buffer scrap = formats_buffer_make(1 << 24);
            if (!taper_decoder_bytes_needed(decoder)) (void)render(decoder, &scrap);
            formats_buffer_free(&scrap);
        }
    }
    look_at_plan(decoder, 0, size);
}

/* --- with less than it takes ------------------------------------------------------------- */

static void must_be_refusal(taper_status status) {
    must(status == TAPER_OK || status == TAPER_ERR_LIMIT || status == TAPER_ERR_NOMEM ||
         status == TAPER_ERR_CORRUPT || status == TAPER_ERR_TRUNCATED);
}

/* The first image and its codes, if memory is enough for these. */
static void draw_first(taper_decoder *decoder) {
    taper_image_info info = {.size = sizeof info};
    if (taper_decoder_bytes_needed(decoder) ||
        taper_container_get_image(taper_decoder_container(decoder), 0, &info, NULL))
        return;
    const uint32_t units = info_of_model(the_model()).units;
    float *values = malloc((size_t)info.columns * info.rows * units * sizeof *values);
    taper_image out = {.pixels = malloc((size_t)info.bytes)};
    must(values && out.pixels);
    must_be_refusal(taper_decoder_render(decoder, 0, &out, NULL, NULL));
    must_be_refusal(taper_decoder_codes(decoder, 0, units, 9, values, NULL, NULL, NULL));
    free(values);
    free(out.pixels);
}

static void use_little(const formats_buffer *file, const taper_source *source,
                       const taper_limits *little) {
    formats_buffer pixels = formats_buffer_make(1 << 24);
    taper_decoder *d;
    if (open_decoder(&d, source, the_model(), little, NULL) == TAPER_OK) {
        must_be_refusal(render(d, &pixels));
        draw_first(d);
        close_decoder(d);
    }
    for (int supplied = 0; supplied <= 1; supplied++) {
        must(stream_decoder(&d, the_model(), little, NULL) == TAPER_OK);
        for (size_t at = 0, step = file->size / 3 + 1; at < file->size; at += step) {
            const size_t n = file->size - at < step ? file->size - at : step;
            must_be_refusal(supplied ? taper_decoder_supply(d, at, file->data + at, n, NULL)
                                     : taper_decoder_push(d, file->data + at, n, NULL));
            draw_first(d);
        }
        close_decoder(d);
    }
    formats_buffer_free(&pixels);
}

/* Memory that ends at one place or another: at how much, the file's checksum says. */
static void decode_in_little_memory(const formats_buffer *file, const taper_source *source) {
    const uint64_t least = 700 + formats_crc32c(0, file->data, file->size) % 700;
    for (uint64_t memory = least; memory < 1 << 17; memory += memory / 2) {
        taper_limits little = limits;
        little.max_memory = memory;
        use_little(file, source, &little);
    }
}

/* What it knows, as text, into a sink that takes all of it, and one that is soon full. */
static void print_levels(const taper_source *source) {
    for (size_t room = 1 << 7; room <= 1 << 24; room <<= 17) {
        formats_buffer text = formats_buffer_make(room);
        const taper_sink sink = dct_sink(&text);
        const taper_open_options options = {
            .size = sizeof options, .model = the_model(), .limits = &limits};
        taper_container *container;
        must(taper_container_open(&container, source, &options, NULL) == TAPER_OK);
        const taper_status status = codec_levels_write(container, UINT64_MAX, &sink, NULL);
        must(status != TAPER_OK || text.size);
        taper_container_close(container);
        formats_buffer_free(&text);
    }
}

/* What must be asked for otherwise, or later. */
static void ask_wrongly(taper_decoder *pulled, taper_decoder *pushed) {
    taper_decoder *d;
    taper_image_info info = {.size = sizeof info};
    taper_model *model;
    taper_image none = {0};
    uint64_t code;
    uint8_t byte = 0;
    must(taper_decoder_push(pulled, &byte, 1, NULL) == TAPER_ERR_ARG);
    must(taper_decoder_supply(pulled, 0, &byte, 1, NULL) == TAPER_ERR_ARG);
    must(taper_decoder_supply(pushed, 0, &byte, 1, NULL) == TAPER_ERR_ARG);
    must(taper_decoder_set_threads(pushed, 2, NULL) == TAPER_OK);
    must(taper_decoder_render(pulled, 0, &none, NULL, NULL) == TAPER_ERR_ARG);
    must(stream_decoder(&d, the_model(), &limits, NULL) == TAPER_OK);
    must(!taper_decoder_container(d));
    must(taper_container_get_image(NULL, 0, &info, NULL) == TAPER_ERR_ARG);
    must(taper_decoder_render(d, 0, &none, NULL, NULL) == TAPER_ERR_TRUNCATED);
    must(taper_container_search_code(NULL, 0, &code, NULL) == TAPER_ERR_ARG);
    must(taper_container_search_model(NULL, &model, NULL) == TAPER_ERR_ARG);
    must(taper_decoder_supply(d, UINT64_MAX, &byte, 1, NULL) != TAPER_OK);
    close_decoder(d);
}

/* --- all ways ---------------------------------------------------------------------------- */

/* What is supplied is rendered as what is pulled. model: NULL: that of the container. */
static void supply(const formats_buffer *file, const taper_model *model, taper_status pulled,
                   const formats_buffer *pixels) {
    taper_decoder *decoder;
    formats_buffer got = formats_buffer_make(1 << 24);
    must(stream_decoder(&decoder, model, &limits, NULL) == TAPER_OK);
    supply_in_pieces(decoder, file->data, file->size);
    if (taper_decoder_bytes_needed(decoder) == 0) { /* else its bytes do not fit beside the front */
        taper_status status = render(decoder, &got);
        if (pulled != TAPER_ERR_LIMIT && status != TAPER_ERR_LIMIT)
            must(status == pulled && got.size == pixels->size &&
                 (!got.size || !memcmp(got.data, pixels->data, got.size)));
    }
    close_decoder(decoder);
    formats_buffer_free(&got);
}

static void decode_all_ways(const formats_buffer *file) {
    formats_memory memory = {file->data, file->size};
    taper_source source = formats_memory_source(&memory);
    taper_decoder *pulled, *pushed;
    taper_status opened = open_decoder(&pulled, &source, the_model(), &limits, NULL);
    if (opened != TAPER_OK) {
        all_refuse(file, opened);
        return;
    }
    formats_buffer a = formats_buffer_make(1 << 24), b = formats_buffer_make(1 << 24);
    taper_status one = render(pulled, &a), two;
    must(stream_decoder(&pushed, the_model(), &limits, NULL) == TAPER_OK);
    for (size_t at = 0, step = 1; at < file->size; at += step, step += step / 2 + 1) {
        size_t n = file->size - at < step ? file->size - at : step;
        if (taper_decoder_push(pushed, file->data + at, n, NULL) != TAPER_OK) break;
    }
    two = render(pushed, &b);
    /* a pushed decoder holds all groups at once: its memory may end where one group's would not */
    if (one != TAPER_ERR_LIMIT && two != TAPER_ERR_LIMIT && !has_illegal_string(file))
        must(one == two && a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size)));
    look_around(pulled);
    ask_wrongly(pulled, pushed);
    close_decoder(pulled), close_decoder(pushed);
    supply(file, the_model(), one, &a);
    formats_buffer_free(&a), formats_buffer_free(&b);
    print_levels(&source);
    decode_in_little_memory(file, &source);
    recut(&source, file);
}

/* Codes for search, and the model that made them: all or none of it can be had. */
static void search(const taper_decoder *decoder) {
    taper_container_info info = {.size = sizeof info};
    taper_model *model;
    if (taper_container_get_info(taper_decoder_container(decoder), &info, NULL) != TAPER_OK) return;
    uint64_t *code = malloc((info.search_bits / 64 + 1) * sizeof *code);
    must(code != NULL);
    const taper_status status =
        taper_container_search_code(taper_decoder_container(decoder), info.images - 1, code, NULL);
    must(status == (info.search_bits ? TAPER_OK : TAPER_ERR_ARG));
    must(info.search_bits || !info.search_model_bytes);
    if (taper_container_search_model(taper_decoder_container(decoder), &model, NULL) == TAPER_OK)
        must(info_of_model(model).id == info.search_model_id);
    taper_model_free(model);
    free(code);
}

/* As it is, with checksums that may not hold: nothing to compare with, but it must end. */
static void recut_as_it_is(const taper_source *source) {
    taper_verify_report report = {.size = sizeof report};
    formats_buffer out = formats_buffer_make(1 << 22);
    const taper_sink sink = dct_sink(&out);
    const taper_source twice[2] = {*source, *source};
    const taper_status verified = taper_verify(source, &report, &limits, NULL);
    must(verified != TAPER_OK || !report.chunks_bad);
    (void)taper_truncate(source, source->size * 3 / 4, &sink, &limits, NULL);
    out.size = 0;
    (void)taper_merge(twice, 2, &sink, &merge_limits, NULL);
    out.size = 0;
    (void)taper_repack(source, NULL, TAPER_LAYOUT_SET, 2, &sink, &limits, NULL);
    formats_buffer_free(&out);
}

/* As it is, with its own model and checksums, which may not hold, and with threads: in pieces, with
 * images asked for in between, so that what was rendered of a chunk is taken back. */
static void push_as_it_is(const uint8_t *bytes, size_t n) {
    taper_decoder *decoder;
    must(stream_decoder(&decoder, NULL, &limits, NULL) == TAPER_OK);
    for (size_t at = 0, step = n / 9 + 1, round = 0; at < n; at += step, round++) {
        formats_buffer scrap = formats_buffer_make(1 << 24);
        if (!taper_decoder_bytes_needed(decoder)) step = (n - at) / 4 + 1;
        const size_t left = n - at < step ? n - at : step;
        if (taper_decoder_push(decoder, bytes + at, left, NULL) != TAPER_OK) n = 0;
        if (!taper_decoder_bytes_needed(decoder) && n) (void)render(decoder, &scrap);
        if (round == 3) must(taper_decoder_set_threads(decoder, 2, NULL) == TAPER_OK);
        formats_buffer_free(&scrap);
    }
    close_decoder(decoder);
}

/* With the stages of its own model: pulled, pushed and supplied, all are the same in the end. (In
 * between, pushed bytes may be told damaged that are not read otherwise.) */
static void decode_staged(const uint8_t *bytes, size_t n) {
    formats_front f;
    formats_buffer file = formats_buffer_make(1 << 24), a = file, b = file;
    if (formats_front_read(bytes, n, &limits, &f, NULL) != TAPER_OK) return;
    const int is_staged = f.has_stages;
    formats_front_free(&f);
    formats_memory memory = {0};
    taper_decoder *pulled = NULL, *pushed = NULL;
    const int is_sealed = is_staged && seal_data(bytes, n, 0, &file);
    memory = (formats_memory){file.data, file.size};
    const taper_source source = formats_memory_source(&memory);
    if (is_sealed && open_decoder(&pulled, &source, NULL, &limits, NULL) == TAPER_OK) {
        const taper_status one = render(pulled, &a);
        must(stream_decoder(&pushed, NULL, &limits, NULL) == TAPER_OK);
        taper_status two = TAPER_OK;
        for (size_t at = 0, step = 1; at < file.size && !two; at += step, step += step / 2 + 1)
            two = taper_decoder_push(pushed, file.data + at,
                                     file.size - at < step ? file.size - at : step, NULL);
        if (two == TAPER_OK) two = render(pushed, &b);
        if (one == TAPER_OK && two == TAPER_OK && !has_illegal_string(&file))
            must(a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size)));
        supply(&file, NULL, one, &a);
        recut_as_it_is(&source);
    }
    close_decoder(pulled), close_decoder(pushed);
    formats_buffer_free(&file), formats_buffer_free(&a), formats_buffer_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    formats_buffer scrap = formats_buffer_make(1 << 24), file = formats_buffer_make(1 << 24);
    (void)dct_pull(bytes, n < 8 ? n : 8, NULL, &scrap, NULL);
    uint8_t *copy = malloc(n + 1);
    must(copy != NULL);
    if (n) memcpy(copy, bytes, n);
    seal_front(copy, n);
    formats_memory memory = {copy, n};
    taper_source source = formats_memory_source(&memory);
    taper_decoder *decoder; /* as it is, with its own model */
    if (open_decoder(&decoder, &source, NULL, &limits, NULL) == TAPER_OK) {
        search(decoder);
        (void)render(decoder, &scrap);
    }
    close_decoder(decoder);
    recut_as_it_is(&source);
    push_as_it_is(copy, n);
    if (n && stream_decoder(&decoder, the_model(), &limits, NULL) == TAPER_OK) {
        supply_in_pieces(decoder, copy, n); /* its own checksums: most of these are wrong */
        close_decoder(decoder);
    }
    decode_staged(copy, n);
    if (seal_data(copy, n, info_of_model(the_model()).id, &file)) decode_all_ways(&file);
    formats_buffer_free(&scrap), formats_buffer_free(&file);
    free(copy);
    return 0;
}
