/* settings.h -- the options that most verbs have, and what follows from them. */
#ifndef CLI_COMMON_SETTINGS_H
#define CLI_COMMON_SETTINGS_H
#include "formats/status.h"
#include <stdint.h>

/* A verb's own settings struct holds one, named `common`, and its
 * option table takes the entries from the CLI_..._OPTIONS macros of options.h. */
typedef struct cli_common {
    int force;           /* -f: overwrite existing outputs */
    int quiet;           /* -q: no progress, no notes; errors and warnings stay */
    int verbose;         /* -v, -vv: how many times it was given */
    int json;            /* --json: JSON lines on standard output */
    int64_t threads;     /* -T: 0 means one per processor; see cli_threads */
    const char *device;  /* --device: "auto", "cpu", "shadow", "cuda" or "cuda:N" */
    uint64_t max_pixels; /* --max-pixels: 0 means the library's default */
    uint64_t max_images; /* --max-images */
    uint64_t max_memory; /* --max-memory, bytes */
    uint64_t max_model;  /* --max-model, bytes */
    uint64_t max_work;   /* --max-work, multiply-adds a pixel */
} cli_common;

/* The limits as the library takes them, with its defaults; max_memory is what is left of it. */
taper_limits cli_limits(const cli_common *common);

/* The run's account: what the verb keeps open (front matter, lists of images, indexes) is held, and
 * later cli_limits have less. Returns bytes, to be released when it is closed. For the thread that
 * opens and closes alone. */
uint64_t cli_memory_hold(uint64_t bytes);
void cli_memory_release(uint64_t bytes);

/* How many worker threads to start: common->threads, or the number of processors when it is 0. At
 * least 1. */
unsigned cli_threads(const cli_common *common);

#endif
