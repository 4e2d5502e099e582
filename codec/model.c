/* model.c -- model payloads: written, read and validated; see model.h and SPEC.md, "Model file". */
#include "model.h"
#include "../formats/model_file.h"
#include "weights_coder.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEAN_ONE = 64 }; /* means are stored in 1/64 */

/* --- writing --------------------------------------------------------------------------- */

/* Step of each row of the linear path: the rounding error of row u reaches a pixel multiplied by
 * the unit's value, so rows of strong units are stored finer. Units share the allowed error
 * equally: sum over u of scale_u^2 step_u^2 / 12 = mse. */
static void linear_steps(const taper_model *m, double mse, float *step) {
    uint32_t units = m->network.units, inputs = m->network.inputs;
    double share = sqrt(12.0 * mse / units);
    for (uint32_t u = 0; u < units; u++) {
        double scale = m->tables.step[u] * exp2(m->tables.log_scale[u] / 16.0);
        const float *row = m->network.synthesis + (size_t)u * inputs;
        double top = 1e-6; /* largest weight */
        for (uint32_t i = 0; i < inputs; i++) top = fmax(top, fabs(row[i]));
        double s = share / fmax(scale, 1e-6);
        s = fmin(fmax(s, top / 32767),
                 0.3 /
                     sqrt(inputs)); /* 16 bits at most; and near orthonormal for pseudo_inverse.h */
        step[u] = (float)s;
    }
}

static void layer_steps(const codec_layer *layer, int bits, float *step) {
    for (uint32_t r = 0; r < layer->outputs; r++) {
        float top = 1e-12f;
        for (uint32_t i = 0; i < layer->inputs; i++)
            top = fmaxf(top, fabsf(layer->weight[(size_t)r * layer->inputs + i]));
        step[r] = top / (float)((1 << (bits - 1)) - 1);
    }
}

static void write_floats(formats_buffer *out, const float *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        formats_write_u32le(out, bits);
    }
}

static taper_status write_stack(const codec_stack *stack, int bits, formats_buffer *out) {
    for (uint32_t l = 0; l < stack->depth; l++) {
        const codec_layer *layer = &stack->layer[l];
        float *step = malloc((size_t)layer->outputs * sizeof *step);
        if (!step) return TAPER_ERR_NOMEM;
        layer_steps(layer, bits, step);
        taper_status status =
            codec_weights_write(layer->weight, layer->outputs, layer->inputs, 1, step, out);
        free(step);
        TAPER_TRY(status);
        write_floats(out, layer->bias, layer->outputs);
    }
    return out->status;
}

static taper_status write_network(taper_model *m, const codec_weight_precision *precision,
                                  formats_buffer *out) {
    codec_network *net = &m->network;
    for (uint32_t i = 0; i < net->inputs; i++) {
        long v = lrintf(fminf(fmaxf(net->mean[i], -500), 500) * MEAN_ONE);
        formats_write_u16le(out, (uint16_t)(int16_t)v);
        net->mean[i] = (float)v / MEAN_ONE;
    }
    float *step = malloc((size_t)net->units * sizeof *step);
    if (!step) return TAPER_ERR_NOMEM;
    linear_steps(m, precision->linear_mse, step);
    taper_status status =
        codec_weights_write(net->synthesis, net->units, net->inputs, m->window.width, step, out);
    if (status == TAPER_OK && !m->tied)
        status =
            codec_weights_write(net->analysis, net->units, net->inputs, m->window.width, step, out);
    free(step);
    TAPER_TRY(status);
    TAPER_TRY(write_stack(&net->encoder, precision->layer_bits, out));
    return write_stack(&net->decoder, precision->layer_bits, out);
}

static void write_architecture(const taper_model *m, formats_buffer *out) {
    const codec_network *net = &m->network;
    formats_write_u8(out, (uint8_t)m->info.family);
    formats_write_u8(out, (uint8_t)m->window.channels);
    formats_write_u16le(out, (uint16_t)m->window.width);
    formats_write_u16le(out, (uint16_t)m->window.height);
    formats_write_u16le(out, (uint16_t)net->units);
    formats_write_u8(out, m->tied != 0);
    const codec_stack *stacks[2] = {&net->encoder, &net->decoder};
    for (int s = 0; s < 2; s++) {
        formats_write_u8(out, (uint8_t)stacks[s]->depth);
        for (uint32_t l = 0; l + 1 < stacks[s]->depth; l++)
            formats_write_u32le(out, stacks[s]->layer[l].outputs);
    }
}

