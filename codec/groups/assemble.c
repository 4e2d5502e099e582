/* assemble.c -- see assemble.h. */
#include "codec/groups/assemble.h"
#include "formats/holds.h"
#include <stdlib.h>
#include <string.h>

enum { COPY_BLOCK = 1 << 17 };

uint32_t codec_checksum_span(uint8_t layout, uint64_t data_bytes, uint64_t chunks) {
    enum { BYTES_PER_CHECKSUM = 4096, MOST = FORMATS_MAX_CHECKSUM_SPAN };
    if (layout == 0 || chunks == 0) return 1;
    uint64_t mean = data_bytes / chunks + 1, span = BYTES_PER_CHECKSUM / mean;
    return (uint32_t)(span < 1 ? 1 : span > MOST ? MOST : span);
}

/* The first layer is enough for a thumbnail, and each further one is 1.5 times as large as all
 * before it. */
int codec_ends_small_layer(uint64_t size, uint64_t written, uint64_t pixels) {
    enum { LEAST = 12, MOST = 64 };
    return size >= LEAST + pixels / 8192 && 2 * size >= 5 * written && size <= MOST + pixels / 128;
}

/* --- shortening ------------------------------------------------------------------------ */

static taper_status front_size(formats_front *f, uint64_t *size, taper_error *error) {
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    out.account = formats_front_account(f);
    taper_status status = formats_front_write(f, &out, error);
    *size = f->front_size;
    formats_buffer_free(&out);
    return status;
}

/* A stage of the model behind the last passes is of no use. */
static void drop_last_stages(formats_front *f) {
    while (f->layers > 1 && formats_front_layer_kind(f, f->layers - 1) == FORMATS_LAYER_MODEL)
        f->layers--, f->tail = 0, f->first_cut = 0;
}

static void clip(formats_front *f, uint64_t budget) {
    budget = formats_front_drawn(f, budget); /* bytes that are not rendered can be omitted */
    uint64_t chunk = 0, chunks = (uint64_t)f->layers * f->groups;
    while (chunk < chunks && f->chunk_at[chunk + 1] <= budget) chunk++;
    if (chunk == chunks) return;
    /* `chunk` is the first that does not fit. It is cut, and the groups after it are empty. */
    uint32_t group = (uint32_t)(chunk % f->groups), layer = (uint32_t)(chunk / f->groups);
    int cut_before = f->tail && layer + 1 == f->layers &&
                     f->first_cut < group; /* earlier chunks are cut already */
    f->tail = 1;
    f->layers = layer + 1;
    if (!cut_before) f->first_cut = group;
    if (group == 0 && layer > 0 && budget == f->chunk_at[chunk]) { /* between two layers */
        f->layers = layer;
        f->tail = 0;
        return;
    }
    for (uint64_t c = chunk; c < (uint64_t)f->layers * f->groups; c++) f->chunk_at[c + 1] = budget;
}

void codec_clip_data(formats_front *f, uint64_t budget) {
    clip(f, budget);
    drop_last_stages(f);
}

static void shorten_images(formats_front *f, uint64_t budget) {
    uint64_t *chunk_at = f->chunk_at, groups = f->groups;
    if (chunk_at[f->layers * groups] <= budget) return;
    if (f->layers * groups > 1) f->holds = 0; /* holds are valid for prefixes of the data only */
    for (; f->layers > 1 && chunk_at[(f->layers - 1) * groups] >= budget; f->layers--)
        f->tail = 0, f->first_cut = 0;
    drop_last_stages(f);
    uint64_t first = (f->layers - 1) * groups, chunks = first + groups, at = chunk_at[first],
             total = chunk_at[chunks] - at;
    if (chunk_at[chunks] <= budget) return;
    double fraction = (double)(budget - at) / (double)total;
    for (uint64_t c = first, begin = at; c < chunks; c++) {
        /* the end is rounded, not the length, as chunks may all be of one length */
        uint64_t kept = (uint64_t)((double)(chunk_at[c + 1] - begin) * fraction);
        chunk_at[c + 1] = at + formats_holds_drawn(f->holds, kept);
    }
    f->tail = 1;
    f->first_cut = 0;
}

void codec_shorten_data(formats_front *f, uint64_t budget) {
    if (f->layout == 0)
        codec_clip_data(f, budget);
    else
        shorten_images(f, budget);
}

/* Shorten the chunks to a budget. was, full: the unshortened state. *total: the container's size.
 */
static taper_status try_budget(formats_front *f, const formats_front *was, const uint64_t *full,
                               uint64_t budget, uint64_t *total, taper_error *error) {
    f->layers = was->layers;
    f->tail = was->tail;
    f->first_cut = was->first_cut;
    memcpy(f->chunk_at, full, ((size_t)was->layers * was->groups + 1) * sizeof *full);
    codec_shorten_data(f, budget);
    TAPER_TRY(front_size(f, total, error));
    *total += f->chunk_at[(uint64_t)f->layers * f->groups];
    return TAPER_OK;
}

/* Find the largest budget that fits, or nearly so after a fixed number of rounds. The size of the
 * directory depends on the layers, so each guess is corrected by the last difference, or the
 * interval is halved. Corrections double while the size stays too large, as it has steps. */
