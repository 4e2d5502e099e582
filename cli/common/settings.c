/* settings.c -- see settings.h. */
#include "cli/common/settings.h"
#include <unistd.h>

static uint64_t held; /* bytes held by this process */

taper_limits cli_limits(const cli_common *common) {
    const taper_limits given = {.size = sizeof(taper_limits),
                                .max_pixels = common->max_pixels,
                                .max_images = common->max_images,
                                .max_memory = common->max_memory,
                                .max_model_bytes = common->max_model,
                                .max_work = common->max_work};
    taper_limits limits = formats_limits_or_default(&given);
    return formats_limits_minus(&limits, held);
}

uint64_t cli_memory_hold(uint64_t bytes) {
    held += bytes;
    return bytes;
}

void cli_memory_release(uint64_t bytes) { held -= bytes; }

unsigned cli_threads(const cli_common *common) {
    if (common->threads > 0) return (unsigned)common->threads;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}
