/* test_pages.c -- front matter in a root and leaves: there and back, leaves alone, names, damage.
 */
#include "front.h"
#include "paged.h"
#include "pictures.h"

enum { SEED = 43 };

/* --- fronts drawn at random -------------------------------------------------------------- */

typedef enum order { NO_NAMES, ASCENDING, MIXED } order;

typedef struct shape {
    uint32_t images, most_in_group, layers, span, rate_classes;
    order names;
    int labels, raised, tail;
} shape;

static uint32_t below(uint64_t *state, uint32_t n) { return (uint32_t)(picture_random(state) % n); }

static void name_images(formats_front *f, order names, uint64_t *state) {
    enum { LENGTH = 24 };
    if (names == NO_NAMES) return;
    f->names = calloc(f->images, LENGTH);
    f->name_at = calloc(f->images, sizeof *f->name_at);
    for (uint32_t i = 0; i < f->images; i++) {
        f->name_at[i] = i * LENGTH;
        if (names == ASCENDING)
            snprintf(f->names + f->name_at[i], LENGTH, "d%u/%06u.png", i / 40, i * 3);
        else
            snprintf(f->names + f->name_at[i], LENGTH, "%u.png", below(state, 2 * f->images));
    }
}

static void raise_planes(formats_front *f, uint64_t *state) {
    uint32_t n = 0;
    f->raised_at = calloc((size_t)f->groups + 1, sizeof *f->raised_at);
    f->raised = calloc(3 * (size_t)f->groups + 1, sizeof *f->raised);
    for (uint32_t g = 0; g < f->groups; g++) {
        for (uint32_t i = below(state, 4), unit = 0; i; i--) {
            unit += 1 + below(state, 90);
            f->raised[n++] = (formats_raised){(uint16_t)unit, (uint8_t)(1 + below(state, 15))};
        }
        f->raised_at[g + 1] = n;
    }
}

/* Rate classes of images and groups: in runs of twelve images all groups are full. */
static void classify(formats_front *f, uint32_t classes) {
    f->rate_classes = classes;
    f->group_rate_class = calloc(f->groups, 1);
    f->image_rate_class = calloc(f->images, 1);
    for (uint32_t g = 0; g < f->groups; g++)
        f->group_rate_class[g] = (uint8_t)(g % 3 ? 0 : classes - 1);
    for (uint32_t i = 0; i < f->images; i++) /* the last two and the sixth are of the other one */
        f->image_rate_class[i] =
            (uint8_t)(i % 12 == 5 || i % 12 == 10 || i % 12 == 11 || i % 12 == 3 ? classes - 1 : 0);
    assert_int_equal(formats_front_place_images(f), TAPER_OK);
}

static void lay_out_groups(formats_front *f, const shape *s, uint64_t *state) {
    f->group_first = calloc((size_t)s->images + 1, sizeof *f->group_first);
    for (uint32_t i = 0; i < s->images; f->groups++) {
        f->group_first[f->groups] = i;
        i += s->rate_classes > 1 ? 4 : 1 + below(state, s->most_in_group);
    }
    f->group_first[f->groups] = s->images;
}

