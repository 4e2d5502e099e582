/* model_read.c -- taper_model_load: reading models; see model.h. */
#include "codec/bitplane/conditional.h"
#include "codec/bitplane/head.h"
#include "codec/entropy/weights_coder.h"
#include "codec/model/embedding_record.h"
#include "codec/model/model_payload.h"
#include "codec/model/work.h"
#include "formats/model_file.h"
#include <math.h>
#include <stdlib.h>

typedef struct architecture {
    uint32_t family, units, flags, depth[2], width[2][CODEC_MAX_LAYERS];
    uint32_t hidden, code; /* activations */
    float tied_gain;
    codec_window window;
    codec_lap lap;
} architecture;

static taper_status read_lap(architecture *a, formats_cursor *in, taper_error *error) {
    uint32_t shorter = a->window.width < a->window.height ? a->window.width : a->window.height;
    a->lap.reach = formats_read_u8(in);
    if (!a->lap.reach || a->lap.reach > CODEC_LAP_MOST || 2 * a->lap.reach > shorter)
        return formats_fail(
            error, TAPER_ERR_CORRUPT,
            "model: windows of %u x %u that lap by %u, legal is 1 to %u and at most "
            "half a side",
            a->window.width, a->window.height, a->lap.reach, CODEC_LAP_MOST);
    for (uint32_t i = 0; i < a->lap.reach * a->lap.reach; i++)
        a->lap.stored[i] = (int16_t)formats_read_u16le(in);
    if (codec_lap_prepare(&a->lap) == TAPER_OK) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT, "model: the matrix of its lap has no inverse");
}

static taper_status read_architecture(architecture *a, formats_cursor *in, taper_error *error) {
    *a = (architecture){.family = formats_read_u8(in)};
    a->window.channels = formats_read_u8(in);
    a->window.width = formats_read_u16le(in);
    a->window.height = formats_read_u16le(in);
    a->units = formats_read_u16le(in);
    a->flags = formats_read_u8(in);
    a->hidden = formats_read_u8(in);
    a->code = formats_read_u8(in);
    if (a->flags & CODEC_FLAG_TIED_STACKS) a->tied_gain = codec_read_float(in);
    for (int s = 0; s < 2; s++) {
        a->depth[s] = formats_read_u8(in);
        if (a->depth[s] > CODEC_MAX_LAYERS)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: a stack of %u layers, at most 8 are legal", a->depth[s]);
        for (uint32_t l = 0; l + 1 < a->depth[s]; l++) a->width[s][l] = formats_read_u32le(in);
    }
    if (a->flags & CODEC_FLAG_LAPPED) TAPER_TRY(read_lap(a, in, error));
    return formats_cursor_check(in, "model: architecture", error);
}

static int is_embedding(const architecture *a) {
    return (a->flags & CODEC_FLAG_DIRECT) && a->depth[0] && !a->depth[1];
}

/* Check the combination of activations, depths and flags. */
static taper_status check_features(const architecture *a, taper_error *error) {
    int direct = (a->flags & CODEC_FLAG_DIRECT) != 0, binary = (a->flags & CODEC_FLAG_BINARY) != 0;
    if (a->family != TAPER_FAMILY_DENSE &&
        ((a->flags & ~(uint32_t)(CODEC_FLAG_CONDITIONAL | CODEC_FLAG_HEAD | CODEC_FLAG_LAPPED)) !=
             CODEC_FLAG_TIED ||
         a->depth[0] || a->depth[1]))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: a %s model with parts that only dense models have",
                            a->family == TAPER_FAMILY_PCA ? "pca" : "conv");
    if (a->family == TAPER_FAMILY_CONV && (a->window.width % 2 || a->window.height % 2))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: family conv with a window of %u x %u, whose sides must be even",
                            a->window.width, a->window.height);
    if (a->hidden > CODEC_LOGISTIC || a->code > CODEC_LOGISTIC)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: activations %u and %u, 0 to 2 are legal", a->hidden, a->code);
    if (a->code != CODEC_LINEAR && (!direct || binary))
        return formats_fail(
            error, TAPER_ERR_CORRUPT,
            "model: an activation of the code, in a binary model or one with a linear path");
    if (binary && (a->flags & (CODEC_FLAG_CONDITIONAL | CODEC_FLAG_HEAD)))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: a conditional model or a head for units of one bit");
    if ((a->flags & CODEC_FLAG_FEEDBACK) && !(direct && binary))
        return formats_fail(
            error, TAPER_ERR_CORRUPT,
            "model: units with feedback, which need a direct network of binary units");
    if (direct && (a->flags & CODEC_FLAG_TIED))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: a tied linear path, but no linear path");
    if (is_embedding(a))
        return (a->flags & ~CODEC_FLAG_BINARY) == CODEC_FLAG_DIRECT
                   ? TAPER_OK
                   : formats_fail(error, TAPER_ERR_CORRUPT,
                                  "model: no decoder, but parts of a decoder");
    for (int s = 0; s < 2; s++)
        if (direct ? a->depth[s] == 0 : a->depth[s] == 1)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: a stack of %u layers is not legal %s a linear path",
                                a->depth[s], direct ? "without" : "with");
    if (!(a->flags & CODEC_FLAG_TIED_STACKS)) return TAPER_OK;
    int mirrored = direct && a->depth[0] == a->depth[1];
    for (uint32_t l = 0; mirrored && l + 1 < a->depth[0]; l++)
        mirrored = a->width[1][l] == a->width[0][a->depth[0] - 2 - l];
    if (!mirrored)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: tied stacks that do not mirror each other");
    if (!(a->tied_gain > 1e-20f && a->tied_gain < 1e20f)) /* NaN too */
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: the gain of tied stacks is out of range");
    return TAPER_OK;
}

