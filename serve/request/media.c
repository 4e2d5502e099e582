/* media.c -- see media.h. */
#include "serve/request/media.h"
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *ending, *type;
} types[] = {{".taper", SERVE_TYPE_CONTAINER},
             {".tpm", "application/x-taper-model"},
             {".html", "text/html; charset=utf-8"},
             {".js", "text/javascript; charset=utf-8"},
             {".mjs", "text/javascript; charset=utf-8"},
             {".css", "text/css; charset=utf-8"},
             {".json", "application/json"},
             {".webmanifest", "application/manifest+json"},
             {".wasm", "application/wasm"},
             {".svg", "image/svg+xml"},
             {".png", "image/png"},
             {".jpg", "image/jpeg"},
             {".jpeg", "image/jpeg"},
             {".webp", "image/webp"},
             {".ico", "image/x-icon"},
             {".txt", "text/plain; charset=utf-8"}};

const char *serve_media_type(const char *name) {
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const size_t length = strlen(types[i].ending);
        if (n > length && !strcasecmp(name + n - length, types[i].ending)) return types[i].type;
    }
    return NULL;
}