static formats_front make(const shape *s, uint64_t *state) {
    formats_front f = {.model_id = 42,
                       .images = s->images,
                       .layers = s->layers,
                       .rate_classes = 1,
                       .tail = (uint8_t)s->tail,
                       .chunks_per_checksum = s->span};
    f.geometry = calloc(s->images, sizeof *f.geometry);
    for (uint32_t i = 0; i < s->images; i++)
        f.geometry[i] =
            (formats_geometry){1 + below(state, 3), 7, below(state, 2) ? 1 : 3, 8, 0, 0};
    lay_out_groups(&f, s, state);
    if (s->rate_classes > 1) classify(&f, s->rate_classes);
    if (s->tail) f.first_cut = below(state, f.groups);
    const size_t ends = (size_t)f.layers * f.rate_classes;
    f.layer_end = calloc(ends, sizeof *f.layer_end);
    for (size_t i = 0; i < ends; i++)
        f.layer_end[i] =
            1 + below(state, 9) + (i < f.rate_classes ? 0 : f.layer_end[i - f.rate_classes]);
    const size_t chunks = (size_t)f.layers * f.groups;
    f.chunk_at = calloc(chunks + 1, sizeof *f.chunk_at);
    for (size_t c = 0; c < chunks; c++) f.chunk_at[c + 1] = f.chunk_at[c] + below(state, 300);
    f.checksum = calloc((size_t)formats_front_checksums(&f), sizeof *f.checksum);
    for (uint64_t i = 0; i < formats_front_checksums(&f); i++)
        f.checksum[i] = (uint32_t)picture_random(state);
    name_images(&f, s->names, state);
    if (s->raised) raise_planes(&f, state);
    if (!s->labels) return f;
    f.classes = 2, f.class_names = front_copy("cat\0dog", 8);
    f.class_name_at = calloc(2, sizeof *f.class_name_at);
    f.class_name_at[1] = 4;
    f.label = calloc(f.images, sizeof *f.label);
    for (uint32_t i = 0; i < f.images; i++) f.label[i] = (int32_t)below(state, 3) - 1;
    return f;
}

static formats_buffer write_paged(formats_front *f, uint32_t each) {
    formats_buffer out = formats_buffer_make(1 << 26);
    assert_int_equal(formats_front_write_paged(f, each, &out, NULL), TAPER_OK);
    assert_int_equal(f->front_size, out.size);
    return out;
}

static int is_paged(const formats_buffer *file) {
    return (formats_get_u32le(file->data + 12) & FORMATS_FEATURE_PAGED) != 0;
}

/* --- there and back ---------------------------------------------------------------------- */

static void assert_same_image(const formats_front *a, uint32_t i, const formats_front *b,
                              uint32_t j) {
    assert_memory_equal(&a->geometry[i], &b->geometry[j], sizeof *a->geometry);
    assert_int_equal(!a->names, !b->names);
    if (a->names) assert_string_equal(formats_front_name(a, i), formats_front_name(b, j));
    assert_int_equal(!a->label, !b->label);
    if (a->label) assert_int_equal(a->label[i], b->label[j]);
    if (a->image_rate_class) assert_int_equal(a->image_rate_class[i], b->image_rate_class[j]);
}

/* Group g of the whole and group h of the leaf, whose first group it is counted from. */
static void assert_same_group(const formats_front *a, uint32_t g, const formats_front *b,
                              uint32_t h) {
    uint32_t n, m;
    const formats_raised *raised = formats_front_raised(a, g, &n),
                         *other = formats_front_raised(b, h, &m);
    assert_int_equal(a->group_first[g], b->first_image + b->group_first[h]);
    assert_int_equal(a->group_first[g + 1], b->first_image + b->group_first[h + 1]);
    for (uint32_t p = a->group_first[g]; p < a->group_first[g + 1]; p++)
        assert_int_equal(formats_front_image(a, p),
                         b->first_image + formats_front_image(b, p - b->first_image));
    assert_int_equal(n, m);
    for (uint32_t i = 0; i < n; i++)
        assert_true(raised[i].unit == other[i].unit && raised[i].planes == other[i].planes);
    for (uint32_t l = 0; l < a->layers; l++) {
        const uint64_t c = (uint64_t)l * a->groups + g, d = (uint64_t)l * b->groups + h;
        assert_int_equal(formats_front_chunk_at(a, c, l), formats_front_chunk_at(b, d, l));
        assert_int_equal(a->chunk_at[c + 1] - a->chunk_at[c], b->chunk_at[d + 1] - b->chunk_at[d]);
        assert_int_equal(formats_front_layer_end(a, l, g), formats_front_layer_end(b, l, h));
        const uint64_t per = a->chunks_per_checksum;
        assert_int_equal(a->checksum[l * ((a->groups + per - 1) / per) + g / per],
                         b->checksum[l * ((b->groups + per - 1) / per) + h / per]);
    }
}

