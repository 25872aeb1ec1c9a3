/* Fields of the options inside messages and help. The library names what a program sets; how a user of that program says
 * it (a flag, a parameter of a method) is known to the program alone, which gives the context a function for it. */
#ifndef ARMILLA_BASE_WORDING_H
#define ARMILLA_BASE_WORDING_H

#include <armilla/base.h>

/* A field, or a field and after a blank its value, inside a format or a text: "use " ARMILLA_FIELD("precision f64").
 * Fields of one name in two structs are distinguished by a word before a point: "write.format". The marks are control
 * characters, which no message has otherwise. */
#define ARMILLA_FIELD(field) "\001" field "\002"

#endif
