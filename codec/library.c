/* library.c -- version and names; see taper.h. */
#include "codec/taper.h"
#include "formats/status.h"

const char *taper_version(void) { return TAPER_VERSION; }

const char *taper_status_name(taper_status status) { return formats_status_name(status); }

const char *taper_family_name(taper_family family) {
    static const char *const names[] = {"pca", "dense", "conv", "gradients", "pooling"};
    return (unsigned)family < sizeof names / sizeof *names ? names[family] : "unknown";
}