static void assert_same(const formats_front *a, const formats_front *b) {
    assert_true(a->images == b->images && a->groups == b->groups && a->layers == b->layers &&
                a->rate_classes == b->rate_classes && a->tail == b->tail &&
                a->first_cut == b->first_cut && a->classes == b->classes &&
                a->model_size == b->model_size && a->search_bits == b->search_bits &&
                a->chunks_per_checksum == b->chunks_per_checksum);
    for (uint32_t i = 0; i < a->images; i++) assert_same_image(a, i, b, i);
    for (uint32_t g = 0; g < a->groups; g++) assert_same_group(a, g, b, g);
    for (uint32_t k = 0; k < a->classes; k++)
        assert_string_equal(formats_front_class_name(a, k), formats_front_class_name(b, k));
    assert_int_equal(formats_front_data(a), formats_front_data(b));
    assert_true(!b->layer_at && !b->data_bytes && !b->first_image && !b->first_group);
}

/* Each leaf says of its images what the whole front says. Returns the number of leaves. */
static uint32_t assert_leaves_alone(const formats_front *f, const formats_buffer *file) {
    formats_front shared, leaf;
    formats_root root;
    uint64_t head;
    assert_int_equal(formats_head_need(file->data, file->size, &head, NULL), TAPER_OK);
    assert_int_equal(formats_head_read(file->data, (size_t)head, NULL, &shared, &root, NULL),
                     TAPER_OK);
    assert_int_equal(root.leaves_at, head);
    for (uint32_t k = 0; k < root.leaves; k++) {
        const size_t at = (size_t)(root.leaves_at + root.leaf[k].at);
        uint8_t *exact =
            front_copy(file->data + at, (size_t)(root.leaf[k + 1].at - root.leaf[k].at));
        const taper_limits limits = formats_limits_or_default(NULL);
        assert_int_equal(formats_leaf_read(&root, &shared, k, exact, &limits, &leaf, NULL),
                         TAPER_OK);
        assert_int_equal(leaf.front_size, file->size);
        assert_int_equal(formats_front_data(&leaf), formats_front_data(f));
        for (uint32_t i = 0; i < leaf.images; i++) {
            assert_int_equal(formats_root_leaf_of_image(&root, leaf.first_image + i), k);
            assert_same_image(f, leaf.first_image + i, &leaf, i);
        }
        for (uint32_t g = 0; g < leaf.groups; g++) {
            assert_int_equal(formats_root_leaf_of_group(&root, leaf.first_group + g), k);
            assert_same_group(f, leaf.first_group + g, &leaf, g);
            assert_int_equal(f->tail && leaf.first_group + g >= f->first_cut,
                             leaf.tail && g >= leaf.first_cut);
        }
        formats_front_free(&leaf);
        free(exact);
    }
    const uint32_t leaves = root.leaves;
    formats_front_free(&shared), formats_root_free(&root);
    return leaves;
}

static void random_fronts_round_trip(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    uint32_t paged = 0;
    printf("seed %d\n", SEED);
    for (int round = 0; round < 200; round++) {
        const shape s = {.images = round % 5 ? 2 + below(&state, 200) : 12 + 12 * (round % 7u),
                         .most_in_group = 1 + below(&state, 6),
                         .layers = 1 + below(&state, 5),
                         .span = round % 5 ? 1 + below(&state, 4) : 1,
                         .rate_classes = round % 5 ? 1 : 2,
                         .names = (order)(round % 3),
                         .labels = round % 2,
                         .raised = round % 4 == 1,
                         .tail = round % 7 == 3};
        formats_front f = make(&s, &state), g;
        const uint32_t each = 1 + below(&state, 30);
        formats_buffer out = write_paged(&f, each);
        taper_error error = {0};
        if (formats_front_read(out.data, out.size, NULL, &g, &error)) fail_msg("%s", error.text);
        assert_int_equal(g.front_size, out.size);
        assert_same(&f, &g);
        if (is_paged(&out)) paged++, assert_true(assert_leaves_alone(&g, &out) > 1);
        formats_buffer again = write_paged(&g, each); /* what was read is written as it was */
        assert_true(again.size == out.size && !memcmp(again.data, out.data, out.size));
        formats_front_free(&f), formats_front_free(&g);
        formats_buffer_free(&out), formats_buffer_free(&again);
    }
    assert_true(paged > 140);
}

