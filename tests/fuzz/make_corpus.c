/* make_corpus.c -- wrote the first files of the corpora container, model, directory, entropy,
 * strips, pixels, roundtrip and index; kept so that they can be made again when the formats change:
 *
 *   make build/opt/internal.a
 *   cc -std=c11 -D_POSIX_C_SOURCE=200809L -o make_corpus tests/fuzz/make_corpus.c \
 *       build/opt/internal.a -lpng -ljpeg -lz -lzstd -lxxhash -lm -pthread
 *   ./make_corpus tests/fuzz/corpus */
#include "../paged.h"
#include "../random_restoration.h"
#include "../staged_model.h"
#include "../tiny_embedding_model.h"
#include "codec/bitplane/strips.h"
#include "codec/pixels/pixel_group.h"
#include "codec/taper.h"
#include "formats/directory.h"
#include "formats/model_file.h"
#include "tests/infos.h"

static void save(const char *folder, const char *name, const void *prefix, size_t n_prefix,
                 const uint8_t *bytes, size_t n) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(prefix, 1, n_prefix, file) != n_prefix || fwrite(bytes, 1, n, file) != n ||
        fclose(file))
        abort();
}

/* One field of a container's header or section table that is illegal; fuzz_container.c mends the
 * checksums. Then damage in its first and last chunk, and bytes after its end. */
static void make_illegal(const char *folder, const formats_buffer *whole, size_t front) {
    static const struct {
        const char *name;
        size_t at;
        uint8_t value;
    } fields[] = {
        {"version-0", 8, 0},
        {"version-1", 8, 1},
        {"version-3", 8, 3},
        {"layout-3", 10, 3},
        {"tail-2", 11, 2},
        {"feature-4", 12, 4}, /* pages that are not there */
        {"feature-8", 12, 8},
        {"images-0", 32, 0},
        {"groups-0", 40, 0},
        {"groups-many", 42, 255},
        {"layers-0", 44, 0},
        {"layers-many", 47, 255},
        {"no-section", 48, 0},
        {"sections-many", 51, 255},
        {"reserved", 52, 1},
        {"directory-later", 56, 'n'},
        {"section-unknown", 56, 'X'},
        {"section-too-long", 71, 255},
        {"section-too-large", 79, 255},
        {"section-shrinks", 72, 0},
    };
    char path[80];
    uint8_t *copy = malloc(whole->size + 1);
    if (!copy) abort();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        memcpy(copy, whole->data, whole->size);
        copy[fields[i].at] = fields[i].value;
        snprintf(path, sizeof path, "container/illegal-%s.taper", fields[i].name);
        save(folder, path, "", 0, copy, whole->size);
    }
    for (int last = 0; last <= 1; last++) {
        memcpy(copy, whole->data, whole->size);
        copy[last ? whole->size - 1 : front + 1] ^= 9;
        snprintf(path, sizeof path, "container/damaged-%s-chunk.taper", last ? "last" : "first");
        save(folder, path, "", 0, copy, whole->size);
    }
    memcpy(copy, whole->data, whole->size);
    copy[whole->size] = 0;
    save(folder, "container/tail.taper", "", 0, copy, whole->size + 1);
    free(copy);
}

static void make_containers(const char *folder) {
    formats_buffer model_file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 3, NULL}, 12, 8, &model_file);
    taper_image image[6];
    for (uint32_t i = 0; i < 6; i++) image[i] = dct_picture(3 + 2 * i, 9 - i, i % 3 ? 3 : 1, i);
    taper_encode_options sets = {.group_images = 2}, alone = {.layout = TAPER_LAYOUT_IMAGE},
                         whole = {.embed_model = 1,
                                  .model_bytes = model_file.data,
                                  .model_size = model_file.size},
                         rate_classes = {.allocation = TAPER_ALLOCATION_MEAN},
                         gallery = {.layout = TAPER_LAYOUT_GALLERY};
    const taper_encode_options *options[] = {&sets, &alone, &whole, NULL, &rate_classes, &gallery};
    for (int i = 0; i < 6; i++) {
        char name[40];
        snprintf(name, sizeof name, "container/%d.taper", i);
        formats_buffer file =
            dct_encode(model, image, i == 2 ? 1 : 6, options[i], i == 1 || i >= 3);
        save(folder, name, "", 0, file.data, file.size);
        if (i == 2) make_illegal(folder, &file, (size_t)dct_info(&file, model).front_bytes);
        formats_memory memory = {file.data, file.size};
        taper_source source = formats_memory_source(&memory);
        formats_buffer cut = formats_buffer_make(1 << 20);
        taper_sink sink = dct_sink(&cut);
        if (taper_truncate(&source, file.size * 3 / 4, &sink, NULL, NULL) == TAPER_OK) {
            snprintf(name, sizeof name, "container/%d-truncated.taper", i);
            save(folder, name, "", 0, cut.data, cut.size);
        }
        snprintf(name, sizeof name, "container/%d-cut.taper", i);
        save(folder, name, "", 0, file.data, file.size - 20);
        formats_buffer_free(&file), formats_buffer_free(&cut);
    }
    for (int i = 0; i < 6; i++) formats_image_free(&image[i]);
    taper_model_free(model);
    formats_buffer_free(&model_file);
}

