/* test_page_fields.c -- crafted roots, leaves and pages of names: every field's legal range. */
#include "formats/paging.h"
#include "front.h"
#include "paged.h"

/* A container of four images of 4 x 4 in four groups and one layer, in two leaves. */
typedef struct crafted {
    uint8_t root[80], leaf[2][80], page[80];
    size_t root_size, leaf_size[2], page_size;
    uint32_t crc[2];   /* 0: right ones */
    const char *order; /* sections: R root, L leaves, F pages, N, B, M name, labl, modl, S smdl */
} crafted;

enum { LEAF_PARTS = 2 }; /* of the directory: its two sizes */

/* Both leaves have this directory: runs of images and groups, an offset, two lengths, checksums. */
static const uint8_t directory[] = {1, 2, 4, 4, 3, 1, 2, 1, 0, 5, 6, 1, 0, 0, 0, 2, 0, 0, 0};

static void add_part(uint8_t *to, size_t *size, const void *content, size_t n) {
    to[(*size)++] = (uint8_t)n, to[(*size)++] = (uint8_t)n;
    memcpy(to + *size, content, n);
    *size += n;
}

enum { FIND_AT = 16 + 8 }; /* of the root: how names are found */

static crafted legal(int find) {
    /* passes 3, chunks per checksum 1, bytes 22, pixels 64, no labels, two leaves: images, groups,
     * sizes, checksums; find */
    static const uint8_t root[] = {3, 1, 22, 64, 0, 2, 2, 2, 2, 2};
    static const char *const name[2][2] = {{"a\0b", "c\0d"}, {"d\0b", "c\0a"}};
    crafted c = {.order = find == 2 ? "RLF" : "RL"};
    memcpy(c.root, root, sizeof root);
    c.root_size = sizeof root;
    for (int k = 0; k < 2; k++) {
        uint8_t own[sizeof directory];
        memcpy(own, directory, sizeof own);
        own[8] = (uint8_t)(k ? 11 : 0);
        add_part(c.leaf[k], &c.leaf_size[k], own, sizeof own);
        if (find) add_part(c.leaf[k], &c.leaf_size[k], name[find - 1][k], 4);
    }
    for (int k = 0; k < 2; k++) c.root[c.root_size++] = (uint8_t)c.leaf_size[k];
    c.root_size += 8; /* checksums of leaves */
    c.root[c.root_size++] = (uint8_t)find;
    if (find == 1) memcpy(c.root + c.root_size, "\0c", 3), c.root_size += 3;
    if (find != 2) return c;
    /* eight bits of a CRC; one page: of each its size, and checksum */
    uint8_t page[16] = {4};
    uint8_t sorted[4][2];
    for (int i = 0; i < 4; i++) {
        const char letter[2] = {"dbca"[i], 0};
        sorted[i][0] = (uint8_t)(formats_crc32c(0, letter, 1) >> 24);
        sorted[i][1] = (uint8_t)(i / 2);
    }
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            if (sorted[j][0] < sorted[i][0]) {
                uint8_t swap[2];
                memcpy(swap, sorted[i], 2), memcpy(sorted[i], sorted[j], 2);
                memcpy(sorted[j], swap, 2);
            }
    size_t n = 1;
    for (int i = 0; i < 4; i++) {
        const uint8_t step = (uint8_t)(sorted[i][0] - (i ? sorted[i - 1][0] : 0));
        if (step > 127)
            page[n++] = (uint8_t)(step | 128), page[n++] = 1;
        else
            page[n++] = step;
    }
    for (int i = 0; i < 4; i++) page[n++] = sorted[i][1];
    add_part(c.page, &c.page_size, page, n);
    const uint8_t tail[] = {8, 0, (uint8_t)c.page_size};
    memcpy(c.root + c.root_size, tail, sizeof tail);
    c.root_size += sizeof tail + 4; /* its checksum */
    return c;
}

