/* embedder.c -- see embedder.h. */
#include "train/embedding/embedder.h"
#include "formats/bytes.h"
#include "train/optimise/rank_sums.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float pixel_scale = 255.0f;
static const float tangent = 255.0f / 4.0f; /* slope of 255 / (1 + e^-a) at 0 */

/* --- parameters ------------------------------------------------------------------------- */

/* Copies a stack; the first layer's weights are multiplied by factor. */
static void copy_stack(const codec_stack *from, const codec_stack *to, float factor) {
    for (uint32_t i = 0; i < from->depth; i++) {
        const codec_layer *a = &from->layer[i], *b = &to->layer[i];
        const size_t n = codec_layer_weights(a);
        for (size_t j = 0; j < n; j++) b->weight[j] = a->weight[j] * (i ? 1.0f : factor);
        memcpy(b->bias, a->bias, codec_layer_rows(a) * sizeof *b->bias);
    }
}

/* Copies the decoder; the last layer is multiplied by factor, and offset is added to its biases. */
static void copy_decoder(const codec_stack *from, const codec_stack *to, float factor,
                         float offset) {
    for (uint32_t i = 0; i < from->depth; i++) {
        const codec_layer *a = &from->layer[i], *b = &to->layer[i];
        const size_t n = codec_layer_weights(a);
        const int last = i + 1 == from->depth;
        for (size_t j = 0; j < n; j++) b->weight[j] = a->weight[j] * (last ? factor : 1.0f);
        for (size_t j = 0; j < a->outputs; j++)
            b->bias[j] = last ? a->bias[j] * factor + offset : a->bias[j];
    }
}

taper_status train_embedder_export(train_embedder *e, const float *from, codec_network *net) {
    codec_stack view, decoder;
    float *host = malloc(e->weights.n * sizeof *host);
    taper_status status = host ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK)
        status = train_download(&e->stream, host, from, e->weights.n * sizeof *host);
    if (status == TAPER_OK) {
        const size_t n = train_stack_view(&net->encoder, host, &view);
        copy_stack(&view, &net->encoder, 1.0f / pixel_scale);
        train_stack_view(&net->decoder, host + n, &decoder);
        if (e->decoder.depth) copy_decoder(&decoder, &net->decoder, tangent, pixel_scale / 2.0f);
    }
    free(host);
    return status;
}

static taper_status upload_spread(train_embedder *e) {
    float *spread = malloc(e->units * sizeof *spread);
    if (!spread) return TAPER_ERR_NOMEM;
    for (uint32_t u = 0; u < e->units; u++) spread[u] = TRAIN_BIT_SPREAD;
    const taper_status status =
        train_upload(&e->stream, e->spread, spread, e->units * sizeof *spread);
    free(spread);
    return status;
}

static taper_status upload_start(train_embedder *e, const codec_network *net) {
    codec_stack view, decoder;
    float *host = calloc(e->weights.n, sizeof *host);
    if (!host) return TAPER_ERR_NOMEM;
    const size_t encoder = train_stack_view(&net->encoder, host, &view);
    copy_stack(&net->encoder, &view, pixel_scale);
    train_stack_view(&net->decoder, host + encoder, &decoder);
    if (e->decoder.depth)
        copy_decoder(&net->decoder, &decoder, 1.0f / tangent, -pixel_scale / 2.0f / tangent);
    taper_status status =
        train_upload(&e->stream, e->weights.parameter, host, e->weights.n * sizeof *host);
    free(host);
    if (status == TAPER_OK)
        status = train_zero(&e->stream, e->zero_mean, e->inputs * sizeof(float));
    if (status == TAPER_OK)
        status = train_zero(&e->stream, e->threshold, e->units * sizeof *e->threshold);
    return status == TAPER_OK ? upload_spread(e) : status;
}

taper_status train_embedder_alpha(train_embedder *e, double most, double *alpha) {
    float *there = e->weights.parameter + e->weights.n - 1, number = 0.0f;
    if (e->n_numbers) TAPER_TRY(train_download(&e->stream, &number, there, sizeof number));
    *alpha = train_neighbour_alpha(&e->objective, number);
    if (!e->n_numbers || !(*alpha > most)) return TAPER_OK;
    number = (float)log(most / e->objective.alpha);
    *alpha = most;
    return train_upload(&e->stream, there, &number, sizeof number);
}

/* --- memory ----------------------------------------------------------------------------- */

static int decodes(const train_embedder *e) { return e->decoding.part > 0.0; }