/* Three images with codes for search, and the model of these. */
static void make_searched(const char *folder) {
    enum { IMAGES = 3, BITS = 11 };
    formats_buffer own = formats_buffer_make(1 << 20), theirs = formats_buffer_make(1 << 20),
                   file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 1, NULL}, 6, 8, &own),
                *maker = tiny_embedding_bits(
                    (tiny_shape){.window = {4, 3, 1}, .units = BITS, .depth = 1}, 7, &theirs);
    const taper_encode_options whole = {
        .size = sizeof whole, .embed_model = 1, .model_bytes = own.data, .model_size = own.size};
    const uint64_t code[IMAGES] = {0x5aull << 56, 0xffffull << 48, 0};
    const taper_search_codes codes = {.size = sizeof(taper_search_codes),
                                      .model_id = info_of_model(maker).id,
                                      .bits = BITS,
                                      .n = IMAGES,
                                      .codes = code,
                                      .model_bytes = theirs.data,
                                      .model_size = theirs.size};
    const taper_sink sink = dct_sink(&file);
    taper_encoder *encoder;
    if (taper_encoder_new(&encoder, model, &whole, NULL)) abort();
    for (uint32_t i = 0; i < IMAGES; i++) {
        taper_image image = dct_picture(4 + i, 5, 1, i);
        if (taper_encoder_add(encoder, &image, NULL, -1, NULL)) abort();
        formats_image_free(&image);
    }
    if (taper_encoder_set_search_codes(encoder, &codes, NULL)) abort();
    if (taper_encoder_finish(encoder, 0, &sink, NULL)) abort();
    taper_encoder_free(encoder);
    save(folder, "container/searched.taper", "", 0, file.data, file.size);
    taper_model_free(model), taper_model_free(maker);
    formats_buffer_free(&own), formats_buffer_free(&theirs), formats_buffer_free(&file);
}

/* Two images with classes and three further names. */
static void encode_names(const taper_model *model, int lossless, formats_buffer *file) {
    static const char *const classes[] = {"x", "y"};
    static const int64_t time = 5000000000, later = 9000000000;
    const taper_encode_options how = {.size = sizeof how, .lossless = lossless};
    const taper_sink sink = dct_sink(file);
    taper_encoder *encoder;
    if (taper_encoder_new(&encoder, model, &how, NULL)) abort();
    for (uint32_t i = 0; i < 2; i++) {
        taper_image image = dct_picture(4 + i, 5, 3, i);
        if (taper_encoder_add(encoder, &image, i ? "b" : "a", (int32_t)i, NULL)) abort();
        formats_image_free(&image);
    }
    if (taper_encoder_set_classes(encoder, classes, 2, NULL)) abort();
    if (taper_encoder_add_name(encoder, 1, "c", 1, &time, NULL)) abort();
    if (taper_encoder_add_name(encoder, 0, "d", -1, NULL, NULL)) abort();
    if (taper_encoder_add_name(encoder, 1, "e", 0, &later, NULL)) abort();
    if (taper_encoder_finish(encoder, 0, &sink, NULL)) abort();
    taper_encoder_free(encoder);
}

/* Whole, with an exact layer, and with illegal fields. */
static void make_with_names(const char *folder) {
    static const struct {
        size_t at; /* in the section, which is not packed */
        uint8_t value;
    } wrong[] = {{0, 0},   {0, 4},  {0, 0x7F}, {1, 2},    {4, 4},
                 {8, '/'}, {13, 2}, {16, 10},  {17, 0x80}};
    formats_buffer own = formats_buffer_make(1 << 20), file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 3, NULL}, 12, 8, &own);
    size_t entry;
    char name[60];
    encode_names(model, 1, &file);
    save(folder, "container/further-names-exact.taper", "", 0, file.data, file.size);
    formats_buffer_clear(&file);
    encode_names(model, 0, &file);
    save(folder, "container/further-names.taper", "", 0, file.data, file.size);
    uint8_t *content = file.data + paged_section(&file, "also", &entry);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const uint8_t before = content[wrong[i].at];
        content[wrong[i].at] = wrong[i].value;
        snprintf(name, sizeof name, "container/further-names-%02zu-%u.taper", wrong[i].at,
                 wrong[i].value);
        save(folder, name, "", 0, file.data, file.size);
        content[wrong[i].at] = before;
    }
    taper_model_free(model);
    formats_buffer_free(&own), formats_buffer_free(&file);
}

/* Three images with metadata, whole and with illegal fields; fuzz_container.c mends checksums. */
static void make_with_metadata(const char *folder) {
    enum { IMAGES = 3 };
    static const struct {
        size_t at; /* in the index */
        uint8_t value;
    } wrong[] = {{0, 9},   {1, 0},   {1, 200}, {3, 0},  {4, 1},   {4, 3},    {5, 3},
                 {5, 255}, {6, 1},   {6, 9},   {10, 0}, {11, 2},  {12, 0},   {13, 0},
                 {15, 7},  {17, 11}, {18, 2},  {19, 0}, {25, 11}, {26, 0x80}};
    formats_buffer own = formats_buffer_make(1 << 20), file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 3, NULL}, 12, 8, &own);
    const taper_metadata m[IMAGES] = {
        {.size = sizeof *m, .icc = "a profile", .icc_size = 9, .has_cicp = 1, .gamma = 100},
        {.size = sizeof *m,
         .icc = "a profile",
         .icc_size = 9,
         .exif = "II*",
         .exif_size = 3,
         .has_modified = 1,
         .modified_ns = 5000000000},
        {.size = sizeof *m,
         .xmp = "a profile",
         .xmp_size = 9,
         .density_x = 1,
         .density_y = 2,
         .chromaticities = {1}}};
    const taper_sink sink = dct_sink(&file);
    taper_encoder *encoder;
    size_t entry;
    char name[60];
    if (taper_encoder_new(&encoder, model, NULL, NULL)) abort();
    for (uint32_t i = 0; i < IMAGES; i++) {
        taper_image image = dct_picture(4 + i, 5, 3, i);
        if (taper_encoder_add(encoder, &image, NULL, -1, NULL)) abort();
        if (taper_encoder_set_metadata(encoder, &m[i], NULL)) abort();
        formats_image_free(&image);
    }
    if (taper_encoder_finish(encoder, 0, &sink, NULL)) abort();
    taper_encoder_free(encoder);
    save(folder, "container/metadata.taper", "", 0, file.data, file.size);
    uint8_t *index = file.data + paged_section(&file, "meta", &entry) + 2;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const uint8_t before = index[wrong[i].at];
        index[wrong[i].at] = wrong[i].value;
        snprintf(name, sizeof name, "container/metadata-%02zu-%u.taper", wrong[i].at,
                 wrong[i].value);
        save(folder, name, "", 0, file.data, file.size);
        index[wrong[i].at] = before;
    }
    taper_model_free(model);
    formats_buffer_free(&own), formats_buffer_free(&file);
}

