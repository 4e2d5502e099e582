/* test_container_fields.c -- crafted front matter: every field's legal range, in legal envelopes.
 */
#include "formats/directory.h"
#include "formats/model_file.h"
#include "front.h"
#include <zstd.h>

enum { HEADER = FORMATS_HEADER_SIZE };

/* --- crafted containers: legal envelopes around any content ------------------------------ */

typedef struct crafted_section {
    const char *type;
    const void *content;
    size_t size;
    uint64_t unpacked; /* 0: size */
} crafted_section;

typedef struct craft {
    uint16_t version;
    uint8_t layout, tail;
    uint32_t required, holds;
    uint64_t images;
    uint32_t groups, layers, sections, more_holds; /* sections 0: as many as are given */
} craft;

static const craft plain = {.version = 2, .images = 2, .groups = 1, .layers = 1};

/* The directory of `plain`: two images of 4 x 4, one group, one layer of 3 passes, a chunk of 9
 * bytes. */
static const uint8_t plain_directory[] = {1, 2, 4, 4, 3, 1, 1, 2, 3, 1, 9, 0xAA, 0xBB, 0xCC, 0xDD};

static formats_buffer craft_file(const craft *c, const crafted_section *section, uint32_t n) {
    formats_buffer out = formats_buffer_make(1 << 24);
    formats_write_bytes(&out, "\x89TPR\r\n\x1a\n", 8);
    formats_write_u16le(&out, c->version);
    formats_write_u8(&out, c->layout);
    formats_write_u8(&out, c->tail);
    formats_write_u32le(&out, c->required);
    formats_write_u32le(&out, c->holds);
    formats_write_u32le(&out, 0);
    formats_write_u64le(&out, 42);
    formats_write_u64le(&out, c->images);
    formats_write_u32le(&out, c->groups);
    formats_write_u32le(&out, c->layers);
    formats_write_u32le(&out, c->sections ? c->sections : n);
    formats_write_u32le(&out, c->more_holds);
    for (uint32_t i = 0; i < n; i++) {
        formats_write_bytes(&out, section[i].type, 4);
        formats_write_u32le(&out, formats_crc32c(0, section[i].content, section[i].size));
        formats_write_u64le(&out, section[i].size);
        formats_write_u64le(&out, section[i].unpacked ? section[i].unpacked : section[i].size);
    }
    uint32_t crc = formats_crc32c(0, out.data, out.size);
    formats_set_u32le(out.data + 20, crc);
    for (uint32_t i = 0; i < n; i++) formats_write_bytes(&out, section[i].content, section[i].size);
    assert_int_equal(out.status, TAPER_OK);
    return out;
}

static taper_status read_crafted(const craft *c, const crafted_section *section, uint32_t n) {
    formats_buffer file = craft_file(c, section, n);
    taper_status status = front_read(file.data, file.size, NULL, NULL);
    formats_buffer_free(&file);
    return status;
}

static taper_status read_directory(const craft *c, const void *directory, size_t size) {
    crafted_section section = {"DIRE", directory, size, 0};
    return read_crafted(c, &section, 1);
}

