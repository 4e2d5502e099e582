/* test_holds.c -- the cuts of small sets, with the models that ship: what is drawn is what the same
 * bytes show without holds, or better, and does not fall; how holds are chosen and stored; and that
 * all who read cuts keep them. */
#include "cmocka_all.h"
#include "codec/container/holds.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "formats/container.h"
#include "formats/holds.h"

/* The same container with other holds. */
static formats_buffer with_holds(const formats_buffer *file, uint64_t holds) {
    formats_front front;
    formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
    size_t data = (size_t)front.front_size;
    front.holds = holds;
    assert_int_equal(formats_front_write(&front, &out, NULL), TAPER_OK);
    assert_int_equal(out.size, data);
    formats_write_bytes(&out, file->data + data, file->size - data);
    formats_front_free(&front);
    return out;
}

static uint64_t holds_of(const formats_buffer *file) {
    formats_front front;
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
    uint64_t holds = front.holds;
    formats_front_free(&front);
    return holds;
}

/* --- pictures ---------------------------------------------------------------------------- */

typedef taper_image draw_fn(uint32_t side, uint64_t seed);

static taper_image draw_flat(uint32_t side, uint64_t rgb) {
    taper_image image = picture_noise(side, side, 3, 8, 1);
    uint8_t *to = image.pixels;
    for (uint32_t p = 0; p < side * side; p++)
        for (int c = 0; c < 3; c++) *to++ = (uint8_t)(rgb >> (16 - 8 * c));
    return image;
}

static taper_image draw_ramp(uint32_t side, uint64_t grey) {
    taper_image image = picture_noise(side, side, grey ? 1 : 3, 8, 1);
    uint8_t *to = image.pixels;
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++) {
            *to++ = (uint8_t)(x * 256 / side);
            if (!grey) *to++ = (uint8_t)(y * 256 / side), *to++ = (uint8_t)(255 - x * 256 / side);
        }
    return image;
}

/* A disc, a half, or squares, black on white. */
static taper_image draw_black_and_white(uint32_t side, uint64_t which) {
    taper_image image = picture_noise(side, side, 1, 8, 1);
    uint8_t *to = image.pixels;
    int half = (int)side / 2;
    for (int y = 0; y < (int)side; y++)
        for (int x = 0; x < (int)side; x++) {
            int in = which == 0   ? (x - half) * (x - half) + (y - half) * (y - half) < half * half
                     : which == 1 ? x < half
                                  : (x / (half / 2) + y / (half / 2)) % 2;
            *to++ = in ? 0 : 255;
        }
    return image;
}

/* Blocks of eight random colours: each is far from most pixels. */
static taper_image draw_blocks(uint32_t side, uint64_t seed) {
    taper_image image = draw_flat(side, 0);
    uint64_t state = 77 * seed + 1;
    uint8_t colour[8][3], *to = image.pixels;
    for (int i = 0; i < 24; i++) colour[i / 3][i % 3] = (uint8_t)(picture_random(&state) % 256);
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++)
            memcpy(to + 3 * (y * side + x), colour[(x / 3 + y / 3 * 5) % 8], 3);
    return image;
}

/* A red square with a white wedge on it. */
static taper_image draw_icon(uint32_t side, uint64_t seed) {
    taper_image image = draw_flat(side, 0xFFFFFF);
    uint8_t *to = image.pixels;
    uint32_t edge = side / 8, third = side / 3;
    for (uint32_t y = edge; y < side - edge; y++)
        for (uint32_t x = edge; x < side - edge; x++) {
            int wedge = x >= third && y >= third && y < side - third && y - third > (x - third) / 2;
            uint8_t *at = to + (y * side + x) * 3;
            if (!wedge) at[0] = (uint8_t)(220 - seed), at[1] = 40, at[2] = 40;
        }
    return image;
}

