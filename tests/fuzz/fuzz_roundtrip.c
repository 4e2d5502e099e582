/* fuzz_roundtrip.c -- images and options drawn from the input: encode, cut, decode pushed and
 * pulled, which must agree; whole files must hold the levels that the encoder quantised, in either
 * layout. */
#include "tests/open_decoder.h"
#include "../dct_model.h"
#include "codec/bitplane/quantiser.h"
#include "codec/decoder/front_load.h"
#include "codec/decoder/group_reader.h"
#include "codec/taper.h"
#include "codec/transform/pseudo_inverse.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { IMAGES = 5, SIDE = 13 };

static void must(int holds) {
    if (!holds) abort();
}

static const taper_model *the_model(int grey) {
    static taper_model *model[2];
    formats_buffer file = formats_buffer_make(1 << 20);
    if (!model[grey])
        model[grey] =
            dct_model_in_parts((codec_window){4, 3, grey ? 1 : 3, NULL}, 0, 3, grey ? 3 : 1, &file);
    formats_buffer_free(&file);
    return model[grey];
}

/* Numbers from the input; zeros when it is used up. */
typedef struct numbers {
    const uint8_t *bytes;
    size_t n, at;
} numbers;

static uint32_t draw(numbers *in, uint32_t below) {
    uint32_t value = in->at < in->n ? in->bytes[in->at] : 0;
    in->at++;
    if (below > 256) value = value << 8 | (in->at < in->n ? in->bytes[in->at++] : 0);
    return value % below;
}

static taper_image draw_image(numbers *in, int grey) {
    uint32_t width = 1 + draw(in, SIDE), height = 1 + draw(in, SIDE);
    unsigned channels = grey || draw(in, 2) ? 1 : 3, depth = draw(in, 4) ? 8 : 16;
    taper_image image;
    must(formats_image_make(&image, width, height, channels, depth, NULL, NULL) == TAPER_OK);
    uint32_t stride = 1 + draw(in, 7);
    for (size_t i = 0; i < formats_image_bytes(&image); i++)
        ((uint8_t *)image.pixels)[i] =
            (uint8_t)(in->n ? in->bytes[(in->at + i / stride) % in->n] : 0);
    return image;
}

/* The levels of a whole file against the codes of the images' windows. */
static void check_levels(const formats_buffer *file, const taper_model *model,
                         const taper_image *image) {
    formats_memory memory = {file->data, file->size};
    taper_source source = formats_memory_source(&memory);
    formats_front front;
    codec_backend backend;
    codec_backend_cpu(&backend);
    uint32_t units = model->network.units, inputs = model->network.inputs;
    codec_network network = model->network;
    network.analysis = malloc((size_t)units * inputs * sizeof(float));
    must(network.analysis && !codec_pseudo_inverse(&backend, model->network.synthesis, units,
                                                   inputs, network.analysis));
    must(codec_front_load(&source, NULL, &front, NULL) == TAPER_OK);
    for (uint32_t g = 0; g < front.groups; g++) {
        codec_group_readers readers = {.pool = NULL};
        codec_group_reader *r;
        must(codec_group_readers_open(&readers, model, &front, g, &source, &r, NULL) == TAPER_OK &&
             !r->bad);
        must(r->strips.coder->group.pass == r->strips.coder->group.tables->n_passes);
        for (uint32_t i = 0; i < r->images; i++) {
            uint32_t windows = r->first[i + 1] - r->first[i];
            float *pixels = malloc(sizeof *pixels * inputs * windows);
            float *code = malloc(sizeof *code * units * windows);
            must(pixels && code);
            codec_windows_read(model->window, &image[front.group_first[g] + i], pixels);
            must(codec_network_encode(&network, &backend, pixels, windows, code) == TAPER_OK);
            const codec_group *state = &r->strips.coder->group; /* images are too small for more */
            for (uint32_t w = 0; w < windows; w++)
                for (uint32_t u = 0; u < units; u++) {
                    int16_t level = state->level[(size_t)u * state->stride + r->first[i] + w];
                    float x = code[w * units + u];
                    must(level == codec_quantise(state->tables, u, x) ||
                         level == codec_quantise(&model->tables, u, x)); /* not raised for it */
                }
            free(pixels), free(code);
        }
        codec_group_readers_close(&readers);
    }
    formats_front_free(&front);
    free(network.analysis);
    codec_backend_close(&backend);
}