/* A checkerboard, larger than what the model's planes hold, beside a picture; whole and cut. */
static void make_raised(const char *folder) {
    formats_buffer model_file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_in_parts((codec_window){4, 4, 1, NULL}, 0, 5, 2, &model_file);
    taper_image image[2] = {picture_noise(9, 6, 1, 8, 1), dct_picture(7, 8, 1, 3)};
    for (uint32_t i = 0; i < 9 * 6; i++)
        ((uint8_t *)image[0].pixels)[i] = (uint8_t)(i % 2 ? 255 : 0); /* nine in a row */
    taper_encode_options whole = {
        .embed_model = 1, .model_bytes = model_file.data, .model_size = model_file.size};
    formats_buffer file = dct_encode(model, image, 2, &whole, 1);
    if (formats_get_u32le(file.data + 12) != FORMATS_FEATURE_RAISED) abort();
    save(folder, "container/raised.taper", "", 0, file.data, file.size);
    save(folder, "container/raised-cut.taper", "", 0, file.data, file.size - 9);
    formats_image_free(&image[0]), formats_image_free(&image[1]);
    taper_model_free(model);
    formats_buffer_free(&file), formats_buffer_free(&model_file);
}

/* Soft alpha, a mask, drawings with and without alpha, and an image without either. */
static void draw_transparent(taper_image image[5]) {
    static const uint8_t channels[5] = {4, 2, 3, 4, 3};
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t n = channels[i], side = 8 + i, is_drawing = i == 2 || i == 3;
        image[i] = picture_noise(side, side, (uint8_t)n, 8, i + 1);
        uint8_t *to = image[i].pixels;
        for (uint32_t p = 0; p < side * side; p++)
            for (uint32_t c = 0; c < n; c++, to++)
                *to = is_drawing    ? (uint8_t)((p / 3 % 3 + p / side / 4) % 3 * 90 + 60)
                      : i == 1 && c ? (uint8_t)(p % 7 < 4 ? 255 : 0)
                                    : (uint8_t)(p * (c + 2) + *to % 16);
    }
}

static void make_transparent(const char *folder) {
    static const struct {
        const char *name;
        taper_encode_options of;
    } how[] = {
        {"pixels", {.drawings = TAPER_DRAWINGS_EXACT}},
        {"pixels-groups", {.drawings = TAPER_DRAWINGS_EXACT, .group_images = 2}},
        {"pixels-image", {.drawings = TAPER_DRAWINGS_EXACT, .layout = TAPER_LAYOUT_IMAGE}},
        {"pixels-gallery", {.drawings = TAPER_DRAWINGS_EXACT, .layout = TAPER_LAYOUT_GALLERY}},
        {"pixels-classes", {.drawings = TAPER_DRAWINGS_EXACT, .allocation = TAPER_ALLOCATION_MEAN}},
        {"exact", {.lossless = 1}},
        {"exact-image", {.lossless = 1, .layout = TAPER_LAYOUT_IMAGE}}};
    formats_buffer unused = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 3, NULL}, 12, 8, &unused);
    taper_image image[5];
    char path[100];
    draw_transparent(image);
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        formats_buffer file = dct_encode(model, image, 5, &how[k].of, k == 1);
        if (!(formats_get_u32le(file.data + 12) & FORMATS_FEATURE_PIXELS)) abort();
        snprintf(path, sizeof path, "container/%s.taper", how[k].name);
        save(folder, path, "", 0, file.data, file.size);
        snprintf(path, sizeof path, "container/%s-cut.taper", how[k].name);
        save(folder, path, "", 0, file.data, file.size - file.size / 5);
        formats_buffer_free(&file);
    }
    for (size_t i = 0; i < 5; i++) formats_image_free(&image[i]);
    taper_model_free(model);
    formats_buffer_free(&unused);
}

/* Front matter in pages: names that ascend and others, rate classes, small leaves; one cut, one
 * with a damaged leaf. */
