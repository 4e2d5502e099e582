/* test_image_metadata.c -- metadata of images in a container: what arrives, what illegal bytes are
 * refused, and what makes other containers of it. */
#include "formats/metadata_reader.h"
#include "cmocka_all.h"
#include "dct_model.h"
#include "formats/container.h"
#include "formats/packed.h"
#include "infos.h"
#include "tests/open_decoder.h"

enum { N = 6 };

/* Metadata of image i of a set, with every member in some image. */
static taper_metadata sample(uint64_t i) {
    static const char *const exif[] = {"MM\0*first", "II*\0second"};
    taper_metadata m = {.size = sizeof m};
    if (i % 6 != 5) m.icc = "a profile", m.icc_size = 9;
    if (i % 6 < 2) m.exif = exif[i % 2], m.exif_size = 9;
    if (i % 6 == 2) m.icc = "another", m.icc_size = 7, m.xmp = "a profile", m.xmp_size = 9;
    if (i % 6 == 3) {
        m.has_cicp = 1, m.cicp[0] = 12, m.cicp[1] = 13, m.cicp[3] = 1, m.gamma = 45455;
        for (uint32_t k = 0; k < 8; k++) m.chromaticities[k] = k ? k * 10000 : 0;
    }
    if (i % 6 == 1) m.density_x = INT32_MAX, m.density_y = 1, m.density_is_ratio = 1;
    if (i % 6 >= 3 && i % 6 < 5)
        m.has_modified = 1,
        m.modified_ns = (int64_t)1700000000 * 1000000000 + (int64_t)(i % 6) * 500;
    if (i % 6 == 0) m.has_modified = 1, m.modified_ns = -1500;
    return m;
}

static void assert_same(const taper_metadata *a, const taper_metadata *b) {
    assert_true(a->icc_size == b->icc_size && a->exif_size == b->exif_size &&
                a->xmp_size == b->xmp_size && !a->icc == !b->icc && !a->exif == !b->exif &&
                !a->xmp == !b->xmp);
    if (a->icc) assert_memory_equal(a->icc, b->icc, a->icc_size);
    if (a->exif) assert_memory_equal(a->exif, b->exif, a->exif_size);
    if (a->xmp) assert_memory_equal(a->xmp, b->xmp, a->xmp_size);
    assert_true(a->has_cicp == b->has_cicp && a->gamma == b->gamma);
    assert_memory_equal(a->cicp, b->cicp, sizeof a->cicp);
    assert_memory_equal(a->chromaticities, b->chromaticities, sizeof a->chromaticities);
    assert_true(a->density_x == b->density_x && a->density_y == b->density_y &&
                a->density_is_ratio == b->density_is_ratio);
    assert_true(a->has_modified == b->has_modified && a->modified_ns == b->modified_ns);
}

/* The content of section `meta` for images 0 .. n - 1, which repeat. */
static formats_buffer content_of(uint64_t n) {
    formats_buffer out = formats_buffer_make(1 << 24);
    formats_metadata_writer *w = formats_metadata_writer_new();
    assert_non_null(w);
    for (uint64_t i = 0; i < n; i++) {
        const taper_metadata m = sample(i);
        assert_int_equal(formats_metadata_check(&m, NULL), TAPER_OK);
        assert_int_equal(formats_metadata_writer_add(w, i, &m), TAPER_OK);
    }
    assert_int_equal(formats_metadata_writer_finish(w, n, &out), TAPER_OK);
    formats_metadata_writer_free(w);
    return out;
}

/* Open and read everything. */
static taper_status read_all(const void *content, size_t size, uint32_t images,
                             const taper_limits *limits) {
    formats_front front = {.images = images, .metadata = (uint8_t *)content, .metadata_size = size};
    formats_metadata_reader *r;
    taper_error error;
    taper_metadata m;
    taper_status status = formats_metadata_reader_open(&r, &front, limits, &error);
    if (status != TAPER_OK) return status;
    status = formats_metadata_reader_check(r, &error);
    for (uint32_t i = 0; i < images && status == TAPER_OK; i++)
        status = formats_metadata_reader_get(r, i, &m, &error);
    formats_metadata_reader_close(r);
    return status;
}

