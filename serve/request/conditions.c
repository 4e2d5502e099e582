/* conditions.c -- see conditions.h. */
#include "serve/request/conditions.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void serve_date_write(int64_t seconds, char to[SERVE_DATE_BYTES]) {
    const time_t when = (time_t)seconds;
    struct tm t;
    to[0] = '\0';
    if (!gmtime_r(&when, &t) || t.tm_year < -1900 || t.tm_year > 8099) return;
    snprintf(to, SERVE_DATE_BYTES, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[t.tm_wday % 7],
             t.tm_mday % 100, months[t.tm_mon % 12], (t.tm_year + 1900) % 10000, t.tm_hour % 100,
             t.tm_min % 100, t.tm_sec % 100);
}

/* Days since 1970 of a date of the Gregorian calendar. */
static int64_t days_of(int year, int month, int day) {
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool digits(const char *text, int n, int *out) {
    *out = 0;
    for (int i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        *out = *out * 10 + (text[i] - '0');
    }
    return true;
}

bool serve_date_read(const char *text, int64_t *seconds) {
    int year, month = 0, day, hour, minute, second;
    if (strlen(text) != 29 || memcmp(text + 3, ", ", 2) != 0 || strcmp(text + 25, " GMT") != 0 ||
        text[7] != ' ' || text[11] != ' ' || text[16] != ' ' || text[19] != ':' || text[22] != ':')
        return false;
    while (month < 12 && memcmp(text + 8, months[month], 3) != 0) month++;
    if (month == 12 || !digits(text + 5, 2, &day) || !digits(text + 12, 4, &year) ||
        !digits(text + 17, 2, &hour) || !digits(text + 20, 2, &minute) ||
        !digits(text + 23, 2, &second))
        return false;
    if (day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return false;
    *seconds = days_of(year, month + 1, day) * 86400 + hour * 3600 + minute * 60 + second;
    return true;
}

/* Whether `tag` is in a list of tags, or the list is "*". The weak comparison ignores W/. */
static bool is_listed(const char *list, const char *tag, bool is_weak) {
    if (!strcmp(list, "*")) return true;
    const size_t n = tag ? strlen(tag) : 0;
    while (n && *list) {
        list += strspn(list, " \t,");
        const bool marked = !strncmp(list, "W/", 2);
        if (marked) list += 2;
        if (*list != '"') return false;
        const char *end = strchr(list + 1, '"');
        if (!end) return false;
        const size_t length = (size_t)(end - list) + 1;
        if (length == n && !memcmp(list, tag, n) && (is_weak || !marked)) return true;
        list = end + 1;
    }
    return false;
}

int serve_conditions_check(const serve_conditions *c, const serve_version *version) {
    int64_t when;
    if (c->if_match) {
        if (!is_listed(c->if_match, version->tag, false)) return 412;
    } else if (c->if_unmodified_since && serve_date_read(c->if_unmodified_since, &when)) {
        if (version->modified > when) return 412;
    }
    if (c->if_none_match) return is_listed(c->if_none_match, version->tag, true) ? 304 : 0;
    if (c->if_modified_since && serve_date_read(c->if_modified_since, &when))
        return version->modified <= when ? 304 : 0;
    return 0;
}

bool serve_range_applies(const serve_conditions *c, const serve_version *version, int64_t now) {
    int64_t when;
    if (!c->if_range) return true;
    if (c->if_range[0] == '"') return version->tag && !strcmp(c->if_range, version->tag);
    return serve_date_read(c->if_range, &when) && when == version->modified &&
           version->modified < now - 1;
}
