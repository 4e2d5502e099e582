/* decoder.c -- containers to images; the public face is in taper.h. Each group is decoded by a
 * group_reader; pixels are rendered for a block of windows at a time and kept, because neighbours
 * are usually asked for next. */
#include "codec/backend/pool.h"
#include "codec/bitplane/head.h"
#include "codec/container/group_reader.h"
#include "codec/taper.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    RENDER_WINDOWS = 512, /* rendered at once, or as many as an image has */
    RENDER_BLOCK = 256    /* of them by one of several threads */
};

/* Decoded windows of one group at one state. */
typedef struct rendered {
    float *pixels;
    size_t capacity;          /* windows */
    uint32_t group, first, n; /* n 0: nothing */
    uint32_t pass, position;  /* the state that was rendered */
} rendered;

struct taper_decoder {
    const taper_model *model;
    taper_model *own_model; /* the embedded one */
    taper_limits limits;
    codec_backend backend;
    formats_front front;
    int front_ready;
    taper_source source;         /* read == NULL: bytes are pushed */
    codec_group_readers readers; /* of the source */
    codec_group_reader **reader; /* pushed: [groups], opened as their bytes come; else NULL */
    formats_buffer head;         /* pushed bytes of the front matter */
    uint64_t need;               /* of the front matter */
    formats_buffer waiting;      /* pushed: bytes of the data, not rendered yet (formats_pace) */
    uint64_t arrived;            /* pushed: bytes of the data, those that wait among them */
    uint64_t chunk, in_chunk;    /* pushed: chunk in work and bytes of it so far */
    formats_account account;     /* of all that is taken, but for the model */
    uint32_t crc;                /* of the checksum block in work */
    rendered rendered[FORMATS_MAX_RATE_CLASSES];
    taper_error failure; /* final, of push */
};

/* --- opening --------------------------------------------------------------------------- */

/* The front matter is there: bind the model. */
static taper_status front_is_ready(taper_decoder *d, taper_error *error) {
    if (!d->model) {
        if (!d->front.model)
            return formats_fail(error, TAPER_ERR_MODEL,
                                "container does not carry its model %016llx; give it with -m",
                                (unsigned long long)d->front.model_id);
        TAPER_TRY(codec_front_model(&d->front, &d->limits, &d->own_model, error));
        d->model = d->own_model;
    }
    TAPER_TRY(codec_front_match(&d->front, d->model, error));
    if (!d->source.read) {
        if (formats_account_take(&d->account, d->front.groups * sizeof *d->reader) == TAPER_OK)
            d->reader = calloc(d->front.groups, sizeof *d->reader);
        if (!d->reader)
            return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u groups", d->front.groups);
    }
    d->front_ready = 1;
    return TAPER_OK;
}

static taper_decoder *make(const taper_model *model, const taper_limits *limits) {
    taper_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->model = model;
    d->limits = formats_limits_or_default(limits);
    d->head = formats_buffer_make(FORMATS_MOST_BYTES);
    d->account.limit = d->limits.max_memory;
    d->waiting = formats_buffer_make(FORMATS_MOST_BYTES);
    d->head.account = d->waiting.account = d->readers.account = &d->account;
    d->need = FORMATS_HEADER_SIZE;
    codec_backend_cpu(&d->backend);
    return d;
}

taper_status taper_decoder_new(taper_decoder **out, const taper_model *model,
                               const taper_limits *limits, taper_error *error) {
    *out = make(model, limits);
    return *out ? TAPER_OK : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a decoder");
}

taper_status taper_decoder_open(taper_decoder **out, const taper_source *source,
                                const taper_model *model, const taper_limits *limits,
                                taper_error *error) {
    *out = NULL;
    taper_decoder *d = make(model, limits);
    if (!d) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a decoder");
    d->source = *source;
    taper_status status = codec_front_load(source, &d->limits, &d->front, error);
    d->account.used = d->front.account.used;
    if (status == TAPER_OK) status = front_is_ready(d, error);
    if (status == TAPER_OK) d->source = codec_front_rendered(&d->front, source);
    if (status != TAPER_OK) {
        taper_decoder_free(d);
        return status;
    }
    *out = d;
    return TAPER_OK;
}