/* Up to 1,024 images nothing changes; nor where there is no place for a leaf to end. */
static void small_sets_are_in_one_piece(void **unused) {
    (void)unused;
    uint64_t state = SEED + 1;
    const shape shapes[] = {{.images = 1024, .most_in_group = 1, .layers = 1, .span = 1},
                            {.images = 1025, .most_in_group = 1, .layers = 1, .span = 1},
                            {.images = 1500, .most_in_group = 1, .layers = 1, .span = 1023},
                            {.images = 2400, .most_in_group = 1, .layers = 1, .span = 1024}};
    const int want[] = {0, 1, 0, 1};
    for (int i = 0; i < 4; i++) {
        formats_front f = make(&shapes[i], &state);
        formats_buffer out = front_write(&f), one = write_paged(&f, UINT32_MAX);
        assert_int_equal(is_paged(&out), want[i]);
        assert_int_equal(is_paged(&one), 0);
        assert_int_equal(out.size == one.size && !memcmp(out.data, one.data, one.size), !want[i]);
        formats_front_free(&f);
        formats_buffer_free(&out), formats_buffer_free(&one);
    }
}

/* Leaves grow until the root is small. Names that differ late make separators long. */
static void roots_stay_small(void **unused) {
    (void)unused;
    enum { EACH = 32, LENGTH = 80 };
    uint64_t state = SEED + 2;
    const shape s = {.images = 40000, .most_in_group = 1, .layers = 1, .span = 1};
    formats_front f = make(&s, &state), shared;
    f.names = calloc(f.images, LENGTH);
    f.name_at = calloc(f.images, sizeof *f.name_at);
    for (uint32_t i = 0; i < f.images; i++) {
        const unsigned folder = (i + 1) / 2; /* the last name of a leaf and the next are in one */
        uint64_t seed = folder;
        const unsigned long long a = picture_random(&seed), b = picture_random(&seed),
                                 c = picture_random(&seed);
        f.name_at[i] = i * LENGTH;
        snprintf(f.names + f.name_at[i], LENGTH, "%06u-%016llx%016llx%016llx/%u", folder, a, b, c,
                 i % 2 ? 1 : 2);
    }
    formats_buffer out = write_paged(&f, EACH);
    formats_root root;
    assert_int_equal(formats_head_read(out.data, out.size, NULL, &shared, &root, NULL), TAPER_OK);
    assert_int_equal(root.find, FORMATS_FIND_ASCENDING);
    assert_true(formats_get_u64le(out.data + FORMATS_HEADER_SIZE + 8) <= FORMATS_ROOT_BYTES);
    assert_true(root.leaves > 100 && root.leaves < s.images / EACH / 2);
    formats_front_free(&f), formats_front_free(&shared), formats_root_free(&root);
    formats_buffer_free(&out);
}

/* --- names ------------------------------------------------------------------------------- */

/* The image of a name, as a reader of pages finds it; UINT32_MAX: none. */
static uint32_t find(const formats_buffer *file, const formats_root *r, formats_front *shared,
                     const char *name) {
    uint32_t own = 0, n = 1, *list = NULL, found = UINT32_MAX;
    const taper_limits limits = formats_limits_or_default(NULL);
    if (r->find == FORMATS_FIND_HASHED) {
        const uint32_t hash = formats_root_hash(r, name), p = formats_root_page(r, hash);
        assert_int_equal(formats_name_page_find(r, shared, p,
                                                file->data + r->pages_at + r->page_at[p], hash,
                                                &list, &n, NULL),
                         TAPER_OK);
    } else {
        own = formats_root_leaf_of_name(r, name);
    }
    for (uint32_t j = 0; j < n && found == UINT32_MAX; j++) {
        const uint32_t k = list ? list[j] : own;
        formats_front leaf;
        assert_int_equal(formats_leaf_read(r, shared, k, file->data + r->leaves_at + r->leaf[k].at,
                                           &limits, &leaf, NULL),
                         TAPER_OK);
        found = formats_leaf_find(&leaf, name);
        if (found < UINT32_MAX) found += leaf.first_image;
        formats_front_free(&leaf);
    }
    free(list);
    return found;
}