static void header_fields_have_their_ranges(void **unused) {
    (void)unused;
    const struct {
        craft c;
        taper_status want;
    } cases[] = {
        {plain, TAPER_OK},
        {{.version = 3, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_VERSION},
        {{.version = 1, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_VERSION},
        {{.version = 0, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .required = 1, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .required = 2, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .required = 4, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .required = 8, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .required = 16, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .required = 32, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_VERSION},
        {{.version = 2, .required = 63, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_VERSION},
        {{.version = 2, .required = 1u << 31, .images = 2, .groups = 1, .layers = 1},
         TAPER_ERR_VERSION},
        {{.version = 2,
          .holds = UINT32_MAX,
          .images = 2,
          .groups = 1,
          .layers = 1,
          .more_holds = UINT32_MAX},
         TAPER_OK},
        {{.version = 2, .layout = 2, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .tail = 2, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = 0, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = 3, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = 1, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = (1u << 26) + 1, .groups = 1, .layers = 1}, TAPER_ERR_LIMIT},
        {{.version = 2, .images = UINT64_MAX, .groups = 1, .layers = 1}, TAPER_ERR_LIMIT},
        {{.version = 2, .images = 2, .groups = 0, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = 2, .groups = 3, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = 2, .groups = 2, .layers = 1}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = 2, .groups = 1, .layers = 0}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = 2, .groups = 1, .layers = 4097}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = 2, .groups = 1, .layers = 1, .sections = 65}, TAPER_ERR_CORRUPT},
        {{.version = 2, .images = 2, .groups = 1, .layers = 1, .sections = UINT32_MAX},
         TAPER_ERR_CORRUPT},
        /* one image after the other: a group each, one layer */
        {{.version = 2, .layout = 1, .images = 2, .groups = 1, .layers = 1}, TAPER_ERR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        taper_status status = read_directory(&cases[i].c, plain_directory, sizeof plain_directory);
        if (status != cases[i].want)
            fail_msg("case %zu: status %d, not %d", i, status, cases[i].want);
    }
}

/* A byte of a directory, and what it may not be. */
typedef struct wrong_byte {
    size_t at;
    uint8_t value;
    const char *what;
} wrong_byte;

/* A directory that is legal, and is not with any of n bytes. */
static void refuses_each(const craft *c, const uint8_t *directory, size_t size,
                         const wrong_byte *wrong, size_t n) {
    assert_int_equal(read_directory(c, directory, size), TAPER_OK);
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[64];
        assert_true(size <= sizeof bytes);
        memcpy(bytes, directory, size);
        bytes[wrong[i].at] = wrong[i].value;
        taper_status status = read_directory(c, bytes, size);
        if (status != TAPER_ERR_CORRUPT) fail_msg("status %d: %s", status, wrong[i].what);
    }
}

static void directory_fields_have_their_ranges(void **unused) {
    (void)unused;
    static const wrong_byte wrong[] = {
        {0, 0, "no runs"},
        {0, 2, "more runs than there are"},
        {0, 3, "more runs than images"},
        {1, 0, "a run of none"},
        {1, 3, "a run of too many"},
        {1, 1, "a run of too few"},
        {2, 0, "width 0"},
        {3, 0, "height 0"},
        {4, 0, "0 channels"},
        {4, 2, "2 channels"},
        {4, 4, "4 channels"},
        {4, 0x23, "unknown kind bit 5"},
        {4, 0x83, "kind bit 7"},
        {5, 0, "no run of groups"},
        {5, 2, "too many runs of groups"},
        {6, 0, "a run of 0 groups"},
        {6, 2, "a run of 2 groups"},
        {7, 0, "groups of 0 images"},
        {7, 1, "a group of 1"},
        {7, 3, "a group of 3"},
        {8, 0, "a layer without passes"},
        {9, 0, "checksums over nothing"},
    };
    refuses_each(&plain, plain_directory, sizeof plain_directory, wrong,
                 sizeof wrong / sizeof *wrong);
    uint8_t bytes[sizeof plain_directory + 1] = {0};
    memcpy(bytes, plain_directory, sizeof plain_directory);
    assert_int_equal(read_directory(&plain, bytes, sizeof bytes),
                     TAPER_ERR_CORRUPT); /* a byte follows */
    bytes[4] = 0x13;                     /* 16 bits, RGB */
    assert_int_equal(read_directory(&plain, bytes, sizeof plain_directory), TAPER_OK);
    bytes[9] = 0x7F; /* one checksum over more chunks than there are is one checksum */
    assert_int_equal(read_directory(&plain, bytes, sizeof plain_directory), TAPER_OK);
    static const uint8_t most[] = {1, 2, 4, 4, 3, 1, 1, 2, 3, 0x80, 8, 9, 0, 0, 0, 0};
    static const uint8_t more[] = {1, 2, 4, 4, 3, 1, 1, 2, 3, 0x81, 8, 9, 0, 0, 0, 0};
    assert_int_equal(read_directory(&plain, most, sizeof most), TAPER_OK); /* 1,024 chunks */
    assert_int_equal(read_directory(&plain, more, sizeof more), TAPER_ERR_CORRUPT);
}

/* Four images of 4 x 4 in groups of 2, 1 and 1, in two rate classes, in two layers. */
enum { RATE_CLASSES_AT = 10, LAYERS_AT = RATE_CLASSES_AT + 1 + 3 + 4 };
static const craft classed = {.version = 2, .required = 1, .images = 4, .groups = 3, .layers = 2};
static const uint8_t classed_directory[LAYERS_AT + 4 + 1 + 6 + 24] = {
    1, 4, 4, 4, 3, 2, 1, 2, 2, 1, /* geometry, groups */
    2, 0, 1, 0, 1, 0, 0, 0,       /* rate classes: of the groups, of the images */
    3, 0, 0, 4,                   /* passes: layer after layer */
    1, 9, 0, 1, 1, 2, 3};         /* chunks; checksums 0 */

static void rate_classes_say_where_images_are(void **unused) {
    (void)unused;
    crafted_section section = {"DIRE", classed_directory, sizeof classed_directory, 0};
    formats_buffer file = craft_file(&classed, &section, 1);
    formats_front f, g;
    assert_int_equal(formats_front_read(file.data, file.size, NULL, &f, NULL), TAPER_OK);
    static const uint32_t image_at[] = {1, 2, 0, 3}, place_of[] = {2, 0, 1, 3};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(formats_front_image(&f, i), image_at[i]);
        assert_int_equal(formats_front_place(&f, i), place_of[i]);
    }
    static const uint32_t end[2][3] = {{3, 0, 3}, {3, 4, 3}}, most[] = {3, 4};
    for (uint32_t l = 0; l < 2; l++) {
        for (uint32_t k = 0; k < 3; k++)
            assert_int_equal(formats_front_layer_end(&f, l, k), end[l][k]);
        assert_int_equal(formats_front_passes(&f, l), most[l]);
    }
    formats_buffer out = front_write(&f);
    assert_int_equal(formats_front_read(out.data, out.size, NULL, &g, NULL), TAPER_OK);
    assert_int_equal(g.rate_classes, 2);
    assert_memory_equal(g.image_rate_class, f.image_rate_class, 4);
    assert_memory_equal(g.group_rate_class, f.group_rate_class, 3);
    assert_memory_equal(g.layer_end, f.layer_end, 4 * sizeof *f.layer_end);
    formats_front_free(&f), formats_front_free(&g);
    formats_buffer_free(&out), formats_buffer_free(&file);
}

static void rate_class_fields_have_their_ranges(void **unused) {
    (void)unused;
    static const wrong_byte wrong[] = {
        {RATE_CLASSES_AT, 0, "no rate classes"},
        {RATE_CLASSES_AT, 1, "one rate class"},
        {RATE_CLASSES_AT, 17, "too many rate classes"},
        {RATE_CLASSES_AT + 1, 2, "a group in no rate class"},
        {RATE_CLASSES_AT + 4, 2, "an image in no rate class"},
        {RATE_CLASSES_AT + 4, 0, "a group without an image"},
        {RATE_CLASSES_AT + 1, 1, "groups of too many images"},
        {RATE_CLASSES_AT + 7, 1, "images without a group"},
    };
    refuses_each(&classed, classed_directory, sizeof classed_directory, wrong,
                 sizeof wrong / sizeof *wrong);
}

