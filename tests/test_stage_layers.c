/* test_stage_layers.c -- containers with the stages of their model between the layers. The measure
 * is the same container without a model, read with the first stages. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/groups/stage_layers.h"
#include "formats/model_file.h"
#include "paged.h"
#include "staged_model.h"

enum { N = 3, SEED = 47, STAGES = 6, LAYOUTS = 2, ROOM = 64, MOST = 1 << 24 };

static const taper_layout layouts[LAYOUTS] = {TAPER_LAYOUT_SET, TAPER_LAYOUT_GALLERY};

typedef struct container {
    formats_buffer own, plain; /* with its model, and without */
    formats_front front;       /* of own */
    uint64_t plain_front;
} container;

static formats_buffer file; /* of the model */
static taper_model *model;
static formats_model_places places;
static taper_image image[N];
static container of_layout[LAYOUTS];

static formats_buffer encode(taper_layout layout, int embeds) {
    const taper_encode_options options = {.layout = layout,
                                          .group_images = layout == TAPER_LAYOUT_SET ? 2 : 0,
                                          .embed_model = embeds,
                                          .model_bytes = embeds ? file.data : NULL,
                                          .model_size = embeds ? file.size : 0};
    return dct_encode(model, image, N, &options, 1);
}

/* The model of staged_model.h, with smaller claims of what its passes take: so that few pixels have
 * small layers. */
static taper_model *make_model(formats_buffer *to) {
    formats_buffer first = formats_buffer_make(MOST);
    const codec_weight_precision precision = {0.05, 8};
    taper_model *m = staged_model_make(&first), *out;
    for (uint32_t l = 0; l < m->tables.n_layers; l++) m->tables.layer[l].bytes_per_mpixel /= 100;
    if (codec_model_write(m, &precision, to, NULL) != TAPER_OK) abort();
    taper_model_free(m);
    formats_buffer_free(&first);
    if (taper_model_load(&out, to->data, to->size, NULL, NULL) != TAPER_OK) abort();
    return out;
}

static int make(void **unused) {
    (void)unused;
    file = formats_buffer_make(MOST);
    model = make_model(&file);
    image[0] = dct_picture(74, 51, 1, 1), image[1] = picture_noise(48, 64, 1, 8, 4);
    image[2] = dct_picture(39, 60, 1, 3);
    for (uint32_t i = 0; i < 48 * 64; i++) /* needs raised planes */
        ((uint8_t *)image[1].pixels)[i] = (uint8_t)((i + i / 48) % 2 ? 255 : 0);
    if (formats_model_find_stages(file.data, file.size, &places, NULL) != TAPER_OK) return 1;
    for (int k = 0; k < LAYOUTS; k++) {
        container *c = &of_layout[k];
        c->own = encode(layouts[k], 1), c->plain = encode(layouts[k], 0);
        c->plain_front = dct_info(&c->plain, model).front_bytes;
        if (formats_front_read(c->own.data, c->own.size, NULL, &c->front, NULL)) return 1;
    }
    return 0;
}

static int drop(void **unused) {
    (void)unused;
    for (int i = 0; i < N; i++) formats_image_free(&image[i]);
    for (int k = 0; k < LAYOUTS; k++) {
        formats_buffer_free(&of_layout[k].own), formats_buffer_free(&of_layout[k].plain);
        formats_front_free(&of_layout[k].front);
    }
    taper_model_free(model);
    formats_buffer_free(&file);
    return 0;
}

/* --- what must come out ------------------------------------------------------------------ */

static taper_model *with_stages(uint32_t k) {
    taper_model *m;
    assert_int_equal(taper_model_load_stages(&m, file.data, (size_t)places.end[k - 1], NULL, NULL),
                     TAPER_OK);
    return m;
}

static int is_stage(const formats_front *f, uint32_t layer) {
    return formats_front_layer_kind(f, layer) == FORMATS_LAYER_MODEL;
}
static uint64_t layer_at(const formats_front *f, uint32_t layer) {
    return f->front_size + f->chunk_at[(uint64_t)layer * f->groups];
}

/* Stages that the front matter has. */
static uint32_t stages_in_front(const formats_front *f) {
    uint32_t k = 1;
    while (places.end[k - 1] < f->model_in_front) k++;
    return k;
}

/* The n-th layer with a stage, from 0. */
static uint32_t stage_layer(const formats_front *f, uint32_t n) {
    for (uint32_t l = 0; l < f->layers; l++)
        if (is_stage(f, l) && !n--) return l;
    fail_msg("there are fewer stages");
    return 0;
}

