/* index_list.c -- see index_list.h. */
#include "cli/index/index_list.h"
#include "cli/common/inputs.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

static bool is_index(const char *path) {
    const size_t n = strlen(path);
    return cli_kind_of(path) == CLI_IS_INDEX || (n > 4 && !strcmp(path + n - 4, ".tpx"));
}

size_t cli_index_paths_first(char **paths, size_t n) {
    size_t indexes = 0;
    if (!n || cli_kind_of(paths[0]) != CLI_IS_INDEX) return 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_index(paths[i])) continue;
        char *path = paths[i];
        memmove(paths + indexes + 1, paths + indexes, (i - indexes) * sizeof *paths);
        paths[indexes++] = path;
    }
    return indexes;
}

/* --- what cannot be searched together --------------------------------------------------- */

static int check_codes(const cli_index_list *list, const char *verb) {
    const char *path = list->path[list->n - 1], *first_path = list->path[0];
    const taper_index_info first = cli_index_info(list->part[0].index);
    const taper_index_info info = cli_index_info(list->part[list->n - 1].index);
    if (info.bits != first.bits || info.model_id != first.model_id) {
        cli_error(verb, path,
                  "its codes have %u bits, of model %016llx, and those of %s %u bits, of model "
                  "%016llx: only indexes of one model and code length can be searched together",
                  info.bits, (unsigned long long)info.model_id, first_path, first.bits,
                  (unsigned long long)first.model_id);
        return CLI_USAGE;
    }
    if (info.is_weighted == first.is_weighted) return CLI_DONE;
    cli_error(verb, path,
              "its codes have %s weights, and those of %s %s ones: make it again with the same "
              "--weights",
              info.is_weighted ? "falling" : "even", first_path,
              first.is_weighted ? "falling" : "even");
    return CLI_USAGE;
}

/* The header of a file, and the checksums of all of its parts at the end: SPEC.md section 15. */
enum { HEADER = 64, SUMS = 36 };

static int compare_contents(const void *a, const void *b) {
    const cli_index *x = *(const cli_index *const *)a, *y = *(const cli_index *const *)b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    const uint8_t *front[2] = {x->bytes, y->bytes};
    const int order = memcmp(front[0], front[1], HEADER);
    return order ? order : memcmp(front[0] + x->size - SUMS, front[1] + y->size - SUMS, SUMS);
}

/* The parts of a set that indexes say they are; .parts 0 and 1: no shard. */
static taper_part part_of(const cli_index *index) {
    taper_part part = {.size = sizeof part};
    taper_index_get_part(index->index, &part, NULL);
    return part;
}

static int compare_numbers(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int compare_shards(const void *a, const void *b) {
    const taper_part x = part_of(*(const cli_index *const *)a);
    const taper_part y = part_of(*(const cli_index *const *)b);
    int order = compare_numbers(x.set_digest, y.set_digest);
    if (!order) order = compare_numbers(x.how_digest, y.how_digest);
    if (!order) order = compare_numbers(x.parts, y.parts);
    return order ? order : compare_numbers(x.part, y.part);
}

typedef int compare_fn(const void *a, const void *b);

/* Of indexes that are equal by `compare`, sorted, refuse the one that is given later. */
static int refuse_pair(const cli_index_list *list, const char *verb, const cli_index *one,
                       const cli_index *other) {
    const size_t a = (size_t)(one - list->part), b = (size_t)(other - list->part);
    const char *later = list->path[a > b ? a : b], *earlier = list->path[a > b ? b : a];
    const taper_part part = part_of(one);
    if (compare_contents(&one, &other))
        cli_error(verb, later,
                  "is shard %u of %u, and so is %s, whose images would be found twice: give one of "
                  "them",
                  part.part + 1, part.parts, earlier);
    else
        cli_error(verb, later,
                  "the same index as %s, whose images would be found twice: give it once", earlier);
    return CLI_USAGE;
}

static int refuse_equal(const cli_index_list *list, const char *verb, const cli_index **sorted,
                        size_t n, compare_fn *compare) {
    if (n) qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 1; i < n; i++)
        if (compare(&sorted[i - 1], &sorted[i]) == 0)
            return refuse_pair(list, verb, sorted[i - 1], sorted[i]);
    return CLI_DONE;
}

static int refuse_twice(const cli_index_list *list, const char *verb) {
    const cli_index **sorted = malloc(list->n * sizeof *sorted);
    size_t shards = 0;
    if (!sorted) return cli_fail(verb, NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t i = 0; i < list->n; i++) sorted[i] = &list->part[i];
    int code = refuse_equal(list, verb, sorted, list->n, compare_contents);
    for (size_t i = 0; i < list->n; i++)
        if (part_of(&list->part[i]).parts > 1) sorted[shards++] = &list->part[i];
    if (code == CLI_DONE) code = refuse_equal(list, verb, sorted, shards, compare_shards);
    free(sorted);
    return code;
}

/* --- opening ---------------------------------------------------------------------------- */

static int join(cli_index_list *list, const char *verb, const cli_common *common) {
    const taper_index **part = malloc(list->n * sizeof *part);
    const taper_limits limits = cli_limits(common);
    taper_error error = {0};
    if (!part) return cli_fail(verb, NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t i = 0; i < list->n; i++) part[i] = list->part[i].index;
    const taper_status status = taper_index_join(&list->all.index, part, list->n, &limits, &error);
    free(part);
    if (status) return cli_fail(verb, NULL, status, &error);
    list->all.held = cli_memory_hold(cli_index_info(list->all.index).memory);
    return CLI_DONE;
}

int cli_index_list_open(cli_index_list *list, const char *verb, char *const *paths, size_t n,
                        const cli_common *common) {
    *list = (cli_index_list){
        .part = calloc(n, sizeof *list->part), .end = calloc(n, sizeof *list->end), .path = paths};
    int code =
        list->part && list->end ? CLI_DONE : (int)cli_fail(verb, NULL, TAPER_ERR_NOMEM, NULL);
    for (uint64_t images = 0; list->n < n && code == CLI_DONE;) {
        code = cli_index_open(&list->part[list->n], verb, paths[list->n], common);
        if (code != CLI_DONE) break;
        images += cli_index_info(list->part[list->n].index).images;
        list->end[list->n++] = images;
        code = check_codes(list, verb);
    }
    if (code == CLI_DONE) code = refuse_twice(list, verb);
    if (code == CLI_DONE) code = join(list, verb, common);
    if (code != CLI_DONE) cli_index_list_close(list);
    return code;
}

void cli_index_list_close(cli_index_list *list) {
    cli_index_close(&list->all); /* before its parts */
    for (size_t i = 0; i < list->n; i++) cli_index_close(&list->part[i]);
    free(list->part), free(list->end);
    *list = (cli_index_list){.n = 0};
}

const char *cli_index_list_path(const cli_index_list *list, uint64_t image) {
    size_t low = 0, high = list ? list->n : 0;
    if (!high) return NULL;
    while (low < high) { /* the first part that ends behind the image */
        const size_t middle = low + (high - low) / 2;
        if (list->end[middle] <= image)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->n ? list->path[low] : NULL;
}
