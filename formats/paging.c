/* paging.c -- see paging.h. */
#include "formats/paging.h"
#include "formats/leaf.h"
#include "formats/name_pages.h"
#include "formats/packed.h"
#include <stdlib.h>
#include <string.h>

/* --- splitting: where leaves end ------------------------------------------------------- */

/* The group after the leaf that begins with `group`. */
static uint32_t leaf_end(const formats_front *f, uint32_t group, uint32_t each) {
    const uint32_t first = f->group_first[group];
    uint32_t images = first; /* one more than the last image of the groups so far */
    for (uint32_t g = group; g < f->groups; g++) {
        const uint32_t end = f->group_first[g + 1];
        for (uint32_t p = f->group_first[g]; f->image_at && p < end; p++)
            if (f->image_at[p] >= images) images = f->image_at[p] + 1;
        if (!f->image_at) images = end;
        if (end - first >= each && images == end && (g + 1) % f->chunks_per_checksum == 0)
            return g + 1;
    }
    return f->groups;
}

static taper_status list_leaves(const formats_front *f, uint32_t each, formats_root *r) {
    size_t room = 0;
    for (uint32_t g = 0;; g = leaf_end(f, g, each)) {
        if (!formats_grow(&r->leaf, r->leaves, &room, sizeof *r->leaf)) return TAPER_ERR_NOMEM;
        r->leaf[r->leaves] = (formats_leaf){f->group_first[g], g, 0, 0};
        if (g == f->groups) return TAPER_OK;
        r->leaves++;
    }
}

/* --- splitting: leaves ----------------------------------------------------------------- */

/* Those arrays of a leaf that are not parts of the whole front's. */
static taper_status take_arrays(formats_front *view, formats_account *account, uint64_t *bytes) {
    const uint64_t chunks = (uint64_t)view->layers * view->groups;
    *bytes = chunks * (sizeof *view->chunk_at + sizeof *view->checksum) +
             view->groups * sizeof *view->group_first + view->layers * sizeof *view->layer_at;
    TAPER_TRY(formats_account_take(account, *bytes));
    view->group_first = malloc(((size_t)view->groups + 1) * sizeof *view->group_first);
    view->chunk_at = malloc(((size_t)chunks + 1) * sizeof *view->chunk_at);
    view->checksum = malloc(((size_t)chunks + 1) * sizeof *view->checksum);
    view->layer_at = malloc(((size_t)view->layers + 1) * sizeof *view->layer_at);
    return view->group_first && view->chunk_at && view->checksum && view->layer_at
               ? TAPER_OK
               : TAPER_ERR_NOMEM;
}

static void fill_arrays(formats_front *view, const formats_front *f) {
    const uint32_t groups = view->groups, first = view->first_group, per = f->chunks_per_checksum;
    const size_t all = (f->groups + (size_t)per - 1) / per, own = (groups + (size_t)per - 1) / per;
    for (uint32_t g = 0; g <= groups; g++)
        view->group_first[g] = f->group_first[first + g] - view->first_image;
    view->chunk_at[0] = 0;
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint64_t *at = f->chunk_at + (uint64_t)l * f->groups;
        uint64_t *to = view->chunk_at + (uint64_t)l * groups;
        for (uint32_t g = 0; g < groups; g++) to[g + 1] = to[0] + at[first + g + 1] - at[first];
        view->layer_at[l] = at[first] - at[0];
        memcpy(view->checksum + l * own, f->checksum + l * all + first / per,
               own * sizeof *view->checksum);
    }
}

/* Append leaf k: a front that shares most arrays with the whole one. */
static taper_status write_leaf(const formats_front *f, const formats_root *r, uint32_t k,
                               formats_buffer *out) {
    const uint32_t image = r->leaf[k].first_image, group = r->leaf[k].first_group;
    formats_front view = *f;
    uint64_t bytes;
    view.images = r->leaf[k + 1].first_image - image;
    view.groups = r->leaf[k + 1].first_group - group;
    view.first_image = image, view.first_group = group;
    view.geometry += image;
    if (f->group_rate_class) view.group_rate_class += group, view.image_rate_class += image;
    if (f->raised_at) view.raised_at += group;
    if (f->names) view.name_at += image;
    if (f->label) view.label += image;
    view.group_first = NULL, view.chunk_at = NULL, view.checksum = NULL, view.layer_at = NULL;
    taper_status status = take_arrays(&view, out->account, &bytes);
    if (status == TAPER_ERR_LIMIT) return status;
    if (status == TAPER_OK) {
        fill_arrays(&view, f);
        status = formats_leaf_write(&view, out);
    }
    free(view.group_first), free(view.chunk_at), free(view.checksum), free(view.layer_at);
    formats_account_give(out->account, bytes);
    return status;
}

