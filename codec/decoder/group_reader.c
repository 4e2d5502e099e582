/* group_reader.c -- see group_reader.h. */
#include "codec/decoder/group_reader.h"
#include "codec/model/builtin_models.h"
#include <stdlib.h>
#include <string.h>

/* Allocate the group's state, with the model's tables or tables with raised planes. */
static taper_status open_state(codec_group_reader *r, const taper_model *model,
                               const formats_front *front, const codec_grid *grid,
                               taper_error *error) {
    uint32_t n;
    const formats_raised *raised = formats_front_raised(front, r->group, &n);
    if (n) TAPER_TRY(codec_raised_planes_make(&r->raised, &model->tables, raised, n, error));
    return codec_strips_alloc(&r->strips, n ? &r->raised : &model->tables, grid, r->images,
                              r->account, error);
}

/* The memory of that state. */
static uint64_t state_bytes(const taper_model *model, const formats_front *front, uint32_t g,
                            uint64_t windows) {
    uint32_t n;
    const formats_raised *raised = formats_front_raised(front, g, &n);
    return codec_strips_bytes(&model->tables, windows) +
           codec_raised_planes_bytes(&model->tables, raised, n);
}

/* Set the grid and the first window of each image, and charge the memory of the group. */
static taper_status lay_out(codec_group_reader *r, const taper_model *model,
                            const formats_front *front, codec_grid *grid, taper_error *error) {
    uint64_t windows = 0, left = r->account ? formats_account_left(r->account) : UINT64_MAX, bytes;
    for (uint32_t i = 0; i < r->images; i++) {
        uint32_t place = front->group_first[r->group] + i;
        const formats_geometry *image = &front->geometry[formats_front_image(front, place)];
        grid[i] = codec_windows_grid(model->window, image->width, image->height);
        windows += (uint64_t)grid[i].columns * grid[i].rows;
        bytes = state_bytes(model, front, r->group, windows);
        if (bytes > left)
            return formats_fail(error, TAPER_ERR_LIMIT,
                                "group %u needs %llu bytes or more to decode, of which %llu are "
                                "left; give --max-memory %lluM if you trust the file",
                                r->number, (unsigned long long)bytes, (unsigned long long)left,
                                (unsigned long long)formats_account_step(r->account, bytes));
        r->first[i + 1] = (uint32_t)windows;
    }
    bytes = state_bytes(model, front, r->group, windows);
    (void)formats_account_take(r->account, bytes);
    r->charged += bytes;
    return TAPER_OK;
}

taper_status codec_group_reader_open(codec_group_reader *r, const taper_model *model,
                                     const formats_front *front, uint32_t g,
                                     formats_account *account, taper_error *error) {
    *r = (codec_group_reader){.group = g,
                              .number = front->first_group + g,
                              .images = front->group_first[g + 1] - front->group_first[g],
                              .pass_limit = UINT32_MAX,
                              .account = account};
    r->chunk = formats_buffer_make(FORMATS_MOST_BYTES);
    r->kept = formats_buffer_make(FORMATS_MOST_BYTES);
    r->chunk.account = r->kept.account = account;
    codec_grid *grid = NULL;
    uint64_t list = ((uint64_t)r->images + 1) * (sizeof *r->first + sizeof *grid);
    taper_status status = formats_account_take(account, list);
    if (status != TAPER_OK)
        return formats_fail(error, status, "a group of %u images; give --max-memory %lluM",
                            r->images, (unsigned long long)formats_account_step(account, list));
    r->charged = list;
    r->first = calloc((size_t)r->images + 1, sizeof *r->first);
    grid = calloc((size_t)r->images + 1, sizeof *grid);
    status =
        r->first && grid ? TAPER_OK : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a group");
    if (status == TAPER_OK) status = lay_out(r, model, front, grid, error);
    if (status == TAPER_OK) status = open_state(r, model, front, grid, error);
    if (status == TAPER_OK)
        r->known_passes = codec_model_known_passes(model, r->strips.coder->group.tables);
    free(grid);
    if (status != TAPER_OK) codec_group_reader_close(r);
    return status;
}

