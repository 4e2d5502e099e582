/* library.c -- what the library says of itself. */
#include "../formats/status.h"
#include "taper.h"

const char *taper_version(void) { return TAPER_VERSION; }

const char *taper_status_name(taper_status status) { return formats_status_name(status); }