static taper_status write_leaves(const formats_front *f, formats_root *r, formats_buffer *out) {
    for (uint32_t k = 0; k < r->leaves; k++) {
        const size_t at = out->size;
        TAPER_TRY(write_leaf(f, r, k, out));
        if (out->size - at > UINT32_MAX) return TAPER_ERR_LIMIT;
        r->leaf[k].crc = formats_crc32c(0, out->data + at, out->size - at);
        r->leaf[k + 1].at = out->size;
    }
    return TAPER_OK;
}

/* --- splitting: the root --------------------------------------------------------------- */

/* 1 if all names ascend, and differ where leaves meet. */
static int names_ascend(const formats_front *f, const formats_root *r) {
    for (uint32_t i = 1, k = 1; i < f->images; i++) {
        const int meet = k < r->leaves && i == r->leaf[k].first_image;
        const int order = strcmp(formats_front_name(f, i - 1), formats_front_name(f, i));
        if (order > 0 || (meet && order == 0)) return 0;
        k += (uint32_t)meet;
    }
    return 1;
}

/* The shortest beginning of each leaf's first name that is above the last name before it. */
static taper_status make_separators(const formats_front *f, formats_root *r,
                                    formats_account *account) {
    formats_buffer out = formats_buffer_make(UINT32_MAX);
    out.account = account;
    r->separator_at = calloc((size_t)r->leaves + 1, sizeof *r->separator_at);
    if (!r->separator_at) return TAPER_ERR_NOMEM;
    formats_write_u8(&out, 0);
    for (uint32_t k = 1; k < r->leaves; k++) {
        const uint32_t first = r->leaf[k].first_image;
        const char *before = formats_front_name(f, first - 1), *name = formats_front_name(f, first);
        size_t shared = 0;
        while (name[shared] == before[shared]) shared++; /* they differ */
        r->separator_at[k] = (uint32_t)out.size;
        formats_write_bytes(&out, name, shared + 1);
        formats_write_u8(&out, 0);
    }
    r->find = FORMATS_FIND_ASCENDING;
    const taper_status status = out.status;
    formats_account_give(account, out.capacity); /* small, and freed soon */
    r->separators = (char *)out.data;
    return status;
}

static taper_status make_root(const formats_front *f, formats_root *r) {
    r->layer_at = calloc((size_t)f->layers + 1, sizeof *r->layer_at);
    if (!r->layer_at) return TAPER_ERR_NOMEM;
    for (uint32_t l = 0; l <= f->layers; l++) r->layer_at[l] = f->chunk_at[(uint64_t)l * f->groups];
    for (uint32_t i = 0; i < f->images; i++)
        r->pixels += (uint64_t)f->geometry[i].width * f->geometry[i].height;
    r->has_labels = f->label != NULL;
    return TAPER_OK;
}

/* Make the three contents with leaves of `each` images; none if there is only one leaf. */
static taper_status split(const formats_front *f, uint32_t each, formats_root *r,
                          formats_paged *out) {
    TAPER_TRY(list_leaves(f, each, r));
    if (r->leaves < 2) return TAPER_OK;
    TAPER_TRY(make_root(f, r));
    TAPER_TRY(write_leaves(f, r, &out->leaves));
    if (f->names && names_ascend(f, r))
        TAPER_TRY(make_separators(f, r, out->root.account));
    else if (f->names)
        TAPER_TRY(
            formats_name_pages_write(f, r, each < UINT32_MAX / 2 ? 2 * each : each, &out->pages));
    formats_root_write(r, f, &out->root);
    return out->root.status;
}

/* The stored size of a root. */
static taper_status measure_root(const formats_paged *p, size_t *stored) {
    formats_buffer packed = formats_buffer_make(FORMATS_MOST_BYTES);
    packed.account = p->root.account;
    const taper_status status =
        formats_pack(&p->root, FORMATS_PACK_LEVEL, FORMATS_PACKED_USUAL, &packed, stored);
    formats_buffer_free(&packed);
    return status;
}

void formats_paged_free(formats_paged *p) {
    formats_buffer_free(&p->root), formats_buffer_free(&p->leaves), formats_buffer_free(&p->pages);
}