void codec_group_reader_close(codec_group_reader *r) {
    if (!r) return;
    codec_strips_free(&r->strips);
    codec_raised_planes_free(&r->raised);
    formats_buffer_free(&r->chunk), formats_buffer_free(&r->kept);
    free(r->first);
    formats_account_give(r->account, r->charged);
    *r = (codec_group_reader){0};
}

taper_status codec_group_reader_feed(codec_group_reader *r, const void *bytes, size_t n) {
    return formats_write_bytes(&r->chunk, bytes, n);
}

int codec_chunk_is_cut(const formats_front *front, uint32_t layer, uint32_t group) {
    return front->tail && layer + 1 == front->layers && group >= front->first_cut;
}

/* --- chunks ---------------------------------------------------------------------------- */

static uint64_t chunk_length(const formats_front *f, uint32_t layer, uint32_t group) {
    uint64_t c = (uint64_t)layer * f->groups + group;
    return f->chunk_at[c + 1] - f->chunk_at[c];
}

/* The number of passes up to the end of a layer, with raised passes. */
static uint32_t layer_end(const codec_group_reader *r, const formats_front *f, uint32_t layer) {
    return codec_raised_planes_end(r->strips.coder->group.tables,
                                   formats_front_layer_end(f, layer, r->group));
}

/* The passes of a layer that ends with pass `end` are decoded to here. */
static uint32_t last_wanted(const codec_group_reader *r, uint32_t end) {
    uint32_t most = r->pass_limit < r->known_passes ? r->pass_limit : r->known_passes;
    return end < most ? end : most;
}

static void step(codec_group_reader *r) {
    r->bytes_used += r->chunk.size;
    r->layer++;
    r->here = 0;
    codec_strips_end_chunk(&r->strips);
    formats_buffer_clear(&r->chunk);
}

/* Decode the kept layers, which are undamaged, from the beginning. */
static taper_status begin_again(codec_group_reader *r, const formats_front *f) {
    const uint8_t *from = r->kept.data;
    codec_strips_reset(&r->strips);
    for (uint32_t layer = 0; layer < r->layer; layer++) {
        size_t length = (size_t)chunk_length(f, layer, r->group);
        codec_chunk_bytes chunk = {from, length, !codec_chunk_is_cut(f, layer, r->group)};
        TAPER_TRY(codec_strips_decode(&r->strips, chunk, last_wanted(r, layer_end(r, f, layer))));
        codec_strips_end_chunk(&r->strips);
        from += length;
    }
    return TAPER_OK;
}

static taper_status stop_decoding(codec_group_reader *r, const formats_front *f) {
    taper_status status = r->strips.started ? begin_again(r, f) : TAPER_OK;
    r->bad = 1;
    r->here = 0;
    codec_strips_end_chunk(&r->strips);
    formats_buffer_free(&r->chunk), formats_buffer_free(&r->kept);
    return status;
}

static taper_status no_memory_for_chunk(const formats_account *account, taper_status status,
                                        uint64_t bytes, taper_error *error) {
    return status == TAPER_ERR_LIMIT
               ? formats_fail(error, status,
                              "a chunk takes %llu bytes; give --max-memory %lluM if you trust the "
                              "file",
                              (unsigned long long)bytes,
                              (unsigned long long)formats_account_step(account, bytes))
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a chunk of %llu bytes",
                              (unsigned long long)bytes);
}

static taper_status decode(codec_group_reader *r, const formats_front *f) {
    if (r->bad || r->layer >= f->layers) return TAPER_OK;
    int whole = r->here && !codec_chunk_is_cut(f, r->layer, r->group);
    if (!whole && !r->chunk.size) return TAPER_OK; /* no byte of it is available */
    uint32_t end = layer_end(r, f, r->layer);
    if (!r->strips.started)
        r->plausible =
            codec_strips_are_plausible(&r->strips, end, chunk_length(f, r->layer, r->group));
    if (whole && !r->plausible) return stop_decoding(r, f);
    return codec_strips_decode(&r->strips, (codec_chunk_bytes){r->chunk.data, r->chunk.size, whole},
                               last_wanted(r, end));
}

taper_status codec_group_reader_decode(codec_group_reader *r, const formats_front *f,
                                       taper_error *error) {
    taper_status status = decode(r, f);
    return status == TAPER_OK ? status
                              : no_memory_for_chunk(r->account, status, r->chunk.size, error);
}