static void all_members_arrive(void **state) {
    (void)state;
    formats_buffer content = content_of(2 * N);
    formats_front front = {
        .images = 2 * N, .metadata = content.data, .metadata_size = content.size};
    formats_metadata_reader *r;
    assert_int_equal(formats_metadata_reader_open(&r, &front, NULL, NULL), TAPER_OK);
    for (uint32_t k = 0; k < 2 * N; k++) {
        const uint32_t i = k * 5 % (2 * N); /* any order */
        const taper_metadata wanted = sample(i);
        taper_metadata m;
        assert_int_equal(formats_metadata_reader_get(r, i, &m, NULL), TAPER_OK);
        assert_same(&m, &wanted);
    }
    const formats_metadata_counts counts = formats_metadata_reader_counts(r);
    assert_true(counts.payloads == 4 && counts.payload_bytes == 9 + 7 + 9 + 9);
    assert_true(counts.images[0] == 10 && counts.images[1] == 4 && counts.images[7] == 6);
    formats_metadata_reader_close(r);
    formats_buffer_free(&content);
}

static void a_set_without_metadata_has_no_content(void **state) {
    (void)state;
    formats_buffer out = formats_buffer_make(1 << 24);
    formats_metadata_writer *w = formats_metadata_writer_new();
    const taper_metadata none = {.size = sizeof none};
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(formats_metadata_writer_add(w, i, &none), TAPER_OK);
    assert_int_equal(formats_metadata_writer_finish(w, 3, &out), TAPER_OK);
    assert_int_equal(out.size, 0);
    formats_metadata_writer_free(w);
}

/* Payloads of more than a page: many pages, each unpacked when it is needed. */
static void payloads_fill_several_pages(void **state) {
    (void)state;
    enum { IMAGES = 9, SIZE = FORMATS_METADATA_PAGE / 2 + 1 };
    uint8_t *payload = malloc(SIZE);
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    formats_metadata_writer *w = formats_metadata_writer_new();
    assert_true(payload && w);
    for (uint64_t i = 0; i < IMAGES; i++) {
        memset(payload, (int)i, SIZE);
        for (uint32_t k = 0; k < SIZE / 64; k++) payload[k] = (uint8_t)(k * (i + 7) >> 3);
        const taper_metadata m = {
            .size = sizeof m, .exif = payload, .exif_size = SIZE, .icc = "p", .icc_size = 1};
        assert_true(formats_metadata_writer_need(w, &m) > SIZE);
        assert_int_equal(formats_metadata_writer_add(w, i, &m), TAPER_OK);
    }
    assert_int_equal(formats_metadata_writer_finish(w, IMAGES, &out), TAPER_OK);
    assert_int_equal(read_all(out.data, out.size, IMAGES, NULL), TAPER_OK);
    const taper_limits few = {.size = sizeof few, .max_memory = SIZE};
    assert_int_equal(read_all(out.data, out.size, IMAGES, &few), TAPER_ERR_LIMIT);
    formats_front front = {.images = IMAGES, .metadata = out.data, .metadata_size = out.size};
    formats_metadata_reader *r;
    taper_metadata m;
    assert_int_equal(formats_metadata_reader_open(&r, &front, NULL, NULL), TAPER_OK);
    assert_int_equal(formats_metadata_reader_get(r, 8, &m, NULL), TAPER_OK);
    assert_true(m.exif_size == SIZE && ((const uint8_t *)m.exif)[SIZE - 1] == 8);
    assert_memory_equal(m.icc, "p", 1);
    formats_metadata_reader_close(r);
    formats_metadata_writer_free(w), formats_buffer_free(&out), free(payload);
}

/* --- illegal contents -------------------------------------------------------------------- */

/* An index of two images that is stored as it is, and its page "abcd". */
typedef struct crafted {
    const char *what; /* is wrong with it */
    uint8_t index[32];
    size_t size;
    const char *page;
} crafted;

static taper_status read_crafted(const uint8_t *index, size_t size, const char *page) {
    uint8_t bytes[80];
    size_t n = 0;
    bytes[n++] = (uint8_t)size, bytes[n++] = (uint8_t)size;
    memcpy(bytes + n, index, size), n += size;
    memcpy(bytes + n, page, strlen(page)), n += strlen(page);
    return read_all(bytes, n, 2, NULL);
}