/* Waves of all lengths and a box: as rich as photographs are. 8 bits, 3 channels. */
static taper_image rich_picture(uint32_t side, uint64_t seed) {
    enum { WAVES = 24 };
    taper_image image = picture_noise(side, side, 3, 8, seed);
    double wave[WAVES][3], shade[WAVES][3];
    uint64_t state = 991 * seed + 7;
    for (int i = 0; i < 5; i++) picture_random(&state);
    for (int k = 0; k < WAVES; k++) {
        double length = 40 / pow(1.16, k), angle = (double)(picture_random(&state) % 628) / 100;
        wave[k][0] = 6.283 / length * cos(angle), wave[k][1] = 6.283 / length * sin(angle);
        wave[k][2] = (double)(picture_random(&state) % 628) / 100;
        for (int c = 0; c < 3; c++)
            shade[k][c] = length * (0.4 + (double)(picture_random(&state) % 100) / 130);
    }
    uint8_t *to = image.pixels;
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++)
            for (int c = 0; c < 3; c++) {
                double v = x > side / 3 && y > side / 2 && x < side - side / 5 ? 90 : 140;
                for (int k = 0; k < WAVES; k++)
                    v += 0.7 * shade[k][c] * cos(wave[k][0] * x + wave[k][1] * y + wave[k][2]);
                *to++ = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
            }
    return image;
}

/* --- the promise ------------------------------------------------------------------------- */

/* Above this PSNR the promise does not distinguish: one sample in fifteen differs by one level. */
static const double exact_db = 60;

