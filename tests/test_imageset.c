/* test_imageset.c -- sets from folders, lists, streams and multi-image files: order, names, labels,
 * bad inputs, loops of links. */
#include "cmocka_all.h"
#include "formats/images/cifar.h"
#include "formats/images/gzip.h"
#include "formats/images/idx.h"
#include "formats/imageset/image_names.h"
#include "formats/imageset/imageset.h"
#include "formats/images/png.h"
#include "formats/images/pnm.h"
#include "pictures.h"
#include "scratch.h"
#include <fcntl.h>
#include <pthread.h>

static char folder[SCRATCH_PATH];

static int make_folder(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

/* --- making inputs --- */

static void put_png(const char *name, unsigned seed) {
    taper_image image = picture_noise(5, 4, 3, 8, seed);
    uint8_t *bytes;
    size_t n;
    assert_int_equal(formats_png_encode(&image, &bytes, &n, NULL), TAPER_OK);
    scratch_write(folder, name, bytes, n);
    free(bytes);
    formats_image_free(&image);
}

static size_t pnm_bytes(uint8_t *to, unsigned seed) {
    taper_image image = picture_noise(5, 4, 3, 8, seed);
    uint8_t *bytes;
    size_t n;
    assert_int_equal(formats_pnm_encode(&image, &bytes, &n, NULL), TAPER_OK);
    memcpy(to, bytes, n);
    free(bytes);
    formats_image_free(&image);
    return n;
}

static void put_pnm(const char *name, unsigned seed) {
    uint8_t bytes[256];
    scratch_write(folder, name, bytes, pnm_bytes(bytes, seed));
}

static void put_idx(const char *name, unsigned seed, size_t count, int gzip) {
    taper_image images[16] = {{0}};
    uint8_t *bytes;
    size_t n;
    for (size_t i = 0; i < count; i++) images[i] = picture_noise(5, 4, 3, 8, seed + i);
    assert_int_equal(formats_idx_encode_images(images, count, gzip, &bytes, &n, NULL), TAPER_OK);
    scratch_write(folder, name, bytes, n);
    free(bytes);
    for (size_t i = 0; i < count; i++) formats_image_free(&images[i]);
}

static void put_cifar(const char *name, const uint8_t *labels, size_t count) {
    taper_image images[16] = {{0}};
    uint8_t *bytes;
    size_t n;
    for (size_t i = 0; i < count; i++) images[i] = picture_noise(32, 32, 3, 8, i + 1);
    assert_int_equal(formats_cifar_encode(images, labels, count, &bytes, &n, NULL), TAPER_OK);
    scratch_write(folder, name, bytes, n);
    free(bytes);
    for (size_t i = 0; i < count; i++) formats_image_free(&images[i]);
}

static void put_text(const char *name, const char *text) {
    scratch_write(folder, name, text, strlen(text));
}

/* --- opening --- */

typedef struct skips {
    int count, no_images, links, hidden; /* count: failures */
    char last_path[SCRATCH_PATH];
    taper_error last;
    char all[4096];
} skips;

static void on_skip(void *user, formats_skip what, const char *path, const taper_error *why) {
    skips *s = user;
    s->count += what == FORMATS_SKIP_FAILED;
    s->no_images += what == FORMATS_SKIP_NO_IMAGE;
    s->links += what == FORMATS_SKIP_LINK;
    s->hidden += what == FORMATS_SKIP_HIDDEN;
    snprintf(s->last_path, sizeof s->last_path, "%s", path);
    s->last = *why;
    assert_true(why->status != TAPER_OK && why->text[0]);
    size_t at = strlen(s->all);
    snprintf(s->all + at, sizeof s->all - at, "%s: %s\n", path, why->text);
}

static skips last_open; /* what the last must_open skipped */

/* Open names below the scratch folder; NULL-ended. "-" and absolute paths stand for themselves. */
static taper_status open_set(formats_imageset **set, const char *const *names,
                             const formats_imageset_options *options, skips *s,
                             taper_error *error) {
    static char paths[8][SCRATCH_PATH];
    const char *list[8];
    size_t n = 0;
    for (; names[n]; n++) {
        int as_is = names[n][0] == '/' || strcmp(names[n], "-") == 0;
        list[n] = as_is ? names[n] : scratch_join(paths[n], folder, names[n]);
    }
    if (s) *s = (skips){0};
    return formats_imageset_open(set, list, n, options, s ? on_skip : NULL, s, error);
}

static formats_imageset *must_open(const char *const *names,
                                   const formats_imageset_options *options, int skipped) {
    formats_imageset *set;
    skips s;
    taper_error error = {.status = TAPER_OK};
    if (open_set(&set, names, options, &s, &error) != TAPER_OK)
        fail_msg("%s\n%s", error.text, s.all);
    if (s.count != skipped) fail_msg("skipped %d:\n%s", s.count, s.all);
    last_open = s;
    return set;
}

static void assert_names(const formats_imageset *set, const char *const *names) {
    size_t n = 0;
    for (; names[n]; n++) {
        assert_true(n < formats_imageset_count(set));
        assert_string_equal(formats_imageset_name(set, n), names[n]);
    }
    assert_int_equal(formats_imageset_count(set), n);
}

static void assert_pixels(const formats_imageset *set, size_t i, unsigned seed) {
    taper_image expected = picture_noise(5, 4, 3, 8, seed), image;
    taper_error error;
    if (formats_imageset_read(set, i, &image, NULL, &error) != TAPER_OK)
        fail_msg("image %zu: %s", i, error.text);
    assert_true(image_equal(&expected, &image));
    formats_image_free(&expected);
    formats_image_free(&image);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* --- tests --- */

static void folders_are_read_in_byte_order(void **state) {
    (void)state;
    put_png("order/b/2.png", 1);
    put_png("order/b/10.png", 2);
    put_png("order/a-b/1.png", 3);
    put_pnm("order/a/x/deep.ppm", 4);
    put_png("order/.hidden.png", 5);
    put_png("order/.git/x.png", 6);
    put_png("order/Z.png", 7);
    formats_imageset *set = must_open(NAMES("order"), NULL, 0);
    assert_names(set, NAMES("Z.png", "a-b/1.png", "a/x/deep.ppm", "b/10.png", "b/2.png"));
    assert_pixels(set, 0, 7);
    assert_pixels(set, 2, 4);
    assert_pixels(set, 3, 2);
    assert_non_null(strstr(formats_imageset_path(set, 2), "order/a/x/deep.ppm"));
    /* classes are the first folders; what lies outside has none */
    assert_int_equal(formats_imageset_class_count(set), 3);
    assert_string_equal(formats_imageset_class_name(set, 0), "a");
    assert_string_equal(formats_imageset_class_name(set, 1), "a-b");
    static const int32_t labels[] = {-1, 1, 0, 2, 2};
    for (size_t i = 0; i < 5; i++) assert_int_equal(formats_imageset_label(set, i), labels[i]);
    taper_image image;
    assert_int_equal(formats_imageset_read(set, 5, &image, NULL, NULL), TAPER_ERR_ARG);
    assert_null(image.pixels);
    formats_imageset_close(set);
    formats_imageset_close(NULL);
    put_png("single/only/1.png", 1);
    set = must_open(NAMES("single"), NULL, 0); /* one class is none */
    assert_int_equal(formats_imageset_class_count(set), 0);
    assert_int_equal(formats_imageset_label(set, 0), -1);
    formats_imageset_close(set);
}

static void names_are_unique_and_safe(void **state) {
    (void)state;
    put_png("names/a.png", 1);
    put_pnm("names/a.ppm", 2);
    put_pnm("names/a", 3);
    put_png("names/a-2.png", 4);
    put_png("names/other/a.PNG", 5);
    const char *first;
    formats_imageset *set = must_open(NAMES("names", "names/other", "names/a.png"), NULL, 0);
    assert_names(set, NAMES("a", "a-2.png", "a.png", "a.ppm", "other/a.PNG", "a.PNG", "a-3.png"));
    assert_int_equal(formats_imageset_prefixed(set, &first), 0);
    assert_int_equal(formats_imageset_numbered(set, &first), 1);
    assert_string_equal(first, "a-3.png");
    formats_imageset_close(set);
    static const char *const cases[][2] = {
        {"x/y.jpg", "x/y.jpg"},   {"./x//y.jpeg", "x/y.jpeg"},
        {"/etc/z.png", "z.png"},  {"../../up.pgm", "up.pgm"},
        {"a/../b.png", "b.png"},  {"..", "image"},
        {"v1.0", "v1.0"},         {".", "image"},
        {"..hidden", "..hidden"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char *name = formats_image_name(cases[k][0]);
        assert_string_equal(name, cases[k][1]);
        free(name);
    }
}

/* Inputs with equal names keep their folders, as far as these help; others do not. */
static void equal_names_keep_their_folders(void **state) {
    (void)state;
    static const char *const paths[] = {"twice/c1/x.png", "twice/c1/only.png",
                                        "twice/c2/x.png", "twice/d/c1/x.png",
                                        "twice/c3/z.png", "twice/up/c1/x.jpg"};
    for (unsigned k = 0; k < 6; k++) put_png(paths[k], k);
    const char *first;
    formats_imageset *set = must_open(NAMES("twice/c1", "twice/c2", "twice/c3"), NULL, 0);
    assert_names(set, NAMES("c1/only.png", "c1/x.png", "c2/x.png", "z.png"));
    assert_int_equal(formats_imageset_prefixed(set, &first), 3);
    assert_string_equal(first, "c1/only.png");
    formats_imageset_close(set);
    set = must_open(NAMES("twice/c1", "twice/up/../d/c1", "twice/up/c1"), NULL, 0);
    assert_names(set, NAMES("twice/c1/only.png", "twice/c1/x.png", "d/c1/x.png", "x.jpg"));
    formats_imageset_close(set);
}

/* The names of files after these names; what is expected is beside them. */
static void expect_files(const char *const cases[][2], size_t n, const char *suffix, int folding,
                         const char *changes) {
    char *name[16];
    uint8_t change[16];
    for (size_t k = 0; k < n; k++) name[k] = strdup(cases[k][0]);
    const char *const suffixes[] = {suffix, ".kept", NULL};
    assert_int_equal(formats_image_names_of_files(name, n, suffixes, folding, change), TAPER_OK);
    for (size_t k = 0; k < n; k++) {
        assert_string_equal(name[k], cases[k][1]);
        if (changes) assert_int_equal(change[k], changes[k] - '0');
        free(name[k]);
    }
}

static void files_are_called_as_their_images(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"a.jpg", "a.jpg.png"},     {"a.png", "a.png"},     {"b.jpg", "b.png"},
        {"c.jpg", "c.jpg.png"},     {"c.ppm", "c.ppm.png"}, {"a.png", "a-3.png"},
        {"a-2.png", "a-2.png"},     {"v1.0", "v1.0.png"},   {".png", ".png.png"},
        {"x/.jpg", "x/.jpg.png"},   {"d.PNG", "d.PNG"},     {"e.jpg", "e.jpg-2.png"},
        {"e.jpg.png", "e.jpg.png"}, {"e.png", "e.png"},
    };
    expect_files(cases, 14, ".png", 0, "20122201110200");
    static const char *const pnm[][2] = {
        {"a.png", "a.png.pnm"}, {"a.pnm", "a.pnm"}, {"b.pgm", "b.pnm"}};
    expect_files(pnm, 3, ".pnm", 0, "201");
    static const char *const several[][2] = {{"a.kept", "a.kept"}, {"a.jpg", "a.jpg.png"},
                                             {"a.PNG", "a.PNG"},   {"a.png", "a.png"},
                                             {"b.KEPT", "b.KEPT"}, {"b.jpg", "b.png"}};
    expect_files(several, 6, ".png", 0, "020001");
}

/* Upper and lower case, as a file system without it would see them. */
static void names_may_be_unique_but_for_case(void **state) {
    (void)state;
    static const char *const folding[][2] = {
        {"A/Cat.png", "A/Cat.png"},
        {"a/cAT.jpg", "a/cAT.jpg.png"},
        {"a/cat.png", "a/cat-2.png"},
        {"\xC3\x89\xC5\x81\xC5\xB8.png", "\xC3\x89\xC5\x81\xC5\xB8.png"},
        {"\xC3\xA9\xC5\x82\xC3\xBF.png", "\xC3\xA9\xC5\x82\xC3\xBF-2.png"},
        {"\xCE\xA9\xD0\x96\xD0\x81.png", "\xCE\xA9\xD0\x96\xD0\x81.png"},
        {"\xCF\x89\xD0\xB6\xD1\x91.png", "\xCF\x89\xD0\xB6\xD1\x91-2.png"},
        {"\xC3\x97.png", "\xC3\x97.png"}, /* the sign of multiplication has no case */
        {"\xC3\xB7\xC3.png", "\xC3\xB7\xC3.png"},
    };
    expect_files(folding, 9, ".png", 1, NULL);
    static const char *const plain[][2] = {
        {"A/Cat.png", "A/Cat.png"}, {"a/cAT.jpg", "a/cAT.png"}, {"a/cat.png", "a/cat.png"}};
    expect_files(plain, 3, ".png", 0, NULL);
    static const char *const folded[][2] = {
        {"A/Cat.png", "a/cat.png"},
        {"\xC3\x89\xC5\x81\xC5\xB8", "\xC3\xA9\xC5\x82\xC3\xBF"},
        {"\xCE\xA9\xD0\x96\xD0\x81", "\xCF\x89\xD0\xB6\xD1\x91"},
        {"\xC3\x97", "\xC3\x97"},
        {"\xC3\xB7\xC3", "\xC3\xB7\xC3"}};
    for (size_t k = 0; k < 5; k++) {
        char *text = formats_fold_case(folded[k][0]);
        assert_string_equal(text, folded[k][1]);
        free(text);
    }
}

static void many_equal_names_stay_quick(void **state) {
    (void)state;
    enum { MANY = 20000 };
    char **name = malloc(MANY * sizeof *name);
    uint8_t *change = malloc(MANY);
    for (int i = 0; i < MANY; i++) name[i] = strdup("same.png");
    const char *const suffixes[] = {".png", NULL};
    assert_int_equal(formats_image_names_of_files(name, MANY, suffixes, 0, change), TAPER_OK);
    assert_string_equal(name[0], "same.png");
    assert_string_equal(name[MANY - 1], "same-20000.png");
    for (int i = 0; i < MANY; i++) free(name[i]);
    free(name), free(change);
}

static void files_with_many_images_are_opened(void **state) {
    (void)state;
    put_idx("many/one.idx", 1, 3, 0);
    put_idx("many/two.idx.gz", 4, 2, 1);
    uint8_t bytes[1024];
    size_t n = 0;
    for (unsigned k = 0; k < 3; k++) n += pnm_bytes(bytes + n, 6 + k);
    bytes[n++] = '\n';
    scratch_write(folder, "many/three.ppm", bytes, n);
    formats_imageset *set = must_open(NAMES("many"), NULL, 0);
    assert_int_equal(formats_imageset_count(set), 8);
    static const unsigned seeds[] = {1, 2, 3, 6, 7, 8, 4, 5};
    for (size_t i = 0; i < 8; i++) assert_pixels(set, i, seeds[i]);
    assert_null(formats_imageset_name(set, 0));
    assert_string_equal(formats_imageset_name(set, 3), "three.ppm");
    assert_string_equal(formats_imageset_name(set, 5), "three-3.ppm");
    assert_null(formats_imageset_name(set, 7));
    formats_imageset_close(set);
    /* the last one cut, then garbage behind the last one */
    scratch_write(folder, "cut.ppm", bytes, n - 10);
    set = must_open(NAMES("cut.ppm"), NULL, 0);
    assert_int_equal(formats_imageset_count(set), 3);
    assert_pixels(set, 1, 7);
    taper_image image;
    taper_error error;
    assert_int_equal(formats_imageset_read(set, 2, &image, NULL, &error), TAPER_ERR_TRUNCATED);
    formats_imageset_close(set);
    memcpy(bytes + n, "garbage", 7);
    scratch_write(folder, "garbage.ppm", bytes, n + 7);
    set = must_open(NAMES("garbage.ppm"), NULL, 1);
    assert_int_equal(formats_imageset_count(set), 3);
    assert_pixels(set, 2, 8);
    formats_imageset_close(set);
}

static void cifar_brings_its_labels(void **state) {
    (void)state;
    static const uint8_t labels[3] = {7, 0, 7};
    put_cifar("batch.bin", labels, 3);
    formats_imageset *set = must_open(NAMES("batch.bin"), NULL, 0);
    assert_int_equal(formats_imageset_count(set), 3);
    assert_int_equal(formats_imageset_class_count(set), 10);
    assert_string_equal(formats_imageset_class_name(set, 7), "7");
    for (size_t i = 0; i < 3; i++) assert_int_equal(formats_imageset_label(set, i), labels[i]);
    assert_null(formats_imageset_name(set, 0));
    taper_image image, expected = picture_noise(32, 32, 3, 8, 2);
    assert_int_equal(formats_imageset_read(set, 1, &image, NULL, NULL), TAPER_OK);
    assert_true(image_equal(&image, &expected));
    formats_image_free(&image);
    formats_image_free(&expected);
    formats_imageset_close(set);
    skips s;
    put_cifar("batch.dat", labels, 3); /* not by its extension: no CIFAR */
    assert_int_equal(open_set(&set, NAMES("batch.dat"), NULL, &s, NULL), TAPER_ERR_ARG);
    assert_int_equal(s.count, 1);
}

static void label_files_are_applied(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    put_png("labelled/x/1.png", 1);
    put_pnm("labelled/x/2.ppm", 2);
    put_png("labelled/y/3.png", 3);
    formats_imageset_options options = {.labels = scratch_join(path, folder, "order.csv")};
    put_text("order.csv", "dog\ncat\ndog\n");
    formats_imageset *set = must_open(NAMES("labelled"), &options, 0);
    assert_int_equal(formats_imageset_class_count(set), 2);
    assert_string_equal(formats_imageset_class_name(set, 1), "dog");
    assert_int_equal(formats_imageset_label(set, 0), 1);
    assert_int_equal(formats_imageset_label(set, 1), 0);
    formats_imageset_close(set);
    /* by path, by the name given here, by file name alone, with one too many */
    put_text("order.csv", "name,label\ny/3.png,1\nx/2.ppm,12\n1.png,2\nother.png,3\n");
    set = must_open(NAMES("labelled"), &options, 0);
    assert_int_equal(formats_imageset_class_count(set), 4);
    assert_string_equal(formats_imageset_class_name(set, 3), "12");
    static const int32_t labels[] = {1, 3, 0};
    for (size_t i = 0; i < 3; i++) assert_int_equal(formats_imageset_label(set, i), labels[i]);
    formats_imageset_close(set);
    taper_error error;
    put_text("order.csv", "1.png,a\n3.png,b\n");
    assert_int_equal(open_set(&set, NAMES("labelled"), &options, NULL, &error), TAPER_ERR_ARG);
    assert_null(set);
    assert_non_null(strstr(error.text, "x/2.ppm"));
    assert_non_null(strstr(error.text, "order.csv"));
    put_text("order.csv", "1\n2\n");
    assert_int_equal(open_set(&set, NAMES("labelled"), &options, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "2 labels for 3 images"));
    put_text("labelled/y/4.txt", "no image");
    assert_int_equal(open_set(&set, NAMES("labelled"), &options, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "1 of the files gave none"));
    options.labels = scratch_join(path, folder, "no-labels");
    assert_int_equal(open_set(&set, NAMES("labelled"), &options, NULL, &error), TAPER_ERR_IO);
    assert_non_null(strstr(error.text, "no-labels"));
}

/* What `embed --labels-out` and `classify` write: the names that the images have in this set,
 * though one may be another image's path; and "FILE#N" of those that have none. */
static void names_of_our_own_are_labels(void **state) {
    (void)state;
    char path[SCRATCH_PATH], text[4 * SCRATCH_PATH], idx[SCRATCH_PATH];
    put_png("own-a/1.png", 1);
    put_png("own-b/1.png", 2);
    put_png("own-b/2.png", 3);
    formats_imageset_options options = {.labels = scratch_join(path, folder, "own.csv")};
    put_text("own.csv", "name,label\nown-a/1.png,a\nown-b/1.png,b\nown-b/2.png,\n");
    formats_imageset *set = must_open(NAMES("own-a", "own-b"), &options, 0);
    static const int32_t labels[] = {0, 1, -1};
    for (size_t i = 0; i < 3; i++) assert_int_equal(formats_imageset_label(set, i), labels[i]);
    formats_imageset_close(set);
    taper_error error;
    put_text("own.csv", "1.png,a\n2.png,b\n"); /* not all of them: ends, which two may share */
    assert_int_equal(open_set(&set, NAMES("own-a", "own-b"), &options, NULL, &error),
                     TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "the line '1.png' may be meant for"));

    put_idx("own.idx", 1, 3, 0);
    scratch_join(idx, folder, "own.idx");
    snprintf(text, sizeof text, "%s#2,b\n%s#1,a\n%s#3,b\n", idx, idx, idx);
    put_text("own.csv", text);
    static const int32_t by_number[] = {0, 1, 1};
    for (int whole = 1; whole >= 0; whole--) { /* the path, or the file's name alone */
        set = must_open(NAMES("own.idx"), &options, 0);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(formats_imageset_label(set, i), by_number[i]);
        formats_imageset_close(set);
        put_text("own.csv", "own.idx#2,b\nown.idx#1,a\nown.idx#3,b\n");
    }
    put_text("own.csv", "own.idx#2,b\nown.idx#1,a\n");
    assert_int_equal(open_set(&set, NAMES("own.idx"), &options, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "go by name"));
}

