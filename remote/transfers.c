/* transfers.c -- see transfers.h. */
#include "remote/transfers.h"
#include <stdlib.h>

#ifdef LATE_LIBRARY
#include "formats/late/late_library.h"
#define CURL_DISABLE_TYPECHECK 1 /* its macros are not for pointers to the functions */
#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(curl_global_init) ONE(curl_easy_init) ONE(curl_easy_cleanup) \
    ONE(curl_easy_setopt) ONE(curl_easy_getinfo) ONE(curl_easy_strerror) ONE(curl_multi_init) \
    ONE(curl_multi_cleanup) ONE(curl_multi_setopt) ONE(curl_multi_add_handle) \
    ONE(curl_multi_remove_handle) ONE(curl_multi_perform) ONE(curl_multi_poll) \
    ONE(curl_multi_wakeup) ONE(curl_multi_info_read) ONE(curl_slist_append) ONE(curl_slist_free_all)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);

enum { MOST_REDIRECTS = 10, CONNECT_S = 15 };

/* A transfer. */
typedef struct slot {
    struct remote_transfers *all;
    CURL *easy;
    unsigned number;
    int is_running, is_head_told, is_stopped;
    remote_head head;
} slot;

struct remote_transfers {
    CURLM *multi;
    struct curl_slist *fields;
    remote_listener listener;
    const char *agent;
    unsigned stall_s;
    slot slot[REMOTE_MOST_TRANSFERS];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode begun;
static void begin(void) { begun = lib.curl_global_init(CURL_GLOBAL_DEFAULT); }

/* --- what libcurl calls --- */

static size_t take_head(char *line, size_t one, size_t n, void *user) {
    slot *s = user;
    (void)one;
    remote_head_line(&s->head, line, n);
    return n;
}

/* Nonzero: go on. */
static int tell_head(slot *s) {
    if (s->is_head_told) return !s->is_stopped;
    s->is_head_told = 1;
    s->is_stopped = !s->all->listener.head(s->all->listener.user, s->number, &s->head);
    return !s->is_stopped;
}

static size_t take_body(char *bytes, size_t one, size_t n, void *user) {
    slot *s = user;
    (void)one;
    if (tell_head(s))
        s->is_stopped = !s->all->listener.body(s->all->listener.user, s->number, bytes, n);
    return s->is_stopped ? 0 : n;
}

/* --- transfers --- */

static int set_up(const remote_transfers *t, slot *s, unsigned number) {
    s->all = (remote_transfers *)t; /* the callbacks change its slots only */
    s->number = number;
    s->easy = lib.curl_easy_init();
    if (!s->easy) return 0;
#define SET(OPTION, VALUE) (lib.curl_easy_setopt(s->easy, OPTION, VALUE) == CURLE_OK)
    return SET(CURLOPT_NOSIGNAL, 1L) && SET(CURLOPT_USERAGENT, t->agent) &&
           SET(CURLOPT_PROTOCOLS_STR, "http,https") &&
           SET(CURLOPT_REDIR_PROTOCOLS_STR, "http,https") && SET(CURLOPT_FOLLOWLOCATION, 1L) &&
           SET(CURLOPT_MAXREDIRS, (long)MOST_REDIRECTS) &&
           SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S) && SET(CURLOPT_LOW_SPEED_LIMIT, 1L) &&
           SET(CURLOPT_LOW_SPEED_TIME, (long)t->stall_s) && SET(CURLOPT_HTTPHEADER, t->fields) &&
           SET(CURLOPT_HEADERFUNCTION, take_head) && SET(CURLOPT_HEADERDATA, s) &&
           SET(CURLOPT_WRITEFUNCTION, take_body) && SET(CURLOPT_WRITEDATA, s) &&
           SET(CURLOPT_PRIVATE, s);
#undef SET
}

taper_status remote_transfers_open(remote_transfers **out, const remote_listener *listener,
                                   const char *agent, unsigned stall_s, taper_error *error) {
    *out = NULL;
    TAPER_TRY(formats_late_library_load(&lib_library, error));
    pthread_once(&once, begin);
    remote_transfers *t = begun == CURLE_OK ? calloc(1, sizeof *t) : NULL;
    if (t) {
        t->listener = *listener;
        t->agent = agent;
        t->stall_s = stall_s;
        t->multi = lib.curl_multi_init();
        /* ranges of compressed bytes would have other positions */
        t->fields = lib.curl_slist_append(NULL, "Accept-Encoding: identity");
    }
    if (t && t->multi && t->fields) {
        *out = t;
        return TAPER_OK;
    }
    remote_transfers_close(t);
    return formats_fail(error, TAPER_ERR_NOMEM, "libcurl does not start; free some memory");
}

