/* embedding_options.c -- see embedding_options.h. */
#include "train/embedding/embedding_options.h"
#include "train/optimise/run.h"
#include <math.h>

train_embedding_options train_embedding_defaults(void) {
    return (train_embedding_options){.objective = {.loss = TRAIN_NCA, .student = 1, .alpha = 29.0},
                                     .optimiser = TRAIN_ADAM,
                                     .epochs = 40,
                                     .batch = 0,
                                     .most_batch = 5000,
                                     .line_searches = 3,
                                     .rate = 5e-3f,
                                     .validation_fraction = 1.0f / TRAIN_VALIDATION_PERIOD,
                                     .k = 5,
                                     .seed = 1,
                                     .checkpoint_seconds = 60.0};
}

uint32_t train_embedding_epochs(const train_embedding_options *o, size_t batches) {
    const size_t wanted = (o->least_steps + batches - 1) / batches; /* batches is at least 1 */
    return o->epochs && o->epochs < wanted ? (uint32_t)wanted : o->epochs;
}

/* The number of values of a row. */
static uint64_t row_values(const train_embedding_options *o, const codec_network *net) {
    const train_jitter *j = &o->noise.jitter;
    return o->cells.across ? (uint64_t)j->width * j->height * j->channels : net->inputs;
}

static taper_status check_cells(const train_embedding_options *o, const codec_network *net,
                                taper_error *error) {
    const train_jitter *j = &o->noise.jitter;
    const codec_window w = {j->width, j->height, j->channels, NULL};
    if (!o->cells.across ||
        (codec_cells_are_legal(w, o->cells) && codec_gradients_count(w, o->cells) == net->inputs))
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "%u x %u cells of %u x %u pixels are not legal, or have not the %u values "
                        "that the network gets",
                        o->cells.across, o->cells.down, j->width, j->height, (unsigned)net->inputs);
}

static taper_status check_noise(const train_embedding_options *o, const codec_network *net,
                                taper_error *error) {
    const train_embedder_noise *n = &o->noise;
    const train_jitter *j = &n->jitter;
    if (!(n->corrupt >= 0.0f && n->corrupt < 1.0f) || !(n->dropout >= 0.0f && n->dropout < 1.0f))
        return formats_fail(error, TAPER_ERR_ARG, "corruption and dropout must lie in [0, 1)");
    if (!(j->fraction >= 0.0f && j->fraction <= 1.0f) ||
        !(j->strength >= 0.0f && j->strength <= 10.0f) ||
        !(j->mirror >= 0.0f && j->mirror <= 1.0f) || !(j->shift >= 0.0f && j->shift <= 64.0f))
        return formats_fail(error, TAPER_ERR_ARG,
                            "jitter: a fraction of 0 to 1 of the images, strength 0 to 10, shifts "
                            "up to 64 pixels");
    if (j->fraction > 0.0f && (uint64_t)j->width * j->height * j->channels != row_values(o, net))
        return formats_fail(error, TAPER_ERR_ARG, "jitter of %u x %u x %u values in rows of %u",
                            j->width, j->height, j->channels, (unsigned)net->inputs);
    return TAPER_OK;
}

static taper_status check_prefixes(const train_embedding_options *o, const codec_network *net,
                                   taper_error *error) {
    const train_prefix_list *p = &o->prefixes;
    int rises = p->lengths <= TRAIN_MOST_PREFIXES;
    if (!p->lengths) return TAPER_OK;
    for (uint32_t i = 0; i < p->lengths && rises; i++)
        rises = p->length[i] > (i ? p->length[i - 1] : 0);
    if (!rises || p->length[p->lengths - 1] != net->units - o->free_units)
        return formats_fail(error, TAPER_ERR_ARG,
                            "lengths of nested codes rise from 1 to all %u units, %d at most",
                            (unsigned)(net->units - o->free_units), TRAIN_MOST_PREFIXES);
    if (o->objective.learns_alpha)
        return formats_fail(error, TAPER_ERR_ARG,
                            "nested codes have degrees of freedom by their lengths; none are "
                            "learned");
    return TAPER_OK;
}

static taper_status check_decoder(const train_embedding_options *o, const codec_network *net,
                                  taper_error *error) {
    if (!(o->reconstruct >= 0.0) || !(o->reconstruct <= 1.0))
        return formats_fail(error, TAPER_ERR_ARG,
                            "the reconstruction's part of the loss, %g, is not between 0 and 1",
                            o->reconstruct);
    if (o->free_units && !(o->reconstruct > 0.0))
        return formats_fail(error, TAPER_ERR_ARG,
                            "%u units that only reconstruct learn nothing where reconstruction "
                            "counts 0",
                            (unsigned)o->free_units);
    if (o->free_units >= net->units)
        return formats_fail(error, TAPER_ERR_ARG,
                            "of %u units %u are to reconstruct alone; leave one for the classes",
                            (unsigned)net->units, (unsigned)o->free_units);
    if (o->reconstruct > 0.0 && !net->decoder.depth)
        return formats_fail(error, TAPER_ERR_ARG, "reconstruction needs a network with a decoder");
    return TAPER_OK;
}