taper_status codec_model_write(taper_model *m, const codec_weight_precision *precision,
                               formats_buffer *out, taper_error *error) {
    formats_buffer payload = formats_buffer_make(SIZE_MAX / 4);
    size_t start = out->size;
    write_architecture(m, &payload);
    taper_status status = write_network(m, precision, &payload);
    if (status == TAPER_OK) status = codec_code_tables_write(&m->tables, &payload);
    if (status == TAPER_OK) {
        m->info.id = formats_model_id(payload.data, payload.size);
        status = formats_model_pack(payload.data, payload.size, out, error);
        m->info.file_bytes = out->size - start;
    } else {
        formats_fail(error, status, "no memory to write the model");
    }
    formats_buffer_free(&payload);
    return status;
}

taper_status codec_model_round_weights(taper_model *m, const codec_weight_precision *precision,
                                       taper_error *error) {
    formats_buffer scratch = formats_buffer_make(SIZE_MAX / 4);
    taper_status status = write_network(m, precision, &scratch);
    formats_buffer_free(&scratch);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "no memory to round the model's weights");
}

/* --- reading --------------------------------------------------------------------------- */

typedef struct architecture {
    uint32_t family, units, tied, depth[2], hidden[2][CODEC_MAX_LAYERS];
    codec_window window;
} architecture;

static taper_status read_architecture(architecture *a, formats_cursor *in, taper_error *error) {
    *a = (architecture){.family = formats_read_u8(in)};
    a->window.channels = formats_read_u8(in);
    a->window.width = formats_read_u16le(in);
    a->window.height = formats_read_u16le(in);
    a->units = formats_read_u16le(in);
    a->tied = formats_read_u8(in);
    for (int s = 0; s < 2; s++) {
        a->depth[s] = formats_read_u8(in);
        if (a->depth[s] == 1 || a->depth[s] > CODEC_MAX_LAYERS)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: a stack of %u layers, 0 or 2 to 8 are legal", a->depth[s]);
        for (uint32_t l = 0; l + 1 < a->depth[s]; l++) a->hidden[s][l] = formats_read_u32le(in);
    }
    return formats_cursor_check(in, "model: architecture", error);
}

/* The closed list: what families exist and how large each part may be. Also sums up the weights. */
static taper_status check_architecture(const architecture *a, const taper_limits *limits,
                                       uint64_t *weights, taper_error *error) {
    const codec_window *w = &a->window;
    if (a->family > TAPER_FAMILY_DENSE)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "model family %u is not known to this build; update taper", a->family);
    if (w->channels != 1 && w->channels != 3)
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: %u channels, 1 or 3 are legal",
                            w->channels);
    if (!w->width || !w->height || w->width > CODEC_MAX_WINDOW_SIDE ||
        w->height > CODEC_MAX_WINDOW_SIDE || codec_window_values(*w) > CODEC_MAX_INPUTS)
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: a window of %u x %u is not legal",
                            w->width, w->height);
    uint64_t inputs = codec_window_values(*w);
    int pca = a->family == TAPER_FAMILY_PCA;
    if (!a->units || a->units > inputs)
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: %u units for %llu inputs", a->units,
                            (unsigned long long)inputs);
    if (a->tied > 1 || (pca && (!a->tied || a->depth[0] || a->depth[1])))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: a pca model with parts that only dense models have");
    *weights = inputs * a->units * (2 - a->tied) + inputs;
    for (int s = 0; s < 2; s++) {
        uint64_t before = s ? a->units : inputs, last = s ? inputs : a->units;
        for (uint32_t l = 0; l < a->depth[s]; l++) {
            uint64_t width = l + 1 < a->depth[s] ? a->hidden[s][l] : last;
            if (!width || width > CODEC_MAX_LAYER_WIDTH)
                return formats_fail(error, TAPER_ERR_CORRUPT,
                                    "model: a layer of %llu outputs is not legal",
                                    (unsigned long long)width);
            *weights += before * width + width; /* < 2^33 each */
            before = width;
        }
    }
    if (*weights > limits->max_model_bytes / sizeof(float))
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "model has %llu weights, more than the limit of %llu bytes holds; "
                            "raise --max-model if you trust it",
                            (unsigned long long)*weights,
                            (unsigned long long)limits->max_model_bytes);
    return TAPER_OK;
}

