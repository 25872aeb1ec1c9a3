/* Choosing the preparation of data that are to be clustered. */
#ifndef ARMILLA_CLUSTER_RECIPE_H
#define ARMILLA_CLUSTER_RECIPE_H

#include "cluster/cluster.h"

/* Centres the fit where a table has communities around its mean and none, or worse ones, around the origin. Anything but a
 * small table that is prepared by its samples' lengths alone stays as it is, and costs nothing. */
armilla_status armilla_recipe_try(armilla_context *context, const armilla_data *X, armilla_options *fit,
                                  const armilla_cluster_options *clusters);

#endif
