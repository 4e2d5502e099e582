/* encoder_finish.c -- taper_encoder_finish: the container from the spool; and the quality. */
#include "codec/groups/allocation.h"
#include "codec/groups/stage_layers.h"
#include "codec/container/encoder_groups.h"
#include "codec/container/encoder_layers.h"
#include "codec/container/small_set.h"
#include "codec/taper_quality.h"
#include "formats/atomic_file.h"
#include "formats/merge_metadata.h"
#include "formats/set_part.h"
#include "formats/sized.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the front matter -------------------------------------------------------------------- */

/* Offsets of n strings in a buffer; each ends with a 0. */
static taper_status string_offsets(formats_front *f, const formats_buffer *strings, size_t n,
                                   uint32_t **out, taper_error *error) {
    uint32_t used = 0;
    TAPER_TRY(formats_front_take(f, n, sizeof **out, out, error));
    for (size_t i = 0; i < n; i++) {
        (*out)[i] = used;
        used += (uint32_t)strlen((const char *)strings->data + used) + 1;
    }
    return TAPER_OK;
}

/* Find the rate classes that the container keeps: those that have images; and all that may have
 * some where it will be merged, so that such containers have the same ones. Images without windows
 * are in one class. */
static void find_used_classes(const taper_encoder *e, const formats_front *f, uint8_t *used) {
    const uint32_t n = e->waiting.is_early ? CODEC_EARLY_CLASSES : e->layers.rate_classes,
                   first = (e->layers.rate_classes - n) / 2;
    int all = 0;
    memset(used, 0, FORMATS_MAX_RATE_CLASSES);
    for (size_t i = 0; i < e->set.images; i++) {
        used[e->set.rate_class[i]] = 1;
        all |= e->options.for_merge && !f->geometry[i].indexed;
    }
    if (all) memset(used + first, 1, n);
}

/* Move the rate classes that are kept to the front, and number them. */
static taper_status move_rate_classes(taper_encoder *e, formats_front *f, taper_error *error) {
    uint8_t used[FORMATS_MAX_RATE_CLASSES], number[FORMATS_MAX_RATE_CLASSES] = {0};
    uint32_t *to = e->layers.end;
    find_used_classes(e, f, used);
    f->rate_classes = 0;
    for (uint32_t t = 0; t < e->layers.rate_classes; t++)
        if (used[t]) number[t] = (uint8_t)f->rate_classes++;
    for (size_t i = 0; i < (size_t)e->layers.n * e->layers.rate_classes; i++)
        if (used[i % e->layers.rate_classes]) *to++ = e->layers.end[i];
    f->layer_end = e->layers.end, e->layers.end = NULL;
    if (f->rate_classes == 1) return TAPER_OK;
    for (size_t i = 0; i < e->set.images; i++) e->set.rate_class[i] = number[e->set.rate_class[i]];
    for (size_t g = 0; g < e->spool.groups; g++)
        e->spool.rate_class[g] = number[e->spool.rate_class[g]];
    f->image_rate_class = e->set.rate_class, e->set.rate_class = NULL;
    f->group_rate_class = e->spool.rate_class, e->spool.rate_class = NULL;
    TAPER_TRY(formats_front_charge(f, 8 * ((uint64_t)f->images + 1), error));
    return formats_front_place_images(f);
}

/* Copy the raised planes of all groups to the front. */
static taper_status move_raised(const taper_encoder *e, formats_front *f, taper_error *error) {
    size_t n = 0;
    for (size_t g = 0; g < e->spool.groups; g++) n += e->spool.group[g].of.n_raised;
    if (!n) return TAPER_OK;
    if (n > UINT32_MAX) return TAPER_ERR_NOMEM;
    TAPER_TRY(formats_front_take(f, f->groups, sizeof *f->raised_at, &f->raised_at, error));
    TAPER_TRY(formats_front_take(f, n, sizeof *f->raised, &f->raised, error));
    for (size_t g = 0; g < e->spool.groups; g++) {
        const codec_written_group *of = &e->spool.group[g].of;
        if (of->n_raised)
            memcpy(f->raised + f->raised_at[g], of->raised, of->n_raised * sizeof *of->raised);
        f->raised_at[g + 1] = f->raised_at[g] + of->n_raised;
    }
    return TAPER_OK;
}