static taper_status read_stack(codec_stack *stack, formats_cursor *in, taper_error *error) {
    for (uint32_t l = 0; l < stack->depth; l++) {
        codec_layer *layer = &stack->layer[l];
        TAPER_TRY(codec_weights_read(layer->weight, layer->outputs, layer->inputs, 1, in, error));
        for (uint32_t i = 0; i < layer->outputs; i++) {
            uint32_t bits = formats_read_u32le(in);
            memcpy(&layer->bias[i], &bits, sizeof bits);
            if (!(fabsf(layer->bias[i]) < 1e9f))
                return formats_fail(error, TAPER_ERR_CORRUPT, "model: a bias is out of range");
        }
    }
    return formats_cursor_check(in, "model: layers", error);
}

static taper_status read_network(taper_model *m, const architecture *a, formats_cursor *in,
                                 taper_error *error) {
    codec_network *net = &m->network;
    if (codec_network_alloc(net, codec_window_values(a->window), a->units, (int)a->tied,
                            a->hidden[0], a->depth[0] ? a->depth[0] - 1 : 0, a->hidden[1],
                            a->depth[1] ? a->depth[1] - 1 : 0))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the model's network");
    for (uint32_t i = 0; i < net->inputs; i++)
        net->mean[i] = (float)(int16_t)formats_read_u16le(in) / MEAN_ONE;
    TAPER_TRY(
        codec_weights_read(net->synthesis, net->units, net->inputs, a->window.width, in, error));
    if (!a->tied)
        TAPER_TRY(
            codec_weights_read(net->analysis, net->units, net->inputs, a->window.width, in, error));
    TAPER_TRY(read_stack(&net->encoder, in, error));
    return read_stack(&net->decoder, in, error);
}

static taper_status read_payload(taper_model *m, formats_cursor *in, const taper_limits *limits,
                                 taper_error *error) {
    architecture a;
    uint64_t weights = 0;
    TAPER_TRY(read_architecture(&a, in, error));
    TAPER_TRY(check_architecture(&a, limits, &weights, error));
    m->window = a.window;
    m->tied = (int)a.tied;
    TAPER_TRY(read_network(m, &a, in, error));
    TAPER_TRY(codec_code_tables_read(&m->tables, a.units, in, error));
    if (formats_cursor_left(in))
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: bytes follow its last table");
    m->info.family = (taper_family)a.family;
    m->info.channels = a.window.channels;
    m->info.window_width = a.window.width;
    m->info.window_height = a.window.height;
    m->info.units = a.units;
    m->info.passes = m->tables.n_passes;
    m->info.weights = weights;
    return TAPER_OK;
}

taper_status taper_model_load(taper_model **out, const void *bytes, size_t size,
                              const taper_limits *given, taper_error *error) {
    *out = NULL;
    taper_limits limits = formats_limits_or_default(given);
    uint8_t *payload;
    size_t payload_size;
    uint64_t id;
    TAPER_TRY(formats_model_unpack(bytes, size, &limits, &payload, &payload_size, &id, error));
    taper_model *m = calloc(1, sizeof *m);
    formats_cursor in = formats_cursor_over(payload, payload_size);
    taper_status status = m ? read_payload(m, &in, &limits, error)
                            : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a model");
    free(payload);
    if (status != TAPER_OK) {
        taper_model_free(m);
        return status;
    }
    m->info.id = id;
    m->info.file_bytes = size;
    *out = m;
    return TAPER_OK;
}

void taper_model_free(taper_model *m) {
    if (!m) return;
    codec_network_free(&m->network);
    codec_code_tables_free(&m->tables);
    free(m);
}

taper_model_info taper_model_get_info(const taper_model *m) { return m->info; }
