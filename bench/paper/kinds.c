/* kinds.c -- see kinds.h. */
#include "bench/paper/kinds.h"
#include <stdlib.h>
#include <string.h>

static const paper_kind kinds[PAPER_MAX_KINDS] = {
    {"untied-feedback", 0, 1, " feedback=1 rate=0.003", "power:0.5,0.3"},
    {"untied", 0, 0, "", "log-uniform:0.5"},
    {"tied-feedback", 1, 1, " feedback=1 rate=0.0015", "power:0.5,0.3"},
    {"tied", 1, 0, "", "log-uniform:0.5"}};

int paper_kind_is_in(const paper_kind *kind, const char *names) {
    for (size_t n; *(names += strspn(names, " ")); names += n) {
        n = strcspn(names, " ");
        if (strlen(kind->name) == n && !strncmp(kind->name, names, n)) return 1;
    }
    return 0;
}

static size_t words(const char *names) {
    size_t count = 0;
    for (; *(names += strspn(names, " ")); names += strcspn(names, " ")) count++;
    return count;
}

paper_selection paper_selected(const paper *p) {
    paper_selection s = {.kinds = 0};
    for (size_t i = 0; i < PAPER_MAX_KINDS; i++)
        if (paper_kind_is_in(&kinds[i], p->kinds)) s.kind[s.kinds++] = kinds[i];
    if (!s.kinds || s.kinds != words(p->kinds))
        figures_die("--kinds \"%s\": there are untied-feedback, untied, tied-feedback and tied",
                    p->kinds);
    for (const char *at = p->seeds; *(at += strspn(at, " "));) {
        char *end;
        unsigned long seed = strtoul(at, &end, 10);
        if (end == at || (*end && *end != ' ') || !seed || seed > 1000000 ||
            s.seeds == PAPER_MAX_SEEDS)
            figures_die("--seeds \"%s\": give at most %d numbers from 1 on", p->seeds,
                        PAPER_MAX_SEEDS);
        s.seed[s.seeds++] = (uint32_t)seed;
        at = end;
    }
    if (!s.seeds) figures_die("--seeds names none");
    return s;
}

void paper_kind_settings(const paper_kind *kind, const char *recipe, uint32_t units,
                         const char *truncation, uint32_t seed, char *settings) {
    char widths[32] = "";
    if (units) snprintf(widths, sizeof widths, " widths=%u", units);
    int n = snprintf(settings, 320, "%s%s tied=%d%s%s%s seed=%u", recipe, widths, kind->tied,
                     kind->settings, truncation ? " truncation=" : "", truncation ? truncation : "",
                     seed);
    if (n < 0 || n >= 320) figures_die("settings that are too long");
}

void paper_train_kind(paper *p, const char *name, const paper_kind *kind, const char *recipe,
                      uint32_t units, const char *truncation, uint32_t seed, paper_network *out) {
    char settings[320], full[64];
    paper_kind_settings(kind, recipe, units, truncation, seed, settings);
    snprintf(full, sizeof full, "%s-%s-%u", name, kind->name, seed);
    paper_train(p, full, settings, NULL, out);
}
