/* class_names.c -- see class_names.h. */
#include "cli/search/class_names.h"
#include <stdlib.h>
#include <string.h>

typedef struct named {
    const char *name;
    int32_t number;
} named;

static int by_name(const void *a, const void *b) {
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* Number the classes of the second set: those of the first, or new ones. sorted: classes of the
 * first. */
static void add_second(cli_class_names *out, const cli_code_set *set, const named *sorted) {
    const size_t n = cli_code_set_classes(set);
    for (size_t k = 0; k < n; k++) {
        const named wanted = {cli_code_set_class(set, k), 0};
        const named *found = bsearch(&wanted, sorted, out->of_first, sizeof *sorted, by_name);
        out->second[k] = found ? found->number : (int32_t)out->count;
        if (found)
            out->shared++;
        else
            out->name[out->count++] = wanted.name;
    }
}

taper_status cli_class_names_join(cli_class_names *out, const cli_code_set *first,
                                  const cli_code_set *second, taper_error *error) {
    const size_t n = cli_code_set_classes(first), more = second ? cli_code_set_classes(second) : 0;
    named *sorted = malloc((n + 1) * sizeof *sorted);
    *out = (cli_class_names){.name = malloc((n + more + 1) * sizeof *out->name),
                             .second = malloc((more + 1) * sizeof *out->second)};
    if (!sorted || !out->name || !out->second) {
        free(sorted);
        cli_class_names_free(out);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the classes");
    }
    for (size_t k = 0; k < n; k++) {
        out->name[k] = cli_code_set_class(first, k);
        sorted[k] = (named){out->name[k], (int32_t)k};
    }
    out->count = out->of_first = n;
    qsort(sorted, n, sizeof *sorted, by_name);
    if (second) add_second(out, second, sorted);
    free(sorted);
    return TAPER_OK;
}

void cli_class_names_free(cli_class_names *names) {
    free(names->name), free(names->second);
    *names = (cli_class_names){.count = 0};
}