typedef struct picture {
    formats_buffer pixels;
    taper_completeness done[N];
    taper_status status;
} picture;

static picture pull(const uint8_t *bytes, uint64_t size, const taper_model *m) {
    picture p = {.pixels = formats_buffer_make(MOST)};
    p.status = dct_pull(bytes, (size_t)size, m, &p.pixels, p.done);
    return p;
}

/* The first `cut` bytes of the container, read with k stages; 0: with those among these bytes. */
static picture expected(const container *c, uint64_t cut, uint32_t k) {
    const formats_front *f = &c->front;
    uint64_t skipped = 0;
    uint32_t known = stages_in_front(f);
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint64_t at = layer_at(f, l), end = layer_at(f, l + 1);
        if (!is_stage(f, l) || at >= cut) continue;
        skipped += (cut < end ? cut : end) - at;
        known += cut >= end;
    }
    taper_model *m = with_stages(k ? k : known);
    picture p = pull(c->plain.data, cut - skipped - f->front_size + c->plain_front, m);
    taper_model_free(m);
    return p;
}

static void same(picture want, picture got, const char *what, uint64_t where) {
    if (want.status != got.status || want.pixels.size != got.pixels.size ||
        memcmp(want.pixels.data, got.pixels.data, want.pixels.size))
        fail_msg("%s %llu: status %d not %d, or other pixels", what, (unsigned long long)where,
                 got.status, want.status);
    for (int i = 0; i < N; i++) {
        assert_int_equal(want.done[i].passes, got.done[i].passes);
        assert_int_equal(want.done[i].stages, got.done[i].stages);
    }
    formats_buffer_free(&want.pixels), formats_buffer_free(&got.pixels);
}

static picture render(taper_decoder *d) {
    picture p = {.pixels = formats_buffer_make(MOST)};
    p.status = dct_render_all(d, &p.pixels, p.done);
    return p;
}

/* --- where they are ---------------------------------------------------------------------- */

static void they_come_before_what_needs_them(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const formats_front *f = &of_layout[k].front;
        uint32_t known = stages_in_front(f), layers = 0;
        assert_true(f->has_stages && f->model_in_front < file.size);
        for (uint32_t l = 0; l < f->layers; l++) {
            taper_model *m = with_stages(known);
            if (is_stage(f, l)) {
                assert_int_equal(formats_front_layer_end(f, l, 0),
                                 formats_front_layer_end(f, l - 1, 0));
                assert_int_equal(layer_at(f, l + 1) - layer_at(f, l),
                                 places.end[known] - places.end[known - 1]);
                known++, layers++;
            } else if (known < STAGES) {
                assert_true(formats_front_passes(f, l) <= m->info.passes_known);
            }
            taper_model_free(m);
        }
        assert_int_equal(known, STAGES);
        assert_true(layers >= 2 && !is_stage(f, 0) && !is_stage(f, f->layers - 1));
        /* all that the stages cost is some bytes of the directory */
        assert_true(of_layout[k].own.size < of_layout[k].plain.size + file.size + 128);
    }
}

static void others_have_none(void **unused) {
    (void)unused;
    formats_front f;
    formats_buffer own = encode(TAPER_LAYOUT_IMAGE, 1);
    assert_int_equal(formats_front_read(own.data, own.size, NULL, &f, NULL), TAPER_OK);
    assert_true(!f.has_stages && f.model_size == file.size);
    formats_front_free(&f);
    formats_buffer_free(&own);
    formats_buffer one = formats_buffer_make(MOST);
    taper_model *m = dct_model_make((codec_window){2, 2, 1, NULL}, 0, 6, &one);
    assert_int_equal(m->info.stages, 1);
    own = dct_encode(m, image, N,
                     &(taper_encode_options){.layout = TAPER_LAYOUT_GALLERY,
                                             .embed_model = 1,
                                             .model_bytes = one.data,
                                             .model_size = one.size},
                     0);
    assert_int_equal(formats_front_read(own.data, own.size, NULL, &f, NULL), TAPER_OK);
    assert_true(!f.has_stages && f.model_size == one.size);
    formats_front_free(&f);
    formats_buffer_free(&own), formats_buffer_free(&one);
    taper_model_free(m);
}

/* --- cuts -------------------------------------------------------------------------------- */