/* A prefix, pulled and pushed. */
static void check_cut(const formats_buffer *file, const taper_model *model, size_t cut,
                      size_t step) {
    formats_buffer a = formats_buffer_make(1 << 22), b = formats_buffer_make(1 << 22);
    taper_decoder *pushed;
    taper_completeness done[2][IMAGES];
    memset(done, 0, sizeof done);
    taper_status one = dct_pull(file->data, cut, model, &a, done[0]);
    must(one == TAPER_OK || one == TAPER_ERR_TRUNCATED);
    must(stream_decoder(&pushed, model, NULL, NULL) == TAPER_OK);
    for (size_t at = 0; at < cut; at += step)
        must(taper_decoder_push(pushed, file->data + at, cut - at < step ? cut - at : step, NULL) ==
             TAPER_OK);
    must(dct_render_all(pushed, &b, done[1]) == one);
    must(a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size)));
    for (int i = 0; i < IMAGES; i++)
        must(done[0][i].passes == done[1][i].passes && done[0][i].bytes == done[1][i].bytes &&
             done[0][i].complete == done[1][i].complete);
    close_decoder(pushed);
    formats_buffer_free(&a), formats_buffer_free(&b);
}

/* Another layout decodes to the same pixels. */
static void check_repacked(const formats_buffer *file, const taper_model *model,
                           taper_layout layout) {
    formats_memory memory = {file->data, file->size};
    taper_source source = formats_memory_source(&memory);
    formats_buffer other = formats_buffer_make(1 << 22), a = formats_buffer_make(1 << 22);
    formats_buffer b = formats_buffer_make(1 << 22);
    taper_sink sink = dct_sink(&other);
    must(taper_repack(&source, model, layout, 2, &sink, NULL, NULL) == TAPER_OK);
    must(dct_pull(file->data, file->size, model, &a, NULL) == TAPER_OK);
    must(dct_pull(other.data, other.size, model, &b, NULL) == TAPER_OK);
    must(a.size == b.size && !memcmp(a.data, b.data, a.size));
    formats_buffer_free(&other), formats_buffer_free(&a), formats_buffer_free(&b);
}

/* Truncated: no larger than asked for, and a container. */
static void check_truncated(const formats_buffer *file, const taper_model *model, uint64_t most) {
    formats_memory memory = {file->data, file->size};
    taper_source source = formats_memory_source(&memory);
    formats_buffer out = formats_buffer_make(1 << 22), pixels = formats_buffer_make(1 << 22);
    taper_sink sink = dct_sink(&out);
    taper_status status = taper_truncate(&source, most, &sink, NULL, NULL);
    must(status == TAPER_OK || (status == TAPER_ERR_LIMIT && !out.size));
    if (status == TAPER_OK) must(out.size <= most || out.size == file->size);
    if (status == TAPER_OK) must(dct_pull(out.data, out.size, model, &pixels, NULL) == TAPER_OK);
    formats_buffer_free(&out), formats_buffer_free(&pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    numbers in = {bytes, n, 0};
    int grey = (int)draw(&in, 2);
    const taper_model *model = the_model(grey);
    taper_image image[IMAGES];
    size_t images = 1 + draw(&in, IMAGES);
    taper_encode_options options = {.layout = (taper_layout)draw(&in, 3),
                                    .group_images = draw(&in, 4),
                                    .threads = draw(&in, 8) == 7 ? 2 : 0};
    uint32_t target = draw(&in, 3) ? 0 : 1 + draw(&in, 65536) * 40;
    options.target_bytes_per_megapixel = target;
    size_t step = 1 + draw(&in, 40);
    uint32_t cut = draw(&in, 65536), truncate = draw(&in, 65536);
    for (size_t i = 0; i < images; i++) image[i] = draw_image(&in, grey);
    formats_buffer file = dct_encode(model, image, images, &options, (int)draw(&in, 2));
    if (!target) {
        check_levels(&file, model, image);
        for (uint32_t more = 1; more < 3; more++)
            check_repacked(&file, model, (taper_layout)((options.layout + more) % 3));
    }
    check_cut(&file, model, file.size * (uint64_t)cut / 65536, step);
    check_cut(&file, model, file.size, step);
    check_truncated(&file, model, file.size * (uint64_t)truncate / 65536);
    formats_buffer_free(&file);
    for (size_t i = 0; i < images; i++) formats_image_free(&image[i]);
    return 0;
}