/* Two images of 4 x 4, one with alpha and one that is indexed; layers first, passes, alpha. */
enum { KIND_AT = 4, INDEXED_AT = 8, KINDS_AT = 12, PASSES_AT = 15 };
static const craft pixelled = {
    .version = 2, .required = FORMATS_FEATURE_PIXELS, .images = 2, .groups = 1, .layers = 3};
static const uint8_t pixelled_directory[] = {2, 1, 4, 4, 3 + 32, 1, 4, 4, 1 + 64, 1, 1, 2,
                                             1, 0, 2,    /* kinds of layers */
                                             0, 3, 0,    /* passes */
                                             1, 5, 9, 1, /* chunks */
                                             1, 1, 1, 1, 2,      2, 2, 2, 3,      3, 3, 3};

static void pixel_layers_have_their_ranges(void **unused) {
    (void)unused;
    static const wrong_byte wrong[] = {
        {KIND_AT, 3 + 128, "a reserved bit of an image"},
        {INDEXED_AT, 1 + 64 + 16, "an indexed image of 16 bits"},
        {KINDS_AT, 4, "an unknown kind of layer"},
        {KINDS_AT, 2, "two layers of alpha"},
        {KINDS_AT, 3, "an exact layer that is not the last"},
        {KINDS_AT + 2, 1, "two first layers"},
        {KINDS_AT + 2, 0, "a layer of passes without one"},
        {PASSES_AT, 1, "a pixel layer with a pass"},
        {PASSES_AT + 1, 0, "a layer of passes without one"},
    };
    refuses_each(&pixelled, pixelled_directory, sizeof pixelled_directory, wrong,
                 sizeof wrong / sizeof *wrong);
    const crafted_section section = {"DIRE", pixelled_directory, sizeof pixelled_directory, 0};
    formats_buffer file = craft_file(&pixelled, &section, 1);
    formats_front f;
    assert_int_equal(formats_front_read(file.data, file.size, NULL, &f, NULL), TAPER_OK);
    assert_true(f.geometry[0].alpha && !f.geometry[0].indexed && f.geometry[0].channels == 3);
    assert_true(!f.geometry[1].alpha && f.geometry[1].indexed && f.geometry[1].channels == 1);
    assert_int_equal(formats_front_layer_kind(&f, 0), FORMATS_LAYER_FIRST);
    assert_int_equal(formats_front_layer_kind(&f, 1), FORMATS_LAYER_PASSES);
    assert_int_equal(formats_front_layer_kind(&f, 2), FORMATS_LAYER_ALPHA);
    assert_int_equal(formats_front_layer_end(&f, 2, 0), 3);
    formats_front_free(&f);
    formats_buffer_free(&file);
    craft without = pixelled;
    without.required = 0; /* alpha is illegal then */
    assert_int_equal(read_directory(&without, pixelled_directory, sizeof pixelled_directory),
                     TAPER_ERR_CORRUPT);
}

/* --- stages of the model in layers ------------------------------------------------------- */

/* Two images in two groups; layers: passes, two stages of 6 and 7 bytes, passes. */
enum { STAGED_KINDS = 8, STAGED_PASSES = 12, STAGED_CHUNKS = 17, STAGED_SIZE = 25 + 8 * 4 };
enum { STAGED = FORMATS_FEATURE_PIXELS | FORMATS_FEATURE_STAGES };
static const craft staged = {
    .version = 2, .required = STAGED, .images = 2, .groups = 2, .layers = 4};
static const uint8_t staged_directory[STAGED_SIZE] = {1, 2, 4, 4, 3, 1, 2, 1, 0,
                                                      4, 4, 0, 3, 0, 0, 2, /* passes */
                                                      1, 5, 5, 6, 0, 7, 0, 4, 4};

/* The header of a model of n stages, of 5, 6, 7 .. bytes, and the first `more` bytes behind it. */
static formats_buffer craft_model(uint64_t id, uint16_t n, uint32_t more) {
    formats_buffer out = formats_buffer_make(1 << 16);
    formats_write_bytes(&out, "\x89TPM\r\n\x1a\n", 8);
    formats_write_u16le(&out, FORMATS_MODEL_VERSION);
    formats_write_u16le(&out, n);
    formats_write_u32le(&out, 0);
    formats_write_u64le(&out, id);
    for (uint32_t s = 0; s < n; s++) {
        formats_write_u64le(&out, 5 + s);
        formats_write_u64le(&out, 1000);
        formats_write_u32le(&out, 99);
    }
    formats_set_u32le(out.data + 12, formats_crc32c(0, out.data, out.size));
    while (more--) formats_write_u8(&out, 7);
    return out;
}

static taper_status read_staged(const craft *c, const uint8_t *directory,
                                const formats_buffer *model) {
    const crafted_section section[] = {
        {"DIRE", directory, STAGED_SIZE, 0},
        {"modl", model ? model->data : NULL, model ? model->size : 0, 0}};
    return read_crafted(c, section, model ? 2 : 1);
}