static taper_status move_names(taper_encoder *e, formats_front *f, taper_error *error) {
    if (e->set.any_name) {
        TAPER_TRY(string_offsets(f, &e->set.names, e->set.images, &f->name_at, error));
        f->names = (char *)formats_buffer_take(&e->set.names, &(size_t){0});
    }
    if (!e->set.any_label) return TAPER_OK;
    TAPER_TRY(string_offsets(f, &e->set.class_names, e->set.classes, &f->class_name_at, error));
    f->classes = e->set.classes;
    f->class_names = (char *)formats_buffer_take(&e->set.class_names, &(size_t){0});
    f->label = e->set.label, e->set.label = NULL;
    for (size_t i = 0; i < e->set.images; i++)
        if (f->label[i] < 0 || (uint32_t)f->label[i] >= f->classes) f->label[i] = -1;
    return TAPER_OK;
}

static void move_further_names(taper_encoder *e, formats_front *f) {
    f->alsos = (uint32_t)e->set.alsos;
    f->also = e->set.also, e->set.also = NULL;
    f->also_names = (char *)formats_buffer_take(&e->set.also_names, &(size_t){0});
    for (uint32_t k = 0; k < f->alsos; k++)
        if (!f->label || (uint32_t)f->also[k].label >= f->classes) f->also[k].label = -1;
}

static taper_status give_part(const taper_encoder *e, formats_front *f, taper_error *error) {
    if (!e->set.has_part) return TAPER_OK;
    f->part = e->set.part, f->has_part = 1;
    if (formats_set_part_is_legal(&f->part, (uint64_t)f->images + f->alsos)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "taper_encoder_set_part: %llu images are stored and %llu left out, and the "
                        "part has another number",
                        (unsigned long long)f->images + f->alsos,
                        (unsigned long long)f->part.left_out);
}

static taper_status move_metadata(taper_encoder *e, formats_front *f, taper_error *error) {
    f->metadata = e->set.carried_metadata, e->set.carried_metadata = NULL;
    f->metadata_size = e->set.carried_metadata_size;
    return e->set.metadata ? formats_metadata_give(e->set.metadata, f, error) : TAPER_OK;
}

static taper_status embed_model(const taper_encoder *e, formats_front *f, taper_error *error) {
    if (!e->options.embed_model) return TAPER_OK;
    TAPER_TRY(formats_front_take(f, e->options.model_size, 1, &f->model, error));
    memcpy(f->model, e->options.model_bytes, e->options.model_size);
    f->model_size = e->options.model_size;
    return TAPER_OK;
}

/* --- the order of layers ----------------------------------------------------------------- */

/* The bounds of the chunk of layer l of the container and group g, from the group's place in the
 * spool. */
static void chunk_bounds(const taper_encoder *e, uint32_t l, uint32_t g, uint64_t *begin,
                         uint64_t *end) {
    const codec_written_group *of = &e->spool.group[g].of;
    const uint8_t kind = e->order.kind[l];
    const uint64_t *at =
        kind == FORMATS_LAYER_PASSES ? of->chunk_at + e->order.from[l] : of->pixel_at + kind - 1;
    *begin = at[0], *end = at[1];
}

/* Bytes of a layer of passes in all groups; and of a pixel layer. */
static uint64_t bytes_of_passes(const taper_encoder *e, uint32_t layer) {
    uint64_t sum = 0;
    for (size_t g = 0; g < e->spool.groups; g++) {
        const uint64_t *at = e->spool.group[g].of.chunk_at + layer;
        sum += at[1] - at[0];
    }
    return sum;
}

static uint64_t bytes_of_pixels(const taper_encoder *e, int kind) {
    uint64_t sum = 0;
    for (size_t g = 0; g < e->spool.groups; g++) {
        const uint64_t *at = e->spool.group[g].of.pixel_at + kind;
        sum += at[0] - at[-1];
    }
    return sum;
}

static void append_layer(codec_encoder_order *o, int kind, uint32_t from) {
    o->kind[o->n] = (uint8_t)kind, o->from[o->n++] = (uint16_t)from;
}

/* In layout set a pixel layer follows the layers of passes that have as many bytes as it, or as a
 * multiple of it: so neither drawings nor photographs have to wait for the others. In other layouts
 * the first is in front, as layers are left out from the end. */
