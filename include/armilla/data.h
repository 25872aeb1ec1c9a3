/* X: m features, n samples, one sample per column. */
#ifndef ARMILLA_DATA_H
#define ARMILLA_DATA_H

#include <armilla/base.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct armilla_data armilla_data;

/* Borrows an m x n matrix whose sample j is the m contiguous numbers from values + j*stride (in elements, stride >= m):
 * a column-major m x n matrix, or the same bytes, a C-order (n, m) array. No copy is made: the memory must stay as it
 * is while the data object lives. Panels of types that are no working precision (u8, f16, bf16, i8) are converted,
 * exactly, as they are read. */
ARMILLA_API armilla_status armilla_data_wrap_dense(armilla_context *context, armilla_type type, const void *values,
                                                   int64_t m, int64_t n, int64_t stride, armilla_data **data);

/* Integers that sparse data are indexed by. */
typedef enum armilla_index { ARMILLA_I32, ARMILLA_I64, ARMILLA_INDEX_COUNT } armilla_index;

/* Borrows a sparse m x n matrix in compressed columns: sample j has the entries starts[j] ... starts[j+1]-1, each a
 * value and the feature (from 0) that it belongs to; starts has n+1 numbers and begins with 0. The same arrays are a
 * CSR matrix of n rows (samples) and m columns. No copy is made, and the memory must stay as it is while the data
 * object lives, if the features of every sample rise; where they do not, or occur twice, a copy is made in which they
 * are sorted and what belongs to one place is added up. Entries that are 0 may be stored. */
ARMILLA_API armilla_status armilla_data_wrap_sparse(armilla_context *context, armilla_type type, armilla_index index,
                                                    const void *values, const void *features, const void *starts,
                                                    int64_t m, int64_t n, armilla_data **data);

/* A function of the program's that has the numbers: rows of a database, slices of a large file, pictures that are decoded
 * when they are wanted. Data from it are dense; fits, transform, clusters and surveys have no more of
 * them in memory than the panels that threads work on, and so have armilla_model_check and writing. Selecting features
 * copies them first. */
typedef struct armilla_data_source {
    size_t size;
    armilla_type type;
    int64_t m, n;
    /* Samples first ... first+count-1: that of number first+j is the m numbers of the type from number j*stride of buffer
     * on. Asked for in any order, again and again, and from several threads at once; a sample must always have the same
     * numbers. ARMILLA_OK, or why not: ARMILLA_NO_MEMORY stays that, all else becomes ARMILLA_IO_ERROR, and what stands in
     * message (ARMILLA_SOURCE_MESSAGE bytes, empty before) is quoted in the context's message. */
    armilla_status (*fill)(void *self, int64_t first, int64_t count, void *buffer, int64_t stride, char *message);
    void *self;                /* for fill and close */
    bool serial;               /* fill is called by one thread at a time */
    void (*close)(void *self); /* when the data are freed; NULL: nothing is */
} armilla_data_source;

enum { ARMILLA_SOURCE_MESSAGE = 256 };

ARMILLA_API void armilla_data_source_default_sized(armilla_data_source *source, size_t size);
/* Type f64, and all else 0, false or NULL. */
static inline void armilla_data_source_default(armilla_data_source *source)
{
    armilla_data_source_default_sized(source, sizeof *source);
}

/* The struct is copied. close is not called where this fails. */
ARMILLA_API armilla_status armilla_data_from_source(armilla_context *context, const armilla_data_source *source,
                                                    armilla_data **data);

typedef struct armilla_read_options {
    size_t size;
    const char *format;       /* a row of the formats table; NULL: from the content and the name */
    bool sample_columns;      /* the file has one sample per column, as the paper; default: one per row */
    const char *array;        /* of a file with several arrays: which; NULL: the only one */
    const char *label_column; /* text tables: name or number (from 1) of the column with labels; NULL: none */
    const char *name_column;  /* text tables: of the column with the names of samples; "none"; NULL: as it looks */
    const char *separator;    /* text tables: comma, semicolon, tab, blank or one character; NULL: as it looks */
    const char *header;       /* text tables: yes or no; NULL: as it looks */
    const char *decimal;      /* text tables: point or comma; NULL: as it looks where semicolons separate, else point */
    bool keep_missing;        /* text tables: a missing value becomes NaN instead of an error */
    const char *labels;       /* a file with one label per sample, one per line or IDX; NULL: none */
    int threads;              /* that parse; <= 0: all cores */
    int64_t memory;           /* most bytes of the context while reading, if below its own limit; <= 0: none */
    const char *spill; /* text: arrays that do not fit are kept in unnamed files beside this path; NULL: they fail */
    const char *feature_names; /* a text file with the name of one feature per line; NULL: those in the data's file */
    const char *sample_names;  /* the same of samples */
    const char
        *ignore_columns;     /* text tables: names or numbers (from 1) of columns to leave out, separated by commas; or
                                 * "text": all that are not numbers, which a warning names. NULL: none */
    const char *label_array; /* of a file with several arrays: the one with a label per sample; NULL: `labels` */
    /* Options that another file was read with, and that count where they are not given here, if this file is of the format
     * that they name: array, sample_columns and all that are for text tables. Columns that this table does not have are
     * passed over, and those that are given by a number count in a table with as many columns (`columns`). NULL: none */
    const struct armilla_read_options *recalled;
    int64_t columns;                  /* of `recalled`: how many columns the table had */
    struct armilla_read_found *found; /* where not NULL: becomes what was found out about the file */
} armilla_read_options;