/* Check the family and the size of each part. *weights: the number of weights. */
static taper_status check_architecture(const architecture *a, const taper_limits *limits,
                                       uint64_t *weights, taper_error *error) {
    const codec_window *w = &a->window;
    if (a->family > TAPER_FAMILY_CONV)
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
    int direct = (a->flags & CODEC_FLAG_DIRECT) != 0;
    if (!a->units || (!direct && a->units > inputs))
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: %u units for %llu inputs", a->units,
                            (unsigned long long)inputs);
    TAPER_TRY(check_features(a, error));
    *weights = inputs + (direct ? 0 : inputs * a->units * (2 - (a->flags & CODEC_FLAG_TIED)));
    for (int s = 0; s < 2; s++) {
        uint64_t before = s ? a->units : inputs, last = s ? inputs : a->units;
        for (uint32_t l = 0; l < a->depth[s]; l++) {
            uint64_t width = l + 1 < a->depth[s] ? a->width[s][l] : last;
            if (!width || width > CODEC_MAX_LAYER_WIDTH)
                return formats_fail(error, TAPER_ERR_CORRUPT,
                                    "model: a layer of %llu outputs is not legal",
                                    (unsigned long long)width);
            *weights += before * width + width; /* < 2^33 each */
            before = width;
        }
    }
    if (a->flags & CODEC_FLAG_FEEDBACK) *weights += 2 * (uint64_t)a->units * a->units;
    return codec_weights_check(*weights, limits->max_model_bytes, error);
}

static taper_status read_stack(codec_stack *stack, int without_weights, formats_cursor *in,
                               taper_error *error) {
    for (uint32_t l = 0; l < stack->depth; l++) {
        codec_layer *layer = &stack->layer[l];
        if (!without_weights)
            TAPER_TRY(
                codec_weights_read(layer->weight, layer->outputs, layer->inputs, 1, in, error));
        for (uint32_t i = 0; i < layer->outputs; i++) {
            layer->bias[i] = codec_read_float(in);
            if (!(fabsf(layer->bias[i]) < 1e9f))
                return formats_fail(error, TAPER_ERR_CORRUPT, "model: a bias is out of range");
        }
    }
    return formats_cursor_check(in, "model: layers", error);
}

static taper_status alloc_network(codec_network *net, const architecture *a) {
    uint32_t n0 = a->depth[0] ? a->depth[0] - 1 : 0, n1 = a->depth[1] ? a->depth[1] - 1 : 0;
    codec_linear_path path = is_embedding(a)                ? CODEC_ENCODER
                             : a->flags & CODEC_FLAG_DIRECT ? CODEC_DIRECT
                             : a->flags & CODEC_FLAG_TIED   ? CODEC_TIED
                                                            : CODEC_UNTIED;
    TAPER_TRY(codec_network_alloc(net, codec_window_values(a->window), a->units, path, a->width[0],
                                  n0, a->width[1], n1));
    net->hidden = (codec_activation)a->hidden;
    net->code = (codec_activation)a->code;
    return a->flags & CODEC_FLAG_FEEDBACK ? codec_network_add_feedback(net) : TAPER_OK;
}

/* Read T or M (network.h). */
static taper_status read_triangle(float *matrix, uint32_t units, formats_cursor *in,
                                  taper_error *error) {
    TAPER_TRY(codec_weights_read(matrix, units, units, 1, in, error));
    for (size_t r = 0; r < units; r++)
        for (size_t c = r; c < units; c++)
            if (matrix[r * units + c] != 0)
                return formats_fail(error, TAPER_ERR_CORRUPT, "model: unit %zu depends on unit %zu",
                                    r, c);
    return TAPER_OK;
}