static void stages_are_those_of_the_model(void **unused) {
    (void)unused;
    static const struct {
        uint64_t id;
        uint16_t n;
        uint32_t more;
        taper_status want;
    } models[] = {
        {42, 3, 5, TAPER_OK},           /* 6 and 7 are in the layers */
        {42, 9, 5, TAPER_OK},           /* others are not in the file */
        {42, 2, 5, TAPER_ERR_CORRUPT},  /* fewer than layers */
        {42, 1, 5, TAPER_ERR_CORRUPT},  /* fewer than layers */
        {42, 0, 5, TAPER_ERR_CORRUPT},  /* none */
        {42, 17, 5, TAPER_ERR_CORRUPT}, /* too many */
        {43, 3, 5, TAPER_ERR_CORRUPT},  /* of another id */
        {42, 3, 0, TAPER_ERR_CORRUPT},  /* no stage in front */
        {42, 3, 4, TAPER_ERR_CORRUPT},  /* ends within a stage */
        {42, 3, 6, TAPER_ERR_CORRUPT},  /* ends within a stage */
        {42, 3, 11, TAPER_ERR_CORRUPT}, /* the layers repeat a stage */
        {42, 3, 18, TAPER_ERR_CORRUPT}, /* all of them are in front */
        {42, 3, 19, TAPER_ERR_CORRUPT}, /* more than all */
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        formats_buffer model = craft_model(models[i].id, models[i].n, models[i].more);
        const taper_status status = read_staged(&staged, staged_directory, &model);
        if (status != models[i].want)
            fail_msg("model %zu: status %d, not %d", i, status, models[i].want);
        formats_buffer_free(&model);
    }
    formats_buffer model = craft_model(42, 3, 5);
    assert_int_equal(read_staged(&staged, staged_directory, NULL), TAPER_ERR_CORRUPT);
    for (size_t at = 0; at < 24 + 60; at++) {
        model.data[at] ^= 1;
        assert_int_not_equal(read_staged(&staged, staged_directory, &model), TAPER_OK);
        model.data[at] ^= 1;
    }
    model.size = 20; /* not even a table */
    assert_int_equal(read_staged(&staged, staged_directory, &model), TAPER_ERR_CORRUPT);
    formats_buffer_free(&model);
}

static void layers_with_stages_have_their_ranges(void **unused) {
    (void)unused;
    static const wrong_byte wrong[] = {
        {STAGED_KINDS, 4, "a stage first"},
        {STAGED_KINDS + 3, 4, "a stage last"},
        {STAGED_KINDS + 1, 5, "an unknown kind"},
        {STAGED_KINDS + 1, 0, "a layer of passes without one"},
        {STAGED_KINDS + 2, 2, "a stage of another size"},
        {STAGED_PASSES + 1, 1, "a stage with a pass"},
        {STAGED_CHUNKS + 2, 5, "a stage that is too short"},
        {STAGED_CHUNKS + 2, 7, "a stage that is too long"},
        {STAGED_CHUNKS + 2, 0, "a stage without bytes"},
        {STAGED_CHUNKS + 3, 1, "a stage in a second group"},
        {STAGED_CHUNKS + 5, 1, "a stage in a second group"},
    };
    formats_buffer model = craft_model(42, 3, 5);
    uint8_t bytes[STAGED_SIZE];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(bytes, staged_directory, sizeof bytes);
        bytes[wrong[i].at] = wrong[i].value;
        if (wrong[i].at == STAGED_CHUNKS + 3) bytes[wrong[i].at - 1]--; /* the sum is right */
        if (wrong[i].at == STAGED_KINDS + 2) bytes[STAGED_CHUNKS + 2] = 7;
        const taper_status status = read_staged(&staged, bytes, &model);
        if (status != TAPER_ERR_CORRUPT) fail_msg("status %d: %s", status, wrong[i].what);
    }
    craft c = staged;
    c.required = FORMATS_FEATURE_PIXELS; /* kind 4 is unknown */
    assert_int_equal(read_staged(&c, staged_directory, &model), TAPER_ERR_CORRUPT);
    c.required = FORMATS_FEATURE_STAGES; /* and there are no kinds */
    assert_int_equal(read_staged(&c, staged_directory, &model), TAPER_ERR_CORRUPT);
    c = staged, c.layout = 2;
    assert_int_equal(read_staged(&c, staged_directory, &model), TAPER_OK);
    /* layout image: a layer of passes between pixel layers is legal, a stage is not */
    memcpy(bytes, staged_directory, sizeof bytes);
    memcpy(bytes + STAGED_KINDS, "\1\0\2\3\0\3\0\0", 8);
    c.layout = 1, c.required = FORMATS_FEATURE_PIXELS;
    assert_int_equal(read_staged(&c, bytes, &model), TAPER_OK);
    bytes[STAGED_KINDS + 2] = 4, bytes[STAGED_CHUNKS + 4] = 6;
    c.layout = 0, c.required = STAGED;
    assert_int_equal(read_staged(&c, bytes, &model), TAPER_OK);
    c.layout = 1;
    assert_int_equal(read_staged(&c, bytes, &model), TAPER_ERR_CORRUPT);
    formats_buffer_free(&model);
}

/* A section that is whole by its size and checksum, and ends inside a field: no more bytes of the
 * file would help. */
static void whole_but_malformed_sections_are_corrupt(void **unused) {
    (void)unused;
    for (size_t size = 0; size < sizeof plain_directory; size++)
        assert_int_equal(read_directory(&plain, plain_directory, size), TAPER_ERR_CORRUPT);
    for (size_t size = 0; size < sizeof classed_directory; size++)
        assert_int_equal(read_directory(&classed, classed_directory, size), TAPER_ERR_CORRUPT);
    const crafted_section half = {"DIRE", plain_directory, 8, 0};
    formats_buffer file = craft_file(&plain, &half, 1);
    taper_error error = {0};
    assert_int_equal(front_read(file.data, file.size, NULL, &error), TAPER_ERR_CORRUPT);
    assert_int_equal(error.status, TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "ends early"));
    assert_int_equal(front_read(file.data, file.size - 1, NULL, &error), TAPER_ERR_TRUNCATED);
    formats_buffer_free(&file);
}