static void order_layers(taper_encoder *e, uint32_t has_first, int has_windows) {
    enum { ALPHA_AFTER = 4 /* times its bytes: lower bits of alpha are hardly seen */ };
    const uint64_t first = has_first ? bytes_of_pixels(e, FORMATS_LAYER_FIRST) : 0,
                   alpha = bytes_of_pixels(e, FORMATS_LAYER_ALPHA);
    const int is_set = e->options.layout == TAPER_LAYOUT_SET;
    int waits_first = has_first != 0, waits_alpha = alpha > 0;
    uint64_t passes = 0;
    e->order.n = 0;
    for (uint32_t l = 0; has_windows && l < e->layers.n; l++) {
        const uint64_t next = passes + bytes_of_passes(e, l);
        if (waits_first && (!is_set || next > first))
            append_layer(&e->order, FORMATS_LAYER_FIRST, 0), waits_first = 0;
        if (!waits_first && waits_alpha && is_set && next > first + ALPHA_AFTER * alpha)
            append_layer(&e->order, FORMATS_LAYER_ALPHA, 0), waits_alpha = 0;
        append_layer(&e->order, FORMATS_LAYER_PASSES, l);
        passes = next;
    }
    if (waits_first) append_layer(&e->order, FORMATS_LAYER_FIRST, 0);
    if (waits_alpha) append_layer(&e->order, FORMATS_LAYER_ALPHA, 0);
    if (bytes_of_pixels(e, FORMATS_LAYER_EXACT)) append_layer(&e->order, FORMATS_LAYER_EXACT, 0);
}

/* Insert pixel layers into the front's list of layers, which has those of passes. */
static taper_status move_layers(taper_encoder *e, formats_front *f, taper_error *error) {
    uint32_t planes = 0, windows = 0;
    for (uint32_t i = 0; i < f->images; i++) {
        planes += codec_pixels_has_plane(&f->geometry[i]);
        windows += !f->geometry[i].indexed;
    }
    order_layers(e, planes, windows > 0);
    if (e->order.n == e->layers.n && !planes) return TAPER_OK;
    const uint32_t classes = f->rate_classes;
    uint32_t *end = f->layer_end;
    f->layers = e->order.n;
    f->layer_end = NULL;
    taper_status status = formats_front_take(f, (uint64_t)f->layers * classes, sizeof *f->layer_end,
                                             &f->layer_end, error);
    if (status == TAPER_OK) status = formats_front_take(f, f->layers, 1, &f->layer_kind, error);
    for (uint32_t l = 0; status == TAPER_OK && l < f->layers; l++) {
        const uint32_t *from = end + (size_t)e->order.from[l] * classes;
        if (e->order.kind[l] != FORMATS_LAYER_PASSES) /* as before, or 0 */
            from = l ? f->layer_end + (size_t)(l - 1) * classes : f->layer_end;
        f->layer_kind[l] = e->order.kind[l];
        memmove(f->layer_end + (size_t)l * classes, from, classes * sizeof *from);
    }
    free(end);
    f->has_pixels = status == TAPER_OK;
    return status;
}

/* --- the front, continued ---------------------------------------------------------------- */

/* Move the encoder's lists to a front. Its account continues from the encoder's. */
static taper_status make_front(taper_encoder *e, formats_front *f, taper_error *error) {
    *f = (formats_front){.model_id = e->model->info.id,
                         .layout = (uint8_t)e->options.layout,
                         .images = (uint32_t)e->set.images,
                         .groups = (uint32_t)e->spool.groups,
                         .layers = e->layers.n,
                         .chunks_per_checksum = 1,
                         .account = *e->shared.account};
    f->geometry = e->set.geometry, e->set.geometry = NULL;
    f->group_first = e->spool.first, e->spool.first = NULL;
    f->group_first[f->groups] = f->images;
    TAPER_TRY(move_rate_classes(e, f, error));
    TAPER_TRY(move_layers(e, f, error));
    const uint64_t chunks = (uint64_t)f->layers * f->groups;
    TAPER_TRY(formats_front_take(f, chunks, sizeof *f->chunk_at, &f->chunk_at, error));
    TAPER_TRY(move_raised(e, f, error));
    for (uint32_t l = 0; l < f->layers; l++)
        for (uint32_t g = 0; g < f->groups; g++) {
            uint64_t c = (uint64_t)l * f->groups + g;
            uint64_t begin, end;
            chunk_bounds(e, l, g, &begin, &end);
            f->chunk_at[c + 1] = f->chunk_at[c] + end - begin;
        }
    TAPER_TRY(move_names(e, f, error));
    f->search_model_id = e->search.model_id, f->search_bits = e->search.bits;
    f->search_codes = e->search.codes, e->search.codes = NULL;
    f->search_model = e->search.model, e->search.model = NULL;
    f->search_model_size = e->search.model_size;
    move_further_names(e, f);
    TAPER_TRY(give_part(e, f, error));
    TAPER_TRY(move_metadata(e, f, error));
    TAPER_TRY(embed_model(e, f, error));
    f->chunks_per_checksum = codec_checksum_span(f->layout, f->chunk_at[chunks], chunks);
    return TAPER_OK;
}