static void names_are_found(void **unused) {
    (void)unused;
    uint64_t state = SEED + 3;
    for (int round = 0; round < 8; round++) {
        const shape s = {.images = 50 + below(&state, 300),
                         .most_in_group = 3,
                         .layers = 1,
                         .span = 1,
                         .names = round % 2 ? MIXED : ASCENDING};
        formats_front f = make(&s, &state), shared;
        formats_buffer out = write_paged(&f, 1 + below(&state, 20));
        formats_root root;
        assert_int_equal(formats_head_read(out.data, out.size, NULL, &shared, &root, NULL),
                         TAPER_OK);
        assert_int_equal(root.find, round % 2 ? FORMATS_FIND_HASHED : FORMATS_FIND_ASCENDING);
        for (uint32_t i = 0; i < f.images; i++) {
            const char *name = formats_front_name(&f, i);
            uint32_t first = 0; /* of several images of one name */
            char other[40];
            while (strcmp(formats_front_name(&f, first), name) != 0) first++;
            assert_int_equal(find(&out, &root, &shared, name), first);
            snprintf(other, sizeof other, "%sx", name);
            assert_int_equal(find(&out, &root, &shared, other), UINT32_MAX);
        }
        assert_int_equal(find(&out, &root, &shared, "\x01"), UINT32_MAX);
        assert_int_equal(find(&out, &root, &shared, "\xff"), UINT32_MAX);
        formats_front_free(&f), formats_front_free(&shared), formats_root_free(&root);
        formats_buffer_free(&out);
    }
}

/* One name that two leaves share makes names mixed; two in one leaf do not. */
static void equal_names_do_not_part_leaves(void **unused) {
    (void)unused;
    uint64_t state = SEED + 4;
    for (uint32_t at = 1; at < 8; at++) {
        const shape s = {
            .images = 8, .most_in_group = 1, .layers = 1, .span = 1, .names = ASCENDING};
        formats_front f = make(&s, &state), shared;
        f.name_at[at] = f.name_at[at - 1];
        formats_buffer out = write_paged(&f, 4);
        formats_root root;
        assert_int_equal(formats_head_read(out.data, out.size, NULL, &shared, &root, NULL),
                         TAPER_OK);
        assert_int_equal(root.find, at == 4 ? FORMATS_FIND_HASHED : FORMATS_FIND_ASCENDING);
        assert_int_equal(find(&out, &root, &shared, formats_front_name(&f, at)), at - 1);
        formats_front_free(&f), formats_front_free(&shared), formats_root_free(&root);
        formats_buffer_free(&out);
    }
}

/* --- damage ------------------------------------------------------------------------------ */

static formats_buffer sample(uint64_t *state, order names) {
    const shape s = {.images = 20,
                     .most_in_group = 2,
                     .layers = 2,
                     .span = 1,
                     .names = names,
                     .labels = 1,
                     .raised = names == MIXED};
    formats_front f = make(&s, state);
    formats_buffer out = write_paged(&f, 6);
    formats_front_free(&f);
    return out;
}