taper_status codec_group_reader_end_chunk(codec_group_reader *r, const formats_front *f,
                                          int holds) {
    if (r->bad) return TAPER_OK;
    if (!holds) return stop_decoding(r, f);
    if (r->layer + 1 < f->layers)
        TAPER_TRY(formats_write_bytes(&r->kept, r->chunk.data, r->chunk.size));
    r->here = 1;
    TAPER_TRY(decode(r, f));
    if (!r->bad) step(r);
    if (r->layer == f->layers) formats_buffer_free(&r->kept);
    return TAPER_OK;
}

uint32_t codec_group_reader_passes(const codec_group_reader *r) {
    const codec_group *last = codec_strips_last(&r->strips);
    return codec_model_pass(last->tables, last->pass);
}

int codec_group_reader_is_done(const codec_group_reader *r, const formats_front *f) {
    return r->layer + (r->here && !r->bad) == f->layers &&
           layer_end(r, f, f->layers - 1) <= r->known_passes;
}

static taper_status read_source(const taper_source *source, uint64_t at, void *to, size_t n,
                                taper_error *error) {
    taper_status status = source->read(source->user, at, to, n);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "cannot read %zu bytes at %llu of the container", n,
                              (unsigned long long)at);
}

/* --- from a source --------------------------------------------------------------------- */

/* Chunks first .. last - 1 of a layer, counted over all layers. */
static codec_file_range chunks_of(const formats_front *f, uint32_t layer, uint64_t first,
                                  uint64_t last) {
    return (codec_file_range){f->front_size + formats_front_chunk_at(f, first, layer),
                              f->chunk_at[last] - f->chunk_at[first]};
}

codec_file_range codec_chunk_range(const formats_front *f, uint32_t layer, uint32_t g) {
    uint64_t c = (uint64_t)layer * f->groups + g;
    return chunks_of(f, layer, c, c + 1);
}

codec_file_range codec_block_range(const formats_front *f, uint32_t layer, uint32_t g) {
    uint64_t per = f->chunks_per_checksum, first = g / per * per, row = (uint64_t)layer * f->groups;
    uint64_t last = first + per < f->groups ? first + per : f->groups;
    return chunks_of(f, layer, row + first, row + last);
}

uint32_t codec_block_checksum(const formats_front *f, uint32_t layer, uint32_t g) {
    uint64_t per = f->chunks_per_checksum, blocks = (f->groups + per - 1) / per;
    return f->checksum[layer * blocks + g / per];
}

/* The number of bytes of a range that are available, from its first one. */
static uint64_t bytes_there(const codec_group_readers *rs, codec_file_range of,
                            const taper_source *source) {
    uint64_t left = of.at < source->size ? source->size - of.at : 0;
    uint64_t size = left < of.size ? left : of.size;
    if (!rs->held || !size) return size;
    uint64_t run = codec_byte_store_run(rs->held, of.at, NULL);
    return run < size ? run : size;
}

/* CRC-32C of a range, read through the block's buffer. */
static taper_status sum_range(codec_checked_block *b, codec_file_range of,
                              const taper_source *source, uint32_t *crc, taper_error *error) {
    while (of.size) {
        size_t n = of.size < CODEC_BLOCK_CAPACITY ? (size_t)of.size : CODEC_BLOCK_CAPACITY;
        TAPER_TRY(read_source(source, of.at, b->bytes, n, error));
        *crc = formats_crc32c(*crc, b->bytes, n);
        of.at += n, of.size -= n;
    }
    return TAPER_OK;
}

/* Check a block that is completely available, and copy the chunk within it to `to`. Every byte is
 * read once. A block of one chunk is not kept. */
