/* The preparation of data: which steps are taken, what they have learned, and how columns go through them and back. Fits,
 * transform, clustering and the sketches of screening hold one of these; a model file stores it by the names of the
 * table's rows. A step of a kind that exists is one row here, a member of armilla_options and its row
 * (src/model/options.c): whatever lists, copies, compares, records or shows steps goes through the table. */
#ifndef ARMILLA_DATA_PREPARATION_H
#define ARMILLA_DATA_PREPARATION_H

#include "data/data.h"
#include "data/features.h"

#include <armilla/fit.h>
#include <armilla/model.h>

/* In the order in which they are taken. */
typedef enum armilla_step {
    ARMILLA_STEP_TOTAL,
    ARMILLA_STEP_LOG1P,
    ARMILLA_STEP_TOP,
    ARMILLA_STEP_TFIDF,
    ARMILLA_STEP_SCALE,
    ARMILLA_STEP_CENTER,
    ARMILLA_STEP_NORMALIZE,
    ARMILLA_STEP_COUNT
} armilla_step;

/* What a step does to a column. All factors of an entry are multiplied first, so that it is rounded once. */
typedef enum armilla_step_kind {
    ARMILLA_STEP_SUM,     /* scales the column so that its entries add up to learned[0]; before all others */
    ARMILLA_STEP_ENTRIES, /* a function of each entry, which leaves zeros zero; one such step at most */
    ARMILLA_STEP_FACTOR,  /* multiplies feature i by learned[i] */
    ARMILLA_STEP_OFFSET,  /* subtracts learned[i]; one such step at most */
    ARMILLA_STEP_LENGTH   /* scales the column to length 1 */
} armilla_step_kind;

/* All zeros is one that does nothing. */
typedef struct armilla_preparation {
    int64_t m; /* features, once it is learned or read */
    bool taken[ARMILLA_STEP_COUNT];
    size_t form[ARMILLA_STEP_COUNT];   /* which of its forms a step is taken in, of those that have several */
    double number[ARMILLA_STEP_COUNT]; /* that is asked for with a step: a total (0: the median of the data's sums), or
                                          * how many features */
    double *learned[ARMILLA_STEP_COUNT]; /* armilla_step_numbers of a step that is taken and learns, else NULL */
    double *weights;                     /* the product of the factors, or NULL */
} armilla_preparation;

/* How options say that a step is to be taken. */
typedef enum armilla_step_asked {
    ARMILLA_ASKED_BY_FLAG,  /* true or false, as records do */
    ARMILLA_ASKED_BY_WORD,  /* one of two words, as records do */
    ARMILLA_ASKED_BY_TOTAL, /* a number or "median" in a text; "none" or NULL: not */
    ARMILLA_ASKED_BY_COUNT  /* a number above 0 */
} armilla_step_asked;

typedef struct armilla_step_row {
    const char *name; /* of the option, and of the member of a model's record */
    armilla_step_kind kind;
    armilla_step_asked asked;
    const char *words[2];     /* where options and records have words: without it, with it; else NULL: true or false */
    const char *shown;        /* to people; a count of features stands before it, a total behind it */
    size_t option;            /* where armilla_options says so */
    size_t summary;           /* where armilla_model_summary does, 0: nowhere */
    size_t given;             /* where armilla_model_arrays has what it learned, 0: nowhere */
    const char *form;         /* the option that says in which form it is taken, a word; NULL: it has one form */
    size_t form_option;       /* where armilla_options has that */
    const char *forms[3];     /* its words, the usual one first, then NULL */
    bool late;                /* model files of 0.1.0 do not have it: then it was not taken */
    bool single;              /* it learns one number, not one for each feature */
    const char *array;        /* of what it learned, in a model file; NULL: it learns nothing */
    bool (*allows)(double x); /* numbers that can have been learned */
    int statistics;           /* of the features, that it learns from (data/features.h) */
    /* learned = m numbers from these; weights are those of the steps before. */
    armilla_status (*learn)(armilla_context *context, const armilla_preparation *p,
                            const armilla_feature_statistics *found, double *learned);
    const armilla_entry_map *entries; /* of ARMILLA_STEP_ENTRIES, */
    double (*plain)(double x);        /* and the same of one entry as the C library has it, for the check */
    bool (*takes)(double x);          /* entries that it is defined for; NULL: all */
    const char *needs;                /* and these in words */
} armilla_step_row;