static taper_status search_budget(formats_front *f, const formats_front *was, const uint64_t *full,
                                  uint64_t max_bytes, taper_error *error) {
    enum { ROUNDS = 16 };
    uint64_t low = 0, high = full[(uint64_t)was->layers * was->groups], total, at = 0;
    TAPER_TRY(try_budget(f, was, full, 0, &total, error));
    if (total > max_bytes)
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "%llu byte%s less than the front matter of the container, %llu bytes",
                            (unsigned long long)max_bytes, max_bytes == 1 ? " is" : "s are",
                            (unsigned long long)total);
    for (int round = 0, above = 0; round < ROUNDS && high - low > 1; round++) {
        if (total <= max_bytes && max_bytes - total <= max_bytes / 8192) break; /* close enough */
        above = total > max_bytes ? above + 1 : 0;
        uint64_t guess = above ? at - ((total - max_bytes) << (above - 1)) : at + max_bytes - total;
        if (guess <= low || guess >= high) guess = low + (high - low) / 2;
        at = guess;
        TAPER_TRY(try_budget(f, was, full, at, &total, error));
        if (total <= max_bytes)
            low = at;
        else
            high = at;
    }
    return at == low ? TAPER_OK : try_budget(f, was, full, low, &total, error);
}

/* Shorten the chunks so that the container has about max_bytes. The size is an estimate: the new
 * checksums, which are part of the front matter, are not known yet. */
static taper_status shorten(formats_front *f, uint64_t max_bytes, taper_error *error) {
    size_t chunks = (size_t)f->layers * f->groups;
    uint64_t front;
    TAPER_TRY(front_size(f, &front, error));
    if (front + f->chunk_at[chunks] <= max_bytes) return TAPER_OK;
    uint64_t *full;
    TAPER_TRY(formats_front_take(f, chunks, sizeof *full, &full, error));
    formats_front was = *f;
    memcpy(full, f->chunk_at, (chunks + 1) * sizeof *full);
    taper_status status = search_budget(f, &was, full, max_bytes, error);
    free(full);
    formats_account_give(formats_front_account(f), (chunks + 1) * sizeof *full);
    return status;
}

/* --- checksums ------------------------------------------------------------------------- */

static uint32_t blocks_of_layer(const formats_front *f) {
    return (f->groups + f->chunks_per_checksum - 1) / f->chunks_per_checksum;
}

/* The checksum of a chunk's bytes, block by block of `room`, behind those of *sum. */
static taper_status sum_chunk(const codec_chunks *chunks, uint32_t layer, uint32_t group,
                              uint64_t length, uint8_t *room, uint32_t *sum) {
    for (uint64_t at = 0; at < length; at += COPY_BLOCK) {
        const size_t n = length - at < COPY_BLOCK ? (size_t)(length - at) : COPY_BLOCK;
        TAPER_TRY(chunks->read(chunks->user, layer, group, at, room, n));
        *sum = formats_crc32c(*sum, room, n);
    }
    return TAPER_OK;
}

/* Read all chunks for their checksums, which are 0 before. */
static taper_status sum_chunks(formats_front *f, const codec_chunks *chunks) {
    const uint32_t blocks = blocks_of_layer(f);
    uint8_t *room = malloc(COPY_BLOCK);
    taper_status status = room ? TAPER_OK : TAPER_ERR_NOMEM;
    for (uint32_t l = 0; l < f->layers && status == TAPER_OK; l++)
        for (uint32_t g = 0; g < f->groups && status == TAPER_OK; g++) {
            const uint64_t *at = f->chunk_at + (uint64_t)l * f->groups + g;
            status = sum_chunk(chunks, l, g, at[1] - at[0], room,
                               &f->checksum[(size_t)l * blocks + g / f->chunks_per_checksum]);
        }
    free(room);
    return status;
}

static void take_checksums(formats_front *f, const codec_chunks *chunks) {
    const uint32_t blocks = blocks_of_layer(f);
    for (uint32_t l = 0; l < f->layers; l++)
        for (uint32_t b = 0; b < blocks; b++)
            f->checksum[(size_t)l * blocks + b] = chunks->checksum(chunks->user, l, b);
}

/* --- writing --------------------------------------------------------------------------- */

/* What is read and not written yet, so that small chunks are written together. */
typedef struct copying {
    const codec_chunks *chunks;
    const taper_sink *to;
    size_t held;
    uint8_t bytes[COPY_BLOCK];
} copying;

static taper_status flush_copy(copying *c) {
    const size_t n = c->held;
    c->held = 0;
    return n ? c->to->write(c->to->user, c->bytes, n) : TAPER_OK;
}

static taper_status copy_run(copying *c, uint32_t layer, uint32_t group, uint64_t length) {
    for (uint64_t at = 0; at < length;) {
        const size_t room = COPY_BLOCK - c->held,
                     n = length - at < room ? (size_t)(length - at) : room;
        TAPER_TRY(c->chunks->read(c->chunks->user, layer, group, at, c->bytes + c->held, n));
        c->held += n, at += n;
        if (c->held == COPY_BLOCK) TAPER_TRY(flush_copy(c));
    }
    return TAPER_OK;
}