#define PAGE "\4\4abcd"
/* Two payloads of three bytes and one, a page with both; image 0 has a profile, image 1 EXIF. */
#define FRONT 2, 3, 1, 1, 2
static const crafted contents[] = {
    {NULL, {FRONT, 1, 0, 2, 0}, 9, PAGE},
    {NULL, {FRONT, 3, 0, 0, 0}, 9, PAGE},
    {NULL, {FRONT, 3, 0, 0, 3, 1, 1}, 11, PAGE},
    {NULL, {FRONT, 3, 0, 0, 3, 3, 2}, 11, PAGE},
    {NULL, {FRONT, 3, 0, 0, 8, 1, 13, 0, 1}, 13, PAGE},
    {NULL, {FRONT, 3, 0, 0, 128, 0, 3}, 11, PAGE},
    {"a payload that no image has", {FRONT, 1, 0, 0, 0}, 8, PAGE},
    {"an empty payload", {2, 0, 4, 1, 2, 1, 0, 2, 0}, 9, PAGE},
    {"more payloads than the page has", {2, 3, 2, 1, 2, 1, 0, 2, 0}, 9, PAGE},
    {"no page", {2, 3, 1, 0, 1, 0, 2, 0}, 8, PAGE},
    {"a page without payloads", {2, 3, 1, 2, 0, 2, 1, 0, 2, 0}, 10, "\0\0" PAGE},
    {"a page of too many payloads", {2, 3, 1, 1, 3, 1, 0, 2, 0}, 9, PAGE},
    {"more pages than payloads", {2, 3, 1, 3, 1, 0, 2, 0}, 8, PAGE},
    {"a payload number that is too high", {FRONT, 1, 0, 2, 3}, 9, PAGE},
    {"a new payload that is not there", {1, 4, 1, 1, 1, 0, 2, 0}, 8, PAGE},
    {"a repeated payload of another kind only", {FRONT, 3, 0, 0, 4, 1}, 10, PAGE},
    {"full range above 1", {FRONT, 3, 0, 0, 8, 1, 13, 0, 2}, 13, PAGE},
    {"gamma 0", {FRONT, 3, 0, 0, 16, 0}, 10, PAGE},
    {"a gamma of 2^31", {FRONT, 3, 0, 0, 16, 128, 128, 128, 128, 8}, 14, PAGE},
    {"no chromaticity", {FRONT, 3, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0}, 17, PAGE},
    {"a density of 0", {FRONT, 3, 0, 0, 64, 1, 0, 0}, 12, PAGE},
    {"a unit of density above 1", {FRONT, 3, 0, 0, 64, 1, 1, 2}, 12, PAGE},
    {"a unit of time above 9", {FRONT, 3, 0, 0, 128, 10, 3}, 11, PAGE},
    {"a time beyond 64 bits",
     {FRONT, 3, 0, 0, 128, 9, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1},
     20,
     PAGE},
    {"no time", {FRONT, 3, 0, 0, 128, 0}, 10, PAGE},
    {"one image only", {FRONT, 3, 0, 0}, 8, PAGE},
    {"a byte behind the index", {FRONT, 1, 0, 2, 0, 0}, 10, PAGE},
    {"a byte behind the pages", {FRONT, 1, 0, 2, 0}, 9, PAGE "x"},
    {"no page behind the index", {FRONT, 1, 0, 2, 0}, 9, ""},
    {"a page that ends early", {FRONT, 1, 0, 2, 0}, 9, "\4\4abc"},
    {"a page of another size", {FRONT, 1, 0, 2, 0}, 9, "\5\5abcde"},
    {"a page that does not unpack", {FRONT, 1, 0, 2, 0}, 9, "\4\3abc"},
    {"a size that is not in its shortest form", {2, 0x83, 0, 1, 1, 2, 1, 0, 2, 0}, 10, PAGE},
};

static void illegal_contents_are_refused(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof contents / sizeof contents[0]; k++) {
        const crafted *c = &contents[k];
        const taper_status status = read_crafted(c->index, c->size, c->page);
        if (status != (c->what ? TAPER_ERR_CORRUPT : TAPER_OK))
            fail_msg("%s: status %d", c->what ? c->what : "legal", (int)status);
    }
}

/* A page takes no further payload once it has FORMATS_METADATA_PAGE bytes. */
static void a_page_is_not_too_long(void **state) {
    (void)state;
    uint8_t index[64];
    formats_buffer in = formats_buffer_make(sizeof index);
    formats_write_u8(&in, 2);
    formats_write_varint(&in, FORMATS_METADATA_PAGE), formats_write_u8(&in, 1);
    formats_write_bytes(&in, "\1\2\3\0\0\0", 6);
    assert_int_equal(read_crafted(in.data, in.size, ""), TAPER_ERR_CORRUPT);
    formats_buffer_free(&in);
}