static void every_bit_flip_is_noticed(void **unused) {
    (void)unused;
    uint64_t state = SEED + 5;
    for (int names = 0; names < 3; names++) {
        formats_buffer out = sample(&state, (order)names);
        for (size_t bit = 0; bit < out.size * 8; bit++) {
            out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            taper_status status = front_read(out.data, out.size, NULL, NULL);
            assert_true(status == TAPER_ERR_CORRUPT || status == TAPER_ERR_TRUNCATED ||
                        status == TAPER_ERR_VERSION);
            out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        formats_buffer_free(&out);
    }
}

/* Every prefix says how much more it needs: of all sections, or of those before the leaves. */
static void prefixes_say_what_they_need(void **unused) {
    (void)unused;
    uint64_t state = SEED + 6;
    formats_buffer out = sample(&state, MIXED);
    size_t entry;
    const size_t leaves = paged_section(&out, "LEAF", &entry);
    uint64_t need, head;
    for (size_t size = 0; size <= out.size; size++) {
        uint8_t *exact = front_copy(out.data, size);
        formats_front f;
        formats_root root;
        assert_int_equal(formats_front_need(exact, size, &need, NULL), TAPER_OK);
        assert_int_equal(formats_head_need(exact, size, &head, NULL), TAPER_OK);
        assert_true(head <= need && need <= out.size);
        assert_int_equal(front_read(exact, size, NULL, NULL),
                         size < out.size ? TAPER_ERR_TRUNCATED : TAPER_OK);
        const taper_status status = formats_head_read(exact, size, NULL, &f, &root, NULL);
        assert_int_equal(status, size < leaves ? TAPER_ERR_TRUNCATED : TAPER_OK);
        if (status != TAPER_OK) assert_true(!f.layer_end && !root.leaf);
        formats_front_free(&f), formats_root_free(&root);
        free(exact);
    }
    assert_true(need == out.size && head == leaves);
    formats_buffer_free(&out);
}

/* Damage says which leaf, and which images. */
static void a_damaged_leaf_is_named(void **unused) {
    (void)unused;
    uint64_t state = SEED + 7;
    formats_buffer out = sample(&state, ASCENDING);
    formats_front shared;
    formats_root root;
    taper_error error = {0};
    char text[80];
    assert_int_equal(formats_head_read(out.data, out.size, NULL, &shared, &root, NULL), TAPER_OK);
    for (uint32_t k = 0; k < root.leaves; k++) {
        const size_t at = (size_t)(root.leaves_at + root.leaf[k].at);
        out.data[at + 3] ^= 1;
        assert_int_equal(front_read(out.data, out.size, NULL, &error), TAPER_ERR_CORRUPT);
        snprintf(text, sizeof text, "leaf %u of the front matter, images %u to %u,", k,
                 root.leaf[k].first_image + 1, root.leaf[k + 1].first_image);
        if (!strstr(error.text, text)) fail_msg("%s", error.text);
        assert_non_null(strstr(error.text, "fetch the file again"));
        out.data[at + 3] ^= 1;
    }
    formats_front_free(&shared), formats_root_free(&root);
    formats_buffer_free(&out);
}

static void limits_hold(void **unused) {
    (void)unused;
    uint64_t state = SEED + 8;
    formats_buffer out = sample(&state, MIXED);
    int refused = 0, read = 0;
    for (uint64_t most = 1; most < 1 << 16; most += 1 + most / 8) {
        const taper_limits limits = {.size = sizeof(taper_limits), .max_memory = most};
        const taper_status status = front_read(out.data, out.size, &limits, NULL);
        assert_true(status == TAPER_OK || status == TAPER_ERR_LIMIT);
        if (status == TAPER_OK)
            read++;
        else
            refused++, assert_int_equal(read, 0);
    }
    assert_true(read && refused > 10);
    const taper_limits images = {.size = sizeof(taper_limits), .max_images = 19},
                       pixels = {.size = sizeof(taper_limits), .max_pixels = 3};
    assert_int_equal(front_read(out.data, out.size, &images, NULL), TAPER_ERR_LIMIT);
    assert_int_equal(front_read(out.data, out.size, &pixels, NULL), TAPER_ERR_LIMIT);
    formats_buffer_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_fronts_round_trip),
        cmocka_unit_test(small_sets_are_in_one_piece),
        cmocka_unit_test(roots_stay_small),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(equal_names_do_not_part_leaves),
        cmocka_unit_test(every_bit_flip_is_noticed),
        cmocka_unit_test(prefixes_say_what_they_need),
        cmocka_unit_test(a_damaged_leaf_is_named),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