/* PSNR of every cut of a file that holds the front matter, by its bytes beyond that. */
static double *draw_cuts(const taper_model *model, const taper_image *image, size_t n,
                         const formats_buffer *file, size_t front) {
    double *psnr = malloc((file->size - front + 1) * sizeof *psnr);
    taper_decoder *decoder;
    uint64_t holds = holds_of(file), drawn = 1;
    assert_non_null(psnr);
    assert_int_equal(stream_decoder(&decoder, model, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_push(decoder, file->data, front, NULL), TAPER_OK);
    for (size_t s = 0; s <= file->size - front; s++) {
        if (s) taper_decoder_push(decoder, file->data + front + s - 1, 1, NULL);
        uint64_t now = s == file->size - front ? s : formats_holds_drawn(holds, s);
        if (s && now == drawn) { /* that readers keep the holds is tried below */
            psnr[s] = psnr[s - 1];
            continue;
        }
        formats_buffer all = formats_buffer_make(1 << 20);
        assert_int_equal(dct_render_all(decoder, &all, NULL), TAPER_OK);
        psnr[s] = fmin(dct_mean_psnr(image, n, all.data), exact_db);
        formats_buffer_free(&all);
        drawn = now;
    }
    close_decoder(decoder);
    return psnr;
}

typedef struct promise {
    draw_fn *draw;
    uint64_t seed;
    uint32_t side;
    size_t n;
    double fall; /* dB, the deepest that is allowed */
} promise;

static void hold_promise(const promise *p, const char *name, const taper_model *model,
                         const taper_image *image) {
    /* of images that are coded by the model: drawings have no passes that could be held */
    taper_encode_options quickly = {.quick = 1, .drawings = TAPER_DRAWINGS_LOSSY},
                         slowly = {.drawings = TAPER_DRAWINGS_LOSSY};
    formats_buffer file = dct_encode(model, image, p->n, &slowly, 0);
    formats_buffer quick = dct_encode(model, image, p->n, &quickly, 0);
    size_t front = dct_info(&file, model).front_bytes;
    size_t quick_front = dct_info(&quick, model).front_bytes;
    double *psnr = draw_cuts(model, image, p->n, &file, front), best = 0, fall = 0, loss = 0;
    double *plain = draw_cuts(model, image, p->n, &quick, quick_front);
    for (size_t s = 0; s <= file.size - front; s++)
        fall = fmax(fall, best - psnr[s]), best = fmax(best, psnr[s]);
    for (size_t size = quick_front; size <= quick.size; size++) {
        size_t same = size < file.size ? size : file.size;
        loss = fmax(loss, plain[size - quick_front] - psnr[same - front]);
    }
    printf("%s %ux%u %06llx: %zu bytes, quick %zu; falls by %.3f dB, %.3f below plain\n", name,
           p->side, p->side, (unsigned long long)p->seed, file.size, quick.size, fall, loss);
    assert_true(front <= quick_front && file.size <= quick.size);
    assert_true(fall <= p->fall);
    assert_true(loss <= 0.3);
    free(psnr), free(plain);
    formats_buffer_free(&file), formats_buffer_free(&quick);
}

static void hold_promises(const char *name, const promise *p, size_t n) {
    taper_model *model;
    assert_int_equal(taper_model_builtin(&model, name, NULL), TAPER_OK);
    for (; n--; p++) {
        taper_image image[3];
        for (size_t k = 0; k < p->n; k++) image[k] = p->draw(p->side, p->seed + k);
        hold_promise(p, name, model, image);
        for (size_t k = 0; k < p->n; k++) formats_image_free(&image[k]);
    }
    taper_model_free(model);
}

/* Of 64 x 64 the first; of saturated colours the worst that are known. */
static void cuts_of_plain_pictures_do_not_suffer(void **state) {
    static const promise plain[] = {{draw_flat, 0x0000FF, 64, 1, 0.5},
                                    {draw_flat, 0x0000FF, 32, 1, 0.5},
                                    {draw_flat, 0x00FF00, 32, 1, 0.5},
                                    {draw_flat, 0xFF00FF, 48, 1, 0.5},
                                    {draw_flat, 0x00FFFF, 32, 1, 0.5},
                                    {draw_flat, 0xFFFF00, 16, 1, 0.5},
                                    {draw_flat, 0xFFFFFF, 48, 1, 0.5},
                                    {draw_flat, 0x000080, 8, 1, 0.5},
                                    {draw_flat, 0x808080, 32, 3, 0.5},
                                    {draw_ramp, 1, 32, 1, 0.5},
                                    {draw_ramp, 0, 32, 1, 0.5},
                                    {draw_black_and_white, 0, 32, 1, 0.5},
                                    {draw_black_and_white, 1, 32, 1, 0.5},
                                    {draw_black_and_white, 2, 16, 1, 0.5},
                                    {draw_icon, 1, 32, 1, 0.5},
                                    {draw_icon, 2, 16, 1, 0.5},
                                    {draw_icon, 3, 8, 1, 0.5}};
    hold_promises(*state, plain, sizeof plain / sizeof *plain);
}

static void cuts_of_rich_pictures_do_not_suffer(void **state) {
    static const promise rich[] = {
        {rich_picture, 3, 32, 1, 0.1}, {rich_picture, 6, 16, 3, 0.1}, {rich_picture, 7, 5, 1, 0.5}};
    hold_promises(*state, rich, sizeof rich / sizeof *rich);
}

/* The deepest fall of any cut below a shorter one. */
static double deepest_fall(const taper_model *model, const taper_image *image, size_t n) {
    taper_encode_options options = {.drawings = TAPER_DRAWINGS_AUTO};
    formats_buffer file = dct_encode(model, image, n, &options, 0);
    size_t front = dct_info(&file, model).front_bytes;
    double *psnr = draw_cuts(model, image, n, &file, front), best = 0, fall = 0;
    for (size_t s = 0; s <= file.size - front; s++)
        fall = fmax(fall, best - psnr[s]), best = fmax(best, psnr[s]);
    printf("%zu bytes with %zu of front matter; fall by %.3f dB\n", file.size, front, fall);
    free(psnr);
    formats_buffer_free(&file);
    return fall;
}

/* Drawings never suffer, as what is shown of a pixel that is not known stays. */
static void cuts_of_drawings_do_not_suffer(void **state) {
    static const promise drawings[] = {
        {draw_black_and_white, 0, 32, 1, 0.001}, {draw_black_and_white, 1, 32, 1, 0.001},
        {draw_black_and_white, 2, 16, 3, 0.001}, {draw_icon, 1, 32, 2, 0.001},
        {draw_blocks, 1, 32, 3, 0.001},          {draw_blocks, 5, 16, 9, 0.001},
        {draw_flat, 0xFF00FF, 48, 1, 0.001},     {draw_ramp, 1, 32, 1, 0.001}};
    taper_model *model;
    assert_int_equal(taper_model_builtin(&model, *state, NULL), TAPER_OK);
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        const promise *p = &drawings[i];
        taper_image image[9];
        for (size_t k = 0; k < p->n; k++) image[k] = p->draw(p->side, p->seed + k);
        printf("drawings of %u pixels a side, seed %06llx: ", p->side, (unsigned long long)p->seed);
        assert_true(deepest_fall(model, image, p->n) <= p->fall);
        for (size_t k = 0; k < p->n; k++) formats_image_free(&image[k]);
    }
    taper_model_free(model);
}

