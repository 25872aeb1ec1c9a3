/* Armilla: matrix factorization on the sphere. X ~ UV, where U is orthonormal or nonnegative and every
 * column of V lies on a sphere of one learned radius. This header is the whole API.
 *
 *     armilla_context *context = NULL;
 *     armilla_data *X = NULL;
 *     armilla_model *model = NULL;
 *     armilla_options options;
 *     armilla_options_default(&options);
 *     options.rank = 10;
 *     if (armilla_context_new(NULL, &context) == ARMILLA_OK &&
 *         armilla_data_wrap_dense(context, ARMILLA_F64, values, m, n, m, &X) == ARMILLA_OK &&
 *         armilla_fit(context, X, &options, &model) == ARMILLA_OK)
 *         ... armilla_model_basis(model), armilla_model_codes(model) ...
 *     else
 *         fprintf(stderr, "%s\n", armilla_context_error(context));
 *     armilla_model_free(model);
 *     armilla_data_free(X);
 *     armilla_context_free(context);
 *
 * Every function that can fail returns an armilla_status, writes its outputs last and leaves them untouched on
 * failure; the context then holds a message that says what, where and what to do. Every _free accepts NULL. */
#ifndef ARMILLA_H
#define ARMILLA_H

#include <armilla/base.h>
#include <armilla/checkpoint.h>
#include <armilla/cluster.h>
#include <armilla/compare.h>
#include <armilla/data.h>
#include <armilla/files.h>
#include <armilla/fit.h>
#include <armilla/model.h>
#include <armilla/neighbors.h>
#include <armilla/options.h>
#include <armilla/ranks.h>
#include <armilla/tables.h>
#include <armilla/top.h>
#include <armilla/version.h>

#endif