/* The directory of `plain` with units 5 and 300 raised, by 1 and 15 planes. */
enum { RAISED_AT = sizeof plain_directory, RAISED_BYTES = 6 };
static const craft raising = {
    .version = 2, .required = FORMATS_FEATURE_RAISED, .images = 2, .groups = 1, .layers = 1};
static const uint8_t raised_list[RAISED_BYTES] = {2, 5, 1, 0xA6, 2, 15};

static taper_status read_raised(const uint8_t *list, size_t size, formats_front *front) {
    uint8_t bytes[RAISED_AT + 2 * RAISED_BYTES];
    memcpy(bytes, plain_directory, RAISED_AT);
    memcpy(bytes + RAISED_AT, list, size);
    crafted_section section = {"DIRE", bytes, RAISED_AT + size, 0};
    formats_buffer file = craft_file(&raising, &section, 1);
    taper_status status = front ? formats_front_read(file.data, file.size, NULL, front, NULL)
                                : front_read(file.data, file.size, NULL, NULL);
    formats_buffer_free(&file);
    return status;
}

static void raised_planes_have_their_ranges(void **unused) {
    (void)unused;
    static const wrong_byte wrong[] = {{RAISED_AT, 1, "bytes that no unit uses"},
                                       {RAISED_AT, 3, "more units than there are"},
                                       {RAISED_AT + 2, 0, "a unit raised by nothing"},
                                       {RAISED_AT + 2, 16, "more planes than there can be"},
                                       {RAISED_AT + 5, 0, "a second unit raised by nothing"},
                                       {RAISED_AT + 5, 255, "far more planes"}};
    uint8_t bytes[RAISED_AT + RAISED_BYTES];
    memcpy(bytes, plain_directory, RAISED_AT);
    memcpy(bytes + RAISED_AT, raised_list, RAISED_BYTES);
    refuses_each(&raising, bytes, sizeof bytes, wrong, sizeof wrong / sizeof *wrong);
    formats_front f;
    uint32_t n;
    assert_int_equal(read_raised(raised_list, RAISED_BYTES, &f), TAPER_OK);
    const formats_raised *raised = formats_front_raised(&f, 0, &n);
    assert_int_equal(n, 2);
    assert_int_equal(raised[0].unit, 5);
    assert_int_equal(raised[0].planes, 1);
    assert_int_equal(raised[1].unit, 5 + 1 + 294);
    assert_int_equal(raised[1].planes, 15);
    formats_front_free(&f);
    for (size_t size = 0; size < RAISED_BYTES; size++)
        assert_int_not_equal(read_raised(raised_list, size, NULL), TAPER_OK);
    static const uint8_t highest[] = {1, 0xFE, 0xFF, 3, 1}, beyond[] = {1, 0xFF, 0xFF, 3, 1},
                         wraps[] = {2, 0xFE, 0xFF, 3, 1, 0, 1};
    assert_int_equal(read_raised(highest, sizeof highest, NULL), TAPER_OK); /* unit 65,534 */
    assert_int_equal(read_raised(beyond, sizeof beyond, NULL), TAPER_ERR_CORRUPT);
    assert_int_equal(read_raised(wraps, sizeof wraps, NULL), TAPER_ERR_CORRUPT);
}

/* Varints that claim much, and a tail that names a group. */
static void directory_sizes_are_checked(void **unused) {
    (void)unused;
    static const uint8_t wide[] = {1, 2, 0x81, 0x80, 0x80, 8, 1, 3, 1, 1, 2, 3, 1, 9, 0, 0, 0, 0};
    assert_int_equal(read_directory(&plain, wide, sizeof wide), TAPER_ERR_CORRUPT); /* 2^24 + 1 */
    static const uint8_t many[] = {1, 2, 0x80, 0x80, 4, 0x80, 0x80, 2, 3, 1,
                                   1, 2, 3,    1,    9, 0,    0,    0, 0};
    assert_int_equal(read_directory(&plain, many, sizeof many), TAPER_ERR_LIMIT); /* 2^16 x 2^15 */
    static const uint8_t passes[] = {1, 2, 4, 4, 3, 1, 1, 2, 0x81, 0x80, 0x80, 8, 1, 9, 0, 0, 0, 0};
    assert_int_equal(read_directory(&plain, passes, sizeof passes), TAPER_ERR_CORRUPT);
    static const uint8_t chunk[] = {1,    2,    4,    4,    3,    1,    1, 2, 3, 1,
                                    0x81, 0x80, 0x80, 0x80, 0x80, 0x40, 0, 0, 0, 0};
    assert_int_equal(read_directory(&plain, chunk, sizeof chunk),
                     TAPER_ERR_CORRUPT); /* above 2^40 */
    craft tail = plain;
    tail.tail = 1;
    static const uint8_t cut[] = {1, 2, 4, 4, 3, 1, 1, 2, 3, 0, 1, 9, 0, 0, 0, 0};
    assert_int_equal(read_directory(&tail, cut, sizeof cut), TAPER_OK);
    static const uint8_t beyond[] = {1, 2, 4, 4, 3, 1, 1, 2, 3, 1, 1, 9, 0, 0, 0, 0};
    assert_int_equal(read_directory(&tail, beyond, sizeof beyond), TAPER_ERR_CORRUPT);
    craft layered = plain; /* two layers whose passes add up to more than 2^24 */
    layered.layers = 2;
    static const uint8_t sum[] = {1, 2, 4, 4, 3, 1, 1, 2, 0x80, 0x80, 0x80, 8,
                                  1, 1, 9, 9, 0, 0, 0, 0, 0,    0,    0,    0};
    assert_int_equal(read_directory(&layered, sum, sizeof sum), TAPER_ERR_CORRUPT);
    layered.layers = 4096; /* many chunks, few bytes */
    assert_int_equal(read_directory(&layered, sum, sizeof sum), TAPER_ERR_CORRUPT);
    static const uint8_t lone[] = {1, 2, 4, 4, 3, 1, 2, 1, 3, 1, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0};
    craft images = {.version = 2, .layout = 1, .images = 2, .groups = 2, .layers = 1};
    assert_int_equal(read_directory(&images, lone, sizeof lone), TAPER_OK);
}

