/* test_teaching_index.c -- the library, formats/teaching_index.py and SPEC.md, section 15, agree:
 * on the bytes of the example, on what is found in indexes, on which bytes are one. */
#include "cmocka_all.h"
#include "infos.h"
#include "scratch.h"
#include "codec/taper_index.h"
#include "formats/bytes.h"
#include "formats/index_file.h"
#include <stdarg.h>

enum { MOST_TEXT = 1 << 16, MOST_CODES = 400, NAME = 24 };
enum { BITS_AT = 16, NAMES_SIZE_AT = 40, LABELS_SIZE_AT = 48 }; /* in the header */

/* A made index: its bytes, in memory and in a file, opened. */
typedef struct made_index {
    formats_buffer bytes;
    taper_index *index;
    taper_index_info info;
    char path[SCRATCH_PATH];
} made_index;

typedef struct fixture {
    char folder[SCRATCH_PATH];
    uint64_t random;
    char said[MOST_TEXT], expected[MOST_TEXT]; /* by Python; by the library */
} fixture;

static int make_fixture(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->random = 1;
    scratch_make(f->folder);
    *state = f;
    return 0;
}

static int end_fixture(void **state) {
    fixture *f = *state;
    scratch_remove(f->folder);
    free(f);
    return 0;
}

static uint32_t below(fixture *f, uint32_t n) {
    f->random = f->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((f->random >> 33) % n);
}