/* Drawings beside other images: these have holds. */
static void cuts_of_mixed_sets_do_not_suffer(void **state) {
    taper_model *model;
    assert_int_equal(taper_model_builtin(&model, *state, NULL), TAPER_OK);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        taper_image image[] = {draw_blocks(16, seed), rich_picture(16, seed),
                               draw_black_and_white(32, 1), draw_flat(16, 0x00FFFF)};
        assert_true(deepest_fall(model, image, 4) <= 0.5);
        for (size_t k = 0; k < 4; k++) formats_image_free(&image[k]);
    }
    taper_model_free(model);
}

/* Where a shorter container shows more, that one is written, and its quality is told. */
static void data_end_where_the_set_shows_best(void **state) {
    (void)state;
    taper_model *model;
    assert_int_equal(taper_model_builtin(&model, "tiny", NULL), TAPER_OK);
    taper_image image = draw_flat(64, 0x00FFFF);
    taper_encode_options options = {.quick = 1, .drawings = TAPER_DRAWINGS_LOSSY};
    formats_buffer quick = dct_encode(model, &image, 1, &options, 0), pixels, file;
    options = (taper_encode_options){
        .size = sizeof options, .measure = 1, .drawings = TAPER_DRAWINGS_LOSSY};
    file = formats_buffer_make(SIZE_MAX / 4), pixels = formats_buffer_make(1 << 20);
    taper_encoder *encoder;
    taper_sink sink = dct_sink(&file);
    taper_encode_quality told = {.size = sizeof told};
    assert_int_equal(taper_encoder_new(&encoder, model, &options, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add(encoder, &image, NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_quality(encoder, &told, NULL), TAPER_OK);
    assert_true(file.size < quick.size / 2);
    assert_int_equal(dct_pull(file.data, file.size, model, &pixels, NULL), TAPER_OK);
    double psnr = dct_mean_psnr(&image, 1, pixels.data);
    formats_buffer_clear(&pixels);
    assert_int_equal(dct_pull(quick.data, quick.size, model, &pixels, NULL), TAPER_OK);
    assert_true(psnr > dct_mean_psnr(&image, 1, pixels.data) + 2);
    assert_true(fabs(told.least_psnr_db - psnr) < 0.01);
    taper_encoder_free(encoder);
    formats_buffer_free(&file), formats_buffer_free(&quick), formats_buffer_free(&pixels);
    formats_image_free(&image);
    taper_model_free(model);
}

/* --- the choice -------------------------------------------------------------------------- */

/* A curve that rises by `rise` dB a cut from 20 dB, `step` bytes apart, with dips. */
typedef struct dip {
    size_t at, length;
    double depth;
} dip;

enum { CUTS = 400 };

static void make_curve(codec_cut_quality *q, uint64_t step, double rise, const dip *dips,
                       size_t n) {
    *q = (codec_cut_quality){.n = CUTS,
                             .bytes = malloc(CUTS * sizeof *q->bytes),
                             .psnr = malloc(CUTS * sizeof *q->psnr)};
    if (!q->bytes || !q->psnr) abort();
    for (size_t i = 0; i < CUTS; i++) q->bytes[i] = i * step, q->psnr[i] = 20 + rise * (double)i;
    for (size_t k = 0; k < n; k++)
        for (size_t i = dips[k].at; i < dips[k].at + dips[k].length; i++)
            q->psnr[i] = q->psnr[dips[k].at - 1] - dips[k].depth;
}

/* The deepest fall of what is drawn, and the most that it is below the curve. */
static void judge(const codec_cut_quality *q, uint64_t holds, double *fall, double *loss) {
    double best = *fall = *loss = 0;
    uint64_t step = q->bytes[1];
    for (size_t i = 0; i < q->n; i++) {
        size_t drawn = i + 1 < q->n ? (size_t)(formats_holds_drawn(holds, q->bytes[i]) / step) : i;
        *fall = fmax(*fall, best - q->psnr[drawn]);
        *loss = fmax(*loss, q->psnr[i] - q->psnr[drawn]);
        best = fmax(best, q->psnr[drawn]);
    }
}

static void dips_are_held(void **state) {
    (void)state;
    static const struct {
        uint64_t step;
        double rise;
        size_t n;
        dip dips[8];
        double fall; /* that must remain at most */
    } curves[] = {
        {1, 0.05, 0, {{0}}, 0},
        {1, 0.05, 1, {{100, 37, 3}}, 0.05},
        {1, 0.05, 4, {{20, 3, 1}, {61, 5, 2}, {150, 20, 4}, {300, 50, 6}}, 0.05},
        /* above 43 dB small falls are let be; holds are for the deep ones */
        {1, 0.1, 4, {{30, 4, 1}, {280, 10, 0.4}, {310, 10, 0.4}, {360, 39, 5}}, 0.48},
        /* more than there are holds: the shallowest remain */
        {1,
         0.01,
         8,
         {{20, 4, 1},
          {60, 4, 2},
          {100, 4, 3},
          {140, 4, 4},
          {180, 4, 5},
          {220, 4, 6},
          {260, 4, 7},
          {300, 4, 8}},
         3},
        /* a large set: sizes are multiples of 8 */
        {64, 0.05, 2, {{37, 11, 2}, {201, 30, 2}}, 0.05},
    };
    for (size_t k = 0; k < sizeof curves / sizeof *curves; k++) {
        codec_cut_quality q;
        make_curve(&q, curves[k].step, curves[k].rise, curves[k].dips, curves[k].n);
        uint64_t holds = 7;
        double fall, loss;
        assert_int_equal(codec_holds_choose(&q, &holds), TAPER_OK);
        judge(&q, holds, &fall, &loss);
        printf("curve %zu: holds %016llx, falls by %.3f, %.3f below\n", k,
               (unsigned long long)holds, fall, loss);
        assert_true((holds == 0) == (curves[k].n == 0));
        assert_true(fall <= curves[k].fall && loss <= CODEC_HOLD_LOSS_DB + 1e-9);
        codec_cut_quality_free(&q);
    }
}

/* --- the rule ---------------------------------------------------------------------------- */

static void holds_are_packed(void **state) {
    (void)state;
    static const uint32_t bytes[FORMATS_HOLD_CODES] = {
        0,  1,  2,  3,  4,  5,  6,  7,   8,   10,  12,  14,  16,  20,  24,  28,
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448};
    for (uint32_t code = 0; code < FORMATS_HOLD_CODES; code++)
        assert_int_equal(formats_hold_bytes(code), bytes[code]);
    /* from 2, 3 bytes; from 5 + 8, 5 and 4 more; scaled */
    static const formats_hold_record record[FORMATS_HOLD_RECORDS] = {{2, 3}, {8, 5}, {0, 4}};
    static const uint8_t drawn[][2] = {{0, 0},   {2, 2},   {3, 2},   {4, 2},   {5, 5},  {12, 12},
                                       {13, 13}, {14, 13}, {21, 13}, {22, 22}, {23, 23}};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        for (uint32_t scale = 0; scale <= FORMATS_HOLD_MOST_SCALE; scale++)
            assert_int_equal(
                formats_holds_drawn(formats_holds_pack(record, scale), drawn[i][0] << scale),
                drawn[i][1] << scale);
    static const formats_hold_record none[FORMATS_HOLD_RECORDS] = {{0, 0}};
    assert_int_equal(formats_holds_pack(none, 2), 0);
}

static void what_is_drawn_grows_and_stays(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 2000; i++) {
        uint64_t holds = picture_random(&seed) ^ picture_random(&seed) << 32;
        if (i % 2) holds &= ~(uint64_t)0x0808080808080808;
        for (uint64_t s = 0, before = 0; s < 900; s++) {
            uint64_t drawn = formats_holds_drawn(holds, s);
            assert_true(drawn >= before && drawn <= s);
            assert_int_equal(formats_holds_drawn(holds, drawn), drawn);
            assert_true(drawn == before || drawn == s);
            before = drawn;
        }
    }
    assert_int_equal(formats_holds_drawn(UINT64_MAX, UINT64_MAX), UINT64_MAX);
    assert_int_equal(formats_holds_drawn(0, 12345), 12345);
}

/* Whoever reads a cut renders the same: from a source, as bytes arrive in pieces of any size, and
 * of what truncate makes of it; the cut that the rule names, without it. */
static void all_readers_keep_the_holds(void **state) {
    (void)state;
    static const formats_hold_record record[FORMATS_HOLD_RECORDS] = {
        {7, 14}, {2, 9}, {0, 5}, {12, 20}};
    formats_buffer model_file = formats_buffer_make(1 << 24);
    taper_model *model = dct_model_in_parts((codec_window){8, 8, 3, NULL}, 24, 8, 3, &model_file);
    taper_image image[2] = {dct_picture(33, 20, 3, 1), dct_picture(16, 31, 3, 2)};
    formats_buffer made = dct_encode(model, image, 2, NULL, 0), plain = with_holds(&made, 0),
                   file = with_holds(&made, formats_holds_pack(record, 0));
    size_t front = dct_info(&file, model).front_bytes;
    for (size_t size = front; size <= file.size; size += 1 + (size > front + 120) * 13) {
        uint64_t rendered = formats_holds_drawn(holds_of(&file), size - front);
        size_t same = size == file.size ? size : front + (size_t)rendered;
        formats_buffer pixels[4], shorter = formats_buffer_make(1 << 20);
        for (int i = 0; i < 4; i++) pixels[i] = formats_buffer_make(1 << 20);
        assert_int_equal(dct_pull(plain.data, same, model, &pixels[0], NULL), TAPER_OK);
        assert_int_equal(dct_pull(file.data, size, model, &pixels[1], NULL), TAPER_OK);
        taper_decoder *decoder;
        assert_int_equal(stream_decoder(&decoder, model, NULL, NULL), TAPER_OK);
        for (size_t at = 0, n; at < size; at += n) {
            n = 1 + (at * 7 + size) % 40;
            if (at + n > size) n = size - at;
            assert_int_equal(taper_decoder_push(decoder, file.data + at, n, NULL), TAPER_OK);
        }
        assert_int_equal(dct_render_all(decoder, &pixels[2], NULL), TAPER_OK);
        close_decoder(decoder);
        formats_memory memory = {file.data, size};
        taper_source source = formats_memory_source(&memory);
        taper_sink sink = dct_sink(&shorter);
        assert_int_equal(taper_truncate(&source, UINT64_MAX, &sink, NULL, NULL), TAPER_OK);
        assert_int_equal(dct_pull(shorter.data, shorter.size, model, &pixels[3], NULL), TAPER_OK);
        for (int i = 1; i < 4; i++)
            assert_memory_equal(pixels[i].data, pixels[0].data, pixels[0].size);
        for (int i = 0; i < 4; i++) formats_buffer_free(&pixels[i]);
        formats_buffer_free(&shorter);
    }
    for (int i = 0; i < 2; i++) formats_image_free(&image[i]);
    formats_buffer_free(&made), formats_buffer_free(&plain), formats_buffer_free(&file);
    formats_buffer_free(&model_file);
    taper_model_free(model);
}

int main(void) {
    static char tiny[] = "tiny", photo[] = "photo";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(cuts_of_plain_pictures_do_not_suffer, tiny),
        cmocka_unit_test_prestate(cuts_of_plain_pictures_do_not_suffer, photo),
        cmocka_unit_test_prestate(cuts_of_rich_pictures_do_not_suffer, tiny),
        cmocka_unit_test_prestate(cuts_of_rich_pictures_do_not_suffer, photo),
        cmocka_unit_test_prestate(cuts_of_drawings_do_not_suffer, photo),
        cmocka_unit_test_prestate(cuts_of_mixed_sets_do_not_suffer, photo),
        cmocka_unit_test(data_end_where_the_set_shows_best),
        cmocka_unit_test(dips_are_held),
        cmocka_unit_test(holds_are_packed),
        cmocka_unit_test(what_is_drawn_grows_and_stays),
        cmocka_unit_test(all_readers_keep_the_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
