/* front.c -- see front.h. */
#include "formats/front.h"
#include <stdlib.h>
#include <string.h>

/* --- memory ---------------------------------------------------------------------------- */

taper_status formats_front_charge(formats_front *f, uint64_t bytes, taper_error *error) {
    if (formats_account_take(formats_front_account(f), bytes) == TAPER_OK) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_LIMIT,
                        "the container's front matter takes more memory than the %llu bytes "
                        "that it may; raise --max-memory if you trust it",
                        (unsigned long long)f->account.limit);
}

taper_status formats_front_take(formats_front *f, uint64_t n, size_t size, void *array,
                                taper_error *error) {
    uint64_t bytes = n >= SIZE_MAX / size ? UINT64_MAX : (n + 1) * size;
    TAPER_TRY(formats_front_charge(f, bytes, error));
    void *block = calloc((size_t)n + 1, size);
    if (!block)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the container's directory");
    memcpy(array, &block, sizeof block);
    return TAPER_OK;
}

void formats_front_free(formats_front *f) {
    free(f->geometry), free(f->group_first), free(f->layer_end), free(f->chunk_at),
        free(f->checksum), free(f->raised_at), free(f->raised);
    free(f->group_rate_class), free(f->image_rate_class), free(f->image_at), free(f->place_of);
    free(f->names), free(f->name_at), free(f->label), free(f->class_names), free(f->class_name_at),
        free(f->model), free(f->search_codes), free(f->search_model);
    memset(f, 0, sizeof *f);
}

/* --- what follows from its fields ------------------------------------------------------ */

uint64_t formats_front_checksums(const formats_front *f) {
    uint64_t per = f->chunks_per_checksum ? f->chunks_per_checksum : 1;
    return f->layers * ((f->groups + per - 1) / per);
}

const char *formats_front_name(const formats_front *f, uint32_t i) {
    return f->names && i < f->images ? f->names + f->name_at[i] : NULL;
}

const char *formats_front_class_name(const formats_front *f, uint32_t k) {
    return f->class_names && k < f->classes ? f->class_names + f->class_name_at[k] : NULL;
}

taper_status formats_front_place_images(formats_front *f) {
    uint32_t left[FORMATS_MAX_RATE_CLASSES] = {0}, next[FORMATS_MAX_RATE_CLASSES] = {0};
    for (uint32_t i = 0; i < f->images; i++) left[f->image_rate_class[i]]++;
    f->image_at = malloc(((size_t)f->images + 1) * sizeof *f->image_at);
    f->place_of = malloc(((size_t)f->images + 1) * sizeof *f->place_of);
    if (!f->image_at || !f->place_of) return TAPER_ERR_NOMEM;
    for (uint32_t g = 0; g < f->groups; g++) {
        uint32_t rate_class = f->group_rate_class[g], *image = &next[rate_class];
        if (left[rate_class] < f->group_first[g + 1] - f->group_first[g]) return TAPER_ERR_CORRUPT;
        left[rate_class] -= f->group_first[g + 1] - f->group_first[g];
        for (uint32_t p = f->group_first[g]; p < f->group_first[g + 1]; p++, (*image)++) {
            while (f->image_rate_class[*image] != rate_class) (*image)++;
            f->image_at[p] = *image;
            f->place_of[*image] = p;
        }
    }
    return TAPER_OK; /* all groups hold all images, so nothing is left */
}

uint32_t formats_front_group(const formats_front *f, uint32_t image) {
    uint32_t low = 0, high = f->groups, place = formats_front_place(f, image);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (f->group_first[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t formats_front_passes(const formats_front *f, uint32_t layer) {
    uint32_t most = 0;
    for (uint32_t t = 0; t < f->rate_classes; t++) {
        uint32_t end = f->layer_end[(size_t)layer * f->rate_classes + t];
        most = end > most ? end : most;
    }
    return most;
}

int formats_name_is_legal(const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length > 4095) return 0;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F || *c == '\\') return 0;
    for (const char *part = name;; part++) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
            return 0;
        part += n;
        if (!*part) return 1;
    }
}