void taper_decoder_free(taper_decoder *d) {
    if (!d) return;
    for (uint32_t g = 0; d->reader && g < d->front.groups; g++) {
        codec_group_reader_close(d->reader[g]);
        free(d->reader[g]);
    }
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) free(d->rendered[t].pixels);
    codec_group_readers_close(&d->readers);
    codec_backend_close(&d->backend);
    free(d->reader);
    formats_front_free(&d->front);
    formats_buffer_free(&d->head), formats_buffer_free(&d->waiting);
    taper_model_free(d->own_model);
    free(d);
}

taper_status taper_decoder_set_threads(taper_decoder *d, unsigned threads) {
    taper_status status = codec_backend_set_threads(&d->backend, threads);
    codec_pool *pool = d->readers.pool = d->backend.pool;
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++)
        d->readers.of_rate_class[t].coder.contexts.pool = pool;
    for (uint32_t g = 0; d->reader && g < d->front.groups; g++)
        if (d->reader[g]) d->reader[g]->coder.contexts.pool = pool;
    return status;
}

/* --- pushed bytes ---------------------------------------------------------------------- */

/* Take bytes for the front matter; *used of them. */
static taper_status push_front(taper_decoder *d, const uint8_t *bytes, size_t n, size_t *used,
                               taper_error *error) {
    *used = 0;
    while (d->head.size < d->need && *used < n) {
        uint64_t room = d->need - d->head.size;
        size_t take = n - *used < room ? n - *used : (size_t)room;
        taper_status status = d->need > d->limits.max_memory
                                  ? TAPER_ERR_LIMIT
                                  : formats_write_bytes(&d->head, bytes + *used, take);
        if (status == TAPER_ERR_LIMIT)
            return formats_fail(
                error, TAPER_ERR_LIMIT,
                "the container's front matter takes %llu bytes; raise --max-memory if you trust it",
                (unsigned long long)d->need);
        if (status != TAPER_OK)
            return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the front matter");
        *used += take;
        TAPER_TRY(formats_front_need(d->head.data, d->head.size, &d->need, error));
    }
    if (d->head.size < d->need) return TAPER_OK;
    taper_limits limits = d->limits;
    limits.max_memory = formats_account_left(&d->account);
    if (!limits.max_memory) limits.max_memory = 1;
    TAPER_TRY(formats_front_read(d->head.data, d->head.size, &limits, &d->front, error));
    formats_buffer_free(&d->head);
    d->account.used += d->front.account.used;
    return front_is_ready(d, error);
}

static taper_status reader_of(taper_decoder *d, uint32_t g, codec_group_reader **out,
                              taper_error *error) {
    if (!d->reader[g] && formats_account_take(&d->account, sizeof **d->reader) == TAPER_OK)
        d->reader[g] = calloc(1, sizeof **d->reader);
    *out = d->reader[g];
    if (!*out) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for group %u", g);
    if ((*out)->first) return TAPER_OK;
    TAPER_TRY(codec_group_reader_open(*out, d->model, &d->front, g, &d->account, error));
    (*out)->coder.contexts.pool = d->backend.pool;
    return TAPER_OK;
}

/* A chunk is all there: where a block ends with it, its chunks are decoded for good, or not at all.
 */
static taper_status chunk_is_complete(taper_decoder *d, codec_group_reader *r, uint32_t layer,
                                      uint32_t g) {
    const formats_front *f = &d->front;
    uint32_t per = f->chunks_per_checksum, blocks = (f->groups - 1) / per + 1;
    taper_status status = TAPER_OK;
    r->here = !r->bad;
    if ((g + 1) % per && g + 1 < f->groups) return TAPER_OK;
    int holds = d->crc == f->checksum[(uint64_t)layer * blocks + g / per];
    d->crc = 0;
    for (uint32_t i = g / per * per; i <= g && status == TAPER_OK; i++)
        status = codec_group_reader_settle(d->reader[i], f, holds);
    return status;
}