static void need_python(void) {
    if (!system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null")) return;
    print_message("SKIP no python3 here, or one before 3.8\n");
    skip();
}

/* Standard output of a command, as text; returns its exit code. */
static int run(fixture *f, const char *format, ...) {
    char command[3 * SCRATCH_PATH + MOST_TEXT / 2];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_true(n > 0 && n < (int)sizeof command);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    const size_t got = fread(f->said, 1, MOST_TEXT - 1, from);
    f->said[got] = '\0';
    const int status = pclose(from);
    assert_true(status >= 0 && status % 256 == 0);
    return status / 256;
}

static void expect(fixture *f, const char *format, ...) {
    const size_t held = strlen(f->expected);
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(f->expected + held, MOST_TEXT - held, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && (size_t)n < MOST_TEXT - held);
}

/* --- indexes ---------------------------------------------------------------------------- */

static taper_status append(void *buffer, const void *bytes, size_t n) {
    return formats_write_bytes(buffer, bytes, n);
}

static taper_sink sink_of(made_index *m) {
    m->bytes = formats_buffer_make(FORMATS_MOST_BYTES);
    return (taper_sink){&m->bytes, append};
}

static void open_made(fixture *f, made_index *m, const char *name) {
    scratch_write(f->folder, name, m->bytes.data, m->bytes.size);
    scratch_join(m->path, f->folder, name);
    assert_int_equal(taper_index_open(&m->index, m->bytes.data, m->bytes.size, NULL, NULL),
                     TAPER_OK);
    assert_int_equal(taper_index_check(m->index, NULL), TAPER_OK);
    m->info = info_of_index(m->index);
}

static void close_made(made_index *m) {
    taper_index_close(m->index);
    formats_buffer_free(&m->bytes);
}

/* Codes around a few of which they are noisy copies; some are the same. */
static uint64_t *draw_codes(fixture *f, size_t n, uint32_t bits) {
    const size_t words = (bits + 63) / 64;
    uint64_t *codes = calloc(n * words, sizeof *codes);
    assert_non_null(codes);
    for (size_t i = 0; i < n; i++) {
        uint64_t *code = codes + i * words;
        if (i > 6) memcpy(code, codes + below(f, (uint32_t)i) * words, words * sizeof *code);
        if (i % 5 == 4) continue;
        for (uint32_t j = 0; j < bits; j++)
            if (!below(f, i > 6 ? 16 : 2)) code[j / 64] ^= (uint64_t)1 << (63 - j % 64);
    }
    return codes;
}

typedef struct recipe {
    size_t n;
    uint32_t bits;
    int falls, has_names, has_labels;
    const char *prefix; /* of names */
    int is_part;        /* the second of three of a set of three times n, and two more */
} recipe;

static void make(fixture *f, made_index *m, const recipe *r, const char *file) {
    static const char *const classes[] = {"cat", "", "dog"};
    static char text[MOST_CODES][NAME];
    const char *names[MOST_CODES];
    int32_t labels[MOST_CODES];
    uint16_t weights[11];
    uint64_t *codes = draw_codes(f, r->n, r->bits);
    assert_true(r->n <= MOST_CODES);
    for (size_t i = 0; i < r->n; i++) {
        snprintf(text[i], NAME, "%s/%zu.png", r->prefix, i);
        names[i] = text[i];
        labels[i] = (int32_t)below(f, 4) - 1;
    }
    const taper_part part = {sizeof part, 3, 1, 3 * r->n + 2, 1, 5, 6, 7};
    for (int l = 0; l < 11; l++) weights[l] = (uint16_t)(65535 >> l);
    const taper_index_set set = {.size = sizeof(taper_index_set),
                                 .codes = codes,
                                 .n = r->n,
                                 .bits = r->bits,
                                 .model_id = 0xFEDCBA9876543210u,
                                 .weights = r->falls ? weights : NULL,
                                 .names = r->has_names ? names : NULL,
                                 .labels = r->has_labels ? labels : NULL,
                                 .class_names = classes,
                                 .classes = 3,
                                 .part = r->is_part ? &part : NULL};
    const taper_sink sink = sink_of(m);
    assert_int_equal(taper_index_build(&set, 1, &sink, NULL), TAPER_OK);
    free(codes);
    open_made(f, m, file);
}

/* --- what is found ---------------------------------------------------------------------- */

/* A query near one of the codes; its first digits, and how many bits these tell. */
static uint32_t draw_query(fixture *f, const made_index *m, uint64_t *query, char *digits) {
    const uint32_t bits = m->info.bits, most = (bits + 3) / 4;
    const uint32_t n = below(f, 2) ? most : 1 + below(f, most);
    taper_index_code(m->index, below(f, (uint32_t)m->info.images), query);
    for (uint32_t flips = below(f, 4); flips; flips--) {
        const uint32_t j = below(f, bits);
        query[j / 64] ^= (uint64_t)1 << (63 - j % 64);
    }
    for (uint32_t d = 0; d < n; d++)
        digits[d] = "0123456789abcdef"[query[d / 16] >> (60 - 4 * (d % 16)) & 15];
    digits[n] = '\0';
    return 4 * n < bits ? 4 * n : bits;
}

static void compare_search(fixture *f, const made_index *m, const uint64_t *query,
                           const char *digits, uint32_t known) {
    uint32_t images[MOST_CODES], distances[MOST_CODES];
    const uint32_t k = 1 + below(f, (uint32_t)m->info.images);
    const taper_index_search search = {.size = sizeof(taper_index_search),
                                       .queries = query,
                                       .n_queries = 1,
                                       .known_bits = &known,
                                       .k = k,
                                       .recall = 1,
                                       .threads = 1};
    assert_int_equal(taper_index_nearest(m->index, &search, images, distances, NULL, NULL),
                     TAPER_OK);
    f->expected[0] = '\0';
    for (uint32_t i = 0; i < k; i++) {
        const char *name = taper_index_name(m->index, images[i]);
        expect(f, "%u\t%u%s%s\n", images[i], distances[i], name ? "\t" : "", name ? name : "");
    }
    assert_int_equal(
        run(f, "python3 -B formats/teaching_index.py '%s' search %s %u", m->path, digits, k), 0);
    assert_string_equal(f->said, f->expected);
}

static void compare_neighbourhood(fixture *f, const made_index *m, const uint64_t *query,
                                  const char *digits, uint32_t known) {
    const uint32_t images = (uint32_t)m->info.images;
    const uint32_t least = 1 + below(f, 1 + below(f, images));
    taper_index_range range = {.size = sizeof(taper_index_range)};
    assert_int_equal(taper_index_neighbourhood(m->index, query, known, least, &range, NULL),
                     TAPER_OK);
    f->expected[0] = '\0';
    expect(f, "depth %u first %u size %u\n", range.depth, (unsigned)range.first,
           (unsigned)range.count);
    assert_int_equal(run(f, "python3 -B formats/teaching_index.py '%s' neighbourhood %s %u",
                         m->path, digits, least),
                     0);
    assert_string_equal(f->said, f->expected);
}

static void compare_info(fixture *f, const made_index *m) {
    f->expected[0] = '\0';
    expect(f, "index of %u images, %u bits each, model %016llx\n", (unsigned)m->info.images,
           m->info.bits, (unsigned long long)m->info.model_id);
    expect(f, "names: %s, labels: %s", m->info.has_names ? "yes" : "no",
           m->info.has_labels ? "of " : "no\n");
    if (m->info.has_labels) expect(f, "%u classes\n", m->info.classes);
    assert_int_equal(
        run(f, "python3 -B formats/teaching_index.py '%s' info | sed -n '1p;$p'", m->path), 0);
    assert_string_equal(f->said, f->expected);
}

static void compare(fixture *f, const made_index *m, int queries) {
    uint64_t query[1024];
    char digits[1 << 14 | 1];
    compare_info(f, m);
    for (int i = 0; i < queries; i++) {
        const uint32_t known = draw_query(f, m, query, digits);
        compare_search(f, m, query, digits, known);
        compare_neighbourhood(f, m, query, digits, known);
    }
}

static void both_find_the_same(void **state) {
    static const recipe recipes[] = {{1, 1, 0, 0, 0, "a", 0},     {3, 8, 0, 1, 0, "a", 0},
                                     {200, 7, 0, 0, 1, "a", 0},   {300, 64, 1, 1, 1, "a", 0},
                                     {300, 65, 1, 0, 0, "a", 0},  {400, 100, 0, 1, 0, "a", 0},
                                     {100, 320, 1, 0, 1, "a", 0}, {60, 1024, 1, 1, 1, "a", 0}};
    need_python();
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        made_index made;
        make(*state, &made, &recipes[i], "made.tpx");
        compare(*state, &made, 2);
        close_made(&made);
    }
}

