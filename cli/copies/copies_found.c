/* copies_found.c -- see copies_found.h. */
#include "cli/copies/copies_found.h"
#include "cli/common/parallel.h"
#include "cli/copies/check.h"
#include "cli/copies/links.h"
#include <stdlib.h>

typedef struct describing {
    cli_found_copies *found;
    const uint32_t *keep; /* [groups] */
    const cli_cosines *cosines;
    bool are_turned;
} describing;

static int by_group(const void *a, const void *b) {
    const cli_found_copy *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    const bool x_kept = x->kind == CLI_COPY_KEPT, y_kept = y->kind == CLI_COPY_KEPT;
    if (x_kept != y_kept) return x_kept ? -1 : 1;
    return (x->image > y->image) - (x->image < y->image);
}

static void compare(void *user, size_t item, unsigned thread) {
    const describing *d = user;
    cli_found_copy *c = &d->found->copy[item];
    (void)thread;
    c->agreement =
        cli_agreement_of(d->found->small, d->cosines, d->keep[c->group], c->image, d->are_turned);
    const bool agrees = c->agreement.is_equal || c->agreement.score >= CLI_COPY_SCORE;
    if (c->kind == CLI_COPY && !agrees) c->kind = CLI_COPY_UNLIKE;
}

/* Of the names of the file to keep, keep the one that is no link. */
static void keep_files(const cli_groups *groups, const uint32_t *file, uint32_t *keep) {
    for (size_t g = 0; g < groups->count; g++) {
        const uint32_t of = file[groups->keep[g]];
        keep[g] = groups->group[of] == g ? of : groups->keep[g];
    }
}

static void list(cli_found_copies *out, const cli_groups *groups, const uint32_t *file,
                 const uint32_t *keep) {
    for (uint32_t i = 0; i < out->small->n; i++) {
        const uint32_t group = groups->group[i];
        if (group == CLI_NO_GROUP) continue;
        const bool is_link = file[i] != i && groups->group[file[i]] == group;
        out->copy[out->n++] = (cli_found_copy){.group = group,
                                               .image = i,
                                               .kind = i == keep[group] ? CLI_COPY_KEPT
                                                       : is_link        ? CLI_COPY_LINK
                                                                        : CLI_COPY,
                                               .target = file[i]};
        out->links += is_link && i != keep[group];
    }
    if (out->n) qsort(out->copy, out->n, sizeof *out->copy, by_group);
}

taper_status cli_found_copies_make(cli_found_copies *out, const cli_code_set *set,
                                   const cli_small_set *small, const cli_groups *groups,
                                   bool are_turned) {
    uint32_t *file = cli_links_find(set, small->digest);
    uint32_t *keep = malloc((groups->count + 1) * sizeof *keep);
    cli_cosines *cosines = malloc(sizeof *cosines);
    *out = (cli_found_copies){.set = set, .small = small, .groups = groups->count};
    out->copy = malloc((small->n + 1) * sizeof *out->copy);
    const bool has_room = file && keep && cosines && out->copy;
    if (has_room) {
        cli_cosines_make(cosines);
        keep_files(groups, file, keep);
        list(out, groups, file, keep);
        describing d = {out, keep, cosines, are_turned};
        cli_parallel(cli_threads(set->common), out->n, compare, &d);
    } else {
        cli_found_copies_free(out);
    }
    free(file), free(keep), free(cosines);
    return has_room ? TAPER_OK : TAPER_ERR_NOMEM;
}

void cli_found_copies_free(cli_found_copies *found) {
    free(found->copy);
    *found = (cli_found_copies){.n = 0};
}