/* The next cut to try: all near the ends of layers, some others. */
static uint64_t next_cut(const formats_front *f, uint64_t cut) {
    enum { NEAR = 2, STEP = 61 };
    uint64_t next = cut + STEP;
    for (uint32_t l = 0; l <= f->layers; l++) {
        const uint64_t at = layer_at(f, l);
        if (cut + 1 >= at - NEAR && cut + 1 <= at + NEAR) return cut + 1;
        if (at - NEAR > cut && at - NEAR < next) next = at - NEAR;
    }
    return next;
}

static void every_cut_is_as_with_its_stages(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const container *c = &of_layout[k];
        for (uint64_t cut = c->front.front_size; cut <= c->own.size; cut = next_cut(&c->front, cut))
            same(expected(c, cut, 0), pull(c->own.data, cut, NULL), "cut", cut);
        for (uint64_t cut = 0; cut < c->front.front_size; cut += 29) {
            picture p = pull(c->own.data, cut, NULL);
            assert_int_equal(p.status, TAPER_ERR_TRUNCATED);
            formats_buffer_free(&p.pixels);
        }
    }
}

/* taper_decode_options.cut leaves out what a file that ends there does not have. */
static void cuts_of_decoders_are_as_files(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const container *c = &of_layout[k];
        formats_memory memory = {c->own.data, c->own.size};
        const taper_source source = formats_memory_source(&memory);
        taper_container *open;
        assert_int_equal(taper_container_open(&open, &source, NULL, NULL), TAPER_OK);
        for (uint64_t cut = c->front.front_size; cut <= c->own.size;
             cut = next_cut(&c->front, cut)) {
            const taper_decode_options options = {.size = sizeof options, .cut = cut};
            taper_decoder *d;
            assert_int_equal(taper_decoder_new(&d, open, &options, NULL), TAPER_OK);
            same(pull(c->own.data, cut, NULL), render(d), "decoder's cut", cut);
            taper_decoder_free(d);
        }
        taper_container_close(open);
    }
}

/* With its model from elsewhere the layers with stages are of no account. (A cut within one lacks
 * the chunks of length 0 behind it, which are not tried.) */
static void a_given_model_is_used(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const container *c = &of_layout[k];
        for (uint64_t cut = c->front.front_size; cut <= c->own.size;
             cut = next_cut(&c->front, cut)) {
            uint32_t layer = 0;
            while (layer + 1 < c->front.layers && layer_at(&c->front, layer + 1) <= cut) layer++;
            if (is_stage(&c->front, layer)) continue;
            same(expected(c, cut, STAGES), pull(c->own.data, cut, model), "cut", cut);
        }
    }
}

/* Pixels after bytes were pushed are those of a cut. A damaged layer that has no pass of a group is
 * told of, but not read of a cut. */
static void as_pulled(taper_decoder *d, const uint8_t *bytes, uint64_t cut) {
    picture pulled = pull(bytes, cut, NULL), pushed = render(d);
    if (pulled.status == TAPER_OK && pushed.status == TAPER_ERR_CORRUPT) pushed.status = TAPER_OK;
    same(pulled, pushed, "pushed", cut);
}

/* Push, and render at many cuts: equal to reading the same file at that cut. */
static void push_all(const container *c, const uint8_t *bytes) {
    taper_decoder *d;
    uint64_t at = 0;
    assert_int_equal(stream_decoder(&d, NULL, NULL, NULL), TAPER_OK);
    for (uint64_t cut = c->front.front_size; cut <= c->own.size; cut = next_cut(&c->front, cut)) {
        for (; at < cut; at += 1 + (cut - at) / 2)
            assert_int_equal(taper_decoder_push(d, bytes + at, (size_t)(1 + (cut - at) / 2), NULL),
                             TAPER_OK);
        if (cut % 3) continue;
        as_pulled(d, bytes, cut);
    }
    for (; at < c->own.size; at++)
        assert_int_equal(taper_decoder_push(d, bytes + at, 1, NULL), TAPER_OK);
    as_pulled(d, bytes, c->own.size);
    close_decoder(d);
}

static void pushed_bytes_are_decoded_again(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) push_all(&of_layout[k], of_layout[k].own.data);
}

/* Data that are damaged before a stage, in each layer, and then damaged stages. */
static void damage_ends_a_group_or_the_model(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const container *c = &of_layout[k];
        const formats_front *f = &c->front;
        uint32_t known = stages_in_front(f);
        for (uint32_t l = 0; l < f->layers; l++) {
            uint8_t *bad = c->own.data + (layer_at(f, l) + layer_at(f, l + 1)) / 2;
            if (layer_at(f, l) == layer_at(f, l + 1)) continue;
            *bad ^= 8;
            push_all(c, c->own.data);
            if (is_stage(f, l)) {
                formats_memory memory = {c->own.data, c->own.size};
                const taper_source source = formats_memory_source(&memory);
                taper_verify_report report = {.size = sizeof report};
                same(expected(c, c->own.size, known++), pull(c->own.data, c->own.size, NULL),
                     "damaged layer", l);
                same(expected(c, c->own.size, STAGES), pull(c->own.data, c->own.size, model),
                     "damaged layer", l);
                assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_ERR_CORRUPT);
                assert_true(report.chunks_bad > 0);
            }
            *bad ^= 8;
        }
    }
}

