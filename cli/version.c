/* version.c -- `taper --version`; see version.h. */
#include "cli/version.h"
#include "cli/device.h"
#include "codec/taper.h"
#include <png.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>
/* needs stdio.h before it */
#include <jpeglib.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#ifdef LIBJPEG_TURBO_VERSION
#define JPEG_NAME "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION)
#else
#define JPEG_NAME "libjpeg " TEXT(JPEG_LIB_VERSION)
#endif

void cli_version(FILE *to, bool details) {
    fprintf(to, "taper %s\n", TAPER_VERSION);
    if (!details) return;
    char kernels[96];
    taper_kernels(kernels, sizeof kernels);
    unsigned xxh = XXH_versionNumber();
    fprintf(to, "kernels: %s\n", kernels);
    fprintf(to, "zstd %s\nlibpng %s\n%s\nzlib %s\nxxHash %u.%u.%u\n", ZSTD_versionString(),
            png_get_libpng_ver(NULL), JPEG_NAME, zlibVersion(), xxh / 10000, xxh / 100 % 100,
            xxh % 100);
    cli_device_list(to);
#ifdef __VERSION__
    fprintf(to, "compiler: %s\n", __VERSION__);
#endif
}
