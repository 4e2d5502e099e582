/* network.c -- memory of a network, and its two directions on blocks of rows. See network.h.
 *
 * Rows are processed in blocks of exactly ROW_BLOCK; the last block is padded with zeros. The order
 * of a kernel's sums may depend on the number of rows. It may also differ for the rows that remain
 * when a kernel takes 4, 6, 8, 12, 16, 24 or 48 at a time. A code must not depend on the other rows
 * of its batch. */
#include "codec/transform/network.h"
#include "codec/transform/triangle.h"
#include "formats/bytes.h"
#include "formats/layout.h"
#include <stdlib.h>
#include <string.h>

enum { ROW_BLOCK = CODEC_ROWS_AT_ONCE / 3 };

/* --- memory ----------------------------------------------------------------------------------- */

static int zeroed(float **out, size_t rows, size_t columns) {
    if (columns && rows > SIZE_MAX / columns / sizeof(float)) return 0;
    *out = calloc(formats_larger(rows * columns, 1), sizeof(float));
    return *out != NULL;
}

static int alloc_layer(codec_layer *layer) {
    return zeroed(&layer->weight, codec_layer_rows(layer), codec_layer_columns(layer)) &&
           zeroed(&layer->bias, codec_layer_rows(layer), 1);
}

static int alloc_stack(codec_stack *stack, uint32_t inputs, uint32_t outputs,
                       const uint32_t *hidden, uint32_t n) {
    for (uint32_t i = 0; i <= n; i++) {
        codec_layer *layer = &stack->layer[i];
        layer->inputs = i ? hidden[i - 1] : inputs;
        layer->outputs = i < n ? hidden[i] : outputs;
        stack->depth = i + 1;
        if (!alloc_layer(layer)) return 0;
    }
    return 1;
}

static void free_stack(codec_stack *stack) {
    for (uint32_t i = 0; i < stack->depth; i++) {
        free(stack->layer[i].weight);
        free(stack->layer[i].bias);
    }
}

static int widths_are_legal(const uint32_t *hidden, uint32_t n) {
    if (n >= CODEC_MAX_LAYERS) return 0;
    for (uint32_t i = 0; i < n; i++)
        if (!hidden[i]) return 0;
    return 1;
}

taper_status codec_network_alloc(codec_network *net, uint32_t inputs, uint32_t units,
                                 codec_linear_path path, const uint32_t *encoder_hidden,
                                 uint32_t n_encoder_hidden, const uint32_t *decoder_hidden,
                                 uint32_t n_decoder_hidden) {
    int decodes = path != CODEC_ENCODER, direct = path == CODEC_DIRECT || !decodes;
    memset(net, 0, sizeof *net);
    if (!inputs || !units || !widths_are_legal(encoder_hidden, n_encoder_hidden) ||
        !widths_are_legal(decoder_hidden, n_decoder_hidden) || (n_decoder_hidden && !decodes))
        return TAPER_ERR_ARG;
    net->inputs = inputs;
    net->units = units;
    net->hidden = CODEC_RELU;
    int ok = zeroed(&net->mean, inputs, 1) && (direct || zeroed(&net->analysis, units, inputs));
    if (path == CODEC_TIED)
        net->synthesis = net->analysis;
    else
        ok = ok && (direct || zeroed(&net->synthesis, units, inputs));
    if (direct || n_encoder_hidden)
        ok = ok && alloc_stack(&net->encoder, inputs, units, encoder_hidden, n_encoder_hidden);
    if (path == CODEC_DIRECT || n_decoder_hidden)
        ok = ok && alloc_stack(&net->decoder, units, inputs, decoder_hidden, n_decoder_hidden);
    if (ok) return TAPER_OK;
    codec_network_free(net);
    return TAPER_ERR_NOMEM;
}

/* The shapes of convolutional layers; 0: one is illegal. */
static int lay_out_convolutions(codec_stack *stack, codec_map map, const uint32_t *channels,
                                uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const codec_map to = codec_map_pooled(map, channels[i]);
        if (!channels[i] || codec_map_values(to) > UINT32_MAX) return 0;
        stack->layer[i] = (codec_layer){.inputs = (uint32_t)codec_map_values(map),
                                        .outputs = (uint32_t)codec_map_values(to),
                                        .map = map};
        map = to;
    }
    return 1;
}