/* --- by ranges --------------------------------------------------------------------------- */

static void supply(taper_decoder *d, const uint8_t *bytes, uint64_t at, uint64_t end) {
    if (at < end)
        assert_int_equal(taper_decoder_supply(d, at, bytes + at, (size_t)(end - at), NULL),
                         TAPER_OK);
}

/* Without one stage, as with those before it; then with it. */
static void stages_that_come_late(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const container *c = &of_layout[k];
        const uint32_t in_front = stages_in_front(&c->front);
        for (uint32_t n = 0; n < STAGES - in_front; n++) {
            const uint32_t late = stage_layer(&c->front, n);
            const uint64_t at = layer_at(&c->front, late), end = layer_at(&c->front, late + 1);
            taper_decoder *d = NULL;
            assert_int_equal(stream_decoder(&d, NULL, NULL, NULL), TAPER_OK);
            supply(d, c->own.data, 0, at);
            supply(d, c->own.data, end, c->own.size);
            same(expected(c, c->own.size, in_front + n), render(d), "without layer", late);
            supply(d, c->own.data, at, end - 1);
            same(expected(c, c->own.size, in_front + n), render(d), "without layer", late);
            supply(d, c->own.data, end - 1, end);
            same(expected(c, c->own.size, STAGES), render(d), "late layer", late);
            close_decoder(d);
        }
    }
}

/* Pieces in any order: with what is there there is always a picture, in the end the whole one. */
static void any_order_ends_alike(void **unused) {
    (void)unused;
    enum { PIECES = 40 };
    uint64_t random = SEED;
    printf("seed %d\n", SEED);
    for (int k = 0; k < LAYOUTS; k++)
        for (int round = 0; round < 8; round++) {
            const container *c = &of_layout[k];
            const uint64_t front = c->front.front_size, data = c->own.size - front;
            uint32_t order[PIECES];
            taper_decoder *d = NULL;
            assert_int_equal(stream_decoder(&d, NULL, NULL, NULL), TAPER_OK);
            for (uint32_t i = 0; i < PIECES; i++) {
                const uint32_t j = (uint32_t)(picture_random(&random) % (i + 1));
                order[i] = order[j], order[j] = i;
            }
            if (round % 2) supply(d, c->own.data, 0, front);
            for (uint32_t i = 0; i < PIECES; i++) {
                supply(d, c->own.data, front + data * order[i] / PIECES,
                       front + data * (order[i] + 1) / PIECES);
                if (!(round % 2) || i % 3) continue;
                picture p = render(d);
                assert_int_equal(p.status, TAPER_OK);
                formats_buffer_free(&p.pixels);
            }
            if (!(round % 2)) supply(d, c->own.data, 0, front);
            same(expected(c, c->own.size, STAGES), render(d), "round", (uint64_t)round);
            close_decoder(d);
        }
}

/* The bytes of ranges that are of layers with stages. */
static uint64_t of_stages(const formats_front *f, const taper_range *range, size_t n) {
    uint64_t bytes = 0;
    for (size_t r = 0; r < n; r++)
        for (uint32_t l = 0; l < f->layers; l++) {
            const uint64_t at = layer_at(f, l), end = layer_at(f, l + 1),
                           from = range[r].offset > at ? range[r].offset : at,
                           past = range[r].offset + range[r].size;
            if (is_stage(f, l) && from < (past < end ? past : end))
                bytes += (past < end ? past : end) - from;
        }
    return bytes;
}