/* --- the quality ------------------------------------------------------------------------- */

/* Nonzero if the images of a group ended at their aims, not at what the model represents. */
static int ended_at_aim(const taper_encoder *e, const formats_front *f, uint32_t g) {
    return e->aims.are_set &&
           formats_front_layer_end(f, f->layers - 1, g) < e->model->tables.n_passes;
}

/* Find the worst image over all groups; `front` maps places to images. TAPER_ERR_NOMEM. */
static taper_status find_quality(taper_encoder *e, const formats_front *f) {
    taper_encode_quality *q = &e->quality.of;
    uint64_t measured = 0;
    *q = (taper_encode_quality){.least_psnr_db = TAPER_PSNR_CEILING_DB};
    for (uint32_t g = 0; g < f->groups; g++) {
        const codec_least_quality *of = &e->spool.group[g].of.least;
        uint32_t place = f->group_first[g] + (uint32_t)of->image;
        q->mean_psnr_db += of->sum_db;
        measured += of->images;
        if (!ended_at_aim(e, f, g)) q->poor += of->poor;
        if (of->psnr_db > q->least_psnr_db) continue;
        uint32_t image = formats_front_image(f, place);
        if (of->psnr_db == q->least_psnr_db && q->least_image < image) continue;
        q->least_psnr_db = of->psnr_db, q->least_image = image;
    }
    for (uint32_t i = 0; i < f->images; i++)
        q->exact += e->options.lossless || f->geometry[i].indexed;
    q->mean_psnr_db = measured ? q->mean_psnr_db / (double)measured : 0;
    const char *name = formats_front_name(f, (uint32_t)q->least_image);
    size_t bytes = name ? strlen(name) + 1 : 0;
    e->quality.least_name = name ? malloc(bytes) : NULL;
    if (name && !e->quality.least_name) return TAPER_ERR_NOMEM;
    if (name) q->least_name = memcpy(e->quality.least_name, name, bytes);
    e->quality.is_known = 1;
    return TAPER_OK;
}

taper_status taper_encoder_quality(const taper_encoder *e, taper_encode_quality *out,
                                   taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(out, "the quality's place", error));
    if (!e->quality.is_known)
        return formats_fail(error, TAPER_ERR_ARG,
                            "no quality was measured: it takes options.measure, and "
                            "taper_encoder_finish first");
    return formats_sized_give(out, &e->quality.of, sizeof *out, "taper_encode_quality", error);
}

/* The quality of a small set whose data end before its codes do. psnr: [n] of each image, in the
 * order of places. */
static codec_least_quality least_of(const double *psnr, size_t n) {
    codec_least_quality least = {.psnr_db = INFINITY, .images = n};
    for (size_t i = 0; i < n; i++) {
        if (psnr[i] < least.psnr_db) least.psnr_db = psnr[i], least.image = i;
        least.sum_db += psnr[i];
        least.poor += psnr[i] < TAPER_POOR_PSNR_DB;
    }
    return least;
}

/* --- aims -------------------------------------------------------------------------------- */

/* Complete passes of a group in the container. */
static uint32_t passes_kept(const formats_front *f, uint32_t g) {
    const uint32_t layers = f->layers - (f->tail && g >= f->first_cut);
    return layers ? formats_front_layer_end(f, layers - 1, g) : 0;
}

/* Bytes of a group behind so many passes. */
static double bytes_behind(const formats_front *f, uint32_t g, uint32_t passes) {
    double bytes = 0;
    for (uint32_t l = 0, begin = 0, end; l < f->layers; l++, begin = end) {
        const uint64_t c = (uint64_t)l * f->groups + g;
        end = formats_front_layer_end(f, l, g);
        if (end <= passes || end <= begin) continue;
        const uint32_t from = begin > passes ? begin : passes;
        bytes += (double)(f->chunk_at[c + 1] - f->chunk_at[c]) * (end - from) / (end - begin);
    }
    return bytes;
}

