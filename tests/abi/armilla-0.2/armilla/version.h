/* The library's version, read by the build too: this is the only place that holds it. */
#ifndef ARMILLA_VERSION_H
#define ARMILLA_VERSION_H

#define ARMILLA_VERSION_MAJOR 0
#define ARMILLA_VERSION_MINOR 2
#define ARMILLA_VERSION_PATCH 0
#define ARMILLA_VERSION "0.2.0"

#endif