/* What is planned for an image gives the whole of it, at any cut. */
static void plans_list_stages(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const container *c = &of_layout[k];
        for (uint64_t i = 0; i < N; i++)
            for (int part = 1; part <= 8; part++) {
                const uint64_t cut =
                    part == 8 ? c->own.size
                              : c->front.front_size +
                                    (c->own.size - c->front.front_size) * (uint64_t)part / 8;
                taper_decoder *d;
                taper_range range[ROOM];
                size_t n;
                uint64_t stages = 0;
                picture whole = expected(c, cut, 0);
                assert_int_equal(stream_decoder(&d, NULL, NULL, NULL), TAPER_OK);
                supply(d, c->own.data, 0, c->front.front_size);
                while (taper_decoder_plan(d, i, cut, range, ROOM, &n, NULL) == TAPER_OK && n) {
                    assert_true(n <= ROOM);
                    stages += of_stages(&c->front, range, n);
                    for (size_t r = 0; r < n; r++)
                        supply(d, c->own.data, range[r].offset, range[r].offset + range[r].size);
                }
                taper_image_info info = {.size = sizeof info};
                taper_container_get_image(taper_decoder_container(d), i, &info, NULL);
                taper_image out = {.pixels = malloc((size_t)info.bytes)};
                taper_completeness done;
                assert_int_equal(taper_decoder_render(d, i, &out, &done, NULL), TAPER_OK);
                assert_int_equal(done.passes, whole.done[i].passes);
                if (part == 8) {
                    size_t at = 0;
                    for (uint64_t j = 0; j < i; j++) at += formats_image_bytes(&image[j]);
                    assert_memory_equal(out.pixels, whole.pixels.data + at, (size_t)info.bytes);
                    assert_int_equal(stages, file.size - c->front.model_in_front);
                    assert_true(done.complete);
                }
                free(out.pixels);
                formats_buffer_free(&whole.pixels);
                close_decoder(d);
            }
    }
}

/* A limit of passes leaves out the stages that only later ones need; a budget holds. */
static void plans_of_many_images_list_stages(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const container *c = &of_layout[k];
        const formats_front *f = &c->front;
        taper_decoder *d;
        taper_range range[ROOM];
        size_t n;
        assert_int_equal(stream_decoder(&d, NULL, NULL, NULL), TAPER_OK);
        supply(d, c->own.data, 0, f->front_size);
        for (uint32_t l = 0; l < f->layers; l++) {
            if (is_stage(f, l)) continue;
            taper_plan_options o = {.size = sizeof o, .passes = formats_front_passes(f, l)};
            assert_int_equal(taper_decoder_plan_images(d, &o, range, ROOM, &n, NULL), TAPER_OK);
            uint64_t before = 0;
            for (uint32_t s = 0; s < l; s++)
                if (is_stage(f, s)) before += layer_at(f, s + 1) - layer_at(f, s);
            if (l + 1 == f->layers || is_stage(f, l + 1) ||
                formats_front_passes(f, l + 1) > o.passes)
                assert_int_equal(of_stages(f, range, n), before);
        }
        const uint64_t budget = 700;
        for (int steps = 0;; steps++) {
            const taper_plan_options o = {.size = sizeof o, .max_bytes = budget, .max_gap = 16};
            uint64_t bytes = 0;
            assert_int_equal(taper_decoder_plan_images(d, &o, range, ROOM, &n, NULL), TAPER_OK);
            if (!n) break;
            for (size_t r = 0; r < n; r++) {
                bytes += range[r].size;
                supply(d, c->own.data, range[r].offset, range[r].offset + range[r].size);
            }
            assert_true(bytes <= budget && steps < 1000);
        }
        same(expected(c, c->own.size, STAGES), render(d), "budget", budget);
        close_decoder(d);
    }
}

/* A damaged stage is listed again and again, and costs no memory; then it is supplied whole. */
static void damaged_stages_are_asked_for_again(void **unused) {
    (void)unused;
    const container *c = &of_layout[1];
    const uint32_t layer = stage_layer(&c->front, 1);
    const uint64_t at = layer_at(&c->front, layer), end = layer_at(&c->front, layer + 1);
    taper_decoder *d;
    taper_range range[ROOM];
    taper_error error;
    size_t n;
    uint64_t used = 0, front = 0;
    assert_int_equal(stream_decoder(&d, NULL, NULL, NULL), TAPER_OK);
    supply(d, c->own.data, 0, at);
    supply(d, c->own.data, end, c->own.size);
    uint8_t *other = malloc((size_t)(end - at));
    assert_non_null(other);
    for (uint64_t k = 0; k < 20; k++) {
        memcpy(other, c->own.data + at, (size_t)(end - at));
        other[k * 7 % (end - at)] ^= 1;
        assert_int_equal(taper_decoder_supply(d, at, other, (size_t)(end - at), NULL), TAPER_OK);
        if (k == 1) used = d->account.used, front = d->own.front.account.used;
        if (k > 1) assert_true(d->account.used == used && d->own.front.account.used == front);
        assert_int_equal(taper_decoder_plan(d, 0, UINT64_MAX, range, ROOM, &n, &error),
                         TAPER_ERR_CORRUPT);
        assert_non_null(strstr(error.text, "of the model"));
        assert_true(n == 1 && range[0].offset == at && range[0].size == end - at);
        const taper_plan_options all = {.size = sizeof all};
        assert_int_equal(taper_decoder_plan_images(d, &all, range, ROOM, &n, NULL),
                         TAPER_ERR_CORRUPT);
        assert_true(n == 1 && range[0].offset == at && range[0].size == end - at);
    }
    supply(d, c->own.data, at, end);
    same(expected(c, c->own.size, STAGES), render(d), "again", 0);
    free(other);
    close_decoder(d);
}