static void lay_out_numbers(train_embedder *e, const codec_network *net, train_weights_use use) {
    const size_t encoder = train_stack_view(&net->encoder, NULL, &e->view);
    const size_t decoder = decodes(e) ? train_stack_view(&net->decoder, NULL, &e->decoder) : 0;
    const size_t n = encoder + decoder;
    train_weights *w = &e->weights;
    e->n_numbers = e->use.objective->numbers(e->use.self, e->class_units);
    *w = (train_weights){0};
    train_weights_lay_out(w, &e->numbers, n + e->n_numbers, use);
    e->zero_mean = train_arena_floats(&e->numbers, 1, e->inputs);
    train_stack_view(&net->encoder, w->parameter, &e->view);
    train_stack_view(&net->encoder, w->gradient, &e->gradient);
    if (decodes(e) && w->parameter) {
        train_stack_view(&net->decoder, w->parameter + encoder, &e->decoder);
        train_stack_view(&net->decoder, w->gradient + encoder, &e->decoder_gradient);
    }
    if (w->parameter) e->use.objective->place(e->use.self, w->parameter + n, w->gradient + n);
}

static int jitters(const train_embedder *e) { return e->noise.jitter.fraction > 0.0f; }

static int describes(const train_embedder *e) { return e->cells.across > 0; }

/* Rows after jitter, and their gradients. */
static void lay_out_rows(train_embedder *e, train_arena *arena) {
    const size_t cells = (size_t)e->cells.across * e->cells.down;
    const size_t values = describes(e) ? codec_window_values(e->window) : e->inputs;
    e->moved = jitters(e) ? train_arena_take(arena, e->batch, values, 1) : NULL;
    if (!describes(e)) return;
    e->described = train_arena_take(arena, e->batch, e->inputs, 1);
    e->votes = train_arena_take(arena, e->batch, cells * CODEC_GRADIENT_SIGNED, sizeof *e->votes);
}

static void lay_out_activations(train_embedder *e, const codec_network *net) {
    train_arena *arena = &e->activations;
    const size_t batch = e->batch;
    size_t widest = train_stack_widest(&net->encoder);
    if (decodes(e)) widest = formats_larger(widest, train_stack_widest(&net->decoder));
    e->input = train_arena_floats(arena, e->block, e->inputs);
    lay_out_rows(e, arena);
    e->code = train_arena_floats(arena, batch, e->units);
    e->code_gradient = train_arena_floats(arena, batch, e->units);
    e->before = e->binary ? train_arena_floats(arena, batch, e->units) : e->code;
    e->threshold = train_arena_floats(arena, 1, e->units);
    e->spread = train_arena_floats(arena, 1, e->units);
    const int split = e->class_units < e->units || e->ranks;
    e->class_code = split ? train_arena_floats(arena, batch, e->class_units) : e->code;
    e->class_gradient = split ? train_arena_floats(arena, batch, e->class_units) : e->code_gradient;
    if (decodes(e)) train_decoding_lay_out(&e->decoding, arena, &net->decoder, net->hidden, batch);
    e->label = train_arena_take(arena, batch, 1, sizeof *e->label);
    e->row_loss = train_arena_take(arena, batch, 1, sizeof *e->row_loss);
    e->figure = train_arena_take(arena, 1, 1, sizeof *e->figure);
    e->squares = train_arena_take(arena, 1, 1, sizeof *e->squares);
    train_stack_lay_out(&e->act, arena, &net->encoder, net->hidden, batch);
    train_convolutions_lay_out(&e->act.convolutions, arena, &net->encoder, batch, e->stream.device);
    for (int i = 0; i < 2; i++)
        e->decoding.act.back[i] = e->act.back[i] = train_arena_floats(arena, batch, widest);
    e->use.objective->lay_out(e->use.self, arena, e->class_units, batch);
}

static taper_status take_memory(train_embedder *e, const codec_network *net, train_device *device,
                                train_weights_use use) {
    TAPER_TRY(train_stream_open(&e->stream, device));
    lay_out_numbers(e, net, use);
    lay_out_activations(e, net);
    TAPER_TRY(train_arena_alloc(&e->numbers, device));
    TAPER_TRY(train_arena_alloc(&e->activations, device));
    lay_out_numbers(e, net, use);
    lay_out_activations(e, net);
    return train_weights_keep(&e->weights, device);
}

static int is_plain(const codec_network *net) {
    for (uint32_t i = 0; i < net->inputs; i++)
        if (net->mean[i] != 0.0f) return 0;
    return codec_network_is_direct(net) && !codec_network_has_feedback(net) &&
           net->code == CODEC_LINEAR && net->encoder.depth > 0;
}