taper_status codec_network_alloc_convolutions(codec_network *net, codec_map map,
                                              const uint32_t *channels, uint32_t n, uint32_t units,
                                              const uint32_t *hidden, uint32_t n_hidden) {
    codec_stack *f = &net->encoder;
    memset(net, 0, sizeof *net);
    if (!units || !n || n + (uint64_t)n_hidden >= CODEC_MAX_LAYERS || !codec_map_values(map) ||
        codec_map_values(map) > UINT32_MAX || !widths_are_legal(hidden, n_hidden) ||
        !lay_out_convolutions(f, map, channels, n))
        return TAPER_ERR_ARG;
    for (uint32_t i = n, before = f->layer[n - 1].outputs; i <= n + n_hidden; i++) {
        const uint32_t width = i < n + n_hidden ? hidden[i - n] : units;
        f->layer[i] = (codec_layer){.inputs = before, .outputs = width};
        before = width;
    }
    net->inputs = f->layer[0].inputs, net->units = units, net->hidden = CODEC_RELU;
    f->depth = n + n_hidden + 1;
    int ok = zeroed(&net->mean, net->inputs, 1);
    for (uint32_t i = 0; i < f->depth; i++) ok = ok && alloc_layer(&f->layer[i]);
    if (ok) return TAPER_OK;
    codec_network_free(net);
    return TAPER_ERR_NOMEM;
}

taper_status codec_network_add_feedback(codec_network *net) {
    if (!codec_network_is_direct(net) || !codec_network_has_decoder(net) ||
        codec_network_has_feedback(net))
        return TAPER_ERR_ARG;
    float *feedback = NULL, *mixing = NULL;
    if (!zeroed(&feedback, net->units, net->units) || !zeroed(&mixing, net->units, net->units)) {
        free(feedback), free(mixing);
        return TAPER_ERR_NOMEM;
    }
    net->feedback = feedback;
    net->mixing = mixing;
    return TAPER_OK;
}

/* In tiles that fit in the cache. */
void codec_transpose(const float *from, size_t rows, size_t columns, float gain, float *to) {
    enum { TILE = 32 };
    for (size_t i = 0; i < rows; i += TILE)
        for (size_t j = 0; j < columns; j += TILE)
            for (size_t r = i; r < formats_smaller(rows, i + TILE); r++)
                for (size_t c = j; c < formats_smaller(columns, j + TILE); c++)
                    to[c * rows + r] = gain * from[r * columns + c];
}

taper_status codec_network_tie(codec_network *net, float gain) {
    uint32_t depth = net->encoder.depth;
    int legal = codec_network_is_direct(net) && depth == net->decoder.depth && gain > 1e-20f &&
                gain < 1e20f;
    for (uint32_t i = 0; legal && i < depth; i++)
        legal = net->decoder.layer[i].outputs == net->encoder.layer[depth - 1 - i].inputs;
    if (!legal) return TAPER_ERR_ARG;
    for (uint32_t i = 0; i < depth; i++) {
        const codec_layer *from = &net->encoder.layer[depth - 1 - i];
        codec_transpose(from->weight, from->outputs, from->inputs, i + 1 < depth ? 1.0f : gain,
                        net->decoder.layer[i].weight);
    }
    net->tied_gain = gain;
    return TAPER_OK;
}

void codec_network_free(codec_network *net) {
    free(net->mean);
    if (net->synthesis != net->analysis) free(net->synthesis);
    free(net->analysis);
    free_stack(&net->encoder);
    free_stack(&net->decoder);
    free(net->feedback), free(net->mixing);
    memset(net, 0, sizeof *net);
}

/* --- the two directions ----------------------------------------------------------------------- */

/* Temporary arrays for one block of rows. */
typedef struct scratch {
    float *input;     /* [ROW_BLOCK][inputs or units] */
    float *output;    /* [ROW_BLOCK][units or inputs] */
    float *hidden[2]; /* [ROW_BLOCK][widest hidden layer], used alternately; NULL without a stack */
    float *mixed;     /* [ROW_BLOCK][units], to decode with feedback */
    float *patches;   /* of one row's map (convolution.h); NULL without convolutional layers */
    float *products;  /* [places][channels] of it */
    formats_block block;
} scratch;