taper_status formats_paging_split(const formats_front *f, uint32_t each, formats_account *account,
                                  formats_paged *out) {
    enum { MOST_LEAVES = 1024, FEW_LEAVES = 32 };
    size_t stored = 0;
    taper_status status = TAPER_OK;
    out->root = out->leaves = out->pages = formats_buffer_make(FORMATS_MOST_BYTES);
    out->root.account = out->leaves.account = out->pages.account = account;
    while (f->images / each > MOST_LEAVES) each *= 2;
    for (uint32_t leaves = UINT32_MAX; leaves > FEW_LEAVES && status == TAPER_OK; each *= 2) {
        formats_root r = {0};
        formats_buffer_clear(&out->root);
        formats_buffer_clear(&out->leaves), formats_buffer_clear(&out->pages);
        status = split(f, each, &r, out);
        leaves = r.leaves;
        formats_root_free(&r);
        if (status == TAPER_OK) status = measure_root(out, &stored);
        if (stored <= FORMATS_ROOT_BYTES) break;
    }
    return status;
}

/* --- joining --------------------------------------------------------------------------- */

typedef struct joining {
    formats_front *f;
    formats_buffer names, raised;
    uint64_t *next; /* [layers] where the next leaf's chunks of each layer begin */
    uint64_t pixels;
} joining;

static taper_status no_memory(taper_status status, formats_front *f, taper_error *error) {
    return status == TAPER_ERR_LIMIT
               ? formats_front_refuse(f, formats_account_left(&f->account) + 1, error)
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for the container's directory");
}

static taper_status take_whole(joining *j, const formats_root *r, taper_error *error) {
    formats_front *f = j->f;
    const uint64_t chunks = (uint64_t)f->layers * f->groups, per = f->chunks_per_checksum;
    /* the least that a leaf has is a byte for a chunk; packed as densely as is legal */
    const uint64_t most = 1024 * r->leaf[r->leaves].at + 65536 * (uint64_t)r->leaves;
    if (chunks > most)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the leaves are too short for %llu chunk lengths",
                            (unsigned long long)chunks);
    TAPER_TRY(formats_front_take(f, f->layers, sizeof *j->next, &j->next, error));
    TAPER_TRY(formats_front_take(f, f->images, sizeof *f->geometry, &f->geometry, error));
    TAPER_TRY(formats_front_take(f, f->groups, sizeof *f->group_first, &f->group_first, error));
    TAPER_TRY(formats_front_take(f, chunks, sizeof *f->chunk_at, &f->chunk_at, error));
    TAPER_TRY(formats_front_take(f, f->layers * ((f->groups + per - 1) / per), sizeof *f->checksum,
                                 &f->checksum, error));
    if (f->rate_classes > 1) {
        TAPER_TRY(formats_front_take(f, f->groups, 1, &f->group_rate_class, error));
        TAPER_TRY(formats_front_take(f, f->images, 1, &f->image_rate_class, error));
    }
    if (r->find != FORMATS_FIND_NONE)
        TAPER_TRY(formats_front_take(f, f->images, sizeof *f->name_at, &f->name_at, error));
    if (r->has_raised) {
        TAPER_TRY(formats_front_take(f, f->groups, sizeof *f->raised_at, &f->raised_at, error));
        TAPER_TRY(formats_buffer_reserve(&j->raised, sizeof *f->raised));
    }
    return r->has_labels ? formats_front_take(f, f->images, sizeof *f->label, &f->label, error)
                         : TAPER_OK;
}

/* Append the lengths and checksums of a leaf's chunks, which must follow those of the leaf before.
 * chunk_at[c + 1] is the length of chunk c until all leaves are here. */
static taper_status join_chunks(joining *j, const formats_root *r, const formats_front *leaf,
                                taper_error *error) {
    formats_front *f = j->f;
    const uint32_t first = leaf->first_group, per = f->chunks_per_checksum;
    const size_t all = (f->groups + (size_t)per - 1) / per,
                 own = (leaf->groups + (size_t)per - 1) / per;
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint64_t *at = leaf->chunk_at + (uint64_t)l * leaf->groups;
        uint64_t *to = f->chunk_at + (uint64_t)l * f->groups + first;
        if (at[0] + leaf->layer_at[l] != r->layer_at[l] + j->next[l])
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "the leaf of image %u does not follow the one before it in layer "
                                "%u; fetch the file again",
                                leaf->first_image + 1, l);
        for (uint32_t g = 0; g < leaf->groups; g++) to[g + 1] = at[g + 1] - at[g];
        j->next[l] += at[leaf->groups] - at[0];
        memcpy(f->checksum + l * all + first / per, leaf->checksum + l * own,
               own * sizeof *f->checksum);
    }
    return TAPER_OK;
}