static void make_paged(const char *folder) {
    enum { IMAGES = 12 };
    static const taper_encode_options options[] = {
        {.group_images = 2},
        {.layout = TAPER_LAYOUT_IMAGE},
        {.layout = TAPER_LAYOUT_GALLERY},
        {.group_images = 2, .allocation = TAPER_ALLOCATION_MEAN}};
    formats_buffer unused = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 3, NULL}, 12, 8, &unused);
    taper_image image[IMAGES];
    for (uint32_t i = 0; i < IMAGES; i++)
        image[i] = dct_picture(3 + i % 5, 4 + i % 3, i % 3 ? 3 : 1, i);
    for (int k = 0; k < 4; k++) {
        char name[60];
        size_t entry;
        formats_buffer whole = dct_encode(model, image, IMAGES, &options[k], 1),
                       file = paged_from(&whole, 2 + (uint32_t)k % 3, k % 2);
        snprintf(name, sizeof name, "container/paged-%d.taper", k);
        save(folder, name, "", 0, file.data, file.size);
        if (k == 0) save(folder, "container/paged-cut.taper", "", 0, file.data, file.size - 9);
        if (k == 1) file.data[paged_section(&file, "LEAF", &entry) + 4] ^= 1;
        if (k == 1) save(folder, "container/paged-damaged.taper", "", 0, file.data, file.size);
        formats_buffer_free(&whole), formats_buffer_free(&file);
    }
    for (int i = 0; i < IMAGES; i++) formats_image_free(&image[i]);
    taper_model_free(model);
    formats_buffer_free(&unused);
}

/* A model file whose header has an illegal field; bit 1: its checksum is mended by fuzz_model.c. */
static void make_illegal_models(const char *folder, const formats_buffer *whole) {
    static const struct {
        const char *name;
        size_t at;
        uint8_t value;
    } fields[] = {{"version-5", 8, 5},         {"version-3", 8, 3},
                  {"no-stage", 10, 0},         {"stages", 10, 17},
                  {"packed-short", 24, 1},     {"packed-long", 27, 255},
                  {"packed-longest", 31, 255}, {"unpacked-short", 33, 0},
                  {"unpacked-long", 36, 255},  {"unpacked-longest", 39, 255},
                  {"frame-other", 32, 255},    {"stage-sum", 40, 255},
                  {"other-id", 17, 255}};
    char path[80];
    uint8_t *copy = malloc(whole->size);
    if (!copy) abort();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        memcpy(copy, whole->data, whole->size);
        copy[fields[i].at] = fields[i].value;
        snprintf(path, sizeof path, "model/illegal-%s.tpm", fields[i].name);
        save(folder, path, "\2", 1, copy, whole->size);
    }
    free(copy);
}

static void make_models(const char *folder) {
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 3, 1, NULL}, 7, 4, &file);
    formats_model_contents c;
    save(folder, "model/pca.tpm", "\0", 1, file.data, file.size);
    save(folder, "model/sealed.tpm", "\2", 1, file.data, file.size);
    make_illegal_models(folder, &file);
    if (formats_model_unpack(file.data, file.size, 0, NULL, &c, NULL)) abort();
    save(folder, "model/pca-payload", "\1", 1, c.payload, c.size);
    c.payload[0] = 1; /* the same as a dense model */
    save(folder, "model/dense-payload", "\1", 1, c.payload, c.size);
    free(c.payload);
    taper_model_free(model);
    formats_buffer_free(&file);
}

/* A model's file and payload. */
static void save_model_alone(const char *folder, const char *name, const formats_buffer *file) {
    formats_model_contents c;
    char path[60];
    snprintf(path, sizeof path, "model/%s.tpm", name);
    save(folder, path, "\0", 1, file->data, file->size);
    if (formats_model_unpack(file->data, file->size, 0, NULL, &c, NULL)) abort();
    snprintf(path, sizeof path, "model/%s-payload", name);
    save(folder, path, "\1", 1, c.payload, c.size);
    free(c.payload);
}

/* The same, and a container that carries it. */
static void save_model(const char *folder, const char *name, const taper_model *model,
                       const formats_buffer *file) {
    char path[60];
    save_model_alone(folder, name, file);
    taper_image image[2] = {dct_picture(9, 7, 1, 1), dct_picture(16, 8, 1, 2)};
    taper_encode_options whole = {
        .embed_model = 1, .model_bytes = file->data, .model_size = file->size};
    formats_buffer container = dct_encode(model, image, 2, &whole, 1);
    snprintf(path, sizeof path, "container/%s.taper", name);
    save(folder, path, "", 0, container.data, container.size);
    formats_image_free(&image[0]), formats_image_free(&image[1]);
    formats_buffer_free(&container);
}

/* More windows than are rendered at a time, in planes and at their ends. */
static void make_large(const char *folder) {
    formats_buffer model_file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 1, NULL}, 6, 8, &model_file);
    taper_image image = dct_picture(120, 110, 1, 2);
    memset(image.pixels, 90, 120 * 100);
    taper_encode_options whole = {
        .embed_model = 1, .model_bytes = model_file.data, .model_size = model_file.size};
    formats_buffer file = dct_encode(model, &image, 1, &whole, 1);
    save(folder, "container/large.taper", "", 0, file.data, file.size);
    formats_image_free(&image);
    taper_model_free(model);
    formats_buffer_free(&file), formats_buffer_free(&model_file);
}

static void make_conditional(const char *folder) {
    formats_buffer first = formats_buffer_make(1 << 20), file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 3, 1, NULL}, 7, 4, &first);
    codec_weight_precision precision = {0.05, 8};
    model->tables.conditional = conditional_random(CODEC_CONDITIONAL_KINDS, 7,
                                                   model->tables.n_passes - 2, 4, 8, 5, 3, 0, 5);
    if (codec_model_write(model, &precision, &file, NULL) != TAPER_OK) abort();
    save_model(folder, "conditional", model, &file);
    taper_model_free(model);
    formats_buffer_free(&first), formats_buffer_free(&file);
}