/* What numbers of a model may be: any, not negative, above 0; none of them is infinite or NaN. */
bool armilla_is_finite(double x);
bool armilla_is_amount(double x);
bool armilla_is_factor(double x);

extern const armilla_step_row armilla_steps[ARMILLA_STEP_COUNT];

/* How many numbers the step learns from m features. */
int64_t armilla_step_numbers(armilla_step step, int64_t m);
/* The total that the text of the option stands for; 0: the median. False where it is neither that, nor a number. */
bool armilla_total_read(const char *text, bool *taken, double *total);

/* The step that a word of its row says is taken or not; false where the word is neither. */
bool armilla_step_read(armilla_step step, const char *word, bool *taken);
/* The index-th word for a form of the step, NULL past the last. */
const char *armilla_step_form(armilla_step step, size_t index);

/* Texts of options that say numbers. */
typedef struct armilla_step_texts {
    char of[ARMILLA_STEP_COUNT][32];
} armilla_step_texts;

/* The steps that the options ask for; a word that is NULL asks for nothing. */
armilla_preparation armilla_preparation_asked(const armilla_options *options);
/* The options that ask for these steps, with the numbers that they learned; others stay. The texts are theirs. */
void armilla_preparation_tell(const armilla_preparation *p, armilla_step_texts *texts, armilla_options *options);
/* The steps in words, in their order: "log1p, tf-idf, unit length". */
void armilla_preparation_print(const armilla_preparation *p, char *buffer, size_t size);
/* The summary's words and flags. */
void armilla_preparation_describe(const armilla_preparation *p, armilla_model_summary *summary);
bool armilla_preparation_any(const armilla_preparation *p);
/* Whether a step is taken before that one. */
bool armilla_preparation_before(const armilla_preparation *p, armilla_step step);
/* Whether both take the same steps, with the same parameters; what they learned from data may differ. */
bool armilla_preparation_alike(const armilla_preparation *a, const armilla_preparation *b);

/* Learns what the steps need from X, as given. */
armilla_status armilla_preparation_learn(armilla_context *context, armilla_preparation *p, const armilla_data *X);
/* *to, which is asked for and nothing else, has learned what `from` has. */
armilla_status armilla_preparation_copy(armilla_context *context, const armilla_preparation *from,
                                        armilla_preparation *to);
/* The weights, where what was learned has been put in place otherwise. */
armilla_status armilla_preparation_weigh(armilla_context *context, armilla_preparation *p);
void armilla_preparation_release(armilla_context *context, armilla_preparation *p);

/* What a column goes through; borrows the arrays. */
armilla_column_map armilla_preparation_map(const armilla_preparation *p);
/* *prepared = raw seen through it, NULL where nothing is changed; both must outlive it. */
armilla_status armilla_preparation_view(armilla_context *context, const armilla_preparation *p, const armilla_data *raw,
                                        armilla_data **prepared);

/* The columns of X (m x count), in place; lengths, where not NULL: what each was before it was scaled to length 1, or 1
 * where no step does that. */
armilla_status armilla_preparation_apply(armilla_context *context, const armilla_preparation *p, int64_t count,
                                         double *X, double *lengths);
/* The steps taken back, in place. Lengths are not kept by a preparation: they stay as they are where lengths is NULL. */
void armilla_preparation_undo(const armilla_preparation *p, int64_t count, const double *lengths, double *X);

/* ARMILLA_BAD_DATA where the facts of the prepared data have a bad place, which it names in raw, or numbers too large to
 * compute with in the working type. */
armilla_status armilla_preparation_finite(armilla_context *context, const armilla_preparation *p,
                                          const armilla_data *raw, const armilla_data_facts *facts, armilla_type work);

#endif