static taper_status fail_chunk(taper_status status, taper_error *error) {
    return status == TAPER_ERR_LIMIT
               ? formats_fail(error, status,
                              "a chunk takes more memory than is left; raise --max-memory if you "
                              "trust the file")
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a chunk");
}

static const uint8_t nothing[1];

static taper_status push_data(taper_decoder *d, const uint8_t *bytes, size_t n,
                              taper_error *error) {
    const formats_front *f = &d->front;
    uint64_t chunks = (uint64_t)f->layers * f->groups;
    if (!bytes) bytes = nothing; /* as an empty buffer has it */
    while (d->chunk < chunks) {
        uint32_t g = (uint32_t)(d->chunk % f->groups), layer = (uint32_t)(d->chunk / f->groups);
        uint64_t length = f->chunk_at[d->chunk + 1] - f->chunk_at[d->chunk],
                 left = length - d->in_chunk;
        if (left && !n) return TAPER_OK;
        size_t take = n < left ? n : (size_t)left;
        codec_group_reader *r;
        TAPER_TRY(reader_of(d, g, &r, error));
        taper_status status = r->bad ? TAPER_OK : codec_group_reader_feed(r, bytes, take);
        if (status != TAPER_OK) return fail_chunk(status, error);
        d->crc = formats_crc32c(d->crc, bytes, take);
        bytes += take, n -= take, d->in_chunk += take;
        if (d->in_chunk < length) return TAPER_OK;
        status = chunk_is_complete(d, r, layer, g);
        if (status != TAPER_OK) return fail_chunk(status, error);
        d->chunk++;
        d->in_chunk = 0;
    }
    if (n)
        return formats_fail(error, TAPER_ERR_CORRUPT, "%zu byte%s follow%s the container's end", n,
                            formats_plural(n, "s"), formats_singular(n));
    return TAPER_OK;
}

/* As many of the data's bytes as are to be rendered; the others wait. */
static taper_status push_in_time(taper_decoder *d, const uint8_t *bytes, size_t n,
                                 taper_error *error) {
    uint64_t before = d->arrived - d->waiting.size;
    if (formats_add_u64(d->arrived, n, &d->arrived) != TAPER_OK) return TAPER_ERR_ARG;
    uint64_t due = formats_front_rendered(&d->front, d->arrived);
    if (due >= before + d->waiting.size) { /* all that waited, or none */
        size_t now = (size_t)(due - before - d->waiting.size);
        TAPER_TRY(push_data(d, d->waiting.data, d->waiting.size, error));
        TAPER_TRY(push_data(d, bytes, now, error));
        formats_buffer_clear(&d->waiting);
        bytes += now, n -= now;
    }
    return formats_write_bytes(&d->waiting, bytes, n) == TAPER_OK
               ? TAPER_OK
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a chunk");
}

taper_status taper_decoder_push(taper_decoder *d, const void *bytes, size_t n, taper_error *error) {
    taper_error own = {0};
    if (d->failure.status == TAPER_OK) {
        const uint8_t *from = bytes ? bytes : nothing;
        size_t used = 0;
        taper_status status = d->source.read
                                  ? formats_fail(&own, TAPER_ERR_ARG,
                                                 "this decoder reads a source; it cannot be pushed")
                                  : TAPER_OK;
        if (status == TAPER_OK && !d->front_ready) status = push_front(d, from, n, &used, &own);
        if (status == TAPER_OK && d->front_ready)
            status = push_in_time(d, from + used, n - used, &own);
        if (status != TAPER_OK) d->failure = own, d->failure.status = status;
    }
    if (d->failure.status != TAPER_OK && error) *error = d->failure;
    return d->failure.status;
}

/* --- what is known --------------------------------------------------------------------- */

uint64_t taper_decoder_bytes_needed(const taper_decoder *d) {
    return d->front_ready || d->need <= d->head.size ? 0 : d->need - d->head.size;
}