static taper_status read_network(taper_model *m, const architecture *a, formats_cursor *in,
                                 taper_error *error) {
    codec_network *net = &m->network;
    if (alloc_network(net, a) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the model's network");
    for (uint32_t i = 0; i < net->inputs; i++)
        net->mean[i] = (float)(int16_t)formats_read_u16le(in) / CODEC_MEAN_ONE;
    float *linear[2] = {net->synthesis, a->flags & CODEC_FLAG_TIED ? NULL : net->analysis};
    for (int i = 0; i < 2; i++)
        if (linear[i])
            TAPER_TRY(
                codec_weights_read(linear[i], net->units, net->inputs, a->window.width, in, error));
    TAPER_TRY(read_stack(&net->encoder, 0, in, error));
    if (a->flags & CODEC_FLAG_TIED_STACKS) TAPER_TRY(codec_network_tie(net, a->tied_gain));
    TAPER_TRY(read_stack(&net->decoder, (a->flags & CODEC_FLAG_TIED_STACKS) != 0, in, error));
    if (!codec_network_has_feedback(net)) return TAPER_OK;
    TAPER_TRY(read_triangle(net->feedback, net->units, in, error));
    return read_triangle(net->mixing, net->units, in, error);
}

/* Read a conditional model or a head. */
static taper_status read_conditional(const codec_code_tables *t, uint32_t kinds, uint64_t max_bytes,
                                     codec_conditional **out, formats_cursor *in,
                                     taper_error *error) {
    codec_conditional *c = calloc(1, sizeof *c);
    if (!c) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a conditional model");
    taper_status status =
        codec_conditional_read(c, kinds, t->units, t->n_passes, max_bytes, in, error);
    if (status != TAPER_OK) free(c), c = NULL;
    *out = c;
    return status;
}

void codec_model_describe(taper_model *m) {
    const codec_code_tables *t = &m->tables;
    m->info.lap = m->lap.reach;
    m->info.conditional_hidden = t->conditional ? t->conditional->hidden : 0;
    m->info.head_hidden = t->head ? t->head->hidden : 0;
    m->info.restoration_hidden = m->restoration.hidden;
    m->info.feedback = codec_network_has_feedback(&m->network);
    m->info.embedding = !codec_network_has_decoder(&m->network);
    codec_work work = codec_work_of(m);
    m->info.work = work.usual;
    m->info.most_work = work.most;
}

/* SPEC.md, 6.5 to 6.8: the parts for decoding after the network. */
static taper_status read_tables(taper_model *m, const architecture *a, formats_cursor *in,
                                const taper_limits *limits, taper_error *error) {
    codec_code_tables *t = &m->tables;
    if (a->flags & CODEC_FLAG_BINARY)
        TAPER_TRY(codec_code_tables_read_binary(t, a->units, in, error));
    else
        TAPER_TRY(codec_code_tables_read(t, a->units, in, error));
    if (a->flags & CODEC_FLAG_CONDITIONAL)
        TAPER_TRY(read_conditional(t, CODEC_CONDITIONAL_KINDS, limits->max_model_bytes,
                                   &t->conditional, in, error));
    if (a->flags & CODEC_FLAG_HEAD) {
        codec_conditional *head = NULL;
        TAPER_TRY(read_conditional(t, 1, limits->max_model_bytes, &head, in, error));
        if (codec_head_attach(t, head) != TAPER_OK)
            return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a reconstruction head");
    }
    if (a->family != TAPER_FAMILY_CONV) return TAPER_OK;
    return codec_restoration_read(&m->restoration, a->window.channels, t->n_passes,
                                  limits->max_model_bytes, in, error);
}

static taper_status read_payload(taper_model *m, formats_cursor *in, const taper_limits *limits,
                                 taper_error *error) {
    architecture a;
    uint64_t weights = 0;
    TAPER_TRY(read_architecture(&a, in, error));
    TAPER_TRY(check_architecture(&a, limits, &weights, error));
    m->window = a.window;
    m->lap = a.lap;
    if (m->lap.reach) m->window.lap = &m->lap;
    m->tied = a.flags & CODEC_FLAG_TIED;
    TAPER_TRY(read_network(m, &a, in, error));
    TAPER_TRY(is_embedding(&a) ? codec_embedding_record_read(&m->info, in, error)
                               : read_tables(m, &a, in, limits, error));
    if (formats_cursor_left(in))
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: bytes follow its last table");
    m->info.family = (taper_family)a.family;
    m->info.channels = a.window.channels;
    m->info.window_width = a.window.width;
    m->info.window_height = a.window.height;
    m->info.units = a.units;
    m->info.passes = m->tables.n_passes;
    m->info.weights = weights;
    m->info.binary = (a.flags & CODEC_FLAG_BINARY) != 0;
    codec_model_describe(m);
    TAPER_TRY(codec_work_check(m, limits->max_work, error));
    if (!codec_model_is_linear(m) || codec_model_make_synthesis(m, &m->synthesis) == TAPER_OK)
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the model's synthesis");
}

taper_status taper_model_load(taper_model **out, const void *bytes, size_t size,
                              const taper_limits *given, taper_error *error) {
    TAPER_TRY(formats_need(out, "the model's place", error));
    *out = NULL;
    TAPER_TRY(formats_need_array(bytes, size, 1, "the model's bytes", error));
    taper_limits limits = formats_limits_or_default(given);
    limits.max_model_bytes = formats_most_model_bytes(&limits, size);
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
    if (!m->is_constant) {
        codec_network_free(&m->network);
        codec_synthesis_free(&m->synthesis);
        codec_code_tables_free(&m->tables);
        codec_restoration_free(&m->restoration);
        free(m->analysis);
    }
    free(m);
}

taper_model_info taper_model_get_info(const taper_model *m) {
    return m ? m->info : (taper_model_info){0};
}