/* With too little memory decoding ends with an error, wherever that is. Where it ended with a stage
 * half taken, nothing is rendered. */
static void memory_is_limited(void **unused) {
    (void)unused;
    const container *c = &of_layout[1];
    int lost = 0;
    for (uint64_t most = 1 << 12, ends = 0; !ends; most += most / 256) {
        const taper_limits limits = {.size = sizeof limits, .max_memory = most};
        taper_decoder *d;
        taper_status status = stream_decoder(&d, NULL, &limits, NULL);
        if (status == TAPER_OK) status = taper_decoder_push(d, c->own.data, c->own.size, NULL);
        assert_true(status == TAPER_OK || status == TAPER_ERR_LIMIT || status == TAPER_ERR_NOMEM);
        if (status == TAPER_OK || d->pushing.is_lost) {
            picture p = render(d);
            lost += d->pushing.is_lost;
            ends = p.status == TAPER_OK;
            if (status != TAPER_OK) assert_int_equal(p.status, status);
            for (int i = 0; i < N && ends; i++) assert_true(p.done[i].passes > 0);
            formats_buffer_free(&p.pixels);
        }
        close_decoder(d);
        assert_true(most < 1 << 30);
    }
    assert_true(lost > 0);
}

/* A stage that is here, and for which memory lacks, is not asked for again. */
static void memory_lacks_for_a_stage(void **unused) {
    (void)unused;
    const container *c = &of_layout[1];
    int lacks = 0;
    for (uint64_t most = 1 << 12, ends = 0; !ends; most += most / 64) {
        const taper_limits limits = {.size = sizeof limits, .max_memory = most};
        taper_decoder *d;
        taper_range range[ROOM];
        size_t n = 0;
        taper_status status = stream_decoder(&d, NULL, &limits, NULL);
        if (status == TAPER_OK) status = taper_decoder_supply(d, 0, c->own.data, c->own.size, NULL);
        if (status == TAPER_OK) {
            const int is_short = d->supplying.stage != TAPER_OK;
            if (is_short) assert_int_not_equal(d->supplying.stage, TAPER_ERR_CORRUPT);
            status = taper_decoder_plan(d, 0, UINT64_MAX, range, ROOM, &n, NULL);
            if (status == TAPER_OK) assert_int_equal(n, 0);
            lacks += is_short && status == TAPER_OK;
            ends = !is_short && status == TAPER_OK;
        }
        close_decoder(d);
        assert_true(most < 1 << 30);
    }
    assert_true(lacks > 0);
}

/* With a directory in pages. */
static void pages_have_stages(void **unused) {
    (void)unused;
    const container *c = &of_layout[1];
    formats_buffer paged = paged_from(&c->own, 1, -1);
    same(expected(c, c->own.size, STAGES), pull(paged.data, paged.size, NULL), "paged", 0);
    taper_decoder *d;
    taper_range range[ROOM];
    size_t n;
    assert_int_equal(stream_decoder(&d, NULL, NULL, NULL), TAPER_OK);
    for (uint64_t i = N; i-- > 0;)
        while (taper_decoder_plan(d, i, UINT64_MAX, range, ROOM, &n, NULL) == TAPER_OK && n)
            for (size_t r = 0; r < n; r++)
                supply(d, paged.data, range[r].offset, range[r].offset + range[r].size);
    assert_true(d->own.root.leaves > 1);
    same(expected(c, c->own.size, STAGES), render(d), "paged", 1);
    close_decoder(d);
    formats_buffer_free(&paged);
}

/* --- what copies containers -------------------------------------------------------------- */

typedef taper_status copy_fn(const taper_source *from, uint64_t size, const taper_sink *to);