taper_status taper_decoder_get_info(const taper_decoder *d, taper_container_info *out) {
    if (!d->front_ready) return TAPER_ERR_TRUNCATED;
    const formats_front *f = &d->front;
    *out = (taper_container_info){.model_id = f->model_id,
                                  .has_model = f->model != NULL,
                                  .layout = (taper_layout)f->layout,
                                  .images = f->images,
                                  .groups = f->groups,
                                  .layers = f->layers,
                                  .passes = formats_front_passes(f, f->layers - 1),
                                  .front_bytes = f->front_size,
                                  .file_bytes =
                                      f->front_size + f->chunk_at[(uint64_t)f->layers * f->groups],
                                  .has_names = f->names != NULL,
                                  .has_labels = f->label != NULL,
                                  .classes = f->classes};
    for (uint32_t i = 0; i < f->images; i++)
        out->pixels += (uint64_t)f->geometry[i].width * f->geometry[i].height;
    return TAPER_OK;
}

taper_status taper_decoder_image_info(const taper_decoder *d, uint64_t i, taper_image_info *out) {
    if (!d->front_ready) return TAPER_ERR_TRUNCATED;
    const formats_front *f = &d->front;
    if (i >= f->images) return TAPER_ERR_ARG;
    formats_geometry g = f->geometry[i];
    *out = (taper_image_info){g.width,
                              g.height,
                              g.channels,
                              g.depth,
                              (uint64_t)g.width * g.height * g.channels * (g.depth / 8u),
                              formats_front_group(f, (uint32_t)i),
                              f->label ? f->label[i] : -1,
                              formats_front_name(f, (uint32_t)i)};
    return TAPER_OK;
}

const char *taper_decoder_class_name(const taper_decoder *d, uint32_t k) {
    return d->front_ready ? formats_front_class_name(&d->front, k) : NULL;
}

taper_status taper_decoder_group_range(const taper_decoder *d, uint32_t g, uint64_t *first,
                                       uint64_t *count) {
    if (!d->front_ready) return TAPER_ERR_TRUNCATED;
    if (g >= d->front.groups) return TAPER_ERR_ARG;
    *first = d->front.group_first[g];
    *count = d->front.group_first[g + 1] - d->front.group_first[g];
    return TAPER_OK;
}

uint64_t taper_decoder_image_at(const taper_decoder *d, uint64_t place) {
    return d->front_ready && place < d->front.images
               ? formats_front_image(&d->front, (uint32_t)place)
               : place;
}

/* --- rendering ------------------------------------------------------------------------- */

static void drop_rendered(taper_decoder *d, rendered *w) {
    formats_account_give(&d->account, w->capacity * d->model->network.inputs * sizeof *w->pixels);
    free(w->pixels);
    *w = (rendered){0};
}

/* Give back what is kept of other rate classes, and what was rendered of this one. */
static void make_way(taper_decoder *d, uint32_t rate_class) {
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) drop_rendered(d, &d->rendered[t]);
    codec_group_readers_keep(&d->readers, rate_class);
}

/* The group's reader, decoded as far as the bytes go. */
static taper_status bring_up(taper_decoder *d, uint32_t g, codec_group_reader **out,
                             taper_error *error) {
    if (!d->source.read) {
        TAPER_TRY(reader_of(d, g, out, error));
        codec_group_reader_decode(*out, &d->front);
        return TAPER_OK;
    }
    taper_status status =
        codec_group_readers_turn(&d->readers, d->model, &d->front, g, &d->source, out, error);
    if (status != TAPER_ERR_LIMIT) return status;
    make_way(d, formats_front_rate_class(&d->front, g));
    return codec_group_readers_turn(&d->readers, d->model, &d->front, g, &d->source, out, error);
}

/* Bytes for rendering an image of n windows that are given back at once: codes of the blocks in
 * work, of so many windows in all, and what is done to the image's windows before they are stored.
 * Those of a large image are not kept for others, and so not copied. */