static taper_status join_names(joining *j, const formats_front *leaf) {
    for (uint32_t i = 0; leaf->names && i < leaf->images; i++) {
        const char *name = formats_front_name(leaf, i);
        j->f->name_at[leaf->first_image + i] = (uint32_t)j->names.size;
        TAPER_TRY(formats_write_bytes(&j->names, name, strlen(name) + 1));
    }
    return TAPER_OK;
}

static taper_status join_raised(joining *j, const formats_front *leaf) {
    for (uint32_t g = 0; leaf->raised_at && g < leaf->groups; g++) {
        uint32_t n;
        const formats_raised *raised = formats_front_raised(leaf, g, &n);
        TAPER_TRY(formats_write_bytes(&j->raised, raised, n * sizeof *raised));
        j->f->raised_at[leaf->first_group + g + 1] = (uint32_t)(j->raised.size / sizeof *raised);
    }
    return TAPER_OK;
}

static taper_status join_leaf(joining *j, const formats_root *r, const formats_front *leaf,
                              taper_error *error) {
    formats_front *f = j->f;
    const uint32_t image = leaf->first_image, group = leaf->first_group;
    memcpy(f->geometry + image, leaf->geometry, leaf->images * sizeof *f->geometry);
    for (uint32_t i = 0; i < leaf->images; i++)
        j->pixels += (uint64_t)leaf->geometry[i].width * leaf->geometry[i].height;
    for (uint32_t g = 0; g < leaf->groups; g++)
        f->group_first[group + g] = image + leaf->group_first[g];
    if (f->group_rate_class) {
        memcpy(f->group_rate_class + group, leaf->group_rate_class, leaf->groups);
        memcpy(f->image_rate_class + image, leaf->image_rate_class, leaf->images);
    }
    if (f->label) memcpy(f->label + image, leaf->label, leaf->images * sizeof *f->label);
    TAPER_TRY(join_chunks(j, r, leaf, error));
    taper_status status = join_names(j, leaf);
    if (status == TAPER_OK) status = join_raised(j, leaf);
    return status == TAPER_OK ? status : no_memory(status, f, error);
}

/* After the last leaf. */
static taper_status finish(joining *j, const formats_root *r, taper_error *error) {
    formats_front *f = j->f;
    f->group_first[f->groups] = f->images;
    for (uint64_t c = 0; c < (uint64_t)f->layers * f->groups; c++)
        f->chunk_at[c + 1] += f->chunk_at[c];
    f->data_bytes = 0;
    f->names = (char *)j->names.data; /* stays charged */
    void *raised = j->raised.data;
    f->raised = raised;
    j->names.data = j->raised.data = NULL;
    if (j->pixels != r->pixels)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the images have other pixels than the root of the front matter says");
    if (f->rate_classes == 1) return TAPER_OK;
    TAPER_TRY(formats_front_charge(f, 8 * ((uint64_t)f->images + 1), error));
    const taper_status status = formats_front_place_images(f);
    return status == TAPER_OK ? status : no_memory(status, f, error);
}

taper_status formats_paging_join(const formats_root *r, formats_front *f, const uint8_t *leaves,
                                 const taper_limits *limits, taper_error *error) {
    joining j = {.f = f,
                 .names = formats_buffer_make(UINT32_MAX),
                 .raised = formats_buffer_make(FORMATS_MOST_BYTES)};
    j.names.account = j.raised.account = formats_front_account(f);
    taper_status status = take_whole(&j, r, error);
    for (uint32_t k = 0; k < r->leaves && status == TAPER_OK; k++) {
        const taper_limits left = formats_limits_minus(limits, f->account.used);
        formats_front leaf;
        status = formats_leaf_read(r, f, k, leaves + r->leaf[k].at, &left, &leaf, error);
        if (status != TAPER_OK) break;
        status = join_leaf(&j, r, &leaf, error);
        formats_front_free(&leaf);
    }
    if (status == TAPER_OK) status = finish(&j, r, error);
    if (j.next) {
        free(j.next);
        formats_account_give(&f->account, ((uint64_t)f->layers + 1) * sizeof *j.next);
    }
    free(j.names.data), free(j.raised.data);
    return status;
}