static taper_status truncate_to(const taper_source *from, uint64_t size, const taper_sink *to) {
    return taper_truncate(from, size, to, NULL, NULL);
}
static taper_status to_gallery(const taper_source *from, uint64_t size, const taper_sink *to) {
    (void)size;
    return taper_repack(from, NULL, TAPER_LAYOUT_GALLERY, 0, to, NULL, NULL);
}
static taper_status to_set(const taper_source *from, uint64_t size, const taper_sink *to) {
    (void)size;
    return taper_repack(from, NULL, TAPER_LAYOUT_SET, 2, to, NULL, NULL);
}
static taper_status to_image(const taper_source *from, uint64_t size, const taper_sink *to) {
    (void)size;
    return taper_repack(from, NULL, TAPER_LAYOUT_IMAGE, 0, to, NULL, NULL);
}
static taper_status merge_one(const taper_source *from, uint64_t size, const taper_sink *to) {
    (void)size;
    return taper_merge(from, 1, to, NULL, NULL);
}
static taper_status rename_one(const taper_source *from, uint64_t size, const taper_sink *to) {
    (void)size;
    const taper_name name = {1, "f/another.png"};
    return taper_rename(from, &name, 1, to, NULL, NULL);
}

static taper_status copy(const uint8_t *bytes, uint64_t size, copy_fn *fn, uint64_t most,
                         formats_buffer *out) {
    formats_memory memory = {bytes, (size_t)size};
    const taper_source source = formats_memory_source(&memory);
    const taper_sink sink = dct_sink(out);
    *out = formats_buffer_make(MOST);
    return fn(&source, most, &sink);
}

static void copies_have_the_same_pictures(void **unused) {
    (void)unused;
    copy_fn *const fn[] = {truncate_to, to_gallery, to_set, to_image, merge_one, rename_one};
    for (int k = 0; k < LAYOUTS; k++)
        for (size_t j = 0; j < sizeof fn / sizeof *fn; j++) {
            const container *c = &of_layout[k];
            formats_buffer out;
            formats_front f;
            assert_int_equal(copy(c->own.data, c->own.size, fn[j], c->own.size, &out), TAPER_OK);
            assert_int_equal(formats_front_read(out.data, out.size, NULL, &f, NULL), TAPER_OK);
            assert_int_equal(f.has_stages, fn[j] != to_image);
            formats_front_free(&f);
            same(expected(c, c->own.size, STAGES), pull(out.data, out.size, NULL), "copy", j);
            formats_buffer_free(&out);
        }
}

/* Truncated, at any size: a legal container, without stages behind the last passes. */
static void truncated_ones_are_legal(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const container *c = &of_layout[k];
        uint32_t passes = 0;
        for (uint64_t size = c->front.front_size + 40; size <= c->own.size; size += 97) {
            formats_buffer out, again;
            formats_front f;
            taper_verify_report report = {.size = sizeof report};
            assert_int_equal(copy(c->own.data, c->own.size, truncate_to, size, &out), TAPER_OK);
            assert_true(out.size <= size);
            formats_memory memory = {out.data, out.size};
            const taper_source source = formats_memory_source(&memory);
            assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_OK);
            assert_int_equal(formats_front_read(out.data, out.size, NULL, &f, NULL), TAPER_OK);
            assert_false(is_stage(&f, f.layers - 1));
            formats_front_free(&f);
            picture p = pull(out.data, out.size, NULL);
            assert_int_equal(p.status, TAPER_OK);
            assert_true(p.done[0].passes >= passes);
            passes = p.done[0].passes;
            formats_buffer_free(&p.pixels);
            /* the same from a file that was cut there: what is missing is left out */
            assert_int_equal(copy(c->own.data, size, truncate_to, c->own.size, &again), TAPER_OK);
            p = pull(again.data, again.size, NULL);
            assert_int_equal(p.status, TAPER_OK);
            formats_buffer_free(&p.pixels);
            formats_buffer_free(&out), formats_buffer_free(&again);
        }
    }
}

/* A cut within the stages cannot be changed: its model is not there. */
static void cut_models_are_told(void **unused) {
    (void)unused;
    const container *c = &of_layout[1];
    formats_buffer out;
    const uint64_t cut = layer_at(&c->front, stage_layer(&c->front, 1)) + 5;
    assert_int_equal(copy(c->own.data, cut, to_set, 0, &out), TAPER_ERR_ARG);
    assert_int_equal(out.size, 0);
    formats_buffer_free(&out);
}