static taper_status check_block(codec_checked_block *b, codec_file_range block,
                                codec_file_range chunk, uint32_t sum, const taper_source *source,
                                uint8_t *to, int *holds, taper_error *error) {
    uint64_t end = chunk.at + chunk.size;
    codec_file_range before = {block.at, chunk.at - block.at},
                     after = {end, block.at + block.size - end};
    int several = block.size > chunk.size;
    uint32_t crc = 0;
    if (several && !b->bytes && !(b->bytes = malloc(CODEC_BLOCK_CAPACITY)))
        return no_memory_for_chunk(NULL, TAPER_ERR_NOMEM, CODEC_BLOCK_CAPACITY, error);
    if (several) b->size = 0; /* empty until this succeeds */
    if (several && block.size <= CODEC_BLOCK_CAPACITY) {
        TAPER_TRY(sum_range(b, block, source, &crc, error));
        memcpy(to, b->bytes + before.size, (size_t)chunk.size);
    } else {
        TAPER_TRY(sum_range(b, before, source, &crc, error));
        if (chunk.size) TAPER_TRY(read_source(source, chunk.at, to, (size_t)chunk.size, error));
        crc = formats_crc32c(crc, to, (size_t)chunk.size);
        TAPER_TRY(sum_range(b, after, source, &crc, error));
    }
    *holds = crc == sum;
    if (several) b->at = block.at, b->size = block.size, b->holds = *holds;
    return TAPER_OK;
}

/* Read a chunk and check its block. `chunk`: the available part of the chunk. If the block is
 * incomplete, it counts as undamaged. */
static taper_status read_chunk(codec_group_readers *rs, const formats_front *f, uint32_t layer,
                               uint32_t g, codec_file_range chunk, const taper_source *source,
                               uint8_t *to, int *holds, taper_error *error) {
    codec_checked_block *b = &rs->block;
    codec_file_range block = codec_block_range(f, layer, g);
    int whole = bytes_there(rs, block, source) == block.size && block.at <= source->size;
    *holds = 1;
    if (whole && (!b->size || b->at != block.at || b->size != block.size))
        return check_block(b, block, chunk, codec_block_checksum(f, layer, g), source, to, holds,
                           error);
    if (whole) *holds = b->holds;
    if (whole && b->size <= CODEC_BLOCK_CAPACITY)
        memcpy(to, b->bytes + (chunk.at - b->at), (size_t)chunk.size);
    else if (chunk.size)
        TAPER_TRY(read_source(source, chunk.at, to, (size_t)chunk.size, error));
    return TAPER_OK;
}

/* Load and decode the next layer; *more: nonzero if there may be another one. */
static taper_status load_layer(codec_group_reader *r, codec_group_readers *rs,
                               const formats_front *f, const taper_source *source, int *more,
                               taper_error *error) {
    codec_file_range chunk = codec_chunk_range(f, r->layer, r->group);
    uint64_t length = chunk.size;
    chunk.size = bytes_there(rs, chunk, source);
    *more = 0;
    if (chunk.at > source->size || (!chunk.size && length))
        return TAPER_OK; /* empty chunks after a cut count as missing */
    uint8_t none, *to = chunk.size ? formats_buffer_extend(&r->chunk, (size_t)chunk.size) : &none;
    if (!to) return no_memory_for_chunk(r->account, r->chunk.status, chunk.size, error);
    int holds;
    TAPER_TRY(read_chunk(rs, f, r->layer, r->group, chunk, source, to, &holds, error));
    r->here = chunk.size == length;
    taper_status status = holds ? decode(r, f) : stop_decoding(r, f);
    if (status != TAPER_OK) return no_memory_for_chunk(r->account, status, chunk.size, error);
    if (r->bad || !r->here) return TAPER_OK;
    step(r);
    *more = 1;
    return TAPER_OK;
}

/* Free what only decoding needs: a group of a source is decoded once, as far as the source goes. */
static void end_decoding(codec_group_reader *r) {
    uint64_t freed = codec_strips_coding_bytes(&r->strips);
    codec_strips_end_coding(&r->strips);
    r->bytes_used += r->chunk.size;
    formats_buffer_free(&r->chunk);
    formats_account_give(r->account, freed);
    r->charged -= freed;
}

static taper_status load(codec_group_reader *r, codec_group_readers *rs, const formats_front *f,
                         const taper_source *source, taper_error *error) {
    uint32_t rate_class = formats_front_rate_class(f, r->group);
    if (rs->pass_limit && rs->pass_limit[rate_class] < UINT32_MAX)
        r->pass_limit =
            codec_raised_planes_end(r->strips.coder->group.tables, rs->pass_limit[rate_class]);
    const uint32_t most = last_wanted(r, UINT32_MAX);
    for (int more = 1; more && r->layer < f->layers && codec_strips_last(&r->strips)->pass < most;)
        TAPER_TRY(load_layer(r, rs, f, source, &more, error));
    end_decoding(r);
    return TAPER_OK;
}