static void make_restoration(const char *folder) {
    formats_buffer first = formats_buffer_make(1 << 20), file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 2, 1, NULL}, 7, 4, &first);
    codec_weight_precision precision = {0.05, 8};
    model->info.family = TAPER_FAMILY_CONV;
    model->restoration = restoration_random(1, 8, 3, 3, model->tables.n_passes, 0, 5);
    if (codec_model_write(model, &precision, &file, NULL) != TAPER_OK) abort();
    save_model(folder, "restoration", model, &file);
    taper_model_free(model);
    formats_buffer_free(&first), formats_buffer_free(&file);
}

/* Six stages, whole and in part; and the first ones in a file that has not even one. */
static void make_staged(const char *folder) {
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *model = staged_model_make(&file);
    size_t end = FORMATS_MODEL_HEADER + 6 * FORMATS_MODEL_ENTRY;
    save(folder, "model/stages-none.tpm", "\4", 1, file.data, end + 100);
    for (uint32_t s = 0; s < 6; s++) {
        char path[40];
        end += (size_t)formats_get_u64le(file.data + FORMATS_MODEL_HEADER +
                                         FORMATS_MODEL_ENTRY * (size_t)s);
        snprintf(path, sizeof path, "model/stages-%u.tpm", s + 1);
        if (s % 2 == 0) save(folder, path, "\4", 1, file.data, end);
    }
    save_model_alone(folder, "stages", &file);
    file.data[file.size / 2] ^= 1;
    save(folder, "model/stages-damaged.tpm", "\4", 1, file.data, file.size);
    taper_model_free(model);
    formats_buffer_free(&file);
}

/* Containers that carry a model of four stages between their layers: whole, cut within a stage, and
 * with a damaged one. */
static void make_staged_containers(const char *folder) {
    static const taper_layout layout[] = {TAPER_LAYOUT_SET, TAPER_LAYOUT_GALLERY};
    formats_buffer first = formats_buffer_make(1 << 20), tpm = first;
    const codec_weight_precision precision = {0.05, 8};
    taper_model *model = dct_model_make((codec_window){8, 8, 1, NULL}, 0, 6, &first);
    taper_image image[3];
    for (uint32_t l = 0; l < model->tables.n_layers; l++) /* small layers of few pixels */
        model->tables.layer[l].bytes_per_mpixel /= 100;
    if (codec_model_write(model, &precision, &tpm, NULL) != TAPER_OK) abort();
    taper_model_free(model);
    formats_buffer_free(&first);
    if (taper_model_load(&model, tpm.data, tpm.size, NULL, NULL) != TAPER_OK) abort();
    for (uint32_t i = 0; i < 3; i++) image[i] = dct_picture(70 + 9 * i, 61, 1, i + 1);
    for (int k = 0; k < 2; k++) {
        const taper_encode_options options = {.layout = layout[k],
                                              .group_images = k ? 0 : 2,
                                              .embed_model = 1,
                                              .model_bytes = tpm.data,
                                              .model_size = tpm.size};
        formats_buffer file = dct_encode(model, image, 3, &options, 1);
        formats_front f;
        uint32_t stage = 0;
        char path[60];
        if (formats_front_read(file.data, file.size, NULL, &f, NULL) || !f.has_stages) abort();
        while (formats_front_layer_kind(&f, stage) != FORMATS_LAYER_MODEL) stage++;
        const size_t at = (size_t)(f.front_size + f.chunk_at[(uint64_t)stage * f.groups]);
        formats_front_free(&f);
        snprintf(path, sizeof path, "container/stages-%d.taper", k);
        save(folder, path, "", 0, file.data, file.size);
        snprintf(path, sizeof path, "container/stages-%d-cut.taper", k);
        save(folder, path, "", 0, file.data, at + 50);
        file.data[at + 50] ^= 1;
        snprintf(path, sizeof path, "container/stages-%d-damaged.taper", k);
        save(folder, path, "", 0, file.data, file.size);
        formats_buffer_free(&file);
    }
    for (int i = 0; i < 3; i++) formats_image_free(&image[i]);
    taper_model_free(model);
    formats_buffer_free(&tpm);
}

/* Windows that lap. */
static void make_lapped(const char *folder) {
    codec_lap lap = {.reach = 2, .stored = {3900, -1100, 1200, 3700}};
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 3, &lap}, 9, 4, &file);
    save_model(folder, "lapped", model, &file);
    taper_model_free(model);
    formats_buffer_free(&file);
}

/* Planes that go in parts. */
static void make_parts(const char *folder) {
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_in_parts((codec_window){4, 4, 3, NULL}, 9, 4, 3, &file);
    save_model(folder, "parts", model, &file);
    taper_model_free(model);
    formats_buffer_free(&file);
}

/* Binary and direct models. */
static void make_binary(const char *folder) {
    static const struct {
        const char *name;
        tiny_shape shape;
    } models[] = {
        {"binary", {{8, 8, 3, NULL}, 64, 2, CODEC_RELU, 0, 0, 0.5f, 0, 0}},
        {"binary-tied", {{8, 6, 1, NULL}, 70, 1, CODEC_LINEAR, 0, 1, 0.5f, 0.5f, 0}},
        {"direct", {{8, 8, 3, NULL}, 24, 3, CODEC_LOGISTIC, 1, 0, 0.5f, 0, 0}},
        {"feedback", {{8, 6, 1, NULL}, 70, 2, CODEC_RELU, 0, 1, 0.5f, 0.5f, 1}},
    };
    for (int i = 0; i < 4; i++) {
        formats_buffer file = formats_buffer_make(1 << 20);
        taper_model *model = tiny_binary_make(models[i].shape, 5, &file);
        save_model(folder, models[i].name, model, &file);
        formats_buffer_free(&file);
        taper_model_free(model);
    }
    static const uint8_t bits[] = {0xA3, 0x17, 0x5C, 0x99, 0x02, 0xFE, 0x31, 0x80, 0x77, 0x0D};
    save(folder, "entropy/binary", "\0\0\377\0\3", 5, bits, sizeof bits);
    save(folder, "entropy/binary-cut", "\377\377\200\3\2", 5, bits, sizeof bits);
}