static void one_image_less(void **unused) {
    (void)unused;
    for (int k = 0; k < LAYOUTS; k++) {
        const container *c = &of_layout[k];
        formats_buffer out = formats_buffer_make(MOST);
        formats_memory memory = {c->own.data, c->own.size};
        const taper_source source = formats_memory_source(&memory);
        const taper_sink sink = dct_sink(&out);
        const uint64_t last = N - 1;
        assert_int_equal(taper_remove(&source, &last, 1, &sink, NULL, NULL), TAPER_OK);
        picture all = pull(c->own.data, c->own.size, NULL), less = pull(out.data, out.size, NULL);
        assert_int_equal(less.status, TAPER_OK);
        assert_int_equal(less.pixels.size + formats_image_bytes(&image[last]), all.pixels.size);
        assert_memory_equal(less.pixels.data, all.pixels.data, less.pixels.size);
        formats_buffer_free(&all.pixels), formats_buffer_free(&less.pixels);
        formats_buffer_free(&out);
    }
}

/* --- quality ----------------------------------------------------------------------------- */

/* The built-in model tiny with one number changed: another id, so that it is not built in. */
static taper_model *tiny_of_another_id(formats_buffer *to) {
    size_t size;
    const void *bytes = taper_model_builtin_bytes("tiny", &size);
    taper_model *m, *out;
    const codec_weight_precision precision = {0.0005, 8};
    assert_int_equal(taper_model_load(&m, bytes, size, NULL, NULL), TAPER_OK);
    m->network.mean[0] += 0.25f;
    assert_int_equal(codec_model_write(m, &precision, to, NULL), TAPER_OK);
    taper_model_free(m);
    assert_int_equal(taper_model_load(&out, to->data, to->size, NULL, NULL), TAPER_OK);
    return out;
}

/* At cuts of all sizes; small images may fall by half a decibel (docs/promises.md, P2). */
static void more_bytes_never_hurt(void **unused) {
    (void)unused;
    enum { COUNT = 6, CUTS = 60 };
    formats_buffer tpm = formats_buffer_make(MOST);
    taper_model *m = tiny_of_another_id(&tpm);
    taper_image of[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) of[i] = dct_picture(64 + 8 * i, 56, 3, i + 9);
    for (int k = 0; k < LAYOUTS; k++) {
        const taper_encode_options options = {.layout = layouts[k],
                                              .group_images = k ? 0 : 2,
                                              .embed_model = 1,
                                              .model_bytes = tpm.data,
                                              .model_size = tpm.size};
        formats_buffer own = dct_encode(m, of, COUNT, &options, 0);
        const uint64_t front = dct_info(&own, m).front_bytes;
        double best = 0, first = 0;
        assert_true(front < own.size / 4);
        for (uint64_t cut = 0; cut <= CUTS; cut++) {
            formats_buffer pixels = formats_buffer_make(MOST);
            const uint64_t size = front + (own.size - front) * cut / CUTS;
            assert_int_equal(dct_pull(own.data, (size_t)size, NULL, &pixels, NULL), TAPER_OK);
            const double db = dct_mean_psnr(of, COUNT, pixels.data);
            if (db < best - 0.5)
                fail_msg("%llu bytes: %.2f dB after %.2f", (unsigned long long)size, db, best);
            best = db > best ? db : best;
            if (cut == 1) first = db;
            formats_buffer_free(&pixels);
        }
        assert_true(first > 15 && best > 40);
        formats_buffer_free(&own);
    }
    for (int i = 0; i < COUNT; i++) formats_image_free(&of[i]);
    taper_model_free(m);
    formats_buffer_free(&tpm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_come_before_what_needs_them),
        cmocka_unit_test(others_have_none),
        cmocka_unit_test(every_cut_is_as_with_its_stages),
        cmocka_unit_test(cuts_of_decoders_are_as_files),
        cmocka_unit_test(a_given_model_is_used),
        cmocka_unit_test(pushed_bytes_are_decoded_again),
        cmocka_unit_test(damage_ends_a_group_or_the_model),
        cmocka_unit_test(stages_that_come_late),
        cmocka_unit_test(any_order_ends_alike),
        cmocka_unit_test(plans_list_stages),
        cmocka_unit_test(plans_of_many_images_list_stages),
        cmocka_unit_test(damaged_stages_are_asked_for_again),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(memory_lacks_for_a_stage),
        cmocka_unit_test(pages_have_stages),
        cmocka_unit_test(copies_have_the_same_pictures),
        cmocka_unit_test(truncated_ones_are_legal),
        cmocka_unit_test(cut_models_are_told),
        cmocka_unit_test(one_image_less),
        cmocka_unit_test(more_bytes_never_hurt),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