taper_status train_embedder_create(train_embedder *e, const codec_network *net,
                                   train_device *device, const train_embedder_options *o) {
    *e = (train_embedder){.inputs = net->inputs,
                          .units = net->units,
                          .class_units = net->units - o->free_units,
                          .binary = o->binary,
                          .decoding.part = o->part,
                          .batch = o->batch,
                          .block =
                              formats_smaller(o->batch, o->block ? o->block : TRAIN_EMBEDDER_BLOCK),
                          .l2 = o->l2,
                          .ranks = o->ranks,
                          .noise = o->noise,
                          .objective = o->objective};
    e->cells = o->cells;
    e->window = (codec_window){o->noise.jitter.width, o->noise.jitter.height,
                               o->noise.jitter.channels, NULL};
    if (!o->batch || !(o->l2 >= 0.0) || !is_plain(net)) return TAPER_ERR_ARG;
    if (describes(e) && (!codec_cells_are_legal(e->window, e->cells) ||
                         codec_gradients_count(e->window, e->cells) != e->inputs))
        return TAPER_ERR_ARG;
    if (!(o->part >= 0.0) || !(o->part <= 1.0) || o->free_units >= net->units ||
        (decodes(e) && !net->decoder.depth))
        return TAPER_ERR_ARG;
    e->use = (train_objective_use){&train_neighbours_objective, &e->objective};
    if (o->prefixes) {
        e->prefixes = (train_prefixes){.of = o->objective, .list = *o->prefixes};
        e->use = (train_objective_use){&train_prefixes_objective, &e->prefixes};
    }
    taper_status status = take_memory(e, net, device, o->use);
    if (status == TAPER_OK) status = upload_start(e, net);
    if (status != TAPER_OK) train_embedder_free(e);
    return status;
}

void train_embedder_free(train_embedder *e) {
    train_arena_free(&e->numbers);
    train_arena_free(&e->activations);
    train_stream_close(&e->stream);
    memset(e, 0, sizeof *e);
}

/* --- forward and backward --------------------------------------------------------------- */

static train_noise noise_of(const train_embedder *e, size_t first_row) {
    return (train_noise){e->noise.seed, e->step, first_row, e->ranks ? e->there : NULL};
}

/* Computes the input numbers of a block of rows. */
static taper_status make_inputs(train_embedder *e, size_t first, size_t rows) {
    train_stream *s = &e->stream;
    const uint8_t *pixels = e->order ? e->pixels : e->pixels + first * e->inputs;
    const uint32_t *order = e->order ? e->order + first : NULL;
    if (!e->noisy || !(e->noise.corrupt > 0.0f))
        return s->ops->centre_rows(s, rows, e->inputs, pixels, order, e->zero_mean,
                                   1.0f / pixel_scale, e->input);
    const train_corruption corruption = {
        .inputs = {rows, e->inputs, pixels, order, e->zero_mean, 1.0f / pixel_scale},
        .noise = noise_of(e, first),
        .p = e->noise.corrupt,
        .corrupted = e->input};
    return s->ops->corrupt(s, &corruption);
}

/* Computes the inputs of the block of rows at `first`; *rows: its size. A single block's inputs are
 * kept. The processor's products over rows are sums of parts of PART rows; the last two parts are
 * equal halves of the rest. Blocks end at such a boundary, so that the bits do not change. */
static taper_status take_block(train_embedder *e, size_t first, size_t *rows) {
    enum { PART = 384 };
    const size_t left = e->rows - first;
    *rows = formats_smaller(left, e->block);
    if (*rows > PART && left > *rows && left - *rows < PART) *rows -= PART;
    return e->rows > e->block ? make_inputs(e, first, *rows) : TAPER_OK;
}

taper_status train_embedder_expect(train_embedder *e, const uint32_t *here, const uint32_t *there,
                                   const uint32_t *label, const uint32_t *order, size_t of) {
    train_stream *s = &e->stream;
    e->here = here, e->there = there;
    e->of = formats_smaller(of, e->batch);
    e->noise.jitter.position = there;
    return s->ops->gather_rows(s, e->of, sizeof *label, label, order, e->label);
}

/* Replaces the loaded rows by their gradients. */
static taper_status describe(train_embedder *e) {
    const train_gradients g = {e->window, e->cells, e->rows,     e->pixels,
                               e->order,  e->votes, e->described};
    TAPER_TRY(e->stream.ops->gradients(&e->stream, &g));
    e->pixels = e->described, e->order = NULL;
    return TAPER_OK;
}