/* Chunks of two strips, with the model that fuzz_strips.c has: most codes are 0. */
static void make_strips(const char *folder) {
    enum { UNITS = 3, N = 48 * 33 };
    formats_buffer unused = formats_buffer_make(1 << 20), chunk = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 1, NULL}, UNITS, 60, &unused);
    for (uint32_t c = 0; c < CODEC_BANDS; c++) model->tables.bias[c] = -500;
    const size_t stride = (size_t)codec_group_stride(N);
    int16_t *code = calloc(UNITS * stride, sizeof *code);
    const codec_grid grid = {48, 33};
    uint64_t random = 9;
    if (!code) abort();
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t p = 0; p < N; p++)
            if (picture_random(&random) % 50 == 0) code[u * stride + p] = random & 1 << 20 ? 1 : -1;
    codec_strips s;
    int ended;
    if (codec_strips_alloc(&s, &model->tables, &grid, 1, NULL, NULL)) abort();
    if (codec_strips_encode(&s, code, stride, model->tables.n_passes, 0, &chunk, &ended)) abort();
    save(folder, "strips/whole", "\377", 1, chunk.data, chunk.size);
    save(folder, "strips/cut", "\40", 1, chunk.data, chunk.size / 2);
    save(folder, "strips/no-lengths", "\41", 1, (const uint8_t *)"\2\2ab\0\0c", 7);
    save(folder, "strips/long", "\20", 1, (const uint8_t *)"\1\200\200\200\200\20ab", 8);
    codec_strips_free(&s);
    taper_model_free(model);
    formats_buffer_free(&unused), formats_buffer_free(&chunk);
    free(code);
}

static const formats_geometry *shape_of(const void *user, size_t i) {
    return (const formats_geometry *)user + i;
}

/* Chunks of both pixel layers, for the shapes of fuzz_pixels.c. levels: of each sample. */
static void make_pixels_of(const char *folder, const char *name, uint32_t levels, uint32_t block) {
    static const formats_geometry shape[] = {{9, 7, 3, 8, 0, 1},
                                             {8, 8, 3, 8, 1, 1},
                                             {6, 5, 1, 8, 1, 1},
                                             {12, 8, 3, 8, 1, 0},
                                             {7, 6, 1, 16, 1, 0}};
    codec_pixel_group g;
    formats_buffer out = formats_buffer_make(1 << 20);
    uint64_t random = levels;
    char path[100];
    if (codec_pixel_group_open(&g, 5, shape_of, shape, NULL)) abort();
    for (size_t i = 0; i < 5; i++) {
        const uint32_t channels = shape[i].channels + shape[i].alpha, w = shape[i].width;
        uint16_t deep[12 * 9 * 4] = {0};
        uint8_t flat[12 * 9 * 4] = {0}, colour[64];
        for (size_t k = 0; k < sizeof colour; k++)
            colour[k] =
                (uint8_t)(picture_random(&random) % levels * 255 / (levels > 1 ? levels - 1 : 1));
        for (size_t k = 0; k < (size_t)w * shape[i].height * channels; k++) {
            const size_t pixel = k / channels, x = pixel % w / block, y = pixel / w / block;
            flat[k] = colour[(x * 5 + y * 3 + k % channels) % sizeof colour];
            deep[k] = (uint16_t)(flat[k] * 257 + picture_random(&random) % levels);
        }
        const taper_image image = {w, shape[i].height, (uint8_t)channels, shape[i].depth,
                                   shape[i].depth == 16 ? (void *)deep : flat};
        if (codec_pixel_image_take(&g, i, &image)) abort();
    }
    if (codec_pixel_group_encode(&g, FORMATS_LAYER_FIRST, &out)) abort();
    const size_t first = out.size;
    if (codec_pixel_group_encode(&g, FORMATS_LAYER_ALPHA, &out)) abort();
    const uint8_t split = (uint8_t)((first * 127 + out.size - 1) / out.size);
    const uint8_t whole = (uint8_t)(split * 2 + 1), cut = (uint8_t)(split * 2);
    snprintf(path, sizeof path, "pixels/%s", name);
    save(folder, path, &whole, 1, out.data, out.size);
    snprintf(path, sizeof path, "pixels/%s-cut", name);
    save(folder, path, &cut, 1, out.data, out.size * 2 / 3);
    codec_pixel_group_close(&g);
    formats_buffer_free(&out);
}

static void make_pixels(const char *folder) {
    make_pixels_of(folder, "constant", 1, 1);
    make_pixels_of(folder, "two", 2, 2);
    make_pixels_of(folder, "few", 5, 1);
    make_pixels_of(folder, "many", 256, 1);
    make_pixels_of(folder, "blocks", 256, 3);
    save(folder, "pixels/zeros", "\377", 1, (const uint8_t[40]){0}, 40);
    save(folder, "pixels/noise", "\177", 1,
         (const uint8_t *)"\x9d\x31\xe7\x55\x80\x0f\xc4\x7b\x12\xa8\xff\x3e", 12);
}