/* The shortest cut of the container in which all groups have their aims; 0: there is none. */
static uint64_t cut_of_aims(const formats_front *f, const uint32_t *aim) {
    const uint32_t layers = f->layers - f->tail;
    uint32_t g = 0, l = 0;
    for (; g < f->groups && l < layers; g++)
        while (l < layers && formats_front_layer_end(f, l, g) < aim[g]) l++;
    return l < layers ? f->front_size + f->chunk_at[((uint64_t)l + 1) * f->groups] : 0;
}

/* aim: [groups] the passes that each group needs. */
static void report_aims(taper_encoder *e, const formats_front *f, const uint32_t *aim) {
    taper_aim_report *r = &e->aims.report;
    uint32_t least = UINT32_MAX;
    double ahead = 0;
    for (uint32_t g = 0; g < f->groups; g++)
        if (passes_kept(f, g) < least) least = passes_kept(f, g);
    *r = (taper_aim_report){.below = e->aims.out_of_reach};
    for (uint32_t g = 0; g < f->groups; g++) {
        const uint32_t images = f->group_first[g + 1] - f->group_first[g];
        if (passes_kept(f, g) < aim[g]) r->below += images;
        if (!e->options.beyond_aims || passes_kept(f, g) <= least) continue;
        r->ahead += images;
        ahead += bytes_behind(f, g, least);
    }
    r->ahead_bytes = (uint64_t)ahead;
    r->cut = cut_of_aims(f, aim);
    e->aims.is_reported = 1;
}

/* [groups] the passes that the aims of each group need; NULL: there are no aims, or no memory. */
static uint32_t *aims_of_groups(const taper_encoder *e) {
    uint32_t *aim = e->aims.are_set ? malloc((e->spool.groups + 1) * sizeof *aim) : NULL;
    for (size_t g = 0; aim && g < e->spool.groups; g++)
        aim[g] = e->aims.end[e->spool.rate_class[g]];
    return aim;
}

taper_status taper_encoder_aims(const taper_encoder *e, taper_aim_report *out, taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(out, "the report's place", error));
    if (!e->aims.is_reported)
        return formats_fail(error, TAPER_ERR_ARG,
                            "there is no report of aims: it takes taper_encoder_set_aim, and "
                            "taper_encoder_finish first");
    return formats_sized_give(out, &e->aims.report, sizeof *out, "taper_aim_report", error);
}

/* --- finishing --------------------------------------------------------------------------- */

static taper_status read_spool(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                               size_t n) {
    taper_encoder *e = user;
    uint64_t begin, end;
    chunk_bounds(e, layer, group, &begin, &end);
    const uint64_t at = e->spool.group[group].spool_at + begin + from;
    if (fseeko(e->spool.file, (off_t)at, SEEK_SET) || fread(to, 1, n, e->spool.file) != n)
        return TAPER_ERR_IO;
    return TAPER_OK;
}

/* The last step of a small set (small_set.h). */
static taper_status finish_small_set(taper_encoder *e, formats_front *f, const codec_chunks *chunks,
                                     taper_error *error) {
    uint32_t windowed = 0;
    for (uint32_t i = 0; i < f->images; i++) windowed += !f->geometry[i].indexed;
    if (!e->originals.n || !windowed || f->groups > 1 || f->rate_classes > 1) return TAPER_OK;
    double *psnr = malloc(e->originals.n * sizeof *psnr);
    codec_small_set set = {e->model, &e->originals, chunks, &e->limits};
    int ended = 0;
    taper_status status = psnr ? codec_small_set_finish(&set, f, psnr, &ended) : TAPER_ERR_NOMEM;
    if (status != TAPER_OK) formats_fail(error, status, "no memory to measure the cuts");
    if (status == TAPER_OK && ended && !e->options.target_bytes_per_megapixel)
        e->spool.group[0].of.least = least_of(psnr, e->originals.n);
    free(psnr);
    return status;
}

static uint64_t total_pixels(const formats_front *f) {
    uint64_t pixels = 0;
    for (uint32_t i = 0; i < f->images; i++)
        pixels += (uint64_t)f->geometry[i].width * f->geometry[i].height;
    return pixels;
}

