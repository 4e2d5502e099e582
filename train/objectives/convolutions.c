/* convolutions.c -- see convolutions.h. */
#include "train/objectives/convolutions.h"
#include "formats/bytes.h"

/* Floats of patches of which the processor's cache holds most; devices with larger blocks get more
 * in proportion. */
enum { PATCHES_OF_LEAST_BLOCK = 1 << 18 };

static size_t patches_of(const codec_layer *layer) {
    return codec_map_places(layer->map) * codec_map_row(layer->map);
}

static size_t products_of(const codec_layer *layer) {
    return codec_map_places(layer->map) * codec_layer_rows(layer);
}

static size_t rows_at_once(const codec_layer *layer, size_t room) {
    return formats_larger(1, room / patches_of(layer));
}

void train_convolutions_lay_out(train_convolutions *c, train_arena *arena, const codec_stack *stack,
                                size_t batch, const train_device *device) {
    const size_t blocks = formats_larger(1, device->block_rows / TRAIN_LEAST_ROWS);
    const uint32_t layers = codec_stack_convolutions(stack);
    size_t products = 0;
    c->room = PATCHES_OF_LEAST_BLOCK * blocks;
    for (uint32_t i = 0; i < layers; i++) /* at least one row of each */
        c->room = formats_larger(c->room, patches_of(&stack->layer[i]));
    for (uint32_t i = 0; i < layers; i++) {
        const codec_layer *layer = &stack->layer[i];
        c->which[i] = train_arena_take(arena, batch, layer->outputs, 1);
        products = formats_larger(products, rows_at_once(layer, c->room) * products_of(layer));
    }
    if (!layers) return;
    c->patches = train_arena_floats(arena, 1, c->room);
    c->products = train_arena_floats(arena, 1, products);
}

taper_status train_convolve(train_stream *s, const codec_layer *l, size_t rows, const float *from,
                            codec_activation activation, const train_convolutions *c,
                            uint8_t *which, float *to) {
    const size_t places = codec_map_places(l->map), columns = codec_layer_columns(l);
    const uint32_t channels = codec_layer_rows(l);
    for (size_t first = 0, n; first < rows; first += n) {
        const size_t out = first * l->outputs;
        n = formats_smaller(rows_at_once(l, c->room), rows - first);
        TAPER_TRY(s->ops->patches(s, l->map, n, from + first * l->inputs, c->patches));
        TAPER_TRY(s->ops->gemm(s, 0, 1, n * places, channels, columns, c->patches, l->weight, 0.0f,
                               c->products));
        TAPER_TRY(s->ops->pool(s, l->map, channels, n, c->products, to + out, which + out));
    }
    return s->ops->bias(s, rows * l->outputs / channels, channels, l->bias, activation, to);
}

taper_status train_convolve_backward(train_stream *s, const train_convolution_gradient *g,
                                     const train_convolutions *c) {
    const codec_layer *l = g->layer;
    const size_t places = codec_map_places(l->map), columns = codec_layer_columns(l);
    const uint32_t channels = codec_layer_rows(l);
    for (size_t first = 0, n; first < g->rows && (g->x || g->dx); first += n) {
        const size_t out = first * l->outputs, in = first * l->inputs;
        n = formats_smaller(rows_at_once(l, c->room), g->rows - first);
        TAPER_TRY(s->ops->unpool(s, l->map, channels, n, g->dy + out, g->which + out, c->products));
        if (g->x) {
            TAPER_TRY(s->ops->patches(s, l->map, n, g->x + in, c->patches));
            TAPER_TRY(s->ops->gemm(s, 1, 0, channels, columns, n * places, c->products, c->patches,
                                   first ? 1.0f : g->beta, g->dweight));
        }
        if (!g->dx) continue;
        TAPER_TRY(s->ops->gemm(s, 0, 0, n * places, columns, channels, c->products, l->weight, 0.0f,
                               c->patches));
        TAPER_TRY(s->ops->add_patches(s, l->map, n, c->patches, g->dx + in));
    }
    return TAPER_OK;
}