static void both_read_joined_ones(void **state) {
    need_python();
    made_index a, b, joined;
    make(*state, &a, &(recipe){150, 130, 1, 1, 1, "a", 0}, "a.tpx");
    make(*state, &b, &(recipe){90, 130, 1, 1, 0, "b", 0}, "b.tpx");
    const taper_index *const from[] = {a.index, b.index};
    const taper_sink sink = sink_of(&joined);
    assert_int_equal(taper_index_merge(from, 2, &sink, NULL), TAPER_OK);
    open_made(*state, &joined, "joined.tpx");
    assert_int_equal(joined.info.images, 240);
    compare(*state, &joined, 3);
    close_made(&joined);
    close_made(&b);
    close_made(&a);
}

/* --- the example of SPEC.md ------------------------------------------------------------- */

static void the_example_is_what_is_built(void **state) {
    fixture *f = *state;
    static const uint64_t codes[] = {(uint64_t)0xB2 << 56, (uint64_t)0x2D << 56,
                                     (uint64_t)0xB6 << 56};
    static const char *const names[] = {"a.png", "b.png", "c.png"};
    const taper_index_set set = {
        .size = sizeof(taper_index_set), .codes = codes, .n = 3, .bits = 8, .names = names};
    char path[SCRATCH_PATH];
    made_index m;
    need_python();
    const taper_sink sink = sink_of(&m);
    assert_int_equal(taper_index_build(&set, 1, &sink, NULL), TAPER_OK);
    assert_int_equal(run(f, "python3 tests/spec_examples.py . '%s'", f->folder), 0);
    FILE *file = fopen(scratch_join(path, f->folder, "smallest.tpx"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(f->said, 1, MOST_TEXT, file), m.bytes.size);
    fclose(file);
    assert_memory_equal(f->said, m.bytes.data, m.bytes.size);
    open_made(f, &m, "again.tpx");
    assert_int_equal(run(f, "python3 -B formats/teaching_index.py '%s' search b4", m.path), 0);
    assert_string_equal(f->said, "2\t1\tc.png\n0\t2\ta.png\n1\t4\tb.png\n");
    assert_int_equal(run(f, "python3 -B formats/teaching_index.py '%s' neighbourhood b4 2", m.path),
                     0);
    assert_string_equal(f->said, "depth 5 first 1 size 2\n");
    close_made(&m);
}

/* --- damage ----------------------------------------------------------------------------- */

/* A letter for each of many files: legal, incomplete, corrupt. */
static const char judge[] = "python3 -B -c '\n"
                            "import sys\n"
                            "sys.path.insert(0, \"formats\")\n"
                            "import teaching_index as t\n"
                            "all, size = open(sys.argv[1], \"rb\").read(), int(sys.argv[2])\n"
                            "said, at = \"\", 0\n"
                            "while at < len(all):\n"
                            "    n = int.from_bytes(all[at:at + 4], \"little\")\n"
                            "    try:\n"
                            "        t.Index(all[at + 4:at + 4 + n])\n"
                            "        said += \"l\"\n"
                            "    except t.Incomplete: said += \"i\"\n"
                            "    except t.Illegal: said += \"c\"\n"
                            "    at += 4 + size\n"
                            "print(said)' '%s' %u";

static char letter_of(const uint8_t *bytes, size_t n) {
    taper_index *index;
    taper_status status = taper_index_open(&index, bytes, n, NULL, NULL);
    if (!status) status = taper_index_check(index, NULL);
    taper_index_close(index);
    return status == TAPER_OK ? 'l' : status == TAPER_ERR_TRUNCATED ? 'i' : 'c';
}

/* One more file of n bytes, in the row of those to be judged. */
static void add_file(fixture *f, formats_buffer *all, const uint8_t *bytes, size_t n, size_t size) {
    static const uint8_t zeros[4096];
    expect(f, "%c", letter_of(bytes, n));
    formats_write_u32le(all, (uint32_t)n);
    formats_write_bytes(all, bytes, n);
    assert_true(size - n <= sizeof zeros);
    assert_int_equal(formats_write_bytes(all, zeros, size - n), TAPER_OK);
}

static void ask_python(fixture *f, formats_buffer *all, size_t size) {
    char path[SCRATCH_PATH];
    scratch_write(f->folder, "all", all->data, all->size);
    formats_buffer_free(all);
    expect(f, "\n");
    assert_int_equal(run(f, judge, scratch_join(path, f->folder, "all"), (unsigned)size), 0);
}

static void refuse_the_same(fixture *f, int is_part) {
    made_index m;
    need_python();
    make(f, &m, &(recipe){4, 70, 1, 1, 1, "a", is_part}, "small.tpx");
    assert_int_equal(formats_write_u8(&m.bytes, 0), TAPER_OK); /* one too many */
    const size_t most = m.bytes.size, size = most - 1;
    formats_buffer all = formats_buffer_make(FORMATS_MOST_BYTES);
    f->expected[0] = '\0';
    for (size_t n = 0; n <= most; n++) add_file(f, &all, m.bytes.data, n, most);
    for (size_t at = 0; at < size; at++) {
        const uint8_t bit = (uint8_t)(1 << below(f, 8));
        m.bytes.data[at] ^= bit;
        add_file(f, &all, m.bytes.data, size, most);
        m.bytes.data[at] ^= bit;
    }
    ask_python(f, &all, most);
    assert_int_equal(f->said[size], 'l');
    assert_int_equal(f->said[most], 'c');
    assert_string_equal(f->said, f->expected);
    close_made(&m);
}

static void both_refuse_the_same(void **state) {
    for (int is_part = 0; is_part < 2; is_part++) refuse_the_same(*state, is_part);
}

/* Make all checksums hold again. */
static void mend(uint8_t *bytes, const formats_index_header *h) {
    uint8_t *sums = bytes + formats_index_offset(h, FORMATS_INDEX_PARTS);
    uint8_t *record = bytes + FORMATS_INDEX_PART_AT;
    formats_set_u32le(record, formats_crc32c(0, record + 4, FORMATS_INDEX_PART_BYTES - 4));
    formats_set_u32le(bytes + 12, 0);
    formats_set_u32le(bytes + 12, formats_crc32c(0, bytes, FORMATS_INDEX_HEADER));
    for (unsigned part = 0; part < FORMATS_INDEX_PARTS; part++)
        formats_set_u32le(sums + 4 * part, formats_crc32c(0, bytes + formats_index_offset(h, part),
                                                          (size_t)formats_index_size(h, part)));
    formats_set_u32le(sums + 4 * FORMATS_INDEX_PARTS,
                      formats_crc32c(0, sums, 4 * FORMATS_INDEX_PARTS));
}

/* Numbers that are wrong where checksums hold. The library does not look at all of them: whether
 * the table is that of the codes, whether an image comes twice, and whether bits are 0 behind a
 * code's last, of which there are more where the header says fewer are the code's. */
static void what_the_library_refuses_is_illegal(void **state) {
    fixture *f = *state;
    made_index m;
    need_python();
    make(f, &m, &(recipe){4, 70, 0, 1, 1, "a", 1}, "small.tpx");
    const formats_index_header h = {70,
                                    0,
                                    4,
                                    m.info.model_id,
                                    formats_get_u64le(m.bytes.data + NAMES_SIZE_AT),
                                    formats_get_u64le(m.bytes.data + LABELS_SIZE_AT)};
    const size_t size = m.bytes.size, front = (size_t)formats_index_offset(&h, FORMATS_INDEX_START);
    const size_t back = (size_t)formats_index_offset(&h, FORMATS_INDEX_NAMES);
    assert_int_equal(formats_index_file_size(&h), size);
    const uint8_t whole = m.bytes.data[BITS_AT];
    uint8_t *changed = malloc(size);
    assert_non_null(changed);
    formats_buffer all = formats_buffer_make(FORMATS_MOST_BYTES);
    f->expected[0] = '\0';
    for (size_t i = 0; i < 2 * size; i++) { /* a bit flipped, then a byte 0 */
        const size_t at = i % size;
        memcpy(changed, m.bytes.data, size);
        changed[at] = i < size ? (uint8_t)(changed[at] ^ 1 << below(f, 8)) : 0;
        if (at == BITS_AT) changed[at] = (uint8_t)(whole - 1);
        mend(changed, &h);
        add_file(f, &all, changed, size, size);
    }
    ask_python(f, &all, size);
    for (size_t i = 0; i < 2 * size; i++) {
        const size_t at = i % size;
        const int python = f->said[i] == 'l', library = f->expected[i] == 'l';
        if (python != library && !(library && ((at >= front && at < back) || at == BITS_AT)))
            fail_msg("byte %zu: python says %c, the library %c", at, f->said[i], f->expected[i]);
    }
    free(changed);
    close_made(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_example_is_what_is_built, make_fixture, end_fixture),
        cmocka_unit_test_setup_teardown(both_find_the_same, make_fixture, end_fixture),
        cmocka_unit_test_setup_teardown(both_read_joined_ones, make_fixture, end_fixture),
        cmocka_unit_test_setup_teardown(both_refuse_the_same, make_fixture, end_fixture),
        cmocka_unit_test_setup_teardown(what_the_library_refuses_is_illegal, make_fixture,
                                        end_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