static void add_entry(formats_buffer *table, formats_buffer *body, const char *type,
                      const void *content, size_t n) {
    formats_write_bytes(table, type, 4);
    formats_write_u32le(table, formats_crc32c(0, content, n));
    formats_write_u64le(table, n), formats_write_u64le(table, n);
    formats_write_bytes(body, content, n);
}

/* The file, with right checksums. */
static formats_buffer build(const crafted *given, uint32_t required) {
    crafted c = *given;
    formats_buffer out = formats_buffer_make(1 << 16), table = formats_buffer_make(1 << 16),
                   body = formats_buffer_make(1 << 16);
    uint8_t leaves[160], header[FORMATS_HEADER_SIZE] = "\x89TPR\r\n\x1a\n";
    for (int k = 0; k < 2; k++) {
        const uint32_t crc = formats_crc32c(0, c.leaf[k], c.leaf_size[k]);
        formats_set_u32le(c.root + 12 + 4 * k, c.crc[k] ? c.crc[k] : crc);
        memcpy(leaves + (k ? c.leaf_size[0] : 0), c.leaf[k], c.leaf_size[k]);
    }
    if (c.page_size) formats_set_u32le(c.root + 24, formats_crc32c(0, c.page, c.page_size));
    for (const char *s = c.order; *s; s++) {
        if (*s == 'R') add_entry(&table, &body, "DIRE", c.root, c.root_size);
        if (*s == 'L') add_entry(&table, &body, "LEAF", leaves, c.leaf_size[0] + c.leaf_size[1]);
        if (*s == 'F') add_entry(&table, &body, "find", c.page, c.page_size);
        if (*s == 'N') add_entry(&table, &body, "name", "a\0b\0c\0d", 8);
        if (*s == 'B') add_entry(&table, &body, "labl", "\0\0\0\0\0", 5);
        if (*s == 'M') add_entry(&table, &body, "modl", "model", 5);
    }
    formats_set_u16le(header + 8, FORMATS_CONTAINER_VERSION);
    formats_set_u32le(header + 12, required);
    formats_set_u64le(header + 32, 4);
    formats_set_u32le(header + 40, 4), formats_set_u32le(header + 44, 1);
    formats_set_u32le(header + 48, (uint32_t)(table.size / FORMATS_SECTION_SIZE));
    uint32_t crc = formats_crc32c(0, header, sizeof header);
    formats_set_u32le(header + 20, formats_crc32c(crc, table.data, table.size));
    formats_write_bytes(&out, header, sizeof header);
    formats_write_bytes(&out, table.data, table.size);
    formats_write_bytes(&out, body.data, body.size);
    formats_buffer_free(&table), formats_buffer_free(&body);
    return out;
}

static taper_status read_crafted(const crafted *c, taper_error *error) {
    formats_buffer file = build(c, FORMATS_FEATURE_PAGED);
    const taper_status status = front_read(file.data, file.size, NULL, error);
    formats_buffer_free(&file);
    return status;
}

/* A byte that is illegal. part: R root, 0 and 1 leaves; r, a, b: the same, but only all leaves
 * together tell. */
typedef struct wrong_byte {
    int find;
    char part;
    size_t at;
    uint8_t value;
    const char *what;
} wrong_byte;

/* What a reader of leaf k alone says; of none: k -1. */
static taper_status read_alone(const crafted *c, int k) {
    formats_buffer file = build(c, FORMATS_FEATURE_PAGED);
    const taper_limits limits = formats_limits_or_default(NULL);
    formats_front shared, leaf;
    formats_root root;
    taper_status status = formats_head_read(file.data, file.size, NULL, &shared, &root, NULL);
    if (status == TAPER_OK && k >= 0) {
        const uint8_t *bytes = file.data + root.leaves_at + root.leaf[k].at;
        status = formats_leaf_read(&root, &shared, (uint32_t)k, bytes, &limits, &leaf, NULL);
        formats_front_free(&leaf);
    }
    formats_front_free(&shared), formats_root_free(&root);
    formats_buffer_free(&file);
    return status;
}