taper_status train_embedder_load(train_embedder *e, const uint8_t *pixels, const uint32_t *order,
                                 const uint32_t *label, const uint32_t *labels_order, size_t n) {
    train_stream *s = &e->stream;
    e->rows = formats_smaller(n, e->batch);
    if (!e->ranks) e->of = e->rows;
    e->labelled = e->of;
    e->pixels = pixels, e->order = order;
    e->act.dropout = e->noisy ? e->noise.dropout : 0.0f;
    e->act.noise = noise_of(e, 0);
    if (!e->rows) return TAPER_OK;
    if (e->noisy && jitters(e)) {
        TAPER_TRY(s->ops->jitter(s, &e->noise.jitter, e->rows, pixels, order, e->noise.seed,
                                 e->step, e->moved));
        e->pixels = e->moved, e->order = NULL;
    }
    if (describes(e)) TAPER_TRY(describe(e));
    if (label)
        TAPER_TRY(s->ops->gather_rows(s, e->rows, sizeof *label, label, labels_order, e->label));
    return e->rows > e->block ? TAPER_OK : make_inputs(e, 0, e->rows);
}

/* The properties of binary codes, also while they are trained as numbers. */
static train_units units_of(const train_embedder *e) {
    return (train_units){.rows = e->rows,
                         .units = e->units,
                         .binary = !e->as_numbers,
                         .activation = CODEC_LINEAR,
                         .centre = 0.5f,
                         .bias = e->threshold,
                         .spread = e->spread};
}

taper_status train_embedder_forward(train_embedder *e) {
    const size_t bytes = e->rows * e->units * sizeof *e->code;
    const train_units bits = units_of(e);
    if (!e->rows) return TAPER_OK;
    TAPER_TRY(train_zero(&e->stream, e->before, bytes));
    for (size_t first = 0, rows; first < e->rows; first += rows) {
        train_stack_activations act = e->act;
        act.noise = noise_of(e, first);
        for (uint32_t i = 0; i + 1 < e->view.depth; i++) {
            act.hidden[i] += first * e->view.layer[i].outputs;
            if (act.convolutions.which[i])
                act.convolutions.which[i] += first * e->view.layer[i].outputs;
        }
        TAPER_TRY(take_block(e, first, &rows));
        TAPER_TRY(train_stack_forward(&e->stream, &e->view, rows, e->input, &act,
                                      e->before + first * e->units));
    }
    if (!e->binary) return TAPER_OK;
    return e->stream.ops->unit_values(&e->stream, &bits, e->before, e->code);
}

/* From the codes' gradient to that of all layers; the first layer's weights by blocks of inputs. */
static taper_status backward(train_embedder *e) {
    train_stream *s = &e->stream;
    const train_units bits = units_of(e);
    const train_weights *w = &e->weights;
    if (!e->rows) return train_zero(s, w->gradient, (w->n - e->n_numbers) * sizeof *w->gradient);
    if (e->binary)
        TAPER_TRY(
            s->ops->unit_gradient(s, &bits, 0, e->before, e->code_gradient, e->code_gradient));
    TAPER_TRY(train_stack_backward(s, &e->view, &e->gradient, e->rows, NULL, &e->act,
                                   e->code_gradient, NULL));
    for (size_t first = 0, rows; first < e->rows; first += rows) {
        TAPER_TRY(take_block(e, first, &rows));
        const train_stack_rows part = {first, rows, e->input};
        TAPER_TRY(train_stack_first_weights(s, &e->view, &e->act, e->code_gradient, &part,
                                            first ? 1.0f : 0.0f, e->gradient.layer[0].weight));
    }
    return TAPER_OK;
}

static train_examples class_examples(const train_embedder *e) {
    return (train_examples){.rows = e->of,
                            .units = e->class_units,
                            .code = e->class_code,
                            .scale = 1.0f,
                            .label = e->label};
}

/* The weight of the objective relative to the reconstruction, which is a mean over all rows. */
static double weight_of(const train_embedder *e) {
    if (!e->labelled) return 0.0;
    return (1.0 - e->decoding.part) * (double)e->of / (double)e->labelled;
}

/* The objective's gradient, by the codes that are here and by its own parameters, which one rank
 * has. */