/* --- pace ------------------------------------------------------------------------------ */

enum { HOLD_BITS = 8, HOLD_END = 15, GRID_END = 29, THIN_BITS = 3 };

static uint32_t log2_of(uint64_t n) {
    uint32_t log2 = 0;
    while (n >> log2 > 1) log2++;
    return log2;
}

/* Which of all numbers of at most 8 leading bits this is. */
static uint32_t index_of(uint32_t cut) {
    uint32_t over =
        log2_of(cut) < FORMATS_PACE_LEADING ? 0 : log2_of(cut) + 1 - FORMATS_PACE_LEADING;
    return (cut >> over) + (over << (FORMATS_PACE_LEADING - 1));
}
static uint32_t cut_of(uint32_t index) {
    enum { HALF = 1 << (FORMATS_PACE_LEADING - 1) };
    return index < 2 * HALF ? index : (HALF | (index & (HALF - 1))) << (index / HALF - 1);
}

/* Of step 1, a grid is none: what is stored in its place is that of a sparse pace. */
uint32_t formats_pace_pack(formats_pace p) {
    int grid = p.sparse || p.log2_step;
    uint32_t hold = p.hold > 1 || (p.hold && grid) ? p.hold_at | p.hold << HOLD_BITS : 0;
    uint32_t field = p.thin | index_of(p.grid_at) << THIN_BITS;
    if (p.sparse) return hold | (field ? field : 1 << THIN_BITS) << HOLD_END;
    return p.log2_step ? hold | p.grid_at << HOLD_END | p.log2_step << GRID_END : hold;
}

formats_pace formats_pace_parts(uint32_t pace) {
    formats_pace p = {.hold_at = pace & FORMATS_PACE_MOST_HOLD_AT,
                      .hold = pace >> HOLD_BITS & FORMATS_PACE_MOST_HOLD,
                      .grid_at = pace >> HOLD_END & FORMATS_PACE_MOST_GRID_AT,
                      .log2_step = pace >> GRID_END};
    if (p.log2_step || !p.grid_at) return p;
    p.sparse = 1;
    p.thin = p.grid_at & FORMATS_PACE_MOST_THIN;
    p.grid_at = cut_of(p.grid_at >> THIN_BITS);
    return p;
}

uint32_t formats_pace_spacing(uint32_t thin, uint64_t bytes) {
    enum { STEPS = 5 };
    uint32_t log2 = log2_of(bytes), keep = thin > STEPS ? 9 - thin : FORMATS_PACE_LEADING - 1;
    uint32_t step = log2 > keep ? log2 - keep : 0, least = thin && thin <= STEPS ? thin + 1 : 0;
    return step > least ? step : least;
}

uint64_t formats_pace_rendered(uint32_t pace, uint64_t bytes) {
    formats_pace p = formats_pace_parts(pace);
    uint32_t end = p.hold_at + (p.hold > 1 ? p.hold : 0);
    uint32_t grid_at = p.grid_at > end ? p.grid_at : end;
    if (bytes < end) return bytes < p.hold_at ? bytes : p.hold_at;
    if (p.hold == 1 && bytes >= grid_at) return grid_at;
    if (p.sparse) {
        uint32_t step = formats_pace_spacing(bytes < grid_at ? 0 : p.thin, bytes);
        uint64_t least = bytes < grid_at ? end : grid_at, cut = bytes >> step << step;
        return cut > least ? cut : least;
    }
    if (bytes < grid_at) return bytes;
    return bytes - ((bytes - grid_at) & (((uint64_t)1 << p.log2_step) - 1));
}

uint64_t formats_front_rendered(const formats_front *f, uint64_t bytes) {
    uint64_t data = f->chunk_at[(uint64_t)f->layers * f->groups];
    return bytes < data ? formats_pace_rendered(f->pace, bytes) : bytes;
}