static taper_status read_with(const char *type, const void *content, size_t size) {
    crafted_section section[] = {{"DIRE", plain_directory, sizeof plain_directory, 0},
                                 {type, content, size, 0}};
    return read_crafted(&plain, section, 2);
}

static void names_are_plain_paths(void **unused) {
    (void)unused;
    assert_int_equal(read_with("name", "a\0b", 4), TAPER_OK);
    assert_int_equal(read_with("name", "a\0b", 3), TAPER_ERR_CORRUPT);    /* not ended */
    assert_int_equal(read_with("name", "a\0b\0c", 6), TAPER_ERR_CORRUPT); /* a third */
    assert_int_equal(read_with("name", "a\0", 2), TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("name", "", 0), TAPER_ERR_CORRUPT);
    static const char *const bad[] = {
        "",     "/a",   "a/",      "a//b",  ".",     "..",  "./a",   "a/..",  "a/../b", "../a",
        "a\\b", "a\nb", "\x1b[2J", "a\x7f", "a/./b", "a\\", "\\x2f", "\\x0A", "\\x00",  "\\x5"};
    static const char *const good[] = {"a",    "a/b/c.png", "...", "..a", "a..",
                                       ".a/b", "\xC3\xA9",  "a b", "-x",  "\\x0a\\x5c"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char both[40];
        size_t n = strlen(bad[i]);
        memcpy(both, "x", 2);
        memcpy(both + 2, bad[i], n + 1);
        if (formats_name_is_legal(bad[i])) fail_msg("legal: bad name %zu", i);
        assert_int_equal(read_with("name", both, n + 3), TAPER_ERR_CORRUPT);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!formats_name_is_legal(good[i])) fail_msg("illegal: '%s'", good[i]);
    char name[4097];
    memset(name, 'a', sizeof name);
    name[4095] = 0;
    assert_true(formats_name_is_legal(name));
    name[4095] = 'a', name[4096] = 0;
    assert_false(formats_name_is_legal(name));
}

static void labels_name_a_class(void **unused) {
    (void)unused;
    assert_int_equal(read_with("labl", "\2x\0y\0\0\2", 7), TAPER_OK);
    assert_int_equal(read_with("labl", "\0\0\0", 3), TAPER_OK);
    assert_int_equal(read_with("labl", "\2x\0y\0\0\3", 7), TAPER_ERR_CORRUPT); /* class 2 of 2 */
    assert_int_equal(read_with("labl", "\2x\0y\0\0", 6), TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("labl", "\2x\0y\0\0\2\0", 8), TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("labl", "\2x\0y", 4), TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("labl", "\x7Fx\0y\0\0\2", 7), TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("labl", "\x81\x80\x40x\0y\0\0\2", 9),
                     TAPER_ERR_CORRUPT); /* 2^20 + 1 classes */
    assert_int_equal(read_with("labl", "", 0), TAPER_ERR_CORRUPT);
}

