/* test_index_damage.c -- damaged, cut and illegal index files: each is refused, with the status
 * that says what to do, by opening, or by reading the codes, too; nothing is read beyond the bytes
 * (sanitizer build). */
#include "codec/taper_index.h"
#include "cmocka_all.h"
#include "tiny_index.h"

enum { N = 5, BITS = 130, VERSION_AT = 8, BITS_AT = 16, TABLE_BITS_AT = 20, CODES_AT = 24 };
enum { NAMES_SIZE_AT = 40, LABELS_SIZE_AT = 48, RESERVED_AT = 56 };

/* A small file, and what is changed of it. */
typedef struct fixture {
    formats_buffer whole;
    formats_index_header header;
    uint8_t *changed;
} fixture;

static int make(void **state) {
    static fixture f;
    tiny_set t;
    bits_begin(state);
    tiny_draw(&t, BITS_EVEN, N, BITS, TINY_ALL, "a");
    memcpy(t.codes + 3, t.codes, 3 * sizeof *t.codes); /* two that are equal */
    f.whole = tiny_build(&t.set, 1);
    taper_index *index = tiny_open(&f.whole);
    f.header = index->file.header;
    taper_index_close(index);
    f.changed = malloc(f.whole.size);
    assert_non_null(f.changed);
    tiny_drop(&t);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    formats_buffer_free(&f->whole);
    free(f->changed);
    return 0;
}

/* What opening says of these bytes, and, if it is OK, what checking does (in *checked). Whatever is
 * refused is refused with a text. */
static taper_status open_status(const void *bytes, size_t n, const taper_limits *limits,
                                taper_status *checked) {
    taper_index *index;
    taper_error error = {0};
    const taper_status status = taper_index_open(&index, bytes, n, limits, &error);
    assert_int_equal(error.status, status);
    assert_int_equal(!status, index != NULL);
    assert_true(!status || error.text[0]);
    if (checked) *checked = status ? status : taper_index_check(index, &error);
    assert_true(!checked || !*checked || error.text[0]);
    taper_index_close(index);
    return status;
}

/* In memory of exactly so many bytes. */
static taper_status exact_status(const uint8_t *bytes, size_t n) {
    uint64_t *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    const taper_status status = open_status(copy, n, NULL, NULL);
    free(copy);
    return status;
}

static void restore(const fixture *f) { memcpy(f->changed, f->whole.data, f->whole.size); }

/* The part that a byte is of, or -1: padding, or -2: the header, the record of the part of a set or
 * the trailer. */
static int part_of(const fixture *f, size_t at) {
    if (at < FORMATS_INDEX_HEADER) return -2;
    if (at >= FORMATS_INDEX_PART_AT && at < FORMATS_INDEX_PART_AT + FORMATS_INDEX_PART_BYTES)
        return -2;
    if (at >= formats_index_offset(&f->header, FORMATS_INDEX_PARTS)) return -2;
    for (unsigned part = 0; part < FORMATS_INDEX_PARTS; part++) {
        const uint64_t begin = formats_index_offset(&f->header, part);
        if (at >= begin && at - begin < formats_index_size(&f->header, part)) return (int)part;
    }
    return -1;
}

/* --- by chance -------------------------------------------------------------------------- */

/* Of codes when they are read; of padding never, as nobody looks at it. */
static void every_flip_is_found(void **state) {
    const fixture *f = *state;
    restore(f);
    for (size_t i = 0; i < 8 * f->whole.size; i++) {
        taper_status checked;
        f->changed[i / 8] ^= (uint8_t)(1 << i % 8);
        const taper_status opened = open_status(f->changed, f->whole.size, NULL, &checked);
        const int part = part_of(f, i / 8);
        f->changed[i / 8] ^= (uint8_t)(1 << i % 8);
        if (part == -1) {
            assert_int_equal(checked, TAPER_OK);
        } else if (part == FORMATS_INDEX_CODES) {
            assert_int_equal(opened, TAPER_OK);
            assert_int_equal(checked, TAPER_ERR_CORRUPT);
        } else if (i / 8 >= VERSION_AT && i / 8 < 12) {
            assert_true(opened == TAPER_ERR_VERSION || opened == TAPER_ERR_CORRUPT);
        } else {
            assert_int_equal(opened, TAPER_ERR_CORRUPT);
        }
    }
}

static void every_cut_is_found(void **state) {
    const fixture *f = *state;
    for (size_t n = 0; n < f->whole.size; n++)
        assert_int_equal(exact_status(f->whole.data, n),
                         n < 8 ? TAPER_ERR_CORRUPT : TAPER_ERR_TRUNCATED);
    assert_int_equal(exact_status(f->whole.data, f->whole.size), TAPER_OK);
}

