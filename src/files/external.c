/* Files of formats that take a large library, or can hide more than a matrix. The library does not read them: the program
 * armilla-convert does, which the command runs by itself; from C the file is converted first. */
#include "files/files.h"

#include <string.h>

static armilla_status refuse(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                             armilla_data **data)
{
    (void)options;
    (void)data;
    return armilla_fail(context, ARMILLA_NOT_BUILT,
                        "%s: is read by the program armilla-convert, not by the library; run armilla convert FILE "
                        "data.npz, and open data.npz",
                        bytes->path);
}

static bool is_hdf5(const unsigned char *start, size_t count)
{
    return count >= 8 && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0;
}

/* Its text is followed by a version, and by two letters in the order of its bytes. */
static bool is_matlab(const unsigned char *start, size_t count)
{
    enum { ORDER = 126, HEADER = 128 };
    return count >= HEADER && memcmp(start, "MATLAB ", 7) == 0 &&
           (memcmp(start + ORDER, "IM", 2) == 0 || memcmp(start + ORDER, "MI", 2) == 0) &&
           (start[ORDER - 2] == 0 || start[ORDER - 1] == 0);
}

const armilla_format armilla_format_hdf5 = {
    .name = "hdf5",
    .endings = ".h5ad .h5 .hdf5",
    .uses = "array label_column",
    .meaning = "AnnData (X, or " ARMILLA_FIELD("array raw/X") ", layers/NAME) or 10x matrices, by armilla-convert",
    .recognize = is_hdf5,
    .read = refuse,
};

const armilla_format armilla_format_mat = {
    .name = "mat",
    .endings = ".mat",
    .uses = "array label_array",
    .meaning = "a matrix of MATLAB's (version 4, 5 and 7.3), by armilla-convert",
    .recognize = is_matlab,
    .read = refuse,
};