/* Strings of the exact layer, of images that fuzz_exact.c draws: any bytes are legal. */
static void make_exact(const char *folder) {
    uint8_t noise[300];
    uint64_t random = 7;
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (uint8_t)picture_random(&random);
    noise[0] = 40;
    save(folder, "exact/plain", "\x21", 1, noise, sizeof noise);
    noise[0] = 180;
    save(folder, "exact/noise", "\x31", 1, noise, sizeof noise);
    save(folder, "exact/noise-cut", "\x42", 1, noise, sizeof noise);
    save(folder, "exact/zeros", "\x11", 1, (const uint8_t[40]){0x80}, 40);
    save(folder, "exact/beyond", "\x10", 1,
         (const uint8_t *)"\377\377\377\377\377\377\377\377\377\1", 10);
}

/* Without a decoder: no container. */
static void make_embeddings(const char *folder) {
    static const tiny_shape shapes[] = {{{8, 6, 1, NULL}, 5, 2, CODEC_LOGISTIC, 0, 0, 0, 0, 0},
                                        {{2, 2, 1, NULL}, 2, 1, CODEC_RELU, 0, 0, 0, 0, 0}};
    static const char *const names[] = {"embedding", "embedding-padded"};
    for (int i = 0; i < 2; i++) {
        formats_buffer file = formats_buffer_make(1 << 20);
        taper_model_free(tiny_embedding_make(shapes[i], 5, &file));
        save_model_alone(folder, names[i], &file);
        formats_buffer_free(&file);
    }
}

static void make_directories(const char *folder) {
    formats_geometry geometry[4] = {{8, 8, 3, 8}, {8, 8, 3, 8}, {300, 2, 1, 16}, {1, 1, 1, 8}};
    uint32_t first[] = {0, 2, 4}, ends[] = {3, 90}, sums[] = {1, 2, 3, 4}, name_at[] = {0, 2, 6, 8},
             class_at[] = {0, 2};
    uint64_t chunk_at[] = {0, 5, 200, 200, 70000};
    int32_t label[] = {-1, 0, 1, 0};
    char names[] = "a\0b/c\0d\0e", classes[] = "x\0y";
    formats_front f = {.tail = 1,
                       .first_cut = 1,
                       .images = 4,
                       .groups = 2,
                       .layers = 2,
                       .geometry = geometry,
                       .rate_classes = 1,
                       .group_first = first,
                       .layer_end = ends,
                       .chunks_per_checksum = 1,
                       .chunk_at = chunk_at,
                       .checksum = sums,
                       .names = names,
                       .name_at = name_at,
                       .label = label,
                       .classes = 2,
                       .class_names = classes,
                       .class_name_at = class_at};
    formats_buffer out = formats_buffer_make(1 << 16);
    formats_directory_write(&f, &out);
    save(folder, "directory/directory", "\2\4\0\2\2", 5, out.data, out.size);
    uint32_t raised_at[] = {0, 2, 3};
    formats_raised raised[] = {{0, 1}, {9, 2}, {300, 15}};
    f.raised_at = raised_at, f.raised = raised;
    out.size = 0;
    formats_directory_write(&f, &out);
    save(folder, "directory/raised", "\42\4\0\2\2", 5, out.data, out.size);
    f.raised_at = NULL, f.raised = NULL;
    uint8_t group_rate_class[] = {1, 0}, image_rate_class[] = {0, 1, 0, 1};
    uint32_t ends_of_two[] = {3, 0, 90, 91};
    f.rate_classes = 2, f.group_rate_class = group_rate_class,
    f.image_rate_class = image_rate_class;
    f.layer_end = ends_of_two;
    out.size = 0;
    formats_directory_write(&f, &out);
    save(folder, "directory/tracks", "\22\4\0\2\2", 5, out.data, out.size);
    out.size = 0;
    formats_names_write(&f, &out);
    save(folder, "directory/names", "\10\4\0\2\2", 5, out.data, out.size);
    out.size = 0;
    formats_labels_section_write(&f, &out);
    save(folder, "directory/labels", "\14\4\0\2\2", 5, out.data, out.size);
    formats_buffer_free(&out);
}

/* One window, coded with the model that fuzz_entropy.c has. */
static formats_buffer encode_window(uint32_t parts) {
    formats_buffer unused = formats_buffer_make(1 << 20), out = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_in_parts((codec_window){4, 4, 3, NULL}, 28, 4, parts, &unused);
    codec_grid grid = {1, 1};
    codec_chunk_coder g;
    if (codec_chunk_coder_alloc(&g, &model->tables, &grid, 1, NULL)) abort();
    int16_t *code = calloc(28u * g.group.stride, sizeof *code);
    if (!code) abort();
    for (uint32_t u = 0; u < 28; u++)
        code[u * g.group.stride] = (int16_t)(u % 3 ? -40 / (int)(1 + u) : 90 / (int)(1 + u));
    if (codec_chunk_encode(&g, code, model->tables.n_passes, &out, NULL)) abort();
    free(code);
    codec_chunk_coder_free(&g);
    taper_model_free(model);
    formats_buffer_free(&unused);
    return out;
}

static void make_strings(const char *folder) {
    formats_buffer out = encode_window(1), parts = encode_window(3);
    save(folder, "entropy/parts", "\0\0\377\0\5", 5, parts.data, parts.size);
    save(folder, "entropy/parts-linked", "\377\377\300\3\4", 5, parts.data, parts.size);
    save(folder, "entropy/true", "\0\0\377\0\1", 5, out.data, out.size);
    save(folder, "entropy/cut", "\0\0\377\0\0", 5, out.data, out.size / 2);
    save(folder, "entropy/linked", "\377\377\200\3\1", 5, out.data, out.size);
    uint8_t ones[40];
    memset(ones, 0xFF, sizeof ones);
    save(folder, "entropy/ones", "\125\252\377\5\1", 5, ones, sizeof ones);
    save(folder, "entropy/ones-open", "\125\252\377\5\0", 5, ones, sizeof ones);
    formats_buffer_free(&out), formats_buffer_free(&parts);
}