static void lay_out(scratch *s, const codec_network *net, int decoding, formats_layout *at) {
    const codec_stack *stack = decoding ? &net->decoder : &net->encoder;
    const uint64_t inputs = decoding ? net->units : net->inputs,
                   outputs = decoding ? net->inputs : net->units;
    uint64_t widest = 0;
    for (uint32_t i = 0; i + 1 < stack->depth; i++)
        widest = formats_larger(widest, stack->layer[i].outputs);
    s->input = formats_lay(at, ROW_BLOCK * inputs, sizeof *s->input);
    s->output = formats_lay(at, ROW_BLOCK * outputs, sizeof *s->output);
    for (int i = 0; i < 2; i++)
        s->hidden[i] = formats_lay(at, ROW_BLOCK * widest, sizeof *s->hidden[i]);
    const int mixes = decoding && codec_network_has_feedback(net);
    s->mixed = formats_lay(at, mixes ? ROW_BLOCK * (uint64_t)net->units : 0, sizeof *s->mixed);
    uint64_t patches = 0, products = 0;
    for (uint32_t i = 0; i < stack->depth && stack->layer[i].map.width; i++) {
        const codec_layer *l = &stack->layer[i];
        const uint64_t places = codec_map_places(l->map);
        patches = formats_larger(patches, places * codec_map_row(l->map));
        products = formats_larger(products, places * codec_layer_rows(l));
    }
    s->patches = formats_lay(at, patches, sizeof *s->patches);
    s->products = formats_lay(at, products, sizeof *s->products);
}

static taper_status scratch_take(scratch *s, const codec_network *net, int decoding) {
    formats_layout at = {0};
    lay_out(s, net, decoding, &at);
    TAPER_TRY(formats_block_take(&s->block, &at, NULL));
    lay_out(s, net, decoding, &at);
    return TAPER_OK;
}

uint64_t codec_network_scratch_bytes(const codec_network *net) {
    formats_layout at[2] = {{0}, {0}};
    scratch s;
    for (int decoding = 0; decoding < 2; decoding++) lay_out(&s, net, decoding, &at[decoding]);
    const uint64_t most = at[0].used > at[1].used ? at[0].used : at[1].used;
    return most + (codec_network_has_feedback(net) ? codec_triangle_scratch_bytes(net->units) : 0);
}

/* y = activation(the convolutional layer of x), for `rows` rows; the others of y become 0. */
static taper_status convolve(const codec_layer *layer, codec_activation activation,
                             codec_backend *be, const scratch *s, size_t rows, const float *x,
                             float *y) {
    const size_t places = codec_map_places(layer->map), channels = codec_layer_rows(layer);
    for (size_t i = 0; i < rows; i++) {
        codec_map_patches(layer->map, x + i * layer->inputs, s->patches);
        TAPER_TRY(be->ops->gemm(be, 0, 1, places, channels, codec_map_row(layer->map), s->patches,
                                layer->weight, 0.0f, s->products));
        codec_map_pool(layer->map, (uint32_t)channels, s->products, y + i * layer->outputs, NULL);
    }
    memset(y + rows * layer->outputs, 0, (ROW_BLOCK - rows) * layer->outputs * sizeof *y);
    return be->ops->bias(be, rows * layer->outputs / channels, channels, layer->bias, activation,
                         y);
}

/* output = activation(keep * output + stack(input)), each with ROW_BLOCK rows, of which `rows` are
 * used. */
static taper_status add_stack(const codec_network *net, const codec_stack *stack,
                              codec_activation output, codec_backend *be, scratch *s, size_t rows) {
    float keep = codec_network_is_direct(net) ? 0.0f : 1.0f;
    const float *x = s->input;
    for (uint32_t i = 0; i < stack->depth; i++) {
        const codec_layer *layer = &stack->layer[i];
        int last = i + 1 == stack->depth;
        float *y = last ? s->output : s->hidden[i & 1];
        if (layer->map.width) {
            TAPER_TRY(convolve(layer, net->hidden, be, s, rows, x, y));
            x = y;
            continue;
        }
        TAPER_TRY(be->ops->gemm(be, 0, 1, ROW_BLOCK, layer->outputs, layer->inputs, x,
                                layer->weight, last ? keep : 0.0f, y));
        TAPER_TRY(be->ops->bias(be, ROW_BLOCK, layer->outputs, layer->bias,
                                last ? output : net->hidden, y));
        x = y;
    }
    return TAPER_OK;
}

static taper_status encode_block(const codec_network *net, codec_backend *be, scratch *s,
                                 const float *pixels, size_t rows, float *codes) {
    size_t d = net->inputs, k = net->units;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < d; j++) s->input[i * d + j] = pixels[i * d + j] - net->mean[j];
    memset(s->input + rows * d, 0, (ROW_BLOCK - rows) * d * sizeof *s->input);
    if (net->analysis)
        TAPER_TRY(
            be->ops->gemm(be, 0, 1, ROW_BLOCK, k, d, s->input, net->analysis, 0.0f, s->output));
    TAPER_TRY(add_stack(net, &net->encoder, net->code, be, s, rows));
    if (net->feedback)
        TAPER_TRY(
            codec_triangle_decide(net->feedback, k, net->units, NULL, 0, rows, s->output, NULL));
    memcpy(codes, s->output, rows * k * sizeof *codes);
    return TAPER_OK;
}