/* Also where reading fails, as far as it has come. */
typedef struct armilla_read_found {
    size_t size;
    const char *format; /* a row of the formats table; NULL: not known yet */
    int64_t columns;    /* of a text table, those without numbers too; 0: it is none */
} armilla_read_found;

ARMILLA_API void armilla_read_options_default_sized(armilla_read_options *options, size_t size);
/* Sets every member to what the comments above call the default, NULL, false or 0. */
static inline void armilla_read_options_default(armilla_read_options *options)
{
    armilla_read_options_default_sized(options, sizeof *options);
}

/* Opens a file; options may be NULL. Numbers that are used as they are stored are mapped, not read.
 * The context's watch is notified, in bytes, how far unpacking, parsing and the images of a folder have come. */
ARMILLA_API armilla_status armilla_data_open(armilla_context *context, const char *path,
                                             const armilla_read_options *options, armilla_data **data);

/* What a column of a text table is read as. */
typedef enum armilla_column_use {
    ARMILLA_COLUMN_VALUES, /* of a feature, or of a sample where samples are columns; one of text cannot be read so */
    ARMILLA_COLUMN_NAMES,
    ARMILLA_COLUMN_LABELS,
    ARMILLA_COLUMN_LEFT_OUT,
    ARMILLA_COLUMN_USE_COUNT
} armilla_column_use;

/* What it holds, besides missing values. */
typedef enum armilla_column_type {
    ARMILLA_COLUMN_EMPTY, /* nothing */
    ARMILLA_COLUMN_INTEGER,
    ARMILLA_COLUMN_NUMBER,
    ARMILLA_COLUMN_TEXT, /* at least one value that is no number */
    ARMILLA_COLUMN_TYPE_COUNT
} armilla_column_type;

typedef struct armilla_column_facts {
    size_t size;
    const char *name; /* in the header; NULL: it has none */
    armilla_column_use use;
    armilla_column_type type;
    int64_t missing;        /* empty fields, nan, NA and the like, infinities */
    int64_t numbers, texts; /* how many of the other values are numbers, and how many are not */
    int64_t distinct;       /* different values; numbers are compared by value, names and labels as texts */
    bool more;              /* there are more than `distinct`, which no longer counts: 10000, fewer in wide tables */
    int64_t text_row;       /* the row, from 1 without the header, of the first text; 0: there is none */
    const char *text;       /* the beginning of it, as it can be shown; NULL */
    bool guessed;           /* as names, because the first row has text there */
} armilla_column_facts;

/* What all columns of a text table hold, those without numbers too. */
typedef struct armilla_table_facts armilla_table_facts;

/* One pass over the file, as the options say, which may be NULL; text where numbers are expected is no error here.
 * ARMILLA_BAD_DATA where the file is no text table. Frees the object, and the texts of its columns. */
ARMILLA_API armilla_status armilla_table_facts_open(armilla_context *context, const char *path,
                                                    const armilla_read_options *options, armilla_table_facts **facts);
ARMILLA_API void armilla_table_facts_free(armilla_table_facts *facts);

/* Rows without the header, and columns. */
ARMILLA_API int64_t armilla_table_facts_rows(const armilla_table_facts *facts);
ARMILLA_API int64_t armilla_table_facts_columns(const armilla_table_facts *facts);
ARMILLA_API bool armilla_table_facts_column_sized(const armilla_table_facts *facts, int64_t index,
                                                  armilla_column_facts *column, size_t size);
/* The column of that number, from 0; false, and all of it 0, past the last. */
static inline bool armilla_table_facts_column(const armilla_table_facts *facts, int64_t index,
                                              armilla_column_facts *column)
{
    return armilla_table_facts_column_sized(facts, index, column, sizeof *column);
}

typedef struct armilla_write_options {
    size_t size;
    bool sample_columns; /* one sample per column; default: one per row */
    bool overwrite;      /* replace a file that exists */
    const char *format;  /* a row of the formats table that is written; NULL: from the name's ending */
} armilla_write_options;

ARMILLA_API void armilla_write_options_default_sized(armilla_write_options *options, size_t size);
/* Sets every member to what the comments above call the default, NULL or false. */
static inline void armilla_write_options_default(armilla_write_options *options)
{
    armilla_write_options_default_sized(options, sizeof *options);
}

/* Writes data that were opened or wrapped; options may be NULL. The file appears whole or not at all, also where the
 * context's watch ends the writing. Numbers in text come back bit for bit in the type that the data are held in. What a
 * format cannot hold, such as names, is reported by a warning to the context's log. */
