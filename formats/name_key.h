/* name_key.h -- names of files as they are compared: one key, however the same name is written. */
#ifndef FORMATS_NAME_KEY_H
#define FORMATS_NAME_KEY_H

/* Two names have equal keys when they differ by Unicode's normal form (NFC, NFD) alone, or by parts
 * of a path that say nothing ("./a.png", "flat//a.png", and the "/" at the front). Letters with
 * marks are taken apart, and marks are put in order: all that Unicode takes apart below U+3100
 * (Latin, Greek, Cyrillic, Indic scripts, kana), and Hangul; not ideographs for compatibility.
 * Bytes that are not UTF-8 stay. malloc'd, the caller's; NULL without memory. */
char *formats_name_key(const char *name);

/* A copy of a name of a file in which control characters, DEL and the backslash are "\xNN", with
 * digits of lower case: as containers and indexes hold it, and as lists, CSV and JSON print it.
 * malloc'd, the caller's; NULL without memory. */
char *formats_name_escape(const char *name);

/* The other way round; a backslash that begins no such escape stays. malloc'd likewise. */
char *formats_name_unescape(const char *text);

/* Does such an escape stand at text, which begins with a backslash? Then the byte, else 0. */
int formats_name_escaped(const char *text);

#endif
