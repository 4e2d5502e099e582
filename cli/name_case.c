/* name_case.c -- see name_case.h. */
#include "cli/name_case.h"
#include "cli/common/messages.h"
#include "formats/imageset/image_names.h"
#include <stdlib.h>
#include <string.h>

typedef struct folded_name {
    char *folded;
    const char *name;
} folded_name;

static int compare_names(const void *a, const void *b) {
    const folded_name *x = a, *y = b;
    int order = strcmp(x->folded, y->folded);
    return order ? order : strcmp(x->name, y->name);
}

uint64_t cli_name_case_clashes(const char *const *name, uint64_t n, const char **example) {
    uint64_t clashes = 0, made = 0;
    folded_name *list = calloc((size_t)n + 1, sizeof *list);
    bool ok = list != NULL;
    for (uint64_t k = 0; ok && k < n; k++) {
        if (!name[k]) continue;
        list[made] = (folded_name){formats_fold_case(name[k]), name[k]};
        ok = list[made].folded != NULL;
        made += ok;
    }
    if (ok) qsort(list, (size_t)made, sizeof *list, compare_names);
    for (uint64_t k = 1; ok && k < made; k++) {
        const folded_name *a = &list[k - 1], *b = &list[k];
        if (strcmp(a->folded, b->folded) != 0 || !strcmp(a->name, b->name)) continue;
        if (!clashes++) *example = a->name;
    }
    for (uint64_t k = 0; k < made; k++) free(list[k].folded);
    free(list);
    return ok ? clashes : UINT64_MAX;
}

void cli_name_case_warn(const char *verb, const char *path, uint64_t clashes, const char *example,
                        const char *end) {
    if (!clashes) return;
    cli_warning(verb, path, "%llu name%s, such as '%.200s', differ%s from others by case only; %s",
                (unsigned long long)clashes, formats_plural(clashes, "s"), example,
                formats_singular(clashes), end);
}

int cli_name_case_look(const char *verb, const char *path, const char *const *name, uint64_t n) {
    const char *example = NULL;
    uint64_t clashes = cli_name_case_clashes(name, n, &example);
    if (clashes == UINT64_MAX) return cli_fail(verb, path, TAPER_ERR_NOMEM, NULL);
    cli_name_case_warn(verb, path, clashes, example, CLI_NAME_CASE_ELSEWHERE);
    return CLI_DONE;
}