void codec_group_readers_keep(codec_group_readers *rs, uint32_t rate_class) {
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++)
        if (t != rate_class) codec_group_reader_close(&rs->of_rate_class[t]);
}

taper_status codec_group_readers_open(codec_group_readers *rs, const taper_model *model,
                                      const formats_front *front, uint32_t g,
                                      const taper_source *source, codec_group_reader **out,
                                      taper_error *error) {
    uint32_t rate_class = formats_front_rate_class(front, g);
    codec_group_reader *r = *out = &rs->of_rate_class[rate_class];
    if (r->images && r->group == g) return TAPER_OK;
    taper_status status = TAPER_ERR_LIMIT;
    for (int alone = 0; alone < 2 && status == TAPER_ERR_LIMIT; alone++) {
        codec_group_reader_close(r);
        if (alone) codec_group_readers_keep(rs, rate_class);
        status = codec_group_reader_open(r, model, front, g, rs->account, error);
        r->strips.pool = rs->pool;
        if (status == TAPER_OK) status = load(r, rs, front, source, error);
    }
    if (status != TAPER_OK) codec_group_reader_close(r);
    return status;
}

void codec_group_readers_close(codec_group_readers *rs) {
    codec_group_readers_keep(rs, FORMATS_MAX_RATE_CLASSES);
    free(rs->block.bytes);
    rs->block = (codec_checked_block){0};
}

taper_status codec_front_refuse(const taper_limits *limits, uint64_t bytes, taper_error *error) {
    return formats_fail(
        error, TAPER_ERR_LIMIT,
        "the container's front matter takes %llu bytes; give --max-memory %lluM if "
        "you trust it",
        (unsigned long long)bytes,
        (unsigned long long)formats_power_above(formats_memory_needed(limits, 2 * bytes) - 1));
}

taper_status codec_front_load(const taper_source *source, const taper_limits *given,
                              formats_front *front, taper_error *error) {
    taper_limits limits = formats_limits_or_default(given);
    formats_account account = formats_account_within(&limits);
    formats_buffer bytes = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_status status = TAPER_OK;
    uint64_t need = FORMATS_HEADER_SIZE;
    bytes.account = &account;
    memset(front, 0, sizeof *front);
    while (status == TAPER_OK && bytes.size < need) {
        uint64_t have = bytes.size, want = need < source->size ? need : source->size;
        if (want <= have) break;
        uint8_t *to = formats_buffer_extend(&bytes, (size_t)(want - have));
        if (!to && bytes.status == TAPER_ERR_LIMIT)
            status = codec_front_refuse(&limits, want, error);
        else if (!to)
            status =
                formats_fail(error, TAPER_ERR_NOMEM, "no memory for the container's front matter");
        if (status == TAPER_OK)
            status = read_source(source, have, to, (size_t)(want - have), error);
        if (status == TAPER_OK) status = formats_front_need(bytes.data, bytes.size, &need, error);
    }
    limits = formats_limits_minus(&limits, account.used); /* both are in memory at once */
    if (status == TAPER_OK)
        status = formats_front_read(bytes.size ? bytes.data : (const uint8_t *)"", bytes.size,
                                    &limits, front, error);
    if (status == TAPER_OK)
        front->account.limit = account.limit, front->account.taken = account.taken;
    formats_buffer_free(&bytes);
    return status;
}

taper_source codec_front_drawn(const formats_front *front, const taper_source *source) {
    taper_source rendered = *source;
    if (source->size > front->front_size)
        rendered.size =
            front->front_size + formats_front_drawn(front, source->size - front->front_size);
    return rendered;
}

static taper_status load_carried(const uint8_t *bytes, size_t size, const taper_limits *limits,
                                 taper_model **out, taper_error *error) {
    taper_error why = {0};
    taper_status status = taper_model_load(out, bytes, size, limits, &why);
    if (status == TAPER_OK) return status;
    if (status == TAPER_ERR_TRUNCATED)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the model in the container is damaged (it ends too early); fetch the "
                            "file again");
    if (error) *error = why;
    return status;
}