/* By an end of its path that it alone has, or by a longer path, in whatever normal form, with the
 * escapes that are printed; of what another image is called nothing. */
static void labels_find_images_by_ends_of_paths(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    put_png("ends/flat/a.png", 1);
    put_png("ends/flat/a.jpg", 2);
    put_png("ends/flat/b.png", 3);
    put_png("ends/flat/e\xCC\x81\xEA\xB0\x80.png", 4);
    put_png("ends/flat/n\new\\line.png", 5);
    formats_imageset_options options = {.labels = scratch_join(path, folder, "ends.csv")};
    static const char *const rows[] = {
        "name,label\n./a.png,0\na.jpg,1\nflat/b.png,2\n\xC3\xA9\xE1\x84\x80\xE1\x85\xA1.png,3\n"
        "\"n\\x0aew\\x5cline.png\",4\n",
        "old/flat/a.png,0\nelsewhere/a.jpg,1\nends//flat/b.png,2\n\xC3\xA9\xEA\xB0\x80.png,3\n"
        "\"n\new\\line.png\",4\n"};
    formats_imageset *set;
    for (size_t k = 0; k < 2; k++) {
        put_text("ends.csv", rows[k]);
        set = must_open(NAMES("ends/flat"), &options, 0);
        static const int32_t labels[] = {1, 0, 2, 3, 4};
        for (size_t i = 0; i < 5; i++) assert_int_equal(formats_imageset_label(set, i), labels[i]);
        formats_imageset_close(set);
    }
    taper_error error;
    put_png("ends/two/a.png", 1);
    put_text("ends.csv", "x/a.png,red\ny/a.png,blue\n");
    assert_int_equal(open_set(&set, NAMES("ends/two"), &options, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(
        strstr(error.text, "two lines may be meant for the image 'a.png': 'x/a.png' and"));
    put_png("ends/two/a.jpg", 1);
    put_text("ends.csv", "a.png,red\n");
    assert_int_equal(open_set(&set, NAMES("ends/two"), &options, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "for example 'a.jpg'"));
}

/* A folder may hold a name in both normal forms: these are two files, and a line is for the one
 * whose bytes it has. What is for neither in particular is refused, and told in bytes. */
static void labels_tell_normal_forms_apart(void **state) {
    (void)state;
#define NFC "\xC3\xA9.png"
#define NFD "e\xCC\x81.png"
    char path[SCRATCH_PATH];
    put_png("forms/in/" NFD, 1); /* sorted by bytes: the first */
    put_png("forms/in/" NFC, 2);
    formats_imageset_options options = {.labels = scratch_join(path, folder, "forms.csv")};
    static const char *const rows[] = {NFC ",c\n" NFD ",d\n",
                                       NFD ",d\n" NFC ",c\n",
                                       "in/" NFC ",c\nin/" NFD ",d\n",
                                       "name,label\n" NFC ",x\n" NFD ",x\n./" NFC ",c\n.//" NFD
                                       ",d\n",
                                       "old/forms/in/" NFC ",c\nold/forms/in/" NFD ",d\n",
                                       "old/" NFD ",d\nold/" NFC ",c\n"};
    formats_imageset *set;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        put_text("forms.csv", rows[k]);
        set = must_open(NAMES("forms/in"), &options, 0);
        for (size_t i = 0; i < 2; i++) {
            const int32_t label = formats_imageset_label(set, i);
            assert_string_equal(formats_imageset_class_name(set, (size_t)label), i ? "c" : "d");
        }
        formats_imageset_close(set);
    }
    static const char *const alone[] = {NFC ",c\n", NFD ",d\n"};
    taper_error error;
    for (size_t k = 0; k < 2; k++) {
        put_text("forms.csv", alone[k]);
        assert_int_equal(open_set(&set, NAMES("forms/in"), &options, NULL, &error), TAPER_ERR_ARG);
        assert_non_null(strstr(error.text, "may be meant for 'e\\xcc\\x81.png' or "
                                           "'\\xc3\\xa9.png', which look alike"));
    }
    put_png("forms/three/\xC3\xA7\xCC\x81.png", 1); /* in the form of neither of two lines */
    put_text("forms.csv", "\xE1\xB8\x89.png,c\nc\xCC\xA7\xCC\x81.png,d\n");
    assert_int_equal(open_set(&set, NAMES("forms/three"), &options, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "lines 'c\\xcc\\xa7\\xcc\\x81.png' and "
                                       "'\\xe1\\xb8\\x89.png' look alike"));
    put_text("forms.csv", "\xC3\xA9/\xC3\xA7\xCC\x81.png,c\ne\xCC\x81/\xC3\xA7\xCC\x81.png,d\n");
    assert_int_equal(open_set(&set, NAMES("forms/three"), &options, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "look alike"));
#undef NFC
#undef NFD
}

static void idx_labels_are_applied(void **state) {
    (void)state;
    static const uint8_t labels[3] = {2, 0, 2};
    uint8_t *bytes;
    size_t n;
    char path[SCRATCH_PATH];
    put_idx("images.gz", 1, 3, 1);
    assert_int_equal(formats_idx_encode_labels(labels, 3, 1, &bytes, &n, NULL), TAPER_OK);
    scratch_write(folder, "labels.gz", bytes, n);
    free(bytes);
    formats_imageset_options options = {.labels = scratch_join(path, folder, "labels.gz")};
    formats_imageset *set = must_open(NAMES("images.gz"), &options, 0);
    assert_int_equal(formats_imageset_class_count(set), 3);
    for (size_t i = 0; i < 3; i++) assert_int_equal(formats_imageset_label(set, i), labels[i]);
    formats_imageset_close(set);
    skips s;
    assert_int_equal(open_set(&set, NAMES("labels.gz"), NULL, &s, NULL), TAPER_ERR_ARG);
    assert_non_null(strstr(s.last.text, "--labels"));
}

static void bad_files_are_skipped_by_name(void **state) {
    (void)state;
    put_png("mixed/good.png", 1);
    put_text("mixed/readme.txt", "no image\n");
    put_text("mixed/empty.png", "");
    put_text("mixed/short.gz", "\x1f\x8b");
    put_text("mixed/odd.bin", "12345");
    put_text("mixed/broken.png", "\x89PNG\r\n\x1a\n and then nothing");
    char path[SCRATCH_PATH];
    assert_int_equal(symlink("nowhere", scratch_join(path, folder, "mixed/dangling.png")), 0);
    assert_int_equal(mkfifo(scratch_join(path, folder, "mixed/pipe"), 0600),
                     0); /* must not block */
    formats_imageset *set;
    skips s;
    assert_int_equal(open_set(&set, NAMES("mixed", "missing.png"), NULL, &s, NULL), TAPER_OK);
    static const char *const skipped[] = {"readme.txt: ",
                                          "empty.png: the file is empty",
                                          "short.gz: ",
                                          "odd.bin: ",
                                          "dangling.png: cannot examine",
                                          "pipe: is neither",
                                          "missing.png: cannot open: No such file"};
    for (size_t k = 0; k < sizeof skipped / sizeof skipped[0]; k++)
        if (!strstr(s.all, skipped[k])) fail_msg("no '%s' in\n%s", skipped[k], s.all);
    assert_int_equal(s.count, 5); /* a text and a pipe are no images, and no failures */
    assert_int_equal(s.no_images, 2);
    /* what looks like an image is found out when it is read */
    assert_names(set, NAMES("broken.png", "good.png"));
    taper_image image;
    taper_error error;
    assert_int_equal(formats_imageset_read(set, 0, &image, NULL, &error), TAPER_ERR_TRUNCATED);
    assert_null(image.pixels);
    assert_pixels(set, 1, 1);
    formats_imageset_close(set);
}

static void inputs_without_images_are_named(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    formats_imageset *set;
    taper_error error;
    skips s;
    assert_int_equal(mkdir(scratch_join(path, folder, "nothing"), 0777), 0);
    assert_int_equal(open_set(&set, NAMES("nothing"), NULL, &s, &error), TAPER_ERR_ARG);
    assert_null(set);
    assert_non_null(strstr(error.text, "nothing"));
    assert_int_equal(s.count, 1);
    assert_int_equal(open_set(&set, NAMES("not-there"), NULL, &s, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "not-there"));
    assert_int_equal(formats_imageset_open(&set, NULL, 0, NULL, NULL, NULL, &error), TAPER_ERR_ARG);
    put_png("one/a.png", 1);
    set = must_open(NAMES("nothing", "one"), NULL, 1); /* the rest is done */
    formats_imageset_close(set);
}

static void loops_of_links_end(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    put_png("loop/a/b/1.png", 1);
    put_png("loop/c/2.png", 2);
    assert_int_equal(symlink("../..", scratch_join(path, folder, "loop/a/b/up")), 0);
    assert_int_equal(symlink(".", scratch_join(path, folder, "loop/self")), 0);
    assert_int_equal(symlink("c", scratch_join(path, folder, "loop/aa")), 0);
    assert_int_equal(symlink("me", scratch_join(path, folder, "loop/me")), 0);
    assert_int_equal(symlink("c/2.png", scratch_join(path, folder, "loop/3.png")), 0);
    const formats_imageset_options follow = {.follow_links = 1};
    formats_imageset *set = must_open(NAMES("loop"), NULL, 1); /* "me" leads nowhere */
    assert_names(set, NAMES("3.png", "a/b/1.png", "c/2.png")); /* links to files are files */
    assert_int_equal(last_open.links, 3);
    assert_pixels(set, 0, 2);
    formats_imageset_close(set);
    set = must_open(NAMES("loop"), &follow, 1);
    assert_names(set, NAMES("3.png", "a/b/1.png", "c/2.png")); /* "aa" is "c": in already */
    assert_int_equal(last_open.links, 0);
    formats_imageset_close(set);
}

static void links_never_leave_the_folder(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    put_png("tree/1.png", 1);
    put_png("tree/.store/deep/2.png", 2); /* not entered but by a link */
    put_png("beyond/3.png", 3);
    put_png("tree2/4.png", 4); /* its name begins alike */
    assert_int_equal(symlink("..", scratch_join(path, folder, "tree/loop")), 0);
    assert_int_equal(symlink("../beyond", scratch_join(path, folder, "tree/out")), 0);
    assert_int_equal(symlink("../tree2", scratch_join(path, folder, "tree/out2")), 0);
    assert_int_equal(symlink("/", scratch_join(path, folder, "tree/root")), 0);
    assert_int_equal(symlink(".store", scratch_join(path, folder, "tree/in")), 0);
    assert_int_equal(symlink("../../beyond", scratch_join(path, folder, "tree/.store/up")), 0);
    assert_int_equal(symlink("tree", scratch_join(path, folder, "to-tree")), 0);
    const formats_imageset_options follow = {.follow_links = 1};
    static const char *const roots[] = {"tree", "to-tree", "tree/"}; /* what is named is entered */
    for (int i = 0; i < 3; i++) {
        formats_imageset *set = must_open(NAMES(roots[i]), NULL, 0);
        assert_names(set, NAMES("1.png"));
        assert_int_equal(last_open.links, 5);
        formats_imageset_close(set);
        set = must_open(NAMES(roots[i]), &follow, 0);
        assert_names(set, NAMES("1.png", "in/deep/2.png"));
        assert_int_equal(last_open.links, 5); /* "up" too, of the folder entered */
        assert_non_null(strstr(last_open.all, "lead out of the folder"));
        formats_imageset_close(set);
    }
    assert_int_equal(symlink("../beyond/3.png", scratch_join(path, folder, "tree/3.png")), 0);
    formats_imageset *set = must_open(NAMES("tree"), NULL, 0); /* a file, wherever it lies */
    assert_names(set, NAMES("1.png", "3.png"));
    assert_pixels(set, 1, 3);
    formats_imageset_close(set);
}

/* They give no image and no class, unless they are named; each is told. */
static void folders_of_systems_are_passed_over(void **state) {
    (void)state;
    static const char *const kept[] = {"@eaDir",   "__MACOSX",     ".git",      ".thumbnails",
                                       "#recycle", "$Recycle.Bin", "lost+found"};
    char path[SCRATCH_PATH];
    put_png("nas/cat/1.png", 1);
    put_png("nas/dog/2.png", 2);
    put_png("nas/dog/.3.png", 3);
    put_png("nas/dog/@eaDir/4.png", 4);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        snprintf(path, sizeof path, "nas/%s/5.png", kept[i]);
        put_png(path, 5);
    }
    formats_imageset *set = must_open(NAMES("nas"), NULL, 0);
    assert_names(set, NAMES("cat/1.png", "dog/2.png"));
    assert_int_equal(formats_imageset_class_count(set), 2);
    assert_int_equal(last_open.hidden, 9);
    formats_imageset_close(set);
    set = must_open(NAMES("nas/@eaDir"), NULL, 0);
    assert_names(set, NAMES("5.png"));
    formats_imageset_close(set);
    put_png("only/.git/1.png", 1);
    taper_error error;
    skips s;
    assert_int_equal(open_set(&set, NAMES("only"), NULL, &s, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(s.last.text, "hidden"));
}

/* What is no image passes in folders, but not where it was named; what looks like one does not. */
static void files_that_are_no_images_are_told_apart(void **state) {
    (void)state;
    static const char *const others[] = {"README.txt", "Thumbs.db", "movie.mp4", "Makefile",
                                         "notes.gz",   "old.zip",   "empty"};
    static const char *const contents[] = {
        "read me", "\xD0\xCF\x11\xE0", "....ftypisom....", "all:\n", NULL, "PK\3\4 and more", ""};
    uint8_t *packed;
    size_t n;
    put_png("zoo/1.png", 1);
    for (int i = 0; i < 7; i++) {
        char name[64];
        snprintf(name, sizeof name, "zoo/%s", others[i]);
        if (contents[i]) put_text(name, contents[i]);
    }
    assert_int_equal(formats_gzip_pack("some text", 9, &packed, &n, NULL), TAPER_OK);
    scratch_write(folder, "zoo/notes.gz", packed, n);
    free(packed);
    formats_imageset *set = must_open(NAMES("zoo"), NULL, 0);
    assert_names(set, NAMES("1.png"));
    assert_int_equal(last_open.no_images, 7);
    formats_imageset_close(set);
    set = must_open(NAMES("zoo/1.png", "zoo/README.txt", "zoo/old.zip"), NULL, 2);
    assert_non_null(strstr(last_open.all, "unpack it first"));
    formats_imageset_close(set);
    put_text("zoo/bad.jpeg", "no JPEG");
    put_text("zoo/cut.png", "");
    formats_imageset_close(must_open(NAMES("zoo"), NULL, 2));
}

/* By content, whatever the name; by name where the content says nothing. */
static void formats_that_are_not_read_are_named(void **state) {
    (void)state;
    static const struct {
        const char *name, *bytes;
        size_t n;
        const char *says;
    } cases[] = {
        {"l", "\0\0\0\x0cjP  \r\n\x87\n", 12, "JPEG 2000 is not read"},
        {"m", "\xFF\x4F\xFF\x51", 4, "JPEG 2000 is not read"},
        {"n.PSD", "", 0, "Photoshop is not read"},
        {"o.nef", "raw", 3, "camera raw is not read"},
        {"o.dng", "II*\0\10\0\0\0", 8, "camera raw is not read"},
        {"p.svg", "<svg/>", 6, "SVG is not read"},
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    char name[64];
    skips s;
    formats_imageset *set;
    put_png("foreign/1.png", 1);
    for (int i = 0; i < CASES; i++) {
        snprintf(name, sizeof name, "foreign/%s", cases[i].name);
        scratch_write(folder, name, cases[i].bytes, cases[i].n);
        assert_int_equal(open_set(&set, NAMES(name), NULL, &s, NULL), TAPER_ERR_ARG);
        if (s.count != 1 || !strstr(s.last.text, cases[i].says)) fail_msg("%d: %s", i, s.last.text);
        assert_int_equal(s.last.status, TAPER_ERR_UNSUPPORTED);
    }
    formats_imageset_close(must_open(NAMES("foreign"), NULL, CASES));
    assert_int_equal(last_open.no_images, 0);
    put_text("foreign/q", "%PDF-1.7");
    assert_int_equal(open_set(&set, NAMES("foreign/q"), NULL, &s, NULL), TAPER_ERR_ARG);
    assert_non_null(strstr(s.last.text, "this is a PDF: draw its pages"));
    formats_imageset_close(must_open(NAMES("foreign"), NULL, CASES)); /* no image: passed over */
    assert_int_equal(last_open.no_images, 1);
    put_text("BMW.txt", "BM is not all there is to it");
    assert_int_equal(open_set(&set, NAMES("BMW.txt"), NULL, &s, NULL), TAPER_ERR_ARG);
    assert_non_null(strstr(s.last.text, "no image of a known kind"));
}

static void lists_are_relative_to_their_folder(void **state) {
    (void)state;
    char path[SCRATCH_PATH], absolute[SCRATCH_PATH], text[2 * SCRATCH_PATH];
    put_png("lists/sub/1.png", 1);
    put_png("beside.png", 2);
    put_png("absolute.png", 3);
    snprintf(text, sizeof text, "sub/1.png\r\n\n../beside.png\n%s\nsub/gone.png",
             scratch_join(absolute, folder, "absolute.png"));
    put_text("lists/list.txt", text);
    formats_imageset_options options = {.filelist = scratch_join(path, folder, "lists/list.txt")};
    formats_imageset *set = must_open((const char *const[]){NULL}, &options, 1);
    assert_names(set, NAMES("sub/1.png", "beside.png", "absolute.png"));
    for (unsigned i = 0; i < 3; i++) assert_pixels(set, i, i + 1);
    assert_int_equal(formats_imageset_class_count(set), 0);
    formats_imageset_close(set);
    taper_error error;
    options.filelist = scratch_join(path, folder, "lists/none");
    assert_int_equal(open_set(&set, (const char *const[]){NULL}, &options, NULL, &error),
                     TAPER_ERR_IO);
    assert_non_null(strstr(error.text, "lists/none"));
}

/* Open "-" with these bytes on standard input. */
static formats_imageset *open_streams(const char *const *names, const void *bytes, size_t n,
                                      const formats_imageset_options *options, skips *s,
                                      taper_error *error) {
    char path[SCRATCH_PATH];
    scratch_write(folder, "stream", bytes, n);
    int saved = dup(STDIN_FILENO), file = open(scratch_join(path, folder, "stream"), O_RDONLY);
    assert_true(saved >= 0 && file >= 0 && dup2(file, STDIN_FILENO) >= 0);
    formats_imageset *set;
    open_set(&set, names, options, s, error);
    assert_true(dup2(saved, STDIN_FILENO) >= 0);
    close(file);
    close(saved);
    return set;
}

static formats_imageset *open_stream(const void *bytes, size_t n,
                                     const formats_imageset_options *options) {
    return open_streams(NAMES("-"), bytes, n, options, NULL, NULL);
}

/* A list on standard input; and standard input, which can be one thing only. */
static void standard_input_takes_a_list(void **state) {
    (void)state;
    char text[3 * SCRATCH_PATH];
    const formats_imageset_options options = {.filelist = "-"};
    put_png("listed/1.png", 1);
    put_png("listed/2.png", 2);
    int n = snprintf(text, sizeof text, "%s/listed/2.png\n%s/listed/1.png\n%s/listed/gone.png\n",
                     folder, folder, folder);
    skips s;
    taper_error error;
    const char *const *none = (const char *const[]){NULL};
    formats_imageset *set = open_streams(none, text, (size_t)n, &options, &s, &error);
    assert_non_null(set);
    assert_pixels(set, 0, 2);
    assert_pixels(set, 1, 1);
    assert_int_equal(s.count, 1);
    formats_imageset_close(set);
    assert_null(open_streams(NAMES("-"), text, (size_t)n, &options, &s, &error));
    assert_non_null(strstr(error.text, "named twice"));
    assert_null(open_streams(NAMES("-", "-"), text, (size_t)n, NULL, &s, &error));
    assert_non_null(strstr(error.text, "named twice"));
}

static void images_of_a_stream_follow_each_other(void **state) {
    (void)state;
    uint8_t bytes[4000], *png;
    size_t n;
    skips s;
    taper_error error;
    taper_image image = picture_noise(5, 4, 3, 8, 9);
    assert_int_equal(formats_png_encode(&image, &png, &n, NULL), TAPER_OK);
    memcpy(bytes, png, n);
    memcpy(bytes + n, png, n);
    formats_imageset *set = open_streams(NAMES("-"), bytes, 2 * n, NULL, &s, &error);
    assert_non_null(set);
    assert_names(set, NAMES("input", "input-2"));
    assert_pixels(set, 0, 9);
    assert_pixels(set, 1, 9);
    assert_int_equal(s.count, 0);
    formats_imageset_close(set);
    memcpy(bytes + n, "\n", 1); /* what is no image is ignored, as in files */
    set = open_streams(NAMES("-"), bytes, n + 1, NULL, &s, &error);
    assert_non_null(set);
    assert_int_equal(s.count, 0);
    formats_imageset_close(set);
    free(png);
    formats_image_free(&image);
}

static void standard_input_takes_every_format(void **state) {
    (void)state;
    uint8_t bytes[20000];
    size_t n = pnm_bytes(bytes, 1);
    n += pnm_bytes(bytes + n, 2);
    formats_imageset *set = open_stream(bytes, n, NULL);
    assert_non_null(set);
    assert_names(set, NAMES("input", "input-2"));
    assert_pixels(set, 0, 1);
    assert_pixels(set, 1, 2);
    assert_string_equal(formats_imageset_path(set, 1), "standard input");
    formats_imageset_close(set);
    const taper_limits limits = {.size = sizeof(taper_limits), .max_memory = n - 1};
    assert_null(open_stream(bytes, n, &(formats_imageset_options){.limits = &limits}));
    assert_null(open_stream("", 0, NULL));
    memset(bytes, 5, 2 * 3073);
    set = open_stream(bytes, 2 * 3073, NULL); /* CIFAR by its structure */
    assert_non_null(set);
    assert_int_equal(formats_imageset_count(set), 2);
    assert_int_equal(formats_imageset_label(set, 1), 5);
    formats_imageset_close(set);
    taper_image image = picture_noise(5, 4, 3, 8, 9);
    uint8_t *encoded;
    assert_int_equal(formats_idx_encode_images(&image, 1, 1, &encoded, &n, NULL), TAPER_OK);
    set = open_stream(encoded, n, NULL);
    assert_non_null(set);
    assert_pixels(set, 0, 9);
    formats_imageset_close(set);
    free(encoded);
    assert_int_equal(formats_png_encode(&image, &encoded, &n, NULL), TAPER_OK);
    set = open_stream(encoded, n, NULL);
    assert_non_null(set);
    assert_pixels(set, 0, 9);
    formats_imageset_close(set);
    free(encoded);
    formats_image_free(&image);
}

static void limits_are_passed_on(void **state) {
    (void)state;
    put_png("limits/1.png", 1);
    put_png("limits/2.png", 2);
    taper_limits limits = {.size = sizeof(taper_limits), .max_images = 1};
    const formats_imageset_options options = {.limits = &limits};
    formats_imageset *set;
    taper_error error;
    assert_int_equal(open_set(&set, NAMES("limits"), &options, NULL, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_IMAGES);
    assert_int_equal(open_set(&set, NAMES("limits/1.png", "limits/2.png"), &options, NULL, &error),
                     TAPER_ERR_LIMIT);
    limits = (taper_limits){.size = sizeof(taper_limits), .max_pixels = 19};
    set = must_open(NAMES("limits"), &options, 0);
    taper_image image;
    assert_int_equal(formats_imageset_read(set, 0, &image, NULL, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_PIXELS);
    formats_imageset_close(set);
}

static void *read_all(void *user) {
    const formats_imageset *set = user;
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < formats_imageset_count(set); i++) {
            taper_image expected = picture_noise(5, 4, 3, 8, i + 1), image;
            if (formats_imageset_read(set, i, &image, NULL, NULL) != TAPER_OK)
                return (void *)"unread";
            int equal = image_equal(&expected, &image);
            formats_image_free(&expected);
            formats_image_free(&image);
            if (!equal) return (void *)"different";
        }
    return NULL;
}

static void threads_may_read_at_once(void **state) {
    (void)state;
    put_idx("threads/1.idx", 1, 4, 0);
    put_png("threads/2.png", 5);
    put_pnm("threads/3.ppm", 6);
    formats_imageset *set = must_open(NAMES("threads"), NULL, 0);
    pthread_t threads[4];
    for (int t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, read_all, set), 0);
    for (int t = 0; t < 4; t++) {
        void *problem;
        assert_int_equal(pthread_join(threads[t], &problem), 0);
        assert_null(problem);
    }
    formats_imageset_close(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_read_in_byte_order),
        cmocka_unit_test(names_are_unique_and_safe),
        cmocka_unit_test(equal_names_keep_their_folders),
        cmocka_unit_test(files_are_called_as_their_images),
        cmocka_unit_test(names_may_be_unique_but_for_case),
        cmocka_unit_test(many_equal_names_stay_quick),
        cmocka_unit_test(files_with_many_images_are_opened),
        cmocka_unit_test(cifar_brings_its_labels),
        cmocka_unit_test(label_files_are_applied),
        cmocka_unit_test(names_of_our_own_are_labels),
        cmocka_unit_test(labels_find_images_by_ends_of_paths),
        cmocka_unit_test(labels_tell_normal_forms_apart),
        cmocka_unit_test(idx_labels_are_applied),
        cmocka_unit_test(bad_files_are_skipped_by_name),
        cmocka_unit_test(inputs_without_images_are_named),
        cmocka_unit_test(loops_of_links_end),
        cmocka_unit_test(links_never_leave_the_folder),
        cmocka_unit_test(folders_of_systems_are_passed_over),
        cmocka_unit_test(files_that_are_no_images_are_told_apart),
        cmocka_unit_test(formats_that_are_not_read_are_named),
        cmocka_unit_test(images_of_a_stream_follow_each_other),
        cmocka_unit_test(lists_are_relative_to_their_folder),
        cmocka_unit_test(standard_input_takes_every_format),
        cmocka_unit_test(standard_input_takes_a_list),
        cmocka_unit_test(limits_are_passed_on),
        cmocka_unit_test(threads_may_read_at_once),
    };
    return cmocka_run_group_tests_name("imageset", tests, make_folder, remove_folder);
}