/* Shorten the data to the target. Data of a single group may also end early, behind its limit. */
static void shorten_to_limit(const taper_encoder *e, formats_front *f) {
    const uint64_t data = f->chunk_at[(uint64_t)f->layers * f->groups],
                   limit = e->spool.group[0].most;
    double most = (double)e->options.target_bytes_per_megapixel * (double)total_pixels(f) / 1e6;
    if (!e->options.target_bytes_per_megapixel || e->options.lossless) most = INFINITY;
    if (f->groups == 1 && limit && (double)limit < most) most = (double)limit;
    if ((double)data > most) codec_shorten_data(f, (uint64_t)most);
}

/* The container's front matter, shortened to the target, after the last step of a small set. */
static taper_status prepare_front(taper_encoder *e, formats_front *f, const codec_chunks *chunks,
                                  taper_error *error) {
    codec_encoder_drop_layers(e);
    const taper_status status = make_front(e, f, error);
    if (status == TAPER_ERR_NOMEM)
        formats_fail(error, status, "no memory for the container's directory");
    TAPER_TRY(status);
    shorten_to_limit(e, f);
    TAPER_TRY(finish_small_set(e, f, chunks, error));
    return e->options.measure ? find_quality(e, f) : TAPER_OK;
}

static taper_status write_container(taper_encoder *e, const taper_sink *sink, taper_error *error) {
    formats_front f = {.images = 0};
    const codec_chunks spooled = {.user = e, .read = read_spool};
    codec_stage_layers stages = {.front = NULL};
    uint32_t *aim = aims_of_groups(e);
    taper_status status = prepare_front(e, &f, &spooled, error);
    if (status == TAPER_OK)
        status = codec_stage_layers_insert(&f, &spooled, &e->limits, &stages, error);
    const uint64_t data = status ? 0 : formats_front_data(&f);
    if (status == TAPER_OK)
        status = codec_assemble(&f, &stages.chunks, e->max_bytes, &e->limits, sink, error);
    if (status == TAPER_OK)
        e->is_short = e->options.target_bytes_per_megapixel && e->max_bytes < UINT64_MAX &&
                      formats_front_data(&f) == data && formats_front_passes(&f, f.layers - 1) &&
                      f.front_size + data < e->max_bytes &&
                      formats_front_passes(&f, f.layers - 1) < e->model->tables.n_passes;
    if (status == TAPER_OK && aim) report_aims(e, &f, aim);
    free(aim);
    codec_stage_layers_free(&stages);
    formats_front_free(&f);
    return status;
}

taper_status taper_encoder_finish(taper_encoder *e, uint64_t max_bytes, const taper_sink *sink,
                                  taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need_sink(sink, error));
    if (e->is_finished)
        return formats_fail(error, TAPER_ERR_ARG, "taper_encoder_finish was called before");
    if (codec_encoder_has_failed(e)) return codec_encoder_end(e, TAPER_OK, error);
    if (!e->set.images)
        return formats_fail(error, TAPER_ERR_ARG, "no image was added: there is nothing to encode");
    e->is_finished = 1;
    e->max_bytes = max_bytes ? max_bytes : UINT64_MAX;
    taper_status status = codec_encoder_submit_all(e);
    if (status != TAPER_OK) return codec_encoder_end(e, status, error);
    codec_queue_free(e->shared.queue);
    e->shared.queue = NULL;
    if (e->shared.failed) return codec_encoder_end(e, TAPER_OK, error);
    return write_container(e, sink, error);
}

int taper_encoder_is_short(const taper_encoder *e) { return e && e->is_short; }

static taper_status write_to_file(void *file, const void *bytes, size_t n) {
    return formats_atomic_file_write(file, bytes, n, NULL);
}

taper_status taper_encoder_finish_file(taper_encoder *e, uint64_t max_bytes, const char *path,
                                       taper_error *error) {
    formats_atomic_file *file;
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(path, "the path", error));
    TAPER_TRY(formats_atomic_file_open(&file, path, FORMATS_ATOMIC_OVERWRITE, NULL, error));
    const taper_sink sink = {file, write_to_file};
    const taper_status status = taper_encoder_finish(e, max_bytes, &sink, error);
    if (status == TAPER_OK) return formats_atomic_file_commit(file, error);
    const taper_error *problem = formats_atomic_file_problem(file);
    if (problem->status && error) *error = *problem;
    formats_atomic_file_abort(file);
    return status;
}
