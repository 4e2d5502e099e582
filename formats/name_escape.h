/* name_escape.h -- escapes the bytes of file names that lists and CSV cannot contain; which names a
 * container can hold. */
#ifndef FORMATS_NAME_ESCAPE_H
#define FORMATS_NAME_ESCAPE_H

/* A copy of a file name in which control characters, DEL and the backslash are "\xNN", in lower
 * case. Containers and indexes store this form; lists, CSV and JSON print it. malloc'd, the
 * caller's to free; NULL without memory. */
char *formats_name_escape(const char *name);

/* The inverse; a backslash that begins no such escape is kept. malloc'd likewise. */
char *formats_name_unescape(const char *text);

/* text begins with a backslash. The byte if it begins such an escape, else 0. */
int formats_name_escaped(const char *text);

/* 1 if a container may hold this name: a relative path of at most 4,095 bytes, without empty parts,
 * "." or "..", control characters, or a backslash outside such an escape. */
int formats_name_is_legal(const char *name);

#endif
