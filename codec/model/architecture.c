/* architecture.c -- see architecture.h. */
#include "codec/model/architecture.h"
#include "codec/model/work.h"

static taper_status read_lap(codec_architecture *a, formats_cursor *in, taper_error *error) {
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

static taper_status read_convolutions(codec_architecture *a, formats_cursor *in,
                                      taper_error *error) {
    a->convolutions = formats_read_u8(in);
    if (!a->convolutions || a->convolutions + a->depth[0] > CODEC_MAX_LAYERS)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: %u convolutional layers before %u others; 1 or more are legal, "
                            "and %d in all",
                            a->convolutions, a->depth[0], CODEC_MAX_LAYERS);
    for (uint32_t l = 0; l < a->convolutions; l++) a->channels[l] = formats_read_u16le(in);
    return TAPER_OK;
}

taper_status codec_architecture_read(codec_architecture *a, formats_cursor *in,
                                     taper_error *error) {
    *a = (codec_architecture){.family = formats_read_u8(in)};
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
    if (a->family == TAPER_FAMILY_GRADIENTS || a->family == TAPER_FAMILY_POOLING)
        a->cells.across = formats_read_u8(in), a->cells.down = formats_read_u8(in);
    if (a->family == TAPER_FAMILY_POOLING) TAPER_TRY(read_convolutions(a, in, error));
    return formats_cursor_check(in, "model: architecture", error);
}

/* Check the combination of activations, depths and flags. */
static taper_status check_features(const codec_architecture *a, taper_error *error) {
    int direct = (a->flags & CODEC_FLAG_DIRECT) != 0, binary = (a->flags & CODEC_FLAG_BINARY) != 0;
    const int gradients = a->family == TAPER_FAMILY_GRADIENTS, pools = a->convolutions > 0;
    if ((gradients || pools) && !codec_architecture_is_embedding(a))
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: family %s with a decoder",
                            pools ? "pooling" : "gradients");
    if (pools && !a->cells.across != !a->cells.down)
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: %u x %u cells; both or none are 0",
                            a->cells.across, a->cells.down);
    if ((gradients || a->cells.across) && !codec_cells_are_legal(a->window, a->cells))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: %u x %u cells of a window of %u x %u; 1 to %d are legal, of at "
                            "least 2 pixels a side, and %d values in all",
                            a->cells.across, a->cells.down, a->window.width, a->window.height,
                            CODEC_GRADIENT_MOST_CELLS, CODEC_MAX_INPUTS);
    if ((a->family == TAPER_FAMILY_PCA || a->family == TAPER_FAMILY_CONV) &&
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
    if (codec_architecture_is_embedding(a))
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

uint32_t codec_architecture_inputs(const codec_architecture *a) {
    return a->cells.across ? codec_gradients_count(a->window, a->cells)
                           : codec_window_values(a->window);
}

/* *values: the inputs of the first convolutional layer, then the outputs of the last. */
static taper_status add_convolutions(const codec_architecture *a, uint64_t *values,
                                     uint64_t *weights, taper_error *error) {
    codec_map map = codec_architecture_map(a);
    for (uint32_t l = 0; l < a->convolutions; l++) {
        const codec_map to = codec_map_pooled(map, a->channels[l]);
        if (!to.channels || codec_map_values(to) > CODEC_MAX_LAYER_WIDTH)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: a convolutional layer of %u x %u places and %u channels is "
                                "not legal",
                                to.width, to.height, to.channels);
        *weights += codec_map_row(map) * to.channels + to.channels; /* < 2^37 */
        map = to;
        *values = codec_map_values(map);
    }
    return TAPER_OK;
}

taper_status codec_architecture_check(const codec_architecture *a, const taper_limits *limits,
                                      uint64_t *weights, taper_error *error) {
    const codec_window *w = &a->window;
    if (a->family > TAPER_FAMILY_POOLING)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "model family %u is not known to this build; update taper", a->family);
    if (w->channels != 1 && w->channels != 3)
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: %u channels, 1 or 3 are legal",
                            w->channels);
    if (!w->width || !w->height || w->width > CODEC_MAX_WINDOW_SIDE ||
        w->height > CODEC_MAX_WINDOW_SIDE || codec_window_values(*w) > CODEC_MAX_INPUTS)
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: a window of %u x %u is not legal",
                            w->width, w->height);
    int direct = (a->flags & CODEC_FLAG_DIRECT) != 0;
    uint64_t inputs = codec_window_values(*w);
    if (!a->units || (!direct && a->units > inputs))
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: %u units for %llu inputs", a->units,
                            (unsigned long long)inputs);
    TAPER_TRY(check_features(a, error));
    inputs = codec_architecture_inputs(a);
    *weights = inputs + (direct ? 0 : inputs * a->units * (2 - (a->flags & CODEC_FLAG_TIED)));
    TAPER_TRY(add_convolutions(a, &inputs, weights, error));
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