/* Every cut, and every byte that is changed: an error or other metadata, but no crash. */
static void damage_is_survived(void **state) {
    (void)state;
    formats_buffer content = content_of(N);
    for (size_t n = 0; n < content.size; n++) {
        uint8_t *part = malloc(n + 1);
        memcpy(part, content.data, n);
        assert_int_equal(read_all(part, n, N, NULL), TAPER_ERR_CORRUPT);
        free(part);
        for (int bit = 0; bit < 8; bit++) {
            content.data[n] ^= (uint8_t)(1 << bit);
            const taper_status status = read_all(content.data, content.size, N, NULL);
            assert_true(status == TAPER_OK || status == TAPER_ERR_CORRUPT);
            content.data[n] ^= (uint8_t)(1 << bit);
        }
    }
    assert_int_equal(read_all(content.data, content.size, N + 1, NULL), TAPER_ERR_CORRUPT);
    assert_int_equal(read_all(content.data, content.size, N - 1, NULL), TAPER_ERR_CORRUPT);
    formats_buffer_free(&content);
}

/* --- containers -------------------------------------------------------------------------- */

typedef struct fixture {
    taper_model *model;
    formats_buffer model_file;
    taper_image image;
} fixture;

static int make(void **state) {
    static fixture f;
    f = (fixture){.model_file = formats_buffer_make(1 << 24)};
    f.model = dct_model_make((codec_window){8, 8, 3, NULL}, 0, 2, &f.model_file);
    f.image = dct_picture(13, 9, 3, 1);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    formats_image_free(&f->image);
    taper_model_free(f->model);
    formats_buffer_free(&f->model_file);
    return 0;
}

static formats_buffer encode(const fixture *f, uint64_t images, int with_metadata) {
    formats_buffer out = formats_buffer_make(1 << 24);
    const taper_sink sink = dct_sink(&out);
    taper_encoder *encoder;
    assert_int_equal(taper_encoder_new(&encoder, f->model, NULL, NULL), TAPER_OK);
    for (uint64_t i = 0; i < images; i++) {
        const taper_metadata m = sample(i);
        assert_int_equal(taper_encoder_add(encoder, &f->image, NULL, -1, NULL), TAPER_OK);
        if (with_metadata && i % 6 != 5)
            assert_int_equal(taper_encoder_set_metadata(encoder, &m, NULL), TAPER_OK);
    }
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(encoder);
    return out;
}

/* The metadata of images first .. first + n - 1 are those of sample 0 .. n - 1. */
static void assert_arrived(const fixture *f, const formats_buffer *file, uint64_t first,
                           uint64_t n) {
    formats_memory memory = {file->data, file->size};
    const taper_source source = formats_memory_source(&memory);
    taper_open_options how = {.size = sizeof how, .model = f->model};
    taper_container *c;
    taper_metadata_reader *r;
    taper_container_info info = {.size = sizeof info};
    assert_int_equal(taper_container_open(&c, &source, &how, NULL), TAPER_OK);
    assert_int_equal(taper_container_get_info(c, &info, NULL), TAPER_OK);
    assert_true(info.metadata_bytes > 0 && info.images >= first + n);
    assert_int_equal(taper_metadata_open(&r, c, NULL), TAPER_OK);
    for (uint64_t i = 0; i < n; i++) {
        taper_metadata m = {.size = sizeof m}, wanted = sample(i);
        if (i % 6 == 5) wanted = (taper_metadata){.size = sizeof wanted};
        assert_int_equal(taper_metadata_get(r, first + i, &m, NULL), TAPER_OK);
        assert_same(&m, &wanted);
    }
    taper_metadata m = {.size = sizeof m};
    assert_int_equal(taper_metadata_get(r, info.images, &m, NULL), TAPER_ERR_ARG);
    taper_metadata_close(r);
    taper_container_close(c);
}