taper_status codec_network_encode(const codec_network *net, codec_backend *be, const float *pixels,
                                  size_t n, float *codes) {
    scratch s;
    TAPER_TRY(scratch_take(&s, net, 0));
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && status == TAPER_OK; i += ROW_BLOCK)
        status = encode_block(net, be, &s, pixels + i * net->inputs,
                              formats_smaller(ROW_BLOCK, n - i), codes + i * net->units);
    formats_block_free(&s.block);
    return status;
}

/* Rows of `to` have `width` columns, those of `from` have `stride` >= width. Rows after the last
 * are set to 0. */
static void copy_rows(float *to, const float *from, size_t rows, size_t width, size_t stride) {
    for (size_t i = 0; i < rows; i++) memcpy(to + i * width, from + i * stride, width * sizeof *to);
    memset(to + rows * width, 0, (ROW_BLOCK - rows) * width * sizeof *to);
}

/* The padded number of rows for the linear path. Fewer than ROW_BLOCK make small images faster; the
 * CPU kernels sum a row in the same order for every m (backend/fused.c). */
static size_t padded(size_t rows) {
    enum { FEW = 8, SOME = 32 };
    return rows <= FEW ? FEW : rows <= SOME ? SOME : ROW_BLOCK;
}

/* s->input = z (network.h) of these rows, padded with zeros. */
static taper_status mix_rows(const codec_network *net, scratch *s, const float *codes, size_t rows,
                             uint32_t units, size_t whole) {
    size_t k = net->units;
    copy_rows(s->input, codes, rows, units, k);
    TAPER_TRY(codec_triangle_mix(net->mixing, k, units, rows, s->input, s->mixed));
    memset(s->input, 0, ROW_BLOCK * k * sizeof *s->input);
    for (size_t i = 0; i < rows; i++)
        memcpy(s->input + i * k, s->mixed + i * units,
               (units - (units && i >= whole)) * sizeof *s->input);
    return TAPER_OK;
}

static taper_status decode_block(const codec_network *net, codec_backend *be, scratch *s,
                                 const float *codes, size_t rows, uint32_t units, size_t whole,
                                 float *pixels) {
    size_t d = net->inputs, k = net->units;
    if (net->synthesis) {
        copy_rows(s->input, codes, rows, units, k);
        TAPER_TRY(be->ops->gemm(be, 0, 0, net->decoder.depth ? ROW_BLOCK : padded(rows), d, units,
                                s->input, net->synthesis, 0.0f, s->output));
    }
    if (codec_network_has_feedback(net))
        TAPER_TRY(mix_rows(net, s, codes, rows, units, whole));
    else if (net->decoder.depth && (units < k || !net->synthesis))
        copy_rows(s->input, codes, rows, k, k);
    TAPER_TRY(add_stack(net, &net->decoder, CODEC_LINEAR, be, s, rows));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < d; j++) pixels[i * d + j] = s->output[i * d + j] + net->mean[j];
    return TAPER_OK;
}

taper_status codec_network_decode_cut(const codec_network *net, codec_backend *be,
                                      const float *codes, size_t n, uint32_t units, size_t whole,
                                      float *pixels) {
    if (units > net->units || !codec_network_has_decoder(net)) return TAPER_ERR_ARG;
    scratch s;
    TAPER_TRY(scratch_take(&s, net, 1));
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && status == TAPER_OK; i += ROW_BLOCK)
        status =
            decode_block(net, be, &s, codes + i * net->units, formats_smaller(ROW_BLOCK, n - i),
                         units, whole > i ? whole - i : 0, pixels + i * net->inputs);
    formats_block_free(&s.block);
    return status;
}

taper_status codec_network_decode_units(const codec_network *net, codec_backend *be,
                                        const float *codes, size_t n, uint32_t units,
                                        float *pixels) {
    return codec_network_decode_cut(net, be, codes, n, units, n, pixels);
}

taper_status codec_network_decode(const codec_network *net, codec_backend *be, const float *codes,
                                  size_t n, float *pixels) {
    return codec_network_decode_units(net, be, codes, n, net->units, pixels);
}