static uint64_t passing_bytes(const taper_decoder *d, const taper_image_info *info, uint32_t n,
                              uint32_t at_once) {
    const taper_model *m = d->model;
    uint64_t threads = codec_pool_threads(d->backend.pool), inputs = m->network.inputs;
    uint64_t block = at_once < RENDER_WINDOWS ? at_once : RENDER_WINDOWS;
    uint64_t bytes = threads * (block * m->network.units * sizeof(float) +
                                codec_network_scratch_bytes(&m->network));
    if (n <= RENDER_WINDOWS && (m->restoration.layers || m->window.lap))
        bytes += n * inputs * sizeof(float);
    if (!m->restoration.layers) return bytes;
    codec_grid grid = codec_windows_grid(m->window, info->width, info->height);
    return bytes + codec_restoration_bytes(&m->restoration, m->window, grid, (unsigned)threads);
}

static taper_status refuse_rendering(const taper_decoder *d, uint64_t bytes, taper_error *error) {
    return formats_fail(error, TAPER_ERR_LIMIT,
                        "rendering this image needs %llu bytes, the limit is %llu; raise "
                        "--max-memory if you trust the file",
                        (unsigned long long)bytes, (unsigned long long)d->limits.max_memory);
}

/* Could an image of this size be rendered, were there nothing else? Said before it is decoded. */
static taper_status check_room(const taper_decoder *d, const taper_image_info *info,
                               taper_error *error) {
    codec_grid grid = codec_windows_grid(d->model->window, info->width, info->height);
    uint64_t n = (uint64_t)grid.columns * grid.rows;
    uint64_t bytes = d->front.account.used + n * d->model->network.inputs * sizeof(float);
    if (n < UINT32_MAX) bytes += passing_bytes(d, info, (uint32_t)n, (uint32_t)n);
    uint64_t state = codec_chunk_coder_bytes(&d->model->tables, n);
    if (formats_add_u64(bytes, state, &bytes) == TAPER_OK && bytes <= d->limits.max_memory)
        return TAPER_OK;
    return refuse_rendering(d, bytes, error);
}

/* Room for n windows, and for what passes while they are rendered, be it in place of what is kept.
 */
static taper_status make_room(taper_decoder *d, rendered *w, uint32_t n, uint64_t passing,
                              taper_error *error) {
    uint64_t size = d->model->network.inputs * sizeof *w->pixels;
    uint64_t more = n > w->capacity ? n * size : 0;
    if (more) drop_rendered(d, w);
    if (formats_account_left(&d->account) < more + passing)
        return refuse_rendering(d, d->account.used + more + passing, error);
    if (!more) return TAPER_OK;
    w->pixels = malloc((size_t)more);
    if (!w->pixels)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to render %u windows", n);
    (void)formats_account_take(&d->account, more);
    w->capacity = n;
    return TAPER_OK;
}

typedef struct rendering {
    const taper_decoder *decoder;
    const codec_group *state;
    const rendered *to;
    uint32_t first, n, in_block; /* windows: of all, and of a block */
    atomic_int failed;
} rendering;

static void render_block(void *context, size_t block) {
    rendering *t = context;
    const codec_network *network = &t->decoder->model->network;
    codec_backend backend = t->decoder->backend;
    backend.pool = NULL; /* blocks are what is shared */
    uint32_t at = (uint32_t)block * t->in_block, left = t->n - at;
    uint32_t n = left < t->in_block ? left : t->in_block;
    float *code = malloc((size_t)n * network->units * sizeof *code);
    if (code) codec_head_dequantise(t->state, t->first + at, n, code);
    if (!code ||
        codec_network_decode_units(network, &backend, code, n, codec_group_units_known(t->state),
                                   t->to->pixels + (size_t)at * network->inputs) != TAPER_OK)
        t->failed = 1;
    free(code);
}

static int is_rendered(const rendered *w, uint32_t g, const codec_group *state, uint32_t first,
                       uint32_t n) {
    return w->n && w->group == g && w->pass == state->pass && w->position == state->position &&
           first >= w->first && first + n <= w->first + w->n;
}

