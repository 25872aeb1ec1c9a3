/* Structs that a program has allocated: they begin with their size, which is that of the header it was compiled with and
 * may be less or more than the library's. Public functions copy them in and out; everything inside uses whole structs. */
#ifndef ARMILLA_BASE_SIZED_H
#define ARMILLA_BASE_SIZED_H

#include <armilla/base.h>

/* Overwrites the beginning of `whole`, `size` bytes with the defaults in them, by what the program has given.
 * ARMILLA_BAD_ARGUMENT where its size cannot be right, ARMILLA_NOT_BUILT where it sets what the library does not know.
 * name is the struct's, for the message. */
armilla_status armilla_sized_read(armilla_context *context, const char *name, const void *given, void *whole,
                                  size_t size);

/* Copies as much of `whole`, `size` bytes, as the program's struct has, which is of `given_size`; the rest becomes 0. Its
 * first member becomes how much was copied. */
void armilla_sized_write(const void *whole, size_t size, void *given, size_t given_size);

/* The same for defaults: its first member becomes given_size. */
void armilla_sized_begin(const void *whole, size_t size, void *given, size_t given_size);

/* The same for a struct that a program has filled and will use again: its size stays as it is. */
void armilla_sized_write_back(const void *whole, size_t size, void *given);

#endif
