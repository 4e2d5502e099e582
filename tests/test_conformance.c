/* test_conformance.c -- the library on the conformance corpus: every line of its manifest, from a
 * source and pushed. */
#include "cmocka_all.h"
#include "conformance/decode_prefix.h"

#define FOLDER "tests/conformance/files/"
enum { MOST_WORDS = 8 + MOST_PICTURES };

typedef struct line {
    char text[1000];
    const char *word[MOST_WORDS]; /* file, model, bytes, outcome, levels, pixels .. */
    int words;
} line;

static formats_buffer read_file(const char *name) {
    char path[400];
    snprintf(path, sizeof path, FOLDER "%s", name);
    formats_buffer b = formats_buffer_make(1 << 24);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is missing", path);
    for (int c; (c = fgetc(file)) != EOF;) assert_int_equal(formats_write_u8(&b, (uint8_t)c), 0);
    fclose(file);
    return b;
}

static void split(line *l) {
    l->words = 0;
    for (char *at = l->text; *at && l->words < MOST_WORDS;) {
        l->word[l->words++] = at;
        at += strcspn(at, " \n");
        if (*at) *at++ = 0;
    }
}

static int ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static int sample_at(const uint8_t *bytes, size_t at, int deep) {
    return deep ? bytes[at] << 8 | bytes[at + 1] : bytes[at];
}

/* All samples within a level of 8 bits. */
static void check_near(const line *l, const prefix_result *r, const uint8_t *expected) {
    size_t at = 0;
    for (uint32_t i = 0; i < r->pictures; i++) {
        int deep = r->depth[i] == 16;
        for (; at < r->end[i]; at += deep ? 2 : 1) {
            int a = sample_at(r->samples.data, at, deep), b = sample_at(expected, at, deep);
            if (!(abs(a - b) <= (deep ? 257 : 1)))
                fail_msg("%s, %s bytes: a sample of image %u is %d, not %d", l->word[0], l->word[2],
                         i + 1, a, b);
        }
    }
}

static void check_result(const line *l, const prefix_result *r, const formats_buffer *samples,
                         int with_levels) {
    char sum[20];
    if (strcmp(r->outcome, l->word[3]))
        fail_msg("%s, %s bytes: %s, not %s", l->word[0], l->word[2], r->outcome, l->word[3]);
    if (!r->pictures) {
        assert_int_equal(l->words, 4);
        return;
    }
    snprintf(sum, sizeof sum, "%08x", r->levels);
    if (with_levels && strcmp(sum, l->word[4]))
        fail_msg("%s, %s bytes: levels are not as they were", l->word[0], l->word[2]);
    if (l->word[5][0] == '~') {
        size_t at = strtoul(l->word[5] + 1, NULL, 10);
        assert_true(at + r->samples.size <= samples->size);
        check_near(l, r, samples->data + at);
        return;
    }
    assert_int_equal(l->words, 5 + (int)r->pictures);
    for (uint32_t i = 0; i < r->pictures; i++) {
        snprintf(sum, sizeof sum, "%08x", r->pixels[i]);
        if (strcmp(sum, l->word[5 + i]))
            fail_msg("%s, %s bytes: pixels of image %u are not as they were", l->word[0],
                     l->word[2], i + 1);
    }
}

static taper_model *load(const char *name) {
    taper_model *model = NULL;
    if (!strcmp(name, "-")) return NULL;
    formats_buffer file = read_file(name);
    assert_int_equal(taper_model_load(&model, file.data, file.size, NULL, NULL), TAPER_OK);
    formats_buffer_free(&file);
    return model;
}

static void check_container(const line *l, const formats_buffer *file, size_t bytes,
                            const formats_buffer *samples) {
    taper_model *model = load(l->word[1]);
    prefix_result r = decode_prefix(file->data, bytes, model);
    check_result(l, &r, samples, 1);
    formats_buffer_free(&r.samples);
    if (strcmp(l->word[0], "trailing.taper")) /* to push what follows the end is an error */
        for (size_t step = 1; step <= 100; step += 99) {
            r = push_prefix(file->data, bytes, step, model);
            check_result(l, &r, samples, 0);
            formats_buffer_free(&r.samples);
        }
    taper_model_free(model);
}

static void every_line_is_as_it_was(void **unused) {
    (void)unused;
    static line l;
    FILE *manifest = fopen(FOLDER "manifest", "r");
    formats_buffer samples = read_file("samples");
    int lines = 0;
    assert_non_null(manifest);
    while (fgets(l.text, sizeof l.text, manifest)) {
        if (l.text[0] == '#') continue;
        split(&l);
        assert_true(l.words >= 4);
        formats_buffer file = read_file(l.word[0]);
        size_t bytes = strtoul(l.word[2], NULL, 10);
        assert_true(bytes <= file.size);
        if (ends_with(l.word[0], ".tpm"))
            assert_string_equal(model_outcome(file.data, bytes), l.word[3]);
        else
            check_container(&l, &file, bytes, &samples);
        formats_buffer_free(&file);
        lines++;
    }
    assert_true(lines > 400);
    fclose(manifest);
    formats_buffer_free(&samples);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_line_is_as_it_was)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
