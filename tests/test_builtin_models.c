/* test_builtin_models.c -- the constants of the built-in models are what taper_model_load makes of
 * their files; their analysis is what encoders would compute; opening one copies a struct. */
#include "cmocka_all.h"
#include "codec/backend/fused.h"
#include "codec/backend/plain.h"
#include "codec/model/builtin_models.h"
#include "codec/taper.h"
#include "codec/transform/pseudo_inverse.h"
#include "models/fused_product.h"
#include "models/parts.h"
#include "train/sampling/philox.h"

static const char *const names[] = {"photo", "tiny"};
enum { NAMES = 2 };

typedef struct pair {
    codec_builtin_model builtin;
    taper_model *loaded, *opened;
} pair;

static pair open_pair(const char *name) {
    pair p;
    assert_int_equal(codec_builtin_model_named(name, &p.builtin), 1);
    assert_int_equal(taper_model_load(&p.loaded, p.builtin.bytes, p.builtin.size, NULL, NULL),
                     TAPER_OK);
    assert_int_equal(taper_model_builtin(&p.opened, name, NULL), TAPER_OK);
    return p;
}

static void close_pair(pair *p) { taper_model_free(p->loaded), taper_model_free(p->opened); }

/* The first member that differs, or NULL. covered: marks the bytes of the struct that they are. */
static const char *differing_part(const models_list *want, const models_list *got,
                                  uint8_t *covered) {
    const char *differs = NULL;
    assert_int_equal(want->n, got->n);
    for (size_t i = 0; i < want->n; i++) {
        const models_part *w = &want->part[i], *g = &got->part[i];
        memset(covered + w->at, 1, w->size);
        const int same =
            w->count == g->count && !w->data == !g->data &&
            (!w->data || !memcmp(w->data, g->data, w->count * models_element_bytes(w->type)));
        if (!same && !differs) differs = w->member;
    }
    return differs;
}

/* What no list names is zero in both: a field that is missing in the list is found here. */
static const char *unlisted(const void *want, const void *got, const uint8_t *covered,
                            size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!covered[i] && (((const uint8_t *)want)[i] || ((const uint8_t *)got)[i]))
            return "a field that models/parts.h does not list";
    return NULL;
}

static const char *differing_conditional(const codec_conditional *want,
                                         const codec_conditional *got) {
    models_list a, b;
    if (!want || !got) return want == got ? NULL : "one has a network that the other lacks";
    uint8_t covered[sizeof *want] = {0};
    models_list_conditional(&a, want), models_list_conditional(&b, got);
    const char *found = differing_part(&a, &b, covered);
    return found ? found : unlisted(want, got, covered, sizeof *want);
}

/* Mark a member that lists cannot have. */
#define COVER(member) memset(covered + offsetof(taper_model, member), 1, sizeof want->member)

static const char *difference(const taper_model *want, const taper_model *got) {
    models_list a, b;
    uint8_t covered[sizeof *want] = {0};
    models_list_model(&a, want), models_list_model(&b, got);
    COVER(window.lap), COVER(tables.conditional), COVER(tables.head), COVER(is_constant);
    const char *found = differing_part(&a, &b, covered);
    if (!found) found = unlisted(want, got, covered, sizeof *want);
    if (!found) found = differing_conditional(want->tables.conditional, got->tables.conditional);
    return found ? found : differing_conditional(want->tables.head, got->tables.head);
}

/* The analysis as an encoder of this machine computes it; its bits where there are fused products,
 * which the constants are made with. */
static void check_analysis(taper_model *loaded, const float *got) {
    const codec_network *net = &loaded->network;
    codec_backend fused;
    assert_int_equal(codec_make_analysis(net->synthesis, net->units, net->inputs, 1, "",
                                         &loaded->analysis, NULL),
                     TAPER_OK);
    const size_t n = (size_t)net->units * net->inputs;
    if (codec_backend_fused(&fused, 512) == TAPER_OK) {
        assert_memory_equal(loaded->analysis, got, n * sizeof *got);
        return;
    }
    for (size_t i = 0; i < n; i++) assert_true(fabsf(loaded->analysis[i] - got[i]) < 1e-5f);
    memcpy(loaded->analysis, got, n * sizeof *got);
}

static void constants_are_what_loading_makes(void **unused) {
    (void)unused;
    for (int i = 0; i < NAMES; i++) {
        pair p = open_pair(names[i]);
        check_analysis(p.loaded, p.opened->analysis);
        assert_ptr_equal(p.opened->network.analysis, p.opened->network.synthesis);
        assert_ptr_equal(p.loaded->network.analysis, p.loaded->network.synthesis);
        assert_ptr_equal(p.opened->window.lap, &p.opened->lap);
        assert_int_equal(p.opened->is_constant, 1);
        const char *differs = difference(p.loaded, p.opened);
        if (differs) fail_msg("%s: %s differs", names[i], differs);
        close_pair(&p);
    }
}

/* Change one bit of each part of a loaded model in turn. Returns how many changed. */
static size_t change_each(const pair *p, const models_list *list) {
    size_t changed = 0;
    for (size_t i = 0; i < list->n; i++) {
        const models_part *part = &list->part[i];
        const size_t bytes = part->count * models_element_bytes(part->type);
        if (!part->data || !bytes) continue;
        uint8_t *byte = (uint8_t *)(uintptr_t)part->data + (bytes - 1) * 2 / 3;
        *byte ^= 8;
        const char *found = difference(p->loaded, p->opened);
        *byte ^= 8;
        assert_non_null(found);
        if (part->data != p->loaded->network.analysis) assert_string_equal(found, part->member);
        changed++;
    }
    return changed;
}

