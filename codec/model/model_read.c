/* model_read.c -- taper_model_load: reading models; see model.h. */
#include "codec/bitplane/conditional.h"
#include "codec/bitplane/head.h"
#include "codec/bitplane/raised_planes.h"
#include "codec/entropy/weights_coder.h"
#include "codec/model/architecture.h"
#include "codec/model/embedding_record.h"
#include "codec/model/linear_rows.h"
#include "codec/model/work.h"
#include "formats/model_file.h"
#include "formats/sized.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static taper_status read_stack(codec_stack *stack, int without_weights, formats_cursor *in,
                               taper_error *error) {
    for (uint32_t l = 0; l < stack->depth; l++) {
        codec_layer *layer = &stack->layer[l];
        if (!without_weights)
            TAPER_TRY(codec_weights_read(layer->weight, codec_layer_rows(layer),
                                         (uint32_t)codec_layer_columns(layer), 1, in, error));
        for (uint32_t i = 0; i < codec_layer_rows(layer); i++) {
            layer->bias[i] = codec_read_float(in);
            if (!(fabsf(layer->bias[i]) < 1e9f))
                return formats_fail(error, TAPER_ERR_CORRUPT, "model: a bias is out of range");
        }
    }
    return formats_cursor_check(in, "model: layers", error);
}