static void fields_have_their_ranges(void **unused) {
    (void)unused;
    static const wrong_byte wrong[] = {
        {0, 'R', 0, 0, "a layer without passes"},
        {0, 'R', 1, 0, "checksums over nothing"},
        {0, 'R', 1, 3, "a checksum over two leaves"},
        {0, 'r', 2, 21, "a layer shorter than its chunks"},
        {0, 'r', 2, 23, "a layer longer than its chunks"},
        {0, 'r', 3, 63, "other pixels"},
        {0, 'R', 4, 2, "a mark of labels"},
        {0, 'R', 5, 0, "no leaves"},
        {0, 'R', 5, 1, "one leaf"},
        {0, 'R', 5, 5, "more leaves than groups"},
        {0, 'R', 6, 0, "a leaf without images"},
        {0, 'R', 6, 1, "too few images"},
        {0, 'R', 7, 3, "too many images"},
        {0, 'R', 8, 0, "a leaf without groups"},
        {0, 'R', 8, 1, "too few groups"},
        {0, 'R', 9, 3, "too many groups"},
        {0, 'R', 10, 20, "a leaf too short"},
        {0, 'R', 11, 22, "leaves too long"},
        {0, 'R', 20, 3, "an unknown way to find names"},
        {0, 'R', 20, 1, "no separators"},
        {1, 'R', 21, 1, "more bytes shared than there are"},
        {1, 'r', 22, 'd', "a name below its separator"},
        {1, 'r', 22, 'b', "a name that reaches into the next leaf"},
        {1, 'R', 22, 0, "an empty separator"},
        {1, 'R', 23, 'x', "a separator without an end"},
        {2, 'R', 21, 33, "too many bits of a hash"},
        {2, 'R', 21, 0, "no bits of a hash"},
        {2, 'R', 22, 8, "as many bits of a page"},
        {2, 'R', 23, 1, "another size of pages"},
        {0, '0', LEAF_PARTS + 1, 1, "geometry of one image"},
        {0, '0', LEAF_PARTS + 6, 1, "one group"},
        {0, '0', LEAF_PARTS + 8, 1, "an offset in the first leaf"},
        {0, '1', LEAF_PARTS + 8, 10, "an offset within the leaf before"},
        {0, '1', LEAF_PARTS + 8, 12, "an offset behind it"},
        {0, '1', LEAF_PARTS + 9, 4, "a last leaf that ends too early"},
        {0, 'a', LEAF_PARTS + 9, 4, "a first leaf that ends too early"},
        {0, '0', LEAF_PARTS + 9, 17, "a first leaf that ends behind the layer"},
        {0, '0', 0, 18, "a part that unpacks to less"},
        {0, '0', 1, 18, "a part that is cut"},
        {1, '0', LEAF_PARTS + 19 + 2, 'c', "names that do not ascend"},
        {1, '0', LEAF_PARTS + 19 + 2, 0, "a name without bytes"},
        {1, '0', LEAF_PARTS + 19 + 5, 'x', "a name without an end"},
    };
    for (int find = 0; find < 3; find++) {
        const crafted c = legal(find);
        taper_error error = {0};
        if (read_crafted(&c, &error) != TAPER_OK) fail_msg("find %d: %s", find, error.text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        crafted c = legal(wrong[i].find);
        const int late = wrong[i].part >= 'a', k = late ? wrong[i].part - 'a' : wrong[i].part - '0';
        const int is_root = wrong[i].part == 'R' || wrong[i].part == 'r';
        uint8_t *to = is_root ? c.root : c.leaf[k];
        assert_true(to[wrong[i].at] != wrong[i].value);
        to[wrong[i].at] = wrong[i].value;
        taper_error error = {0};
        const taper_status status = read_crafted(&c, &error);
        if (status != TAPER_ERR_CORRUPT)
            fail_msg("status %d (%s): %s", status, error.text, wrong[i].what);
        if (read_alone(&c, is_root ? -1 : k) != (late ? TAPER_OK : TAPER_ERR_CORRUPT))
            fail_msg("alone: %s", wrong[i].what);
    }
}

/* A byte behind the fields of a part. */
static void parts_are_filled(void **unused) {
    (void)unused;
    for (int part = 0; part < 2; part++) {
        crafted c = legal(1);
        const size_t at = part ? 2 + sizeof directory : 0, size = c.leaf[1][at];
        memmove(c.leaf[1] + at + 2 + size + 1, c.leaf[1] + at + 2 + size,
                c.leaf_size[1] - (at + 2 + size));
        c.leaf[1][at + 2 + size] = 0;
        c.leaf[1][at]++, c.leaf[1][at + 1]++;
        c.root[11] = (uint8_t)++c.leaf_size[1];
        taper_error error = {0};
        assert_int_equal(read_crafted(&c, &error), TAPER_ERR_CORRUPT);
        assert_non_null(
            strstr(error.text, part ? "bytes follow its names" : "bytes follow its directory"));
    }
}

/* Roots and leaves that end early, or go on. */
static void sizes_are_checked(void **unused) {
    (void)unused;
    for (int find = 0; find < 3; find++)
        for (int part = 0; part < 3; part++) {
            const size_t full = part ? legal(find).leaf_size[part - 1] : legal(find).root_size;
            for (size_t size = 0; size < full + 2; size++) {
                crafted c = legal(find);
                if (size == full) continue;
                if (part) {
                    c.leaf_size[part - 1] = size;
                    c.root[9 + part] = (uint8_t)size;
                } else {
                    c.root_size = size;
                }
                assert_int_equal(read_crafted(&c, NULL), TAPER_ERR_CORRUPT);
            }
        }
    crafted c = legal(0);
    c.crc[1] = 1;
    taper_error error = {0};
    assert_int_equal(read_crafted(&c, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "leaf 1"));
}

static void sections_are_in_order(void **unused) {
    (void)unused;
    static const struct {
        const char *order;
        int find;
        taper_status want;
    } cases[] = {{"RML", 0, TAPER_OK},           {"RLM", 0, TAPER_ERR_CORRUPT},
                 {"R", 0, TAPER_ERR_CORRUPT},    {"LR", 0, TAPER_ERR_CORRUPT},
                 {"RLL", 0, TAPER_ERR_CORRUPT},  {"RLF", 1, TAPER_ERR_CORRUPT},
                 {"RL", 2, TAPER_ERR_CORRUPT},   {"RFL", 2, TAPER_ERR_CORRUPT},
                 {"RLFF", 2, TAPER_ERR_CORRUPT}, {"RLN", 1, TAPER_ERR_CORRUPT},
                 {"RNL", 0, TAPER_ERR_CORRUPT},  {"RLB", 0, TAPER_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crafted c = legal(cases[i].find);
        c.order = cases[i].order;
        if (read_crafted(&c, NULL) != cases[i].want) fail_msg("sections %s", cases[i].order);
    }
    const crafted c = legal(0); /* without the feature, leaves are of the future */
    formats_buffer file = build(&c, 0);
    assert_true(front_read(file.data, file.size, NULL, NULL) != TAPER_OK);
    formats_buffer_free(&file);
}

/* Entries of a page of names. */
static void pages_have_their_ranges(void **unused) {
    (void)unused;
    const crafted c = legal(2);
    formats_buffer file = build(&c, FORMATS_FEATURE_PAGED);
    formats_front shared;
    formats_root root;
    uint32_t *list, n, hash;
    assert_int_equal(formats_head_read(file.data, file.size, NULL, &shared, &root, NULL), TAPER_OK);
    hash = formats_root_hash(&root, "a");
    const uint8_t *page = file.data + root.pages_at;
    assert_int_equal(formats_name_page_find(&root, &shared, 0, page, hash, &list, &n, NULL),
                     TAPER_OK);
    assert_true(n == 1 && list[0] == 1);
    free(list);
    static const struct {
        uint8_t size, bytes[8];
        taper_status want;
    } cases[] = {{5, {2, 7, 0, 0, 1}, TAPER_OK},
                 {5, {2, 7, 0, 1, 1}, TAPER_ERR_CORRUPT},
                 {5, {2, 7, 0, 1, 0}, TAPER_ERR_CORRUPT},
                 {5, {2, 7, 1, 1, 0}, TAPER_OK},
                 {5, {2, 7, 1, 1, 2}, TAPER_ERR_CORRUPT},
                 {1, {0}, TAPER_ERR_CORRUPT},
                 {5, {3, 7, 1, 1, 0}, TAPER_ERR_CORRUPT},
                 {5, {1, 7, 1, 1, 0}, TAPER_ERR_CORRUPT},
                 {4, {1, 0xFF, 1, 0}, TAPER_OK},
                 {4, {1, 0x80, 2, 0}, TAPER_ERR_CORRUPT},
                 {6, {2, 0xFF, 1, 1, 0, 0}, TAPER_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[80];
        size_t size = 0;
        add_part(bytes, &size, cases[i].bytes, cases[i].size);
        root.page_at[1] = size;
        root.page_crc[0] = formats_crc32c(0, bytes, size);
        taper_error error = {0};
        const taper_status status =
            formats_name_page_find(&root, &shared, 0, bytes, 7, &list, &n, &error);
        if (status != cases[i].want) fail_msg("page %zu: %d", i, status);
        if (status != TAPER_OK) assert_non_null(strstr(error.text, "page 0 of the names"));
        assert_int_equal(n > 0, list != NULL);
        free(list);
        bytes[size] = 0; /* a byte behind the part */
        root.page_at[1] = size + 1, root.page_crc[0] = formats_crc32c(0, bytes, size + 1);
        assert_int_equal(formats_name_page_find(&root, &shared, 0, bytes, 7, &list, &n, NULL),
                         TAPER_ERR_CORRUPT);
        root.page_at[1] = size, root.page_crc[0] = formats_crc32c(0, bytes, size);
        bytes[size - 1] ^= 1;
        assert_int_equal(formats_name_page_find(&root, &shared, 0, bytes, 7, &list, &n, NULL),
                         TAPER_ERR_CORRUPT);
    }
    formats_front_free(&shared), formats_root_free(&root);
    formats_buffer_free(&file);
}

/* Separators of three leaves: the second is above the first. */
static void separators_ascend(void **unused) {
    (void)unused;
    static const uint8_t root[] = {3, 1, 0, 3, 0, 3, 1, 1, 1, 1, 1, 1,   9,   9, 9, 0,   0, 0,
                                   0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 'b', 'c', 0, 1, 'd', 0};
    enum { SHARED = 32, SECOND = 33 };
    static const struct {
        uint8_t shared, second;
        taper_status want;
    } cases[] = {{1, 'd', TAPER_OK},          {1, 'c', TAPER_ERR_CORRUPT},
                 {1, 'b', TAPER_ERR_CORRUPT}, {2, 1, TAPER_OK},
                 {0, 'c', TAPER_OK},          {0, 'b', TAPER_ERR_CORRUPT},
                 {3, 'd', TAPER_ERR_CORRUPT}, {1, 0, TAPER_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[sizeof root];
        formats_root r = {0};
        formats_front f = {.images = 3, .groups = 3, .layers = 1, .rate_classes = 1};
        memcpy(bytes, root, sizeof root);
        bytes[SHARED] = cases[i].shared, bytes[SECOND] = cases[i].second;
        formats_cursor in = formats_cursor_over(bytes, sizeof bytes);
        taper_error error = {0};
        const taper_status status = formats_root_read(&r, &f, &in, &error);
        if (status != cases[i].want) fail_msg("case %zu: %d %s", i, status, error.text);
        if (status == TAPER_OK) { /* a name that is a separator is not in the leaf before */
            assert_int_equal(formats_root_leaf_of_name(&r, "bc"), 1);
            assert_int_equal(formats_root_leaf_of_name(&r, "bb"), 0);
            assert_int_equal(formats_root_leaf_of_name(&r, r.separators + r.separator_at[2]), 2);
        }
        formats_root_free(&r), formats_front_free(&f);
    }
}

/* Roots of two leaves of one layer, whose counts do not fit the header's. */
static void counts_fit_the_header(void **unused) {
    (void)unused;
    static const struct {
        uint32_t images, groups; /* of the header */
        uint8_t of_images[2], of_groups[2], labels;
        taper_status want;
    } cases[] = {
        {4, 3, {3, 1}, {2, 1}, 0, TAPER_OK},          {4, 3, {3, 1}, {2, 1}, 1, TAPER_OK},
        {4, 3, {3, 1}, {2, 1}, 2, TAPER_ERR_CORRUPT}, {4, 3, {3, 1}, {3, 0}, 0, TAPER_ERR_CORRUPT},
        {4, 3, {3, 1}, {1, 2}, 0, TAPER_ERR_CORRUPT}, {4, 4, {0, 4}, {0, 4}, 0, TAPER_ERR_CORRUPT},
        {5, 3, {3, 1}, {2, 1}, 0, TAPER_ERR_CORRUPT}, {4, 4, {3, 1}, {2, 1}, 0, TAPER_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[32] = {3, 1, 0, 3, cases[i].labels};
        size_t n = 5 + (cases[i].labels > 0); /* no classes */
        formats_root r = {0};
        formats_front f = {
            .images = cases[i].images, .groups = cases[i].groups, .layers = 1, .rate_classes = 1};
        bytes[n++] = 2;
        memcpy(bytes + n, cases[i].of_images, 2), memcpy(bytes + n + 2, cases[i].of_groups, 2);
        bytes[n + 4] = bytes[n + 5] = 9;
        formats_cursor in = formats_cursor_over(bytes, n + 6 + 8 + 1);
        const taper_status status = formats_root_read(&r, &f, &in, NULL);
        if (status != cases[i].want) fail_msg("case %zu: %d", i, status);
        if (status == TAPER_OK) assert_int_equal(formats_cursor_left(&in), 0);
        formats_root_free(&r), formats_front_free(&f);
    }
}

/* Memory for chunks is not taken on the word of a header: leaves of 20 bytes have not many. */
static void few_bytes_have_few_chunks(void **unused) {
    (void)unused;
    formats_leaf leaf[] = {{0, 0, 0, 0}, {1000, 1000, 20, 0}, {2000, 2000, 40, 0}};
    const formats_root root = {.leaves = 2, .leaf = leaf};
    const uint8_t bytes[40] = {0};
    const taper_limits limits = {.size = sizeof(taper_limits), .max_memory = 1 << 17};
    formats_front f = {.images = 2000,
                       .groups = 2000,
                       .layers = 4000,
                       .rate_classes = 1,
                       .chunks_per_checksum = 1,
                       .account = formats_account_within(&limits)};
    assert_int_equal(formats_paging_join(&root, &f, bytes, &limits, NULL), TAPER_ERR_CORRUPT);
    formats_front_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_have_their_ranges), cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(parts_are_filled),         cmocka_unit_test(separators_ascend),
        cmocka_unit_test(counts_fit_the_header),    cmocka_unit_test(few_bytes_have_few_chunks),
        cmocka_unit_test(sections_are_in_order),    cmocka_unit_test(pages_have_their_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