void remote_transfers_close(remote_transfers *t) {
    if (!t) return;
    for (unsigned k = 0; k < REMOTE_MOST_TRANSFERS; k++) {
        slot *s = &t->slot[k];
        if (s->is_running) lib.curl_multi_remove_handle(t->multi, s->easy);
        if (s->easy) lib.curl_easy_cleanup(s->easy);
    }
    if (t->multi) lib.curl_multi_cleanup(t->multi);
    lib.curl_slist_free_all(t->fields);
    free(t);
}

int remote_transfers_start(remote_transfers *t, unsigned number, const char *url, uint64_t first,
                           uint64_t last) {
    slot *s = &t->slot[number];
    char range[48];
    if (!s->easy && !set_up(t, s, number)) {
        if (s->easy) lib.curl_easy_cleanup(s->easy);
        s->easy = NULL;
        return 0;
    }
    snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, first, last);
    s->head = (remote_head){0};
    s->is_head_told = s->is_stopped = 0;
    if (lib.curl_easy_setopt(s->easy, CURLOPT_URL, url) != CURLE_OK ||
        lib.curl_easy_setopt(s->easy, CURLOPT_RANGE, range) != CURLE_OK ||
        lib.curl_multi_add_handle(t->multi, s->easy) != CURLM_OK)
        return 0;
    s->is_running = 1;
    return 1;
}

static remote_ending ending_of(const slot *s, CURLcode code) {
    if (s->is_stopped) return REMOTE_STOPPED;
    switch (code) {
    case CURLE_OK: return REMOTE_ENDED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT: return REMOTE_UNREACHABLE;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_COULDNT_RESOLVE_PROXY: return REMOTE_IMPOSSIBLE;
    default: return REMOTE_BROKEN; /* of the peer that gives half a head, for example */
    }
}

static void tell_why(CURLcode code, char *to, size_t room) {
    switch (code) {
    case CURLE_TOO_MANY_REDIRECTS:
        snprintf(to, room, "the server redirects more than %d times; check the URL",
                 MOST_REDIRECTS);
        break;
    case CURLE_UNSUPPORTED_PROTOCOL:
        snprintf(to, room,
                 "the server answers or redirects with another protocol than http and "
                 "https, or this libcurl lacks TLS; check the URL");
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
        snprintf(to, room, "the name of the server is not known; check the URL and the network");
        break;
    case CURLE_COULDNT_CONNECT:
        snprintf(to, room, "no connection to the server; check the URL and the network");
        break;
    case CURLE_OPERATION_TIMEDOUT:
        snprintf(to, room, "the server does not answer, or sends no more; try again later");
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
        snprintf(to, room,
                 "the certificate of the server cannot be verified; check the URL, the "
                 "clock and the package ca-certificates");
        break;
    default:
        snprintf(to, room, "the transfer failed (%s); try again later",
                 lib.curl_easy_strerror(code));
    }
}

static void end_transfer(remote_transfers *t, CURL *easy, CURLcode code) {
    slot *s = NULL;
    char *where = NULL, why[200] = "";
    lib.curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&s);
    lib.curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &where);
    if (code == CURLE_OK) (void)tell_head(s); /* there was no body */
    const remote_ending ending = ending_of(s, code);
    tell_why(code, why, sizeof why);
    lib.curl_multi_remove_handle(t->multi, easy);
    s->is_running = 0;
    t->listener.end(t->listener.user, s->number, ending, where ? where : "", why);
}

void remote_transfers_run(remote_transfers *t, int wait_ms) {
    int running, left;
    lib.curl_multi_perform(t->multi, &running);
    for (CURLMsg *m; (m = lib.curl_multi_info_read(t->multi, &left)) != NULL;)
        if (m->msg == CURLMSG_DONE) {
            end_transfer(t, m->easy_handle, m->data.result);
            wait_ms = 0;
        }
    if (wait_ms) lib.curl_multi_poll(t->multi, NULL, 0, wait_ms, NULL);
}

void remote_transfers_wake(remote_transfers *t) { lib.curl_multi_wakeup(t->multi); }

#else

taper_status remote_transfers_open(remote_transfers **out, const remote_listener *listener,
                                   const char *agent, unsigned stall_s, taper_error *error) {
    (void)listener, (void)agent, (void)stall_s;
    *out = NULL;
    return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                        "this build of taper reads no URLs, as the header of libcurl was missing; "
                        "install libcurl4-openssl-dev and build again");
}

void remote_transfers_close(remote_transfers *t) { (void)t; }

int remote_transfers_start(remote_transfers *t, unsigned slot, const char *url, uint64_t first,
                           uint64_t last) {
    (void)t, (void)slot, (void)url, (void)first, (void)last;
    return 0;
}

void remote_transfers_run(remote_transfers *t, int wait_ms) { (void)t, (void)wait_ms; }

void remote_transfers_wake(remote_transfers *t) { (void)t; }
#endif