static void bytes_that_follow_are_found(void **state) {
    const fixture *f = *state;
    for (size_t more = 1; more < 200; more += 7) {
        uint8_t *longer = calloc(1, f->whole.size + more);
        assert_non_null(longer);
        memcpy(longer, f->whole.data, f->whole.size);
        assert_int_equal(exact_status(longer, f->whole.size + more), TAPER_ERR_CORRUPT);
        free(longer);
    }
}

static void places_are_multiples_of_8(void **state) {
    const fixture *f = *state;
    uint8_t *room = malloc(f->whole.size + 8);
    assert_non_null(room);
    for (size_t by = 0; by <= 8; by++) {
        memcpy(room + by, f->whole.data, f->whole.size);
        assert_int_equal(open_status(room + by, f->whole.size, NULL, NULL),
                         by % 8 ? TAPER_ERR_ARG : TAPER_OK);
    }
    free(room);
    assert_int_equal(open_status(NULL, 0, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(open_status(NULL, f->whole.size, NULL, NULL), TAPER_ERR_ARG);
}

/* --- fields ----------------------------------------------------------------------------- */

/* The header's checksum holds. */
static void fields_out_of_range_are_found(void **state) {
    const fixture *f = *state;
    static const uint64_t size = FORMATS_INDEX_MOST_BITS; /* more than the file has */
    static const struct {
        size_t at, width;
        uint64_t value;
        taper_status status;
    } bad[] = {
        {0, 1, 'T', TAPER_ERR_CORRUPT},
        {VERSION_AT, 2, 0, TAPER_ERR_CORRUPT},
        {VERSION_AT, 2, 2, TAPER_ERR_VERSION},
        {VERSION_AT, 2, 0xFFFF, TAPER_ERR_VERSION},
        {VERSION_AT + 2, 2, 1, TAPER_ERR_VERSION},
        {VERSION_AT + 2, 2, 0x8000, TAPER_ERR_VERSION},
        {BITS_AT, 4, 0, TAPER_ERR_CORRUPT},
        {BITS_AT, 4, FORMATS_INDEX_MOST_BITS, TAPER_ERR_TRUNCATED},
        {BITS_AT, 4, FORMATS_INDEX_MOST_BITS + 1, TAPER_ERR_CORRUPT},
        {BITS_AT, 4, UINT32_MAX, TAPER_ERR_CORRUPT},
        {BITS_AT, 4, 64, TAPER_ERR_CORRUPT}, /* bytes follow the end */
        {TABLE_BITS_AT, 4, FORMATS_INDEX_MOST_TABLE_BITS, TAPER_ERR_TRUNCATED},
        {TABLE_BITS_AT, 4, FORMATS_INDEX_MOST_TABLE_BITS + 1, TAPER_ERR_CORRUPT},
        {TABLE_BITS_AT, 4, 64, TAPER_ERR_CORRUPT},
        {TABLE_BITS_AT, 4, UINT32_MAX, TAPER_ERR_CORRUPT},
        {CODES_AT, 8, 0, TAPER_ERR_CORRUPT},
        {CODES_AT, 8, N - 4, TAPER_ERR_CORRUPT},
        {CODES_AT, 8, 100, TAPER_ERR_TRUNCATED},
        {CODES_AT, 8, (1 << 26) - 1, TAPER_ERR_TRUNCATED},
        {CODES_AT, 8, 1 << 26, TAPER_ERR_LIMIT},
        {CODES_AT, 8, UINT32_MAX, TAPER_ERR_LIMIT},
        {CODES_AT, 8, (uint64_t)UINT32_MAX + 1, TAPER_ERR_CORRUPT},
        {CODES_AT, 8, UINT64_MAX, TAPER_ERR_CORRUPT},
        {NAMES_SIZE_AT, 8, size, TAPER_ERR_TRUNCATED},
        {NAMES_SIZE_AT, 8, UINT64_MAX, TAPER_ERR_TRUNCATED},
        {NAMES_SIZE_AT, 8, UINT64_MAX - 1000, TAPER_ERR_TRUNCATED},
        {NAMES_SIZE_AT, 8, 0, TAPER_ERR_CORRUPT},
        {LABELS_SIZE_AT, 8, size, TAPER_ERR_TRUNCATED},
        {LABELS_SIZE_AT, 8, UINT64_MAX, TAPER_ERR_TRUNCATED},
        {LABELS_SIZE_AT, 8, (uint64_t)1 << 63, TAPER_ERR_TRUNCATED},
        {LABELS_SIZE_AT, 8, 0, TAPER_ERR_CORRUPT},
        {RESERVED_AT, 8, 1, TAPER_ERR_CORRUPT},
        {RESERVED_AT, 8, (uint64_t)1 << 63, TAPER_ERR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        restore(f);
        for (size_t b = 0; b < bad[i].width; b++)
            f->changed[bad[i].at + b] = (uint8_t)(bad[i].value >> 8 * b);
        tiny_mend_header(f->changed);
        const taper_status status = exact_status(f->changed, f->whole.size);
        if (status != bad[i].status)
            fail_msg("%llu at %zu: %d, not %d", (unsigned long long)bad[i].value, bad[i].at,
                     (int)status, (int)bad[i].status);
    }
}

/* --- the part of a set ------------------------------------------------------------------ */

static uint8_t *put_record(const fixture *f, uint32_t parts, uint64_t both) {
    uint8_t *record = f->changed + FORMATS_INDEX_PART_AT;
    formats_set_u32le(record + 4, parts);
    formats_set_u64le(record + 8, both);
    formats_set_u32le(record, formats_crc32c(0, record + 4, FORMATS_INDEX_PART_BYTES - 4));
    return record;
}

static void parts_of_sets_have_their_ranges(void **state) {
    const fixture *f = *state;
    static const struct {
        uint32_t parts, part;
        uint64_t images;
        taper_status status;
    } cases[] = {
        {1, 0, N, TAPER_OK},
        {1, 0, N + 1, TAPER_OK}, /* one was left out */
        {1, 0, N - 1, TAPER_ERR_CORRUPT},
        {1, 0, 0, TAPER_ERR_CORRUPT},
        {1, 0, TAPER_MOST_SET, TAPER_OK},
        {1, 0, TAPER_MOST_SET + 1, TAPER_ERR_CORRUPT},
        {0, 0, N, TAPER_ERR_CORRUPT},
        {2, 1, 2 * N - 1, TAPER_OK},
        {2, 0, 2 * N - 1, TAPER_ERR_CORRUPT},
        {2, 2, 2 * N, TAPER_ERR_CORRUPT},
        {TAPER_MOST_PARTS, TAPER_MOST_PARTS - 1, TAPER_MOST_SET, TAPER_OK},
        {TAPER_MOST_PARTS + 1, 0, TAPER_MOST_SET, TAPER_ERR_CORRUPT},
        {UINT32_MAX, 0, TAPER_MOST_SET, TAPER_ERR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        restore(f);
        put_record(f, cases[i].parts, cases[i].images << 20 | cases[i].part);
        const taper_status status = exact_status(f->changed, f->whole.size);
        if (status != cases[i].status) fail_msg("case %zu: %d", i, (int)status);
    }
}

static void damaged_records_are_found(void **state) {
    const fixture *f = *state;
    taper_part part = {.size = sizeof part};
    taper_index *index;
    restore(f);
    uint8_t *record = put_record(f, 3, (uint64_t)(3 * N + 2) << 20 | 2);
    for (size_t i = 0; i < 8 * FORMATS_INDEX_PART_BYTES; i++) {
        record[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(exact_status(f->changed, f->whole.size), TAPER_ERR_CORRUPT);
        record[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    assert_int_equal(taper_index_open(&index, f->changed, f->whole.size, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_index_get_part(index, &part, NULL), TAPER_OK);
    assert_true(part.parts == 3 && part.part == 2 && part.images == 3 * N + 2);
    assert_int_equal(part.left_out, 1);
    taper_index_close(index);
    restore(f);
}

/* --- numbers ---------------------------------------------------------------------------- */

static uint8_t *entry(const fixture *f, unsigned part, size_t width, size_t i) {
    return f->changed + formats_index_offset(&f->header, part) + width * i;
}

/* All checksums hold; the first number of a part, and its last. */
static void check_number(const fixture *f, unsigned part, size_t width, const void *number,
                         taper_status status) {
    const size_t last = (size_t)formats_index_size(&f->header, part) / width - 1;
    for (size_t i = 0; i <= last; i += last) {
        taper_status checked;
        restore(f);
        memcpy(entry(f, part, width, i), number, width);
        tiny_mend(f->changed, &f->header);
        const taper_status got = open_status(f->changed, f->whole.size, NULL, &checked);
        if (got != status) fail_msg("part %u, number %zu: %d", part, i, (int)got);
        if (!status) assert_int_equal(checked, TAPER_OK);
    }
}

static void numbers_out_of_range_are_found(void **state) {
    const fixture *f = *state;
    const uint32_t n = N, beyond = N + 1, most = UINT32_MAX;
    static const float shares[] = {-1, -1e-30f, 1000001, INFINITY, -INFINITY, NAN};
    static const float recalls[] = {-1, -1e-30f, 1.0000001f, INFINITY, -INFINITY, NAN};
    static const float legal[] = {0, 1, 1e6f};
    check_number(f, FORMATS_INDEX_WEIGHTS, 2, &(uint16_t){0}, TAPER_ERR_CORRUPT);
    check_number(f, FORMATS_INDEX_WEIGHTS, 2, &(uint16_t){UINT16_MAX}, TAPER_OK);
    for (int i = 0; i < 6; i++) {
        check_number(f, FORMATS_INDEX_SHARES, 4, &shares[i], TAPER_ERR_CORRUPT);
        check_number(f, FORMATS_INDEX_RECALLS, 4, &recalls[i], TAPER_ERR_CORRUPT);
    }
    for (int i = 0; i < 3; i++) check_number(f, FORMATS_INDEX_SHARES, 4, &legal[i], TAPER_OK);
    for (int i = 0; i < 2; i++) check_number(f, FORMATS_INDEX_RECALLS, 4, &legal[i], TAPER_OK);
    check_number(f, FORMATS_INDEX_START, 4, &beyond, TAPER_ERR_CORRUPT);
    check_number(f, FORMATS_INDEX_START, 4, &most, TAPER_ERR_CORRUPT);
    check_number(f, FORMATS_INDEX_IMAGE, 4, &n, TAPER_ERR_CORRUPT);
    check_number(f, FORMATS_INDEX_IMAGE, 4, &most, TAPER_ERR_CORRUPT);
}

/* What only checking looks at. */
static void check_fault(const fixture *f, const char *words) {
    taper_index *index;
    taper_error error = {0};
    tiny_mend(f->changed, &f->header);
    assert_int_equal(taper_index_open(&index, f->changed, f->whole.size, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_index_check(index, &error), TAPER_ERR_CORRUPT);
    if (!strstr(error.text, words)) fail_msg("%s: %s", words, error.text);
    taper_index_close(index);
    restore(f);
}

static void swap(void *a, void *b, size_t n) {
    uint8_t other[16];
    memcpy(other, a, n), memcpy(a, b, n), memcpy(b, other, n);
}

static void codes_that_lie_are_found(void **state) {
    const fixture *f = *state;
    restore(f);
    swap(entry(f, FORMATS_INDEX_CODES, 8, 0), entry(f, FORMATS_INDEX_CODES, 8, N - 1), 8);
    check_fault(f, "order");
    entry(f, FORMATS_INDEX_CODES, 8, N * 3 - 1)[0] ^= 1; /* the last layer's last word */
    check_fault(f, "after its last");
    uint8_t *zero = entry(f, FORMATS_INDEX_IMAGE, 4, 0); /* equal codes, the greater image first */
    while (formats_get_u32le(zero)) zero += 4;
    swap(zero, zero + 4, 4);
    check_fault(f, "order");
    memcpy(zero + 4, zero, 4);
    check_fault(f, "two codes");
    formats_set_u32le(entry(f, FORMATS_INDEX_START, 4, 0), 1);
    check_fault(f, "table");
    formats_set_u32le(entry(f, FORMATS_INDEX_START, 4, 1), N - 1);
    check_fault(f, "table");
}

/* Of codes that are in no order a neighbourhood is one, or is refused. */
static void neighbourhoods_of_lies_are_told(void **state) {
    const fixture *f = *state;
    size_t refused = 0;
    for (size_t round = 0; round < 3000; round++) {
        taper_index *index;
        taper_index_range range = {.size = sizeof(taper_index_range)};
        taper_error error = {0};
        restore(f);
        for (size_t i = 0; i < N; i++) {
            uint8_t *a = entry(f, FORMATS_INDEX_CODES, 8, i);
            uint8_t *b = entry(f, FORMATS_INDEX_CODES, 8, bits_below(N));
            if (a != b) swap(a, b, 8);
        }
        tiny_mend(f->changed, &f->header);
        assert_int_equal(taper_index_open(&index, f->changed, f->whole.size, NULL, NULL), TAPER_OK);
        const uint64_t query[3] = {bits_word()}, least = 1 + bits_below(N);
        const taper_status status =
            taper_index_neighbourhood(index, query, BITS, least, &range, &error);
        if (status) {
            assert_true(status == TAPER_ERR_CORRUPT && strstr(error.text, "order"));
            refused++;
        } else {
            assert_true(range.count >= least && range.first + range.count <= N);
        }
        taper_index_close(index);
    }
    assert_true(refused > 0);
    restore(f);
}

/* Where one image has two codes, another has none: that is said, not searched for for ever. */
static void an_image_without_a_code_is_told(void **state) {
    const fixture *f = *state;
    uint64_t code[16];
    taper_index *index;
    taper_error error = {0};
    restore(f);
    uint8_t *first = entry(f, FORMATS_INDEX_IMAGE, 4, 0);
    const uint32_t lost = formats_get_u32le(first), kept = formats_get_u32le(first + 4);
    memcpy(first, first + 4, 4);
    tiny_mend(f->changed, &f->header);
    assert_int_equal(taper_index_open(&index, f->changed, f->whole.size, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_index_image_code(index, kept, code, &error), TAPER_OK);
    assert_int_equal(taper_index_image_code(index, lost, code, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "has no code of its image"));
    assert_int_equal(taper_index_image_code(index, N, code, &error), TAPER_ERR_ARG);
    assert_int_equal(taper_index_image_code(index, UINT64_MAX, code, &error), TAPER_ERR_ARG);
    taper_index_close(index);
    restore(f);
}

/* Names end where they should, and are paths; labels are classes. */
static void texts_that_are_illegal_are_found(void **state) {
    const fixture *f = *state;
    const size_t names = (size_t)f->header.names_size, labels = (size_t)f->header.labels_size;
    static const struct {
        unsigned part;
        int at; /* from the end where it is below 0 */
        uint8_t byte;
    } bad[] = {{FORMATS_INDEX_NAMES, 0, '/'},    {FORMATS_INDEX_NAMES, 0, 0},
               {FORMATS_INDEX_NAMES, 2, '\\'},   {FORMATS_INDEX_NAMES, 2, 0},
               {FORMATS_INDEX_NAMES, -1, 'x'},   {FORMATS_INDEX_NAMES, -2, 0},
               {FORMATS_INDEX_LABELS, 0, 2},     {FORMATS_INDEX_LABELS, 0, 4},
               {FORMATS_INDEX_LABELS, 0, 0x7F},  {FORMATS_INDEX_LABELS, -1, 4},
               {FORMATS_INDEX_LABELS, -1, 0x80}, {FORMATS_INDEX_LABELS, -2, 0x81}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const size_t size = bad[i].part == FORMATS_INDEX_NAMES ? names : labels;
        restore(f);
        entry(f, bad[i].part, 1, bad[i].at < 0 ? size - (size_t)-bad[i].at : (size_t)bad[i].at)[0] =
            bad[i].byte;
        tiny_mend(f->changed, &f->header);
        const taper_status status = open_status(f->changed, f->whole.size, NULL, NULL);
        if (status != TAPER_ERR_CORRUPT && status != TAPER_ERR_TRUNCATED)
            fail_msg("byte %d of part %u: %d", bad[i].at, bad[i].part, (int)status);
    }
}

/* --- limits ----------------------------------------------------------------------------- */

static void limits_hold(void **state) {
    const fixture *f = *state;
    taper_limits limits = {.size = sizeof(taper_limits), .max_images = N};
    assert_int_equal(open_status(f->whole.data, f->whole.size, &limits, NULL), TAPER_OK);
    limits.max_images--;
    assert_int_equal(open_status(f->whole.data, f->whole.size, &limits, NULL), TAPER_ERR_LIMIT);
    taper_status before = TAPER_ERR_LIMIT;
    for (uint64_t most = 1; most < 1000; most++) {
        const taper_limits memory = {.size = sizeof(taper_limits), .max_memory = most};
        const taper_status status = open_status(f->whole.data, f->whole.size, &memory, NULL);
        assert_true(status == before || (status == TAPER_OK && most > f->header.names_size));
        before = status;
    }
    assert_int_equal(before, TAPER_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flip_is_found),
        cmocka_unit_test(every_cut_is_found),
        cmocka_unit_test(bytes_that_follow_are_found),
        cmocka_unit_test(places_are_multiples_of_8),
        cmocka_unit_test(fields_out_of_range_are_found),
        cmocka_unit_test(parts_of_sets_have_their_ranges),
        cmocka_unit_test(damaged_records_are_found),
        cmocka_unit_test(numbers_out_of_range_are_found),
        cmocka_unit_test(codes_that_lie_are_found),
        cmocka_unit_test(neighbourhoods_of_lies_are_told),
        cmocka_unit_test(an_image_without_a_code_is_told),
        cmocka_unit_test(texts_that_are_illegal_are_found),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