static void make_pictures(const char *folder) {
    uint64_t state = 9;
    for (int i = 0; i < 6; i++) {
        uint8_t bytes[300];
        char name[40];
        snprintf(name, sizeof name, "roundtrip/%d", i);
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(i % 2 ? picture_random(&state) >> 24 : k * 3 + (k > 90 ? 80 : 0));
        bytes[0] = (uint8_t)i, bytes[1] = (uint8_t)(4 - i % 5), bytes[2] = (uint8_t)(i / 3),
        bytes[5] = (uint8_t)(1 + (i == 4) * 2);
        save(folder, name, "", 0, bytes, sizeof bytes);
    }
}

/* Large indexes, which fuzz_index.c makes: of a kind, with changes. */
static void make_drawn_indexes(const char *folder) {
    static const struct {
        const char *name, *how;
        uint8_t kind, changes;
    } drawn[] = {{"drawn-64-bits", "\20", 0, 0},
                 {"drawn-140-bits", "\20", 2, 0},
                 {"drawn-filters", "\36", 1, 0},
                 {"drawn-changed", "\21", 0, 40}};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        formats_buffer out = formats_buffer_make(1 << 20);
        char path[60];
        formats_write_u8(&out, drawn[i].kind);
        for (uint32_t c = 0; c < drawn[i].changes; c++)
            formats_write_u32le(&out, (c * 2999 + 12000) | (c * 37 & 255) << 24);
        snprintf(path, sizeof path, "index/%s", drawn[i].name);
        save(folder, path, drawn[i].how, 1, out.data, out.size);
        formats_buffer_free(&out);
    }
}

/* A small index: sound; with a number that only a check of its codes finds wrong; cut. */
static void save_index(const char *folder, const char *name, const taper_index_set *set) {
    char path[60];
    formats_buffer file = formats_buffer_make(1 << 20);
    const taper_sink sink = dct_sink(&file);
    if (taper_index_build(set, 1, &sink, NULL)) abort();
    snprintf(path, sizeof path, "index/%s.tpx", name);
    save(folder, path, "\0", 1, file.data, file.size);
    snprintf(path, sizeof path, "index/%s-mended.tpx", name);
    save(folder, path, "\17", 1, file.data, file.size); /* 15: filters, too */
    snprintf(path, sizeof path, "index/%s-cut.tpx", name);
    save(folder, path, "\1", 1, file.data, file.size - 9);
    for (size_t i = 64; i + 100 < file.size; i += 37) file.data[i] ^= 1;
    snprintf(path, sizeof path, "index/%s-changed.tpx", name);
    save(folder, path, "\1", 1, file.data, file.size);
    formats_buffer_free(&file);
}

static void make_indexes(const char *folder) {
    enum { N = 90, NAMED = 40 };
    static const uint16_t weights[] = {9, 5, 1};
    static const char *const classes[] = {"x", "y"};
    static char text[N][8];
    uint64_t codes[N * 4], state = 7;
    const char *names[N];
    int32_t labels[N];
    for (size_t i = 0; i < N; i++) { /* of four words, the last one half used; many share bits */
        snprintf(text[i], sizeof text[i], "a/%zu", i);
        names[i] = text[i], labels[i] = (int32_t)(i % 3) - 1;
        for (size_t w = 0; w < 4; w++) codes[4 * i + w] = picture_random(&state) << 32;
        if (i % 4) memcpy(codes + 4 * i, codes + 4 * (i - 1), (i % 4) * sizeof *codes);
    }
    taper_index_set set = {.size = sizeof(taper_index_set),
                           .codes = codes,
                           .n = NAMED,
                           .bits = 224,
                           .model_id = 5,
                           .weights = weights,
                           .names = names,
                           .labels = labels,
                           .class_names = classes,
                           .classes = 2};
    save_index(folder, "whole", &set);
    set = (taper_index_set){.size = sizeof(taper_index_set),
                            .codes = codes,
                            .n = N,
                            .bits = 224}; /* more than lie beside a query */
    save_index(folder, "layers", &set);
    set =
        (taper_index_set){.size = sizeof(taper_index_set), .codes = codes, .n = 4 * N, .bits = 32};
    save_index(folder, "short", &set);
    set.n = 1;
    save_index(folder, "one", &set);
    const taper_part part = {sizeof part, 3, 2, 6, 1, 1, 2, 3};
    set.part = &part;
    save_index(folder, "part", &set);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    make_containers(argv[1]);
    make_with_metadata(argv[1]);
    make_with_names(argv[1]);
    make_searched(argv[1]);
    make_raised(argv[1]);
    make_transparent(argv[1]);
    make_paged(argv[1]);
    make_large(argv[1]);
    make_models(argv[1]);
    make_binary(argv[1]);
    make_embeddings(argv[1]);
    make_conditional(argv[1]);
    make_restoration(argv[1]);
    make_parts(argv[1]);
    make_lapped(argv[1]);
    make_staged(argv[1]);
    make_staged_containers(argv[1]);
    make_directories(argv[1]);
    make_strings(argv[1]);
    make_strips(argv[1]);
    make_pixels(argv[1]);
    make_exact(argv[1]);
    make_pictures(argv[1]);
    make_indexes(argv[1]);
    make_drawn_indexes(argv[1]);
    return 0;
}