static taper_status pull_classes(train_embedder *e, const train_examples *x) {
    train_stream *s = &e->stream;
    const train_objective *o = e->use.objective;
    const size_t n = e->of * e->class_units;
    const float weight = (float)weight_of(e);
    float *number = e->weights.gradient + e->weights.n - e->n_numbers;
    TAPER_TRY(train_zero(s, e->code_gradient, e->rows * e->units * sizeof *e->code_gradient));
    TAPER_TRY(train_zero(s, e->class_gradient, n * sizeof *e->class_gradient));
    TAPER_TRY(o->gradient(e->use.self, s, x, e->class_gradient));
    if (weight != 1.0f) {
        TAPER_TRY(s->ops->scale(s, n, weight, e->class_gradient, e->class_gradient));
        TAPER_TRY(s->ops->scale(s, e->n_numbers, weight, number, number));
    }
    if (!train_is_first(e->ranks)) TAPER_TRY(train_zero(s, number, e->n_numbers * sizeof *number));
    if (e->class_gradient == e->code_gradient || !e->rows) return TAPER_OK;
    TAPER_TRY(train_pack_rows_there(s, e->ranks, e->class_gradient, e->class_units, e->here,
                                    e->rows, e->of, NULL));
    return s->ops->copy_columns(s, e->rows, e->class_units, e->class_gradient, e->class_units,
                                e->code_gradient, e->units);
}

/* The class units of all rows of the batch. */
static taper_status take_class_codes(train_embedder *e) {
    train_stream *s = &e->stream;
    if (e->class_code != e->code && e->rows)
        TAPER_TRY(s->ops->copy_columns(s, e->rows, e->class_units, e->code, e->units, e->class_code,
                                       e->class_units));
    return train_share_rows_there(s, e->ranks, e->class_code, e->class_units, e->here, e->rows,
                                  e->of, NULL);
}

/* The objective's loss, to losses[1], and weighted to losses[0]; on the first rank. */
static taper_status cost_classes(train_embedder *e, const train_examples *x, double *losses) {
    train_stream *s = &e->stream;
    TAPER_TRY(take_class_codes(e));
    TAPER_TRY(train_zero(s, e->row_loss, e->of * sizeof *e->row_loss));
    TAPER_TRY(e->use.objective->loss(e->use.self, s, x, e->row_loss, e->figure));
    if (!train_is_first(e->ranks)) return TAPER_OK;
    TAPER_TRY(s->ops->add_doubles(s, 1, weight_of(e) / (double)e->of, e->figure, losses));
    const double labelled = (double)formats_larger(e->labelled, 1);
    return s->ops->add_doubles(s, 1, 1.0 / labelled, e->figure, losses + 1);
}

/* The decoder's loss and gradients, of the rows that are here and with their share of the batch. */
static taper_status decode(train_embedder *e, double *losses) {
    train_stream *s = &e->stream;
    train_decoding *d = &e->decoding;
    train_examples x = {.rows = e->rows, .units = e->units, .code = e->code, .scale = 1.0f};
    e->target =
        (train_inputs){e->rows, e->inputs, e->pixels, e->order, e->zero_mean, 1.0f / pixel_scale};
    d->w = &e->decoder, d->dw = &e->decoder_gradient, d->rows = &e->target;
    TAPER_TRY(train_decoding_objective.loss(d, s, &x, e->row_loss, e->figure));
    TAPER_TRY(s->ops->add_doubles(s, 1, d->part / (double)e->rows, e->figure, losses));
    return train_decoding_objective.gradient(d, s, &x, e->code_gradient);
}

static taper_status reconstruct(train_embedder *e, double *losses) {
    const double part = e->decoding.part;
    if (!decodes(e) || !e->rows) return TAPER_OK;
    if (e->ranks) e->decoding.part *= (double)e->rows / (double)e->of;
    const taper_status status = decode(e, losses);
    e->decoding.part = part;
    return status;
}

/* Adds l2 / 2 |W|^2 to the loss, and its gradient; on the first rank. */
static taper_status add_decay(train_embedder *e, double *loss) {
    train_stream *s = &e->stream;
    if (!(e->l2 > 0.0) || !train_is_first(e->ranks)) return TAPER_OK;
    for (uint32_t i = 0; i < e->view.depth; i++) {
        const codec_layer *layer = &e->view.layer[i];
        const size_t n = codec_layer_weights(layer);
        TAPER_TRY(s->ops->sum_squares(s, n, layer->weight, i > 0, e->squares));
        TAPER_TRY(s->ops->axpy(s, n, (float)e->l2, layer->weight, e->gradient.layer[i].weight));
    }
    return s->ops->add_doubles(s, 1, e->l2 / 2, e->squares, loss);
}

taper_status train_embedder_compute(train_embedder *e, double *losses) {
    const train_examples x = class_examples(e);
    TAPER_TRY(train_embedder_forward(e));
    TAPER_TRY(train_zero(&e->stream, losses, 2 * sizeof *losses));
    TAPER_TRY(cost_classes(e, &x, losses));
    TAPER_TRY(pull_classes(e, &x));
    TAPER_TRY(reconstruct(e, losses));
    TAPER_TRY(backward(e));
    return add_decay(e, losses);
}