static taper_status alloc_network(codec_network *net, const codec_architecture *a) {
    uint32_t n0 = a->depth[0] ? a->depth[0] - 1 : 0, n1 = a->depth[1] ? a->depth[1] - 1 : 0;
    codec_linear_path path = codec_architecture_is_embedding(a) ? CODEC_ENCODER
                             : a->flags & CODEC_FLAG_DIRECT     ? CODEC_DIRECT
                             : a->flags & CODEC_FLAG_TIED       ? CODEC_TIED
                                                                : CODEC_UNTIED;
    if (a->convolutions)
        TAPER_TRY(codec_network_alloc_convolutions(net, codec_architecture_map(a), a->channels,
                                                   a->convolutions, a->units, a->width[0], n0));
    else
        TAPER_TRY(codec_network_alloc(net, codec_architecture_inputs(a), a->units, path,
                                      a->width[0], n0, a->width[1], n1));
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

static taper_status read_mean(taper_model *m, const codec_architecture *a, formats_cursor *in,
                              taper_error *error) {
    codec_network *net = &m->network;
    if (alloc_network(net, a) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the model's network");
    for (uint32_t i = 0; i < net->inputs; i++)
        net->mean[i] = (float)(int16_t)formats_read_u16le(in) / CODEC_MEAN_ONE;
    return formats_cursor_check(in, "model: mean", error);
}

static taper_status read_stacks(taper_model *m, const codec_architecture *a, formats_cursor *in,
                                taper_error *error) {
    codec_network *net = &m->network;
    TAPER_TRY(read_stack(&net->encoder, 0, in, error));
    if (a->flags & CODEC_FLAG_TIED_STACKS) TAPER_TRY(codec_network_tie(net, a->tied_gain));
    TAPER_TRY(read_stack(&net->decoder, (a->flags & CODEC_FLAG_TIED_STACKS) != 0, in, error));
    if (!codec_network_has_feedback(net)) return TAPER_OK;
    TAPER_TRY(read_triangle(net->feedback, net->units, in, error));
    return read_triangle(net->mixing, net->units, in, error);
}

void codec_model_describe(taper_model *m) {
    const codec_code_tables *t = &m->tables;
    m->info.lap = m->lap.reach;
    m->info.layers = t->n_layers;
    m->info.centre = t->centre;
    m->info.conditional_hidden = t->conditional ? t->conditional->hidden : 0;
    m->info.head_hidden = t->head ? t->head->hidden : 0;
    m->info.restoration_hidden = m->restoration.hidden;
    m->info.feedback = codec_network_has_feedback(&m->network);
    m->info.embedding = !codec_network_has_decoder(&m->network);
    m->info.cells_across = m->cells.across;
    m->info.cells_down = m->cells.down;
    m->info.convolutions = codec_stack_convolutions(&m->network.encoder);
    codec_work work = codec_work_of(m);
    m->info.work = work.usual;
    m->info.most_work = work.most;
}

/* --- the parts of the payload (SPEC.md, 6.1) -------------------------------------------- */

typedef struct reader {
    formats_cursor in;
    const formats_model_contents *contents;
    uint32_t ended; /* stages */
    const taper_limits *limits;
    taper_error *error;
} reader;

/* A part ends here; so does, at most, one stage. */
static taper_status end_part(reader *r) {
    const formats_model_stages *s = &r->contents->stages;
    if (r->ended < r->contents->known && r->in.at == s->end[r->ended]) {
        r->ended++;
        return TAPER_OK;
    }
    if (r->ended < r->contents->known && r->in.at < s->end[r->ended]) return TAPER_OK;
    return formats_fail(r->error, TAPER_ERR_CORRUPT, "model: stage %u ends within a part",
                        r->ended + 1);
}

/* Nonzero: the next part is in a stage that is missing. */
static int is_over(const reader *r) {
    return r->contents->known < r->contents->stages.n && r->ended == r->contents->known;
}

static taper_status read_tables(taper_model *m, const codec_architecture *a, reader *r) {
    codec_code_tables *t = &m->tables;
    return a->flags & CODEC_FLAG_BINARY
               ? codec_code_tables_read_binary(t, a->units, &r->in, r->error)
               : codec_code_tables_read(t, a->units, &r->in, r->error);
}

static taper_status read_sets(codec_unit_sets *sets, const taper_model *m,
                              const codec_architecture *a, reader *r) {
    uint32_t end[CODEC_MOST_UNIT_SETS] = {0}, n = formats_read_u8(&r->in), most = 0;
    uint8_t coarse[CODEC_MOST_UNIT_SETS] = {0};
    TAPER_TRY(formats_cursor_check(&r->in, "model: sets of units", r->error));
    if (!n || n > (codec_architecture_has_sets(a) ? (uint32_t)CODEC_MOST_UNIT_SETS : 1))
        return formats_fail(r->error, TAPER_ERR_CORRUPT, "model: %u sets of units are not legal",
                            n);
    for (uint32_t s = 0; s + 1 < n; s++) {
        end[s] =
            (s ? end[s - 1] : 0) + (uint32_t)formats_read_varint_max(&r->in, m->tables.n_passes);
        coarse[s] = formats_read_u8(&r->in);
        if (coarse[s] > most) most = coarse[s];
    }
    TAPER_TRY(formats_cursor_check(&r->in, "model: sets of units", r->error));
    if (most > CODEC_MOST_COARSE_BITS)
        return formats_fail(r->error, TAPER_ERR_CORRUPT,
                            "model: rows that lack %u bits, at most %d "
                            "are legal",
                            most, CODEC_MOST_COARSE_BITS);
    taper_status status = codec_unit_sets_make(sets, &m->tables, end, n);
    if (status == TAPER_OK) memcpy(sets->coarse, coarse, sizeof coarse);
    if (status == TAPER_OK) return status;
    return formats_fail(r->error, status,
                        status == TAPER_ERR_NOMEM ? "no memory for the model's units"
                                                  : "model: a set of units is empty or ends too "
                                                    "late");
}

static taper_status read_common(taper_model *m, const codec_architecture *a, reader *r) {
    codec_code_tables *t = &m->tables;
    if (!(a->flags & CODEC_FLAG_CONDITIONAL)) return TAPER_OK;
    codec_conditional *c = calloc(1, sizeof *c);
    if (!c) return formats_fail(r->error, TAPER_ERR_NOMEM, "no memory for a conditional model");
    taper_status status =
        codec_conditional_read_common(c, CODEC_CONDITIONAL_KINDS, t->units, t->n_passes,
                                      r->limits->max_model_bytes, &r->in, r->error);
    if (status == TAPER_OK)
        t->conditional = c;
    else
        free(c);
    return status;
}

static taper_status read_set(taper_model *m, const codec_architecture *a,
                             const codec_unit_sets *sets, uint32_t s, reader *r) {
    codec_unit_set set = codec_unit_sets_get(sets, s);
    TAPER_TRY(codec_linear_rows_read(m, sets, s, &r->in, r->error));
    if (s == 0) TAPER_TRY(read_stacks(m, a, &r->in, r->error));
    if (m->tables.conditional)
        TAPER_TRY(codec_conditional_read_set(m->tables.conditional, set, &r->in, r->error));
    return end_part(r);
}

/* Mark the units of sets `known` and later. */
static taper_status mark_missing(taper_model *m, const codec_unit_sets *sets, uint32_t known,
                                 taper_error *error) {
    m->info.passes_known = sets->end[known - 1];
    if (known == sets->n) return TAPER_OK;
    m->unit_is_missing = calloc(m->network.units, 1);
    if (!m->unit_is_missing)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the model's units");
    for (uint32_t i = sets->first[known]; i < m->network.units; i++)
        m->unit_is_missing[sets->unit[i]] = 1;
    return TAPER_OK;
}

static taper_status read_restoration(taper_model *m, const codec_architecture *a, reader *r) {
    if (a->family != TAPER_FAMILY_CONV || is_over(r)) return TAPER_OK;
    TAPER_TRY(codec_restoration_read(&m->restoration, a->window.channels, m->tables.n_passes,
                                     r->limits->max_model_bytes, &r->in, r->error));
    return end_part(r);
}

static taper_status read_all_sets(taper_model *m, const codec_architecture *a,
                                  const codec_unit_sets *sets, reader *r) {
    uint32_t s = 0;
    while (s < sets->n && !is_over(r)) {
        TAPER_TRY(read_set(m, a, sets, s++, r));
        if (s == 1) TAPER_TRY(read_restoration(m, a, r));
    }
    if (m->tables.conditional) codec_conditional_pack(m->tables.conditional);
    return mark_missing(m, sets, s, r->error);
}

static taper_status read_head(taper_model *m, const codec_architecture *a, reader *r) {
    codec_code_tables *t = &m->tables;
    if (!(a->flags & CODEC_FLAG_HEAD) || is_over(r)) return TAPER_OK;
    codec_conditional *head = calloc(1, sizeof *head);
    if (!head) return formats_fail(r->error, TAPER_ERR_NOMEM, "no memory for a head");
    taper_status status = codec_conditional_read(head, 1, t->units, t->n_passes,
                                                 r->limits->max_model_bytes, &r->in, r->error);
    if (status != TAPER_OK) {
        free(head);
        return status;
    }
    if (codec_head_attach(t, head) != TAPER_OK)
        return formats_fail(r->error, TAPER_ERR_NOMEM, "no memory for a reconstruction head");
    return end_part(r);
}

/* The parts of a model with a decoder after its mean. */
static taper_status read_parts(taper_model *m, const codec_architecture *a, reader *r) {
    codec_unit_sets sets;
    TAPER_TRY(read_tables(m, a, r));
    TAPER_TRY(read_sets(&sets, m, a, r));
    taper_status status = read_common(m, a, r);
    if (status == TAPER_OK) status = read_all_sets(m, a, &sets, r);
    codec_unit_sets_free(&sets);
    return status == TAPER_OK ? read_head(m, a, r) : status;
}

static taper_status read_embedding(taper_model *m, const codec_architecture *a, reader *r) {
    TAPER_TRY(read_stacks(m, a, &r->in, r->error));
    TAPER_TRY(codec_embedding_record_read(&m->info, &r->in, r->error));
    return end_part(r);
}

static void set_info(taper_model *m, const codec_architecture *a, const reader *r) {
    m->info.family = (taper_family)a->family;
    m->info.channels = a->window.channels;
    m->info.window_width = a->window.width;
    m->info.window_height = a->window.height;
    m->info.units = a->units;
    m->info.passes = m->tables.n_passes;
    m->info.binary = (a->flags & CODEC_FLAG_BINARY) != 0;
    m->info.id = r->contents->id;
    m->info.file_bytes = r->contents->file_bytes;
    m->info.stages = r->contents->stages.n;
    m->info.stages_known = r->contents->known;
    codec_model_describe(m);
}

static taper_status read_payload(taper_model *m, reader *r) {
    codec_architecture a;
    TAPER_TRY(codec_architecture_read(&a, &r->in, r->error));
    TAPER_TRY(codec_architecture_check(&a, r->limits, &m->info.weights, r->error));
    m->window = a.window;
    m->lap = a.lap;
    m->cells = a.cells;
    if (m->lap.reach) m->window.lap = &m->lap;
    m->tied = a.flags & CODEC_FLAG_TIED;
    TAPER_TRY(read_mean(m, &a, &r->in, r->error));
    TAPER_TRY(codec_architecture_is_embedding(&a) ? read_embedding(m, &a, r)
                                                  : read_parts(m, &a, r));
    if (r->ended < r->contents->known || formats_cursor_left(&r->in))
        return formats_fail(r->error, TAPER_ERR_CORRUPT, "model: bytes follow its last part");
    set_info(m, &a, r);
    TAPER_TRY(codec_work_check(m, r->limits->max_work, r->error));
    if (!codec_model_is_linear(m) || codec_model_make_synthesis(m, &m->synthesis) == TAPER_OK)
        return TAPER_OK;
    return formats_fail(r->error, TAPER_ERR_NOMEM, "no memory for the model's synthesis");
}

static taper_status load(taper_model **out, const void *bytes, size_t size, int prefix,
                         const taper_limits *given, taper_error *error) {
    TAPER_TRY(formats_need(out, "the model's place", error));
    *out = NULL;
    TAPER_TRY(formats_need_array(bytes, size, 1, "the model's bytes", error));
    taper_limits limits;
    TAPER_TRY(formats_limits_take(&limits, given, error));
    formats_model_contents contents;
    TAPER_TRY(formats_model_unpack(bytes, size, prefix, &limits, &contents, error));
    limits.max_model_bytes = formats_most_model_bytes(&limits, size);
    taper_model *m = calloc(1, sizeof *m);
    reader r = {formats_cursor_over(contents.payload, contents.size), &contents, 0, &limits, error};
    taper_status status =
        m ? read_payload(m, &r) : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a model");
    free(contents.payload);
    if (status != TAPER_OK)
        taper_model_free(m);
    else
        *out = m;
    return status;
}

taper_status taper_model_load(taper_model **out, const void *bytes, size_t size,
                              const taper_limits *limits, taper_error *error) {
    return load(out, bytes, size, 0, limits, error);
}

taper_status taper_model_load_stages(taper_model **out, const void *bytes, size_t size,
                                     const taper_limits *limits, taper_error *error) {
    return load(out, bytes, size, 1, limits, error);
}

void taper_model_free(taper_model *m) {
    if (!m) return;
    if (!m->is_constant) {
        codec_network_free(&m->network);
        codec_synthesis_free(&m->synthesis);
        codec_code_tables_free(&m->tables);
        codec_restoration_free(&m->restoration);
        free(m->analysis), free(m->unit_is_missing);
    }
    free(m);
}

taper_status taper_model_get_info(const taper_model *m, taper_model_info *out, taper_error *error) {
    TAPER_TRY(formats_need(m, "the model", error));
    return formats_sized_give(out, &m->info, sizeof m->info, "taper_model_info", error);
}

/* --- models of which stages are missing ------------------------------------------------- */

taper_status codec_model_need_whole(const taper_model *m, const char *use, taper_error *error) {
    if (m->info.stages_known == m->info.stages) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "%s needs the whole model, and it has %u of its %u stages; load all %llu "
                        "bytes of its file",
                        use, m->info.stages_known, m->info.stages,
                        (unsigned long long)m->info.file_bytes);
}

uint32_t codec_model_known_passes(const taper_model *m, const codec_code_tables *t) {
    if (!m->unit_is_missing) return UINT32_MAX;
    uint32_t pass = 0, end = codec_raised_planes_end(t, m->info.passes_known);
    while (pass < end && !m->unit_is_missing[t->pass[pass].unit]) pass++;
    return pass;
}