static void one_wrong_bit_is_seen(void **unused) {
    (void)unused;
    models_list list;
    pair p = open_pair("tiny");
    check_analysis(p.loaded, p.opened->analysis);
    models_list_model(&list, p.loaded);
    assert_in_range(change_each(&p, &list), 80, 200);
    models_list_conditional(&list, p.loaded->tables.conditional);
    assert_in_range(change_each(&p, &list), 20, 30);
    models_list_conditional(&list, p.loaded->tables.head);
    assert_in_range(change_each(&p, &list), 20, 30);
    /* a field that is not listed */
    p.loaded->network.decoder.depth = 1;
    assert_string_equal(difference(p.loaded, p.opened),
                        "a field that models/parts.h does not list");
    p.loaded->network.decoder.depth = 0;
    close_pair(&p);
}

/* Random numbers of so many bits. */
static void fill(float *x, size_t n, uint32_t bits) {
    for (size_t i = 0; i < n; i++) {
        uint32_t word[4];
        train_philox(7, i, bits, word);
        x[i] = ldexpf((float)(int32_t)(word[0] >> (32 - bits)), -20) * (word[1] & 1 ? 1.0f : -1.0f);
    }
}

/* The product of models/fused_product.h is that of the backend. */
static void products_are_the_same(void **unused) {
    (void)unused;
    enum { M = 5, N = 70, K = 900 };
    static float a[M * K], b[N * K], want[M * N], got[M * N];
    codec_backend fused;
    if (codec_backend_fused(&fused, 512) != TAPER_OK) skip();
    static const size_t lengths[] = {1, 7, 383, 384, 385, 500, 767, 768, 769, K};
    fill(a, M * K, 24), fill(b, N * K, 12);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int how = 0; how < 8; how++) {
            const int ta = how & 1, tb = how >> 1 & 1;
            const float beta = how & 4 ? 0.5f : 0.0f;
            for (size_t i = 0; i < M * N; i++) want[i] = got[i] = (float)i;
            assert_int_equal(fused.ops->gemm(&fused, ta, tb, M, N, lengths[l], a, b, beta, want),
                             TAPER_OK);
            assert_int_equal(
                models_fused_product(&fused, ta, tb, M, N, lengths[l], a, b, beta, got), TAPER_OK);
            assert_memory_equal(want, got, sizeof want);
        }
}

/* Limits hold for built-in models as for files, with the same words. */
static void limits_hold(void **unused) {
    (void)unused;
    static const char *const all[] = {"photo", "tiny", "search"};
    for (int i = 0; i < 3; i++) {
        pair p = open_pair(all[i]);
        const taper_limits limits[] = {
            {.size = sizeof(taper_limits), .max_model_bytes = 1 << 16},
            {.size = sizeof(taper_limits), .max_work = p.opened->info.most_work - 1},
            {.size = sizeof(taper_limits), .max_work = p.opened->info.most_work},
            {.size = sizeof(taper_limits), .max_model_bytes = 1 << 24}};
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
            taper_model *a, *b;
            taper_error said = {0}, told = {0};
            const taper_status want =
                taper_model_load(&a, p.builtin.bytes, p.builtin.size, &limits[l], &said);
            assert_int_equal(want, l < 2 ? TAPER_ERR_LIMIT : TAPER_OK);
            assert_int_equal(codec_builtin_model_open(&p.builtin, &limits[l], &b, &told), want);
            assert_string_equal(said.text, told.text);
            assert_int_equal(!a, !b);
            taper_model_free(a), taper_model_free(b);
        }
        close_pair(&p);
    }
}

/* The model of search has no constants: it is loaded, and may be changed as any other. */
static void search_is_loaded(void **unused) {
    (void)unused;
    codec_builtin_model found;
    pair p = open_pair("search");
    assert_null(p.builtin.constant);
    assert_in_range(p.builtin.size, 1, 300000);
    assert_int_equal(p.opened->is_constant, 0);
    assert_int_equal(p.opened->info.embedding && p.opened->info.binary, 1);
    assert_int_equal(p.opened->info.units, 256);
    assert_int_equal(codec_builtin_model_of(p.opened->info.id, &found), 1);
    assert_string_equal(found.name, "search");
    const size_t weights = (size_t)p.opened->network.inputs * p.opened->network.units;
    assert_memory_equal(p.opened->network.encoder.layer[0].weight,
                        p.loaded->network.encoder.layer[0].weight, weights * sizeof(float));
    close_pair(&p);
}

/* Nobody writes to constants. */
static void they_cannot_be_changed(void **unused) {
    (void)unused;
    pair p = open_pair("tiny");
    const codec_weight_precision precision = {0.25, 8};
    formats_buffer out = formats_buffer_make(1 << 24);
    taper_error error = {0};
    assert_int_equal(codec_model_write(p.opened, &precision, &out, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "cannot be changed"));
    assert_int_equal(codec_model_round_weights(p.opened, &precision, &error), TAPER_ERR_ARG);
    assert_int_equal(out.size, 0);
    formats_buffer_free(&out);
    close_pair(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_what_loading_makes),
        cmocka_unit_test(one_wrong_bit_is_seen),
        cmocka_unit_test(products_are_the_same),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(search_is_loaded),
        cmocka_unit_test(they_cannot_be_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