static taper_status copy_chunks(const formats_front *f, const codec_chunks *chunks,
                                const taper_sink *to) {
    copying *c = malloc(sizeof *c);
    if (!c) return TAPER_ERR_NOMEM;
    c->chunks = chunks, c->to = to, c->held = 0;
    taper_status status = TAPER_OK;
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint64_t *at = f->chunk_at + (uint64_t)l * f->groups;
        for (uint32_t g = 0, n; g < f->groups && status == TAPER_OK; g += n) {
            n = chunks->run ? chunks->run(chunks->user, l, g) : 1;
            status = copy_run(c, l, g, at[g + n] - at[g]);
        }
    }
    if (status == TAPER_OK) status = flush_copy(c);
    free(c);
    return status;
}

/* Allocate the checksums; shortening does not increase their number. A front that was read keeps
 * its old ones until now: their packed size is an estimate for the new ones. */
static taper_status make_checksums(formats_front *f, taper_error *error) {
    return f->checksum ? TAPER_OK
                       : formats_front_take(f, formats_front_checksums(f), sizeof *f->checksum,
                                            &f->checksum, error);
}

/* Compute or take the checksums, and serialise the front matter. */
static taper_status write_front(formats_front *f, const codec_chunks *chunks, formats_buffer *front,
                                taper_error *error) {
    memset(f->checksum, 0, (size_t)formats_front_checksums(f) * sizeof *f->checksum);
    formats_buffer_clear(front);
    if (chunks->checksum)
        take_checksums(f, chunks);
    else
        TAPER_TRY(sum_chunks(f, chunks));
    return formats_front_write(f, front, error);
}

/* The size of the container with this front matter. */
static uint64_t size_with(const formats_front *f, const formats_buffer *front) {
    return front->size + f->chunk_at[(uint64_t)f->layers * f->groups];
}

/* The same, with a container of at most max_bytes: packed, the new checksums may be larger than the
 * old ones. */
static taper_status fit_front(formats_front *f, const codec_chunks *chunks, uint64_t max_bytes,
                              formats_buffer *front, taper_error *error) {
    uint64_t most = max_bytes, total;
    do {
        TAPER_TRY(shorten(f, most, error));
        TAPER_TRY(write_front(f, chunks, front, error));
        total = size_with(f, front);
        uint64_t over = total > max_bytes ? total - max_bytes : 0;
        most = over < most ? most - over
                           : 0; /* decreases in each round; 0 is too small for any front matter */
    } while (total > max_bytes);
    return TAPER_OK;
}

/* Parse the front matter before anything is written, with a reader's rules and limits. */
static taper_status read_again(formats_front *f, const formats_buffer *front,
                               const taper_limits *given, taper_error *error) {
    formats_front again;
    taper_error why = {0};
    taper_limits limits = formats_limits_or_default(given);
    uint64_t left = f->account.limit - f->account.used;
    if (f->account.limit && left < limits.max_memory)
        limits = formats_limits_minus(&limits, limits.max_memory - left);
    taper_status status = formats_front_read(front->data, front->size, &limits, &again, &why);
    if (status == TAPER_OK) {
        uint64_t chunks = (uint64_t)f->layers * f->groups;
        if (again.front_size != front->size || again.images != f->images ||
            (uint64_t)again.layers * again.groups != chunks ||
            again.chunk_at[chunks] != f->chunk_at[chunks])
            status = formats_fail(&why, TAPER_ERR_CORRUPT, "another container than was made");
        formats_front_free(&again);
    }
    if (status == TAPER_OK) return status;
    return formats_fail_as(error, status, &why,
                           "the result cannot be read again, so it is not written: %s", why.text);
}

taper_status codec_assemble(formats_front *f, const codec_chunks *chunks, uint64_t max_bytes,
                            const taper_limits *limits, const taper_sink *to, taper_error *error) {
    formats_buffer front = formats_buffer_make(FORMATS_MOST_BYTES);
    front.account = formats_front_account(f);
    /* The packed size of old checksums is part of the estimate, so new ones are computed first. */
    const int is_whole = max_bytes == UINT64_MAX || !f->checksum;
    taper_status status = make_checksums(f, error);
    if (status == TAPER_OK && is_whole) status = write_front(f, chunks, &front, error);
    if (status == TAPER_OK && !(is_whole && size_with(f, &front) <= max_bytes))
        status = fit_front(f, chunks, max_bytes, &front, error);
    int is_limit = status == TAPER_ERR_LIMIT;
    if (status == TAPER_OK && chunks->written) chunks->written(chunks->user);
    if (status == TAPER_OK) {
        status = read_again(f, &front, limits, error);
        is_limit = status != TAPER_OK;
    }
    if (status == TAPER_OK) status = to->write(to->user, front.data, front.size);
    formats_buffer_free(&front);
    if (status == TAPER_OK) status = copy_chunks(f, chunks, to);
    return status == TAPER_OK || is_limit
               ? status
               : formats_fail(error, status, "the container could not be written (%s)",
                              formats_status_name(status));
}