/* Have windows first .. first + n - 1 rendered, and some after them where there is room. */
static taper_status render(taper_decoder *d, const taper_image_info *info, const codec_group *state,
                           uint32_t first, uint32_t n, taper_error *error) {
    uint32_t rate_class = formats_front_rate_class(&d->front, info->group), left = state->n - first;
    rendered *w = &d->rendered[rate_class];
    uint32_t ahead = n > RENDER_WINDOWS ? n : left < RENDER_WINDOWS ? left : RENDER_WINDOWS;
    if (is_rendered(w, info->group, state, first, n) &&
        formats_account_left(&d->account) >= passing_bytes(d, info, n, 0))
        return TAPER_OK;
    if (make_room(d, w, ahead, passing_bytes(d, info, n, ahead), NULL) != TAPER_OK) {
        make_way(d, rate_class);
        ahead = n;
        TAPER_TRY(make_room(d, w, ahead, passing_bytes(d, info, n, ahead), error));
    }
    w->n = 0;
    rendering task = {.decoder = d, .state = state, .to = w, .first = first, .n = ahead};
    task.in_block = d->backend.pool ? RENDER_BLOCK : RENDER_WINDOWS;
    codec_pool_run(d->backend.pool, render_block, &task,
                   (ahead + task.in_block - 1) / task.in_block);
    if (task.failed)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to render %u windows", ahead);
    w->group = info->group, w->first = first, w->n = ahead, w->pass = state->pass,
    w->position = state->position;
    return TAPER_OK;
}

/* The windows rendered, from `first` on, as pixels. */
static taper_status finish_image(taper_decoder *d, uint32_t pass, rendered *w, uint32_t first,
                                 uint32_t n, taper_image *out) {
    float *from = w->pixels + (size_t)(first - w->first) * d->model->network.inputs;
    if (n <= RENDER_WINDOWS) return codec_model_render(d->model, pass, d->backend.pool, from, out);
    w->n = 0;
    return codec_model_render_over(d->model, pass, d->backend.pool, from, out);
}

taper_status taper_decoder_render(taper_decoder *d, uint64_t i, taper_image *out,
                                  taper_completeness *done, taper_error *error) {
    taper_image_info info;
    taper_status status = taper_decoder_image_info(d, i, &info);
    if (status == TAPER_ERR_TRUNCATED)
        return formats_fail(error, status, "incomplete header, need %llu more byte%s",
                            (unsigned long long)taper_decoder_bytes_needed(d),
                            formats_plural(taper_decoder_bytes_needed(d), "s"));
    if (status != TAPER_OK || !out->pixels)
        return formats_fail(error, TAPER_ERR_ARG, "there is no image %llu", (unsigned long long)i);
    codec_group_reader *r;
    TAPER_TRY(check_room(d, &info, error));
    TAPER_TRY(bring_up(d, info.group, &r, error));
    uint32_t in_group =
        formats_front_place(&d->front, (uint32_t)i) - d->front.group_first[info.group];
    uint32_t first = r->first[in_group], n = r->first[in_group + 1] - first;
    TAPER_TRY(render(d, &info, &r->coder.group, first, n, error));
    out->width = info.width, out->height = info.height, out->channels = info.channels,
    out->depth = info.depth;
    rendered *w = &d->rendered[formats_front_rate_class(&d->front, info.group)];
    uint32_t pass = codec_model_pass(r->coder.group.tables, r->coder.group.pass);
    if (finish_image(d, pass, w, first, n, out) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to render %u windows", n);
    if (done)
        *done = (taper_completeness){
            pass, formats_front_layer_end(&d->front, d->front.layers - 1, info.group),
            r->bytes_used + r->chunk.size, codec_group_reader_is_done(r, &d->front)};
    if (r->bad)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "layer %u of group %u is damaged (checksum); fetch the file again",
                            r->layer, info.group);
    return TAPER_OK;
}
