/* url.c -- see url.h. */
#include "remote/url.h"
#include "remote/remote.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The part after "://", and where it ends. */
static const char *authority(const char *url, size_t *n) {
    const char *at = strstr(url, "://") + 3;
    *n = strcspn(at, "/?#");
    return at;
}

int remote_is_url(const char *name) {
    return !strncasecmp(name, "http://", 7) || !strncasecmp(name, "https://", 8);
}

int remote_url_has_credentials(const char *url) {
    size_t n;
    const char *at = authority(url, &n);
    return memchr(at, '@', n) != NULL;
}

int remote_url_is_clean(const char *url) {
    for (; *url; url++)
        if ((unsigned char)*url <= ' ' || *url == 0x7f) return 0;
    return 1;
}

char *remote_url_shown(const char *url, char *to, size_t room) {
    if (!remote_is_url(url)) {
        snprintf(to, room, "%s", url);
        return to;
    }
    size_t n;
    const char *host = authority(url, &n);
    const int scheme = (int)(host - url);
    for (const char *at; (at = memchr(host, '@', n)) != NULL;) {
        n -= (size_t)(at + 1 - host);
        host = at + 1;
    }
    const size_t shown = strcspn(host, "?#");
    snprintf(to, room, "%.*s%.*s%s", scheme, url, (int)(shown < 2000 ? shown : 2000), host,
             host[shown] == '?' ? "?..." : "");
    return to;
}
