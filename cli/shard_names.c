/* shard_names.c -- see shard_names.h. */
#include "cli/shard_names.h"
#include "formats/merge_names.h"
#include <string.h>

typedef struct changed_names {
    uint64_t n;
    const char *before, *after; /* name of the first; before NULL: it had no name */
} changed_names;

/* Images without a name get one; only an added folder counts as a change. */
static changed_names compare_names(const formats_front *shard, size_t n,
                                   const formats_front *joined) {
    changed_names changed = {0};
    uint32_t image = 0;
    for (size_t s = 0; s < n; s++)
        for (uint32_t i = 0; i < shard[s].images; i++, image++) {
            const char *before = formats_front_name(&shard[s], i);
            const char *after = formats_front_name(joined, image);
            const bool is_same = before ? !strcmp(before, after) : !strchr(after, '/');
            if (is_same || changed.n++) continue;
            changed.before = before, changed.after = after;
        }
    return changed;
}

int cli_shard_names_report(const cli_common *common, const char *path, const formats_front *shard,
                           size_t n) {
    const taper_limits limits = cli_limits(common);
    formats_front joined = {.account = formats_account_within(&limits)};
    taper_error error = {0};
    uint64_t images = 0;
    for (size_t s = 0; s < n; s++) images += shard[s].images;
    if (images > UINT32_MAX) return CLI_DONE; /* merging refuses it */
    joined.images = (uint32_t)images;
    taper_status status = formats_merge_names(shard, n, &joined, &error);
    if (status != TAPER_OK) {
        formats_front_free(&joined);
        return cli_fail("merge", path, status, &error);
    }
    const changed_names changed =
        joined.names ? compare_names(shard, n, &joined) : (changed_names){0};
    if (changed.n)
        cli_note(
            common, "merge",
            "%llu name%s changed, because an earlier container has the same: %.200s is %.200s%s",
            (unsigned long long)changed.n, changed.n == 1 ? " is" : "s are",
            changed.before ? changed.before : "one without a name", changed.after,
            changed.n > 1 ? ", ..." : "");
    formats_front_free(&joined);
    return CLI_DONE;
}