static void containers_carry_metadata(void **state) {
    const fixture *f = *state;
    formats_buffer file = encode(f, N, 1), plain = encode(f, 2, 0);
    formats_memory memory = {file.data, file.size}, plain_memory = {plain.data, plain.size};
    const taper_source source = formats_memory_source(&memory);
    const taper_source shards[] = {formats_memory_source(&plain_memory), source, source};
    taper_verify_report report = {.size = sizeof report};
    assert_arrived(f, &file, 0, N);
    assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_OK);
    for (int way = 0; way < 3; way++) {
        formats_buffer out = formats_buffer_make(1 << 24);
        const taper_sink sink = dct_sink(&out);
        const taper_status status =
            way == 0   ? taper_truncate(&source, file.size - 40, &sink, NULL, NULL)
            : way == 1 ? taper_repack(&source, f->model, TAPER_LAYOUT_IMAGE, 0, &sink, NULL, NULL)
                       : taper_merge(shards, 3, &sink, NULL, NULL);
        assert_int_equal(status, TAPER_OK);
        assert_arrived(f, &out, way == 2 ? 2 : 0, N);
        if (way == 2) assert_arrived(f, &out, 2 + N, N);
        formats_buffer_free(&out);
    }
    formats_buffer_free(&file), formats_buffer_free(&plain);
}

/* Of many images the section is behind the leaves, where decoding does not need it. */
static void many_images_have_it_behind_their_leaves(void **state) {
    const fixture *f = *state;
    enum { MANY = 2100 };
    formats_buffer out = formats_buffer_make(1 << 24);
    const taper_sink sink = dct_sink(&out);
    const taper_encode_options o = {.size = sizeof o, .group_images = 100};
    const taper_image dot = {1, 1, 3, 8, f->image.pixels};
    taper_encoder *encoder;
    assert_int_equal(taper_encoder_new(&encoder, f->model, &o, NULL), TAPER_OK);
    for (uint64_t i = 0; i < MANY; i++) {
        const taper_metadata m = sample(i);
        assert_int_equal(taper_encoder_add(encoder, &dot, NULL, -1, NULL), TAPER_OK);
        if (i >= MANY - 6 && i < MANY - 1)
            assert_int_equal(taper_encoder_set_metadata(encoder, &m, NULL), TAPER_OK);
    }
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(encoder);
    assert_arrived(f, &out, MANY - 6, 6);
    size_t types = 0, leaf = 0, meta = 0;
    for (; types < formats_get_u32le(out.data + 48); types++) {
        const uint8_t *type = out.data + FORMATS_HEADER_SIZE + types * FORMATS_SECTION_SIZE;
        if (!memcmp(type, "LEAF", 4)) leaf = types + 1;
        if (!memcmp(type, "meta", 4)) meta = types + 1;
    }
    assert_true(leaf && meta > leaf);
    formats_buffer_free(&out);
}

static void wrong_calls_are_refused(void **state) {
    const fixture *f = *state;
    taper_encoder *e;
    taper_metadata m = sample(0);
    assert_int_equal(taper_encoder_new(&e, f->model, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_metadata(e, &m, NULL), TAPER_ERR_ARG); /* no image */
    assert_int_equal(taper_encoder_add(e, &f->image, NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_metadata(e, NULL, NULL), TAPER_ERR_ARG);
    struct {
        size_t at;
        uint32_t value;
    } wrong[] = {{offsetof(taper_metadata, gamma), 1u << 31},
                 {offsetof(taper_metadata, chromaticities[7]), 1u << 31},
                 {offsetof(taper_metadata, density_x), 5},
                 {offsetof(taper_metadata, density_y), 5}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        taper_metadata bad = {.size = sizeof bad};
        memcpy((char *)&bad + wrong[k].at, &wrong[k].value, sizeof wrong[k].value);
        assert_int_equal(taper_encoder_set_metadata(e, &bad, NULL), TAPER_ERR_ARG);
    }
    taper_metadata bad = {.size = sizeof bad, .icc = "x"};
    assert_int_equal(taper_encoder_set_metadata(e, &bad, NULL), TAPER_ERR_ARG);
    bad.icc_size = TAPER_MOST_METADATA + 1;
    assert_int_equal(taper_encoder_set_metadata(e, &bad, NULL), TAPER_ERR_ARG);
    bad = (taper_metadata){.size = sizeof bad, .has_cicp = 1, .cicp = {1, 1, 1, 2}};
    assert_int_equal(taper_encoder_set_metadata(e, &bad, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_encoder_set_metadata(e, &m, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_metadata(e, &m, NULL), TAPER_ERR_ARG); /* twice */
    taper_encoder_free(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_members_arrive),
        cmocka_unit_test(a_set_without_metadata_has_no_content),
        cmocka_unit_test(payloads_fill_several_pages),
        cmocka_unit_test(illegal_contents_are_refused),
        cmocka_unit_test(a_page_is_not_too_long),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(containers_carry_metadata),
        cmocka_unit_test(many_images_have_it_behind_their_leaves),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
