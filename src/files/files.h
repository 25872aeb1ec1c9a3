/* Readers of data files: one file and one row each. A reader takes bytes, not a path, so that it can be fuzzed. */
#ifndef ARMILLA_FILES_FILES_H
#define ARMILLA_FILES_FILES_H

#include "data/data.h"

/* A file's bytes: mapped, or in memory. A reader that keeps the mapping (armilla_data_map_dense) or
 * the memory (armilla_data_own_dense) sets it to NULL. */
typedef struct armilla_bytes {
    const char *path; /* for messages */
    const unsigned char *start;
    size_t count;
    void *map;     /* what munmap takes, or NULL where the bytes are not a mapping that may be kept */
    void *memory;  /* what armilla_release takes, or NULL where the bytes are not memory of ours */
    bool unpacked; /* the file is compressed, the bytes are not: its name has one more ending */
} armilla_bytes;

typedef struct armilla_head armilla_head;

typedef struct armilla_format {
    const char *name;    /* "npy" */
    const char *endings; /* ".npy"; several separated by spaces; of a directory what it has to hold */
    const char *meaning;
    const char *uses; /* fields of armilla_read_options that only some formats have a use for; NULL: none of them */
    /* The ending decides, whatever the content looks like: any bytes can be such a file, those of other formats too. */
    bool by_name;
    /* Whether the content is of this format, from its first bytes; NULL: by the ending only. */
    bool (*recognize)(const unsigned char *start, size_t count);
    armilla_status (*read)(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                           armilla_data **data);
    /* The same of a file that does not fit into memory and stays where it is (files/stream.h). *data stays as it is where
     * this file cannot be; NULL: none can. */
    armilla_status (*stream)(armilla_context *context, const armilla_head *head, const armilla_read_options *options,
                             armilla_data **data);
    /* Formats that are directories of files have these two; those that are nothing else, none of the two above. */
    armilla_status (*recognize_directory)(armilla_context *context, const char *path, bool *found);
    armilla_status (*read_directory)(armilla_context *context, const char *path, const armilla_read_options *options,
                                     armilla_data **data);
} armilla_format;

/* The last step of a reader: *data = what was made, or where something has failed that is freed. Returns status. */
armilla_status armilla_data_give(armilla_status status, armilla_data *made, armilla_data **data);

/* NULL past the last row; NULL where there is no such name. */
const armilla_format *armilla_formats_row(size_t index);
const armilla_format *armilla_formats_find(const char *name);

/* ARMILLA_BAD_ARGUMENT where an option is given that the format has no use for. *settled = the options with those that are
 * recalled. */
armilla_status armilla_format_settle(armilla_context *context, const char *path, const armilla_format *format,
                                     const armilla_read_options *options, armilla_read_options *settled);
/* Whether the value is a recalled one of these options, rather than given. */
bool armilla_option_recalled(const armilla_read_options *options, const char *value);

/* ARMILLA_BAD_DATA, with what to do, where the bytes are plainly something else than data, whatever the file is called. */
armilla_status armilla_refuse_container(armilla_context *context, const armilla_bytes *bytes);

/* The format that the first `length` bytes of the path alone decide for; NULL: none. */
const armilla_format *armilla_formats_named(const char *path, size_t length);

/* The first format that has such bytes at its beginning; NULL: none. */
const armilla_format *armilla_formats_recognize(const unsigned char *start, size_t count);

/* Whether the bytes are compressed. Those of a format that is recognized by its ending are compressed only where the
 * ending says so. */
bool armilla_packed(const char *path, const armilla_format *format, const unsigned char *start, size_t count);

extern const armilla_format armilla_format_npy, armilla_format_npz, armilla_format_csv, armilla_format_idx,
    armilla_format_mtx, armilla_format_10x, armilla_format_svmlight, armilla_format_images, armilla_format_hdf5,
    armilla_format_mat, armilla_format_fvecs, armilla_format_bvecs, armilla_format_ivecs, armilla_format_fbin,
    armilla_format_u8bin, armilla_format_i8bin, armilla_format_safetensors, armilla_format_word2vec,
    armilla_format_glove;

/* ARMILLA_BAD_DATA, with what to do, unless the array has two dimensions: a vector might be one sample or many. */
struct armilla_array;
armilla_status armilla_array_need_matrix(armilla_context *context, const char *where,
                                         const struct armilla_array *array);

/* Data from an array inside the bytes, with samples in its rows, or in its columns: numbers that lie as the solver
 * wants them stay in the mapping, all others are converted. */
armilla_status armilla_array_data(armilla_context *context, armilla_bytes *bytes, const struct armilla_array *array,
                                  const armilla_read_options *options, armilla_data **data);

/* Whether the first `length` bytes of the path end in one of the words of endings, in either case. */
bool armilla_has_ending(const char *endings, const char *path, size_t length);

/* An IDX file as samples x features; of one size (labels) a vector. */
bool armilla_idx_recognize(const unsigned char *start, size_t count);
armilla_status armilla_idx_parse(armilla_context *context, const armilla_bytes *bytes, struct armilla_array *array);

/* The data get the names or labels in the file: text with one per line, or IDX or .npy with one number for each. */
armilla_status armilla_texts_attach(armilla_context *context, const char *path, armilla_naming kind,
                                    armilla_data *data);
/* The names or labels themselves, as many as there are features or samples (sizes); labels beside names belong to the
 * samples of these names (samples; NULL: they have none). */
armilla_status armilla_texts_open(armilla_context *context, const char *path, armilla_naming kind,
                                  const int64_t sizes[2], const armilla_names *samples, armilla_names *names);
/* The numbers of a vector, of one size or of two of which one is 1, as texts. */
armilla_status armilla_labels_add_numbers(armilla_context *context, const struct armilla_array *array,
                                          armilla_names *names);

/* Labels as a file has them, and what it calls their samples; all zeros is empty. */
typedef struct armilla_label_file {
    armilla_names labels, samples; /* of samples none, or one for each label */
} armilla_label_file;

armilla_status armilla_labels_read(armilla_context *context, const char *path, armilla_label_file *read);
void armilla_label_file_free(armilla_context *context, armilla_label_file *read);
/* Text in two columns of which one names the samples; *found is false where it is not such. */
armilla_status armilla_label_table_read(armilla_context *context, const armilla_bytes *bytes, armilla_label_file *read,
                                        bool *found);
/* read->labels = those of the samples (NULL: they have no names) in their order, empty where the file has none:
 * ARMILLA_BAD_DATA where names are there twice, or unknown. */
armilla_status armilla_label_file_match(armilla_context *context, const char *path, const armilla_names *samples,
                                        armilla_label_file *read);

/* Names the file in front of the message where memory is short, which knows nothing of files. Returns status. */
armilla_status armilla_about(armilla_context *context, const char *path, armilla_status status);
/* ARMILLA_CANNOT_OPEN, for the reason in errno. */
armilla_status armilla_cannot_open(armilla_context *context, const char *path);
/* Maps the file (or reads it, where it cannot be mapped, as a pipe, or is not to be). armilla_bytes_free undoes it; the path is borrowed
 * until then. An empty file is ARMILLA_BAD_DATA. */
armilla_status armilla_bytes_open(armilla_context *context, const char *path, armilla_bytes *bytes);
void armilla_bytes_free(armilla_context *context, armilla_bytes *bytes);
bool armilla_gzip_recognize(const unsigned char *start, size_t count);
/* Bytes that gzip made become what it packed, if memory has space for them (armilla_memory_left); others stay as they
 * are. */
armilla_status armilla_bytes_unpack(armilla_context *context, armilla_bytes *bytes);

#endif
