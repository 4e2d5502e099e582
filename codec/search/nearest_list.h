/* nearest_list.h -- the k nearest so far of one query: a heap with the farthest on top, in the
 * arrays that hold them sorted in the end. Nearer is: of smaller distance, then of smaller number.
 */
#ifndef CODEC_NEAREST_LIST_H
#define CODEC_NEAREST_LIST_H
#include <stddef.h>
#include <stdint.h>

typedef struct codec_nearest_list {
    double *distance; /* [room] the caller's */
    uint32_t *index;  /* [room] the caller's */
    size_t room;      /* k, 1.. */
    size_t held;      /* 0 at first; at most room */
} codec_nearest_list;

/* Take one that is not held, or leave it where room are held that are nearer. Of order log k. */
void codec_nearest_push(codec_nearest_list *list, double distance, uint32_t index);

/* The distance beyond which none is taken: of the farthest that is held, or infinity while there is
 * room. */
double codec_nearest_limit(const codec_nearest_list *list);

/* Sort what is held, the nearest first; the list takes none after that. */
void codec_nearest_sort(codec_nearest_list *list);

#endif
