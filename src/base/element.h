/* The kinds of elements that vectors of sums have (base/reduce.h), as a table. */
#ifndef ARMILLA_BASE_ELEMENT_H
#define ARMILLA_BASE_ELEMENT_H

#include "base/reduce.h"

/* Sums that are read have 8 bytes for each element, whatever the slots' have. */
typedef struct armilla_element_row {
    size_t bytes;             /* of an element in a slot's vector */
    armilla_element combined; /* its kind once it has 8 bytes */
    uint64_t neutral;         /* 8 bytes that a slot's sums begin with */
    uint64_t absent;          /* 8 bytes that leave what they are combined with as it is, even the sign of a zero */
    void (*load)(int64_t count, const void *from, void *to);    /* to = from, at 8 bytes */
    void (*combine)(int64_t count, const void *from, void *to); /* to = to, then from */
} armilla_element_row;

extern const armilla_element_row armilla_element_rows[ARMILLA_ELEMENTS];

#endif