ARMILLA_API armilla_status armilla_data_write(armilla_context *context, const armilla_data *data, const char *path,
                                              const armilla_write_options *options);

/* Whether there is such a format, and the path's ending says one where none is named: to know before data are read. */
ARMILLA_API armilla_status armilla_data_write_check(armilla_context *context, const char *path,
                                                    const armilla_write_options *options);

/* Frees the object, not the memory that it borrows; data chosen from it must be freed before. */
ARMILLA_API void armilla_data_free(armilla_data *data);

/* m, and n. */
ARMILLA_API int64_t armilla_data_features(const armilla_data *data);
ARMILLA_API int64_t armilla_data_samples(const armilla_data *data);
/* Numbers stored: m*n where dense, the entries where sparse. */
ARMILLA_API int64_t armilla_data_stored(const armilla_data *data);
ARMILLA_API armilla_type armilla_data_type(const armilla_data *data);
/* How it is held, e.g. "dense f32". */
ARMILLA_API const char *armilla_data_storage(const armilla_data *data);

/* What a file holds besides numbers. */
typedef enum armilla_naming {
    ARMILLA_FEATURE_NAMES,
    ARMILLA_SAMPLE_NAMES,
    ARMILLA_SAMPLE_LABELS,
    ARMILLA_NAMING_COUNT
} armilla_naming;

/* The name of a feature or sample or the label of a sample, counted from 0; NULL where the data have none. It belongs
 * to the data. */
ARMILLA_API const char *armilla_data_name(const armilla_data *data, armilla_naming kind, int64_t index);

/* Copies count texts, one for each feature or sample, and puts them in the place of what was there. */
ARMILLA_API armilla_status armilla_data_set_names(armilla_data *data, armilla_naming kind, const char *const *texts,
                                                  int64_t count);

/* The data get the labels in the file, one per sample: text with one per line, IDX or an .npy vector. */
ARMILLA_API armilla_status armilla_data_read_labels(armilla_context *context, armilla_data *data, const char *path);

/* What is kept of data: lists separated by commas, NULL for everything. Samples and features are given by their names, by
 * numbers from 1 or by ranges such as 1-100, also as a file of that name with one of these on each line; labels by
 * their texts. What several lists leave is what all of them keep, in the order of the data. */
typedef struct armilla_selection {
    size_t size;
    const char *labels;
    const char *samples;
    const char *features;
} armilla_selection;

ARMILLA_API void armilla_selection_default_sized(armilla_selection *selection, size_t size);
/* Everything is kept. */
static inline void armilla_selection_default(armilla_selection *selection)
{
    armilla_selection_default_sized(selection, sizeof *selection);
}

/* Data with what the selection keeps of X alone. X must outlive them: dense data of which only samples are chosen are
 * not copied. A model that is fitted to them picks the same features out of other data by itself. */
ARMILLA_API armilla_status armilla_data_select(armilla_context *context, const armilla_data *X,
                                               const armilla_selection *selection, armilla_data **data);

/* Bytes that have been read so far of data that are streamed from their file, because they do not fit into memory; -1 of
 * data that are in memory, or mapped. */
ARMILLA_API int64_t armilla_data_bytes_read(const armilla_data *data);

/* Sample j as m doubles. */
ARMILLA_API armilla_status armilla_data_sample(armilla_context *context, const armilla_data *data, int64_t j,
                                               double *sample);

/* What one read of the data tells. */
typedef struct armilla_data_facts {
    size_t size;
    double squared_norm;        /* ||X||^2 */
    double smallest, largest;   /* entries */
    double norm_low, norm_high; /* shortest nonzero and longest sample; 0 where all are zero */
    int64_t zeros;              /* entries that are 0 */
    int64_t negatives;          /* entries below 0 */
    int64_t zero_samples;       /* samples of length 0 */
    int64_t zero_features;      /* features that are 0 in every sample */
    uint64_t fingerprint;       /* depends on the values and their places, not on how they are stored */
    int64_t bad_sample;         /* the first sample with a NaN or an infinity, or -1 */
    int64_t bad_feature;        /* its first such feature, or -1 */
    int64_t bad_entries;        /* how many entries are NaN or infinite */
    double cancellation;        /* sparse data that are centred: how many times larger what is subtracted is; else 0 */
} armilla_data_facts;

ARMILLA_API armilla_status armilla_data_survey_sized(armilla_context *context, const armilla_data *data, int threads,
                                                     armilla_data_facts *facts, size_t size);
/* Does not fail on NaN or infinities: they are reported in bad_sample and bad_feature. threads <= 0: all cores. */
static inline armilla_status armilla_data_survey(armilla_context *context, const armilla_data *data, int threads,
                                                 armilla_data_facts *facts)
{
    return armilla_data_survey_sized(context, data, threads, facts, sizeof *facts);
}

#ifdef __cplusplus
}
#endif

#endif