/* Their number, images, classes, names, times. */
static void further_names_have_their_ranges(void **unused) {
    (void)unused;
    static const struct {
        const char *content;
        size_t size;
        taper_status want;
    } cases[] = {{"\1\1a\0\0", 5, TAPER_OK},
                 {"\2\1\0a\0a\0\0\0", 9, TAPER_OK},
                 {"\1\1a\0\1\x09\4", 7, TAPER_OK}, /* two seconds */
                 {"", 0, TAPER_ERR_CORRUPT},
                 {"\0", 1, TAPER_ERR_CORRUPT},              /* none */
                 {"\1\2a\0\0", 5, TAPER_ERR_CORRUPT},       /* of image 2 of 2 */
                 {"\2\1\0a\0\0\0", 7, TAPER_ERR_CORRUPT},   /* one name too few */
                 {"\1\1a\0", 4, TAPER_ERR_CORRUPT},         /* no time */
                 {"\1\1a\0\2", 5, TAPER_ERR_CORRUPT},       /* neither a time nor none */
                 {"\1\1a\0\1\x0A\4", 7, TAPER_ERR_CORRUPT}, /* a unit of 10^10 */
                 {"\1\1a\0\1\0", 6, TAPER_ERR_CORRUPT},     /* a time, but none follows */
                 {"\1\1a\0\0\0", 6, TAPER_ERR_CORRUPT},     /* a byte more */
                 {"\1\1a/\0\0", 6, TAPER_ERR_CORRUPT},      /* no plain path */
                 {"\1\1a\0\1\x09\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1", 16,
                  TAPER_ERR_CORRUPT}, /* a time beyond 64 bits */
                 {"\x7F\1a\0\0", 5, TAPER_ERR_CORRUPT},
                 {"\xFE\xFF\xFF\xFF\x0F\1a\0\0", 9, TAPER_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (read_with("also", cases[i].content, cases[i].size) != cases[i].want)
            fail_msg("case %zu", i);
}

/* Parts, the number of one, images of the set, images left out, three digests. The container has
 * two images. */
static void parts_have_their_ranges(void **unused) {
    (void)unused;
    static const char digests[24] = "digests";
    static const struct {
        const char *numbers;
        size_t size;
        taper_status want;
    } cases[] = {{"\1\0\2\0", 4, TAPER_OK},
                 {"\1\0\3\1", 4, TAPER_OK},
                 {"\3\2\7\1", 4, TAPER_OK},                       /* images 4, 5 and 6 */
                 {"\3\1\7\0", 4, TAPER_OK},                       /* images 2 and 3 */
                 {"\3\0\7\1", 4, TAPER_ERR_CORRUPT},              /* images 0 and 1 */
                 {"\1\0\3\0", 4, TAPER_ERR_CORRUPT},              /* there are two of three */
                 {"\0\0\2\0", 4, TAPER_ERR_CORRUPT},              /* no part */
                 {"\1\1\2\0", 4, TAPER_ERR_CORRUPT},              /* part 1 of 1, from 0 */
                 {"\1\0\0\0", 4, TAPER_ERR_CORRUPT},              /* no image */
                 {"\x80\x80\x40\0\x80\x80\x80\1\0", 9, TAPER_OK}, /* most parts of 2 images each */
                 {"\x81\x80\x40\0\x82\x80\x80\1\0", 9, TAPER_ERR_CORRUPT},
                 {"\1\0\x80\x80\x80\x80\x80\x20\xFE\xFF\xFF\xFF\xFF\x1F", 14, TAPER_OK},
                 {"\1\0\x81\x80\x80\x80\x80\x20\xFF\xFF\xFF\xFF\xFF\x1F", 14, TAPER_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char content[64];
        memcpy(content, cases[i].numbers, cases[i].size);
        memcpy(content + cases[i].size, digests, sizeof digests);
        if (read_with("part", content, cases[i].size + sizeof digests) != cases[i].want)
            fail_msg("case %zu", i);
        assert_int_equal(read_with("part", content, cases[i].size + sizeof digests - 1),
                         TAPER_ERR_CORRUPT);
        assert_int_equal(read_with("part", content, cases[i].size + sizeof digests + 1),
                         TAPER_ERR_CORRUPT);
    }
}

/* With labels each further name has one, and the classes are known before. */
static void further_names_have_labels(void **unused) {
    (void)unused;
    crafted_section dire = {"DIRE", plain_directory, sizeof plain_directory, 0},
                    label = {"labl", "\1k\0\0\1", 5, 0}, also = {"also", "\1\1\1a\0\0", 6, 0},
                    other = {"also", "\1\1\2a\0\0", 6, 0}, none = {"also", "\1\1a\0\0", 5, 0};
    crafted_section good[] = {dire, label, also}, beyond[] = {dire, label, other},
                    lacks[] = {dire, label, none}, before[] = {dire, none, label},
                    twice[] = {dire, none, none}, first[] = {none, dire};
    assert_int_equal(read_crafted(&plain, good, 3), TAPER_OK);
    assert_int_equal(read_crafted(&plain, beyond, 3), TAPER_ERR_CORRUPT);
    assert_int_equal(read_crafted(&plain, lacks, 3), TAPER_ERR_CORRUPT);
    assert_int_equal(read_crafted(&plain, before, 3), TAPER_ERR_CORRUPT);
    assert_int_equal(read_crafted(&plain, twice, 3), TAPER_ERR_CORRUPT);
    assert_int_equal(read_crafted(&plain, first, 2), TAPER_ERR_CORRUPT);
}

/* A model's id, bits of a code, a code an image. */
static void search_codes_are_of_all_images(void **unused) {
    (void)unused;
#define ID "12345678"
    assert_int_equal(read_with("code",
                               ID "\x09\0\0\0"
                                  "aAbB",
                               16),
                     TAPER_OK);
    assert_int_equal(read_with("code",
                               ID "\x09\0\0\0"
                                  "aAb",
                               15),
                     TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("code",
                               ID "\x09\0\0\0"
                                  "aAbBc",
                               17),
                     TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("code",
                               ID "\x01\0\0\0"
                                  "ab",
                               14),
                     TAPER_OK);
    assert_int_equal(read_with("code",
                               ID "\0\0\0\0"
                                  "ab",
                               14),
                     TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("code",
                               ID "\x01\0\x01\0"
                                  "ab",
                               14),
                     TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("code",
                               ID "\xff\xff\xff\xff"
                                  "ab",
                               14),
                     TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("code", ID "\x01\0", 10), TAPER_ERR_CORRUPT);
    assert_int_equal(read_with("code", "", 0), TAPER_ERR_CORRUPT);
#undef ID
}

static void sections_stand_in_order_and_once(void **unused) {
    (void)unused;
    crafted_section dire = {"DIRE", plain_directory, sizeof plain_directory, 0},
                    name = {"name", "a\0b", 4, 0};
    crafted_section label = {"labl", "\0\0\0", 3, 0}, model = {"modl", "xyz", 3, 0},
                    code = {"code", "12345678\1\0\0\0ab", 14, 0}, search = {"smdl", "xyz", 3, 0};
    crafted_section two[][2] = {{dire, dire}, {name, dire}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(read_crafted(&plain, two[i], 2), TAPER_ERR_CORRUPT);
    crafted_section twice[][3] = {
        {dire, name, name}, {dire, label, label}, {dire, model, model}, {dire, code, code}};
    for (int i = 0; i < 4; i++)
        assert_int_equal(read_crafted(&plain, twice[i], 3), TAPER_ERR_CORRUPT);
    crafted_section models[] = {dire, code, search, search};
    assert_int_equal(read_crafted(&plain, models, 4), TAPER_ERR_CORRUPT);
    crafted_section any[] = {dire, model, label, search, name, code};
    assert_int_equal(read_crafted(&plain, any, 6), TAPER_OK);
    assert_int_equal(read_crafted(&plain, any, 5), TAPER_ERR_CORRUPT); /* a model of no codes */
    assert_int_equal(read_crafted(&plain, any, 0), TAPER_ERR_CORRUPT); /* no directory */
    assert_int_equal(read_crafted(&plain, any + 1, 1), TAPER_ERR_CORRUPT);
}

static void unknown_sections_are_skipped_or_refused(void **unused) {
    (void)unused;
    crafted_section section[] = {{"note", "anything", 8, 0},
                                 {"DIRE", plain_directory, sizeof plain_directory, 0},
                                 {"zzZZ", "", 0, 0}};
    assert_int_equal(read_crafted(&plain, section, 3), TAPER_OK);
    section[0].type = "Note";
    assert_int_equal(read_crafted(&plain, section, 3), TAPER_ERR_VERSION);
}

/* Section sizes: bombs, lies, and what does not unpack. */
static void sections_unpack_to_what_they_claim(void **unused) {
    (void)unused;
    static const char text[] = "a a a a a a a a a a a a a a a a a a a a a a a a a a";
    uint8_t packed[200];
    size_t n = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    assert_true(n < sizeof text);
    crafted_section dire = {"DIRE", plain_directory, sizeof plain_directory, 0};
    const struct {
        uint64_t unpacked;
        taper_status want;
    } cases[] = {{sizeof text, TAPER_OK},
                 {sizeof text + 1, TAPER_ERR_CORRUPT},
                 {sizeof text - 1, TAPER_ERR_CORRUPT},
                 {1, TAPER_ERR_CORRUPT},
                 {1024 * n + 65536, TAPER_ERR_CORRUPT},
                 {1024 * n + 65537, TAPER_ERR_CORRUPT},
                 {UINT64_MAX, TAPER_ERR_CORRUPT},
                 {(uint64_t)1 << 40, TAPER_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crafted_section section[] = {dire, {"modl", packed, n, cases[i].unpacked}};
        if (read_crafted(&plain, section, 2) != cases[i].want) fail_msg("case %zu", i);
    }
    crafted_section section[] = {dire, {"modl", packed, n, sizeof text}};
    formats_buffer file = craft_file(&plain, section, 2);
    taper_limits limits = {.size = sizeof(taper_limits), .max_memory = sizeof text};
    assert_int_equal(front_read(file.data, file.size, &limits, NULL), TAPER_ERR_LIMIT);
    /* sizes that add up beyond what a file can have */
    uint64_t need;
    formats_set_u64le(file.data + HEADER + 24 + 8, UINT64_MAX - 10);
    formats_set_u32le(file.data + 20, 0);
    formats_set_u32le(file.data + 20, formats_crc32c(0, file.data, HEADER + 48));
    assert_int_equal(formats_front_need(file.data, file.size, &need, NULL), TAPER_ERR_CORRUPT);
    formats_set_u64le(file.data + HEADER + 24 + 8, (uint64_t)INT64_MAX);
    formats_set_u32le(file.data + 20, 0);
    formats_set_u32le(file.data + 20, formats_crc32c(0, file.data, HEADER + 48));
    assert_int_equal(formats_front_need(file.data, file.size, &need, NULL), TAPER_ERR_CORRUPT);
    formats_set_u64le(file.data + HEADER + 24 + 8, (uint64_t)1 << 62);
    formats_set_u32le(file.data + 20, 0);
    formats_set_u32le(file.data + 20, formats_crc32c(0, file.data, HEADER + 48));
    assert_int_equal(formats_front_need(file.data, file.size, &need, NULL), TAPER_OK);
    assert_int_equal(front_read(file.data, file.size, NULL, NULL), TAPER_ERR_TRUNCATED);
    formats_buffer_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_fields_have_their_ranges),
        cmocka_unit_test(directory_fields_have_their_ranges),
        cmocka_unit_test(rate_classes_say_where_images_are),
        cmocka_unit_test(rate_class_fields_have_their_ranges),
        cmocka_unit_test(pixel_layers_have_their_ranges),
        cmocka_unit_test(stages_are_those_of_the_model),
        cmocka_unit_test(layers_with_stages_have_their_ranges),
        cmocka_unit_test(whole_but_malformed_sections_are_corrupt),
        cmocka_unit_test(raised_planes_have_their_ranges),
        cmocka_unit_test(directory_sizes_are_checked),
        cmocka_unit_test(names_are_plain_paths),
        cmocka_unit_test(labels_name_a_class),
        cmocka_unit_test(further_names_have_their_ranges),
        cmocka_unit_test(parts_have_their_ranges),
        cmocka_unit_test(further_names_have_labels),
        cmocka_unit_test(sections_stand_in_order_and_once),
        cmocka_unit_test(search_codes_are_of_all_images),
        cmocka_unit_test(unknown_sections_are_skipped_or_refused),
        cmocka_unit_test(sections_unpack_to_what_they_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