taper_status codec_front_model(const formats_front *front, const taper_limits *limits,
                               taper_model **out, taper_error *error) {
    codec_builtin_model builtin;
    *out = NULL;
    if (!front->model && codec_builtin_model_of(front->model_id, &builtin))
        return codec_builtin_model_open(&builtin, limits, out, error);
    if (!front->model)
        return formats_fail(error, TAPER_ERR_MODEL,
                            "container does not carry its model %016llx; give it with -m",
                            (unsigned long long)front->model_id);
    TAPER_TRY(load_carried(front->model, front->model_size, limits, out, error));
    const uint64_t id = (*out)->info.id;
    if (id == front->model_id) return TAPER_OK;
    taper_model_free(*out);
    *out = NULL;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the container was made with model %016llx but carries %016llx; fetch the "
                        "file again",
                        (unsigned long long)front->model_id, (unsigned long long)id);
}

taper_status codec_front_search_model(const formats_front *front, const taper_limits *limits,
                                      taper_model **out, taper_error *error) {
    taper_error why = {0};
    const taper_status status =
        load_carried(front->search_model, front->search_model_size, limits, out, &why);
    if (status)
        return formats_fail(error, status, "the model for search in the container: %s", why.text);
    const taper_model_info info = (*out)->info;
    if (info.binary && info.id == front->search_model_id && info.units >= front->search_bits)
        return TAPER_OK;
    taper_model_free(*out);
    *out = NULL;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the model for search in the container, %016llx of %u %s, is not that of "
                        "its codes for search, %016llx of %u bits",
                        (unsigned long long)info.id, info.units, info.binary ? "bits" : "numbers",
                        (unsigned long long)front->search_model_id, front->search_bits);
}

taper_status codec_front_match_images(const formats_front *front, const taper_model *model,
                                      taper_error *error) {
    for (uint32_t g = 0, n; front->raised_at && g < front->groups; g++) {
        const formats_raised *raised = formats_front_raised(front, g, &n);
        if (!codec_raised_planes_fit(&model->tables, raised, n))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "group %u raises planes that its model cannot have",
                                front->first_group + g);
    }
    for (uint32_t i = 0; i < front->images; i++)
        if (front->geometry[i].channels > model->window.channels)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "image %u is in colour but the model is grey",
                                front->first_image + i + 1);
    return TAPER_OK;
}

taper_status codec_front_match(const formats_front *front, const taper_model *model,
                               taper_error *error) {
    if (front->model_id != model->info.id)
        return formats_fail(
            error, TAPER_ERR_MODEL,
            "container was made with model %016llx, this is %016llx; give the right one with -m",
            (unsigned long long)front->model_id, (unsigned long long)model->info.id);
    if (!codec_network_has_decoder(&model->network))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container claims an embedding model, which has no decoder");
    uint32_t passes = formats_front_passes(front, front->layers - 1);
    if (passes > model->tables.n_passes)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container claims %u passes, its model has %u", passes,
                            model->tables.n_passes);
    return front->geometry ? codec_front_match_images(front, model, error) : TAPER_OK;
}

/* Keep only those errors of a model check that say that the model is damaged. */
static taper_status only_damage(taper_status status, const taper_error *why, taper_error *error) {
    if (status != TAPER_ERR_CORRUPT && status != TAPER_ERR_NOMEM) return TAPER_OK;
    if (error) *error = *why;
    return status;
}

taper_status codec_front_check_models(const formats_front *front, int is_known,
                                      const taper_limits *limits, taper_error *error) {
    taper_error why = {0};
    taper_model *model = NULL;
    if (front->model && !is_known) {
        taper_status status = codec_front_model(front, limits, &model, &why);
        if (status == TAPER_OK) status = codec_front_match(front, model, &why);
        taper_model_free(model);
        TAPER_TRY(only_damage(status, &why, error));
    }
    if (!front->search_model) return TAPER_OK;
    const taper_status status = codec_front_search_model(front, limits, &model, &why);
    if (status == TAPER_OK) taper_model_free(model);
    return only_damage(status, &why, error);
}
