/* settings.h -- the settings that most verbs have, and the limits made from them. */
#ifndef CLI_COMMON_SETTINGS_H
#define CLI_COMMON_SETTINGS_H
#include "formats/status.h"
#include <stdint.h>

/* Each verb has one as the member `common` of its settings. The CLI_..._OPTIONS macros of options.h
 * are its entries in the option tables. */
typedef struct cli_common {
    int force;           /* -f: overwrite existing outputs */
    int quiet;           /* -q: no progress, no notes; errors and warnings stay */
    int verbose;         /* -v, -vv: how many times it was given */
    int json;            /* --json: JSON lines on standard output */
    int64_t threads;     /* -T: 0: one per processor; see cli_threads */
    const char *device;  /* --device: "auto", "cpu", "shadow", "cuda" or "cuda:N" */
    uint64_t max_pixels; /* --max-pixels; 0 here and below: the default of the library */
    uint64_t max_images; /* --max-images */
    uint64_t max_memory; /* --max-memory, bytes */
    uint64_t max_model;  /* --max-model, bytes */
    uint64_t max_work;   /* --max-work, multiply-adds per pixel */
} cli_common;

/* The limits for the library, with defaults. max_memory is reduced by the memory that is held. */
taper_limits cli_limits(const cli_common *common);

/* Count memory that a verb keeps allocated (front matter, lists of images, indexes): later
 * cli_limits are reduced by it. Returns bytes; release as many when the memory is freed. Call from
 * one thread only. */
uint64_t cli_memory_hold(uint64_t bytes);
void cli_memory_release(uint64_t bytes);

/* Number of worker threads: common->threads, or the number of processors if it is 0. At least 1. */
unsigned cli_threads(const cli_common *common);

#endif