static taper_status check_objective(const train_neighbour_objective *o, taper_error *error) {
    if (o->student && !(o->alpha >= TRAIN_LEAST_ALPHA && o->alpha <= 1e6))
        return formats_fail(error, TAPER_ERR_ARG, "alpha %g is not between %g and 1,000,000",
                            o->alpha, TRAIN_LEAST_ALPHA);
    if (o->learns_alpha && !o->student)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the Gaussian kernel has no alpha; use Student's kernel");
    if (!(o->hinge >= 0.0) || !(o->hinge <= 1e6))
        return formats_fail(error, TAPER_ERR_ARG, "hinge %g is not between 0 and 1,000,000",
                            o->hinge);
    return TAPER_OK;
}

taper_status train_embedding_check(const train_embedding_options *o, const codec_network *net,
                                   taper_error *error) {
    const codec_stack *f = &net->encoder;
    if (o->epochs > 1u << 20 || o->batch == 1 || o->batch > 1u << 20 || o->most_batch < 2 ||
        !o->line_searches || !o->k)
        return formats_fail(
            error, TAPER_ERR_ARG,
            "at most 1,048,576 epochs, a batch from 2 on (0: by the number of rows), "
            "line searches and k from 1");
    if (!(o->rate > 0.0f) || !(o->rate <= 1.0f))
        return formats_fail(error, TAPER_ERR_ARG, "the learning rate must lie in (0, 1]");
    if (!(o->l2 >= 0.0) || !(o->l2 <= 1e6))
        return formats_fail(error, TAPER_ERR_ARG, "l2 %g is not between 0 and 1,000,000", o->l2);
    if (!(o->validation_fraction >= 0.0f) || !(o->validation_fraction < 1.0f))
        return formats_fail(error, TAPER_ERR_ARG, "the part held out must lie in [0, 1)");
    if (f->depth && f->layer[f->depth - 1].inputs < net->units)
        return formats_fail(
            error, TAPER_ERR_ARG,
            "a code of %u units must not exceed its layer of %u inputs: take fewer units "
            "or a wider layer",
            (unsigned)net->units, (unsigned)f->layer[f->depth - 1].inputs);
    if (!(o->numbers_first >= 0.0) || !(o->numbers_first <= 1.0))
        return formats_fail(error, TAPER_ERR_ARG,
                            "the share of the steps in which codes are numbers first, %g, is not "
                            "between 0 and 1",
                            o->numbers_first);
    if (o->binary && o->optimiser == TRAIN_CG)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the gradient of binary codes is approximate, which line searches do "
                            "not allow; use Adam");
    TAPER_TRY(check_decoder(o, net, error));
    TAPER_TRY(check_prefixes(o, net, error));
    TAPER_TRY(check_cells(o, net, error));
    TAPER_TRY(check_noise(o, net, error));
    return check_objective(&o->objective, error);
}

uint64_t train_embedding_fingerprint(const train_embedding_options *o, const train_pixels *data,
                                     const codec_network *net) {
    const train_neighbour_objective *of = &o->objective;
    const double numbers[] = {of->loss,
                              of->all_pairs,
                              of->student,
                              of->alpha,
                              of->learns_alpha,
                              of->hinge,
                              o->l2,
                              o->reconstruct,
                              o->free_units,
                              o->optimiser,
                              o->epochs,
                              o->batch,
                              o->line_searches,
                              (double)o->noise.corrupt,
                              (double)o->noise.dropout,
                              (double)o->noise.jitter.fraction,
                              (double)o->noise.jitter.strength,
                              (double)o->noise.jitter.shift,
                              (double)o->noise.jitter.mirror,
                              o->noise.jitter.width,
                              o->noise.jitter.height,
                              (double)o->rate,
                              (double)o->validation_fraction,
                              o->k,
                              o->cells.across,
                              o->cells.down,
                              net->inputs,
                              net->hidden,
                              net->encoder.depth};
    uint64_t hash = train_fingerprint(o->binary ? 4 : 3, numbers, sizeof numbers);
    if (o->binary) hash = train_fingerprint(hash, &o->numbers_first, sizeof o->numbers_first);
    if (o->most_batch != train_embedding_defaults().most_batch)
        hash = train_fingerprint(hash, &o->most_batch, sizeof o->most_batch);
    if (o->balanced) hash = train_fingerprint(hash, &o->balanced, sizeof o->balanced);
    hash = train_fingerprint(hash, &o->seed, sizeof o->seed);
    hash = train_fingerprint(hash, o->prefixes.length,
                             o->prefixes.lengths * sizeof *o->prefixes.length);
    for (uint32_t i = 0; i < net->encoder.depth; i++) {
        const codec_layer *l = &net->encoder.layer[i];
        if (l->map.width) hash = train_fingerprint(hash, &l->map, sizeof l->map);
        hash = train_fingerprint(hash, l->weight, codec_layer_weights(l) * sizeof(float));
        hash = train_fingerprint(hash, l->bias, codec_layer_rows(l) * sizeof(float));
    }
    if (o->reconstruct > 0.0)
        for (uint32_t i = 0; i < net->decoder.depth; i++) {
            const codec_layer *l = &net->decoder.layer[i];
            hash = train_fingerprint(hash, l->weight, codec_layer_weights(l) * sizeof(float));
            hash = train_fingerprint(hash, l->bias, codec_layer_rows(l) * sizeof(float));
        }
    return train_fingerprint(hash, data->label, data->n * sizeof *data->label);
}
