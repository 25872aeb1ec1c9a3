#!/usr/bin/env python3
"""Calls every function that include/ declares with NULL for each of its pointers in turn, the others being right.

A function that returns a status refuses it with ARMILLA_BAD_ARGUMENT and a sentence that names the argument; any other
returns. The calls are made from the declarations, so a new function is called too, and a new type of argument fails
here until `values` has one. What may be NULL stands in `nullable`."""
import os
import re
import subprocess
import sys
import tempfile

root = os.environ.get("ARMILLA_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
library = os.environ.get("ARMILLA_LIBRARY", os.path.join(root, "build", "libarmilla.so"))

# (function, argument) for which NULL is right; "*" is any function.
nullable = {
    ("armilla_context_new", "allocator"), ("armilla_context_expect", "workload"),
    ("*", "user"), ("*", "watch"), ("*", "log"), ("*", "wording"), ("armilla_context_set_temporary", "directory"),
    ("armilla_data_open", "options"), ("armilla_table_facts_open", "options"), ("armilla_data_write", "options"), ("armilla_data_write_check", "options"),
    ("armilla_cluster_data", "preparation"), ("armilla_structure_of_data_sized", "preparation"), ("armilla_structure_of_model_sized", "X"), ("armilla_model_compare", "X"), ("armilla_top_atoms", "X"), ("armilla_top_clusters", "X"),
    ("armilla_neighbors_of_data", "preparation"), ("armilla_neighbors_of_data", "queries"),
    ("armilla_neighbors_of_model", "queries"),
    ("armilla_release", "block"),
    ("armilla_data_set_names", "texts"),  # with a count of 0
    ("armilla_data_wrap_sparse", "values"), ("armilla_data_wrap_sparse", "features"),  # without entries
    ("armilla_output_write", "bytes"),  # no bytes
    ("armilla_wording_apply", "text"),
    ("armilla_context_set_ranks", "ranks"),  # this process alone
    ("armilla_context_agree", "message"), ("armilla_context_agree", "code"),  # the context's, and none
    ("*", "lengths"),  # not wanted
}
# What an argument gets: by function and name, by name, by type. Functions of these objects are called on copies.
values = {
    "armilla_context *": "context", "const armilla_context *": "context",
    "const armilla_data *": "X", "armilla_data *": "X",
    "const armilla_model *": "model", "const armilla_clustering *": "clusters",
    "const armilla_comparison *": "comparison", "armilla_comparison *": "NULL",
    "armilla_comparison **": "&made.comparison", "armilla_comparison_summary *": "&scratch.comparison",
    "armilla_atom_match *": "&scratch.match",
    "const armilla_neighbors *": "near", "armilla_neighbors *": "NULL", "armilla_neighbors **": "&made.near",
    "const armilla_neighbors_options *": "&nearness", "armilla_neighbors_options *": "&scratch.nearness",
    "armilla_neighbors_summary *": "&scratch.near_summary",
    "const armilla_table_facts *": "NULL", "armilla_table_facts *": "NULL", "armilla_table_facts **": "&made.table",
    "armilla_column_facts *": "&scratch.column",
    "armilla_output *": "output", "armilla_clustering *": "NULL", "armilla_model *": "NULL",
    "armilla_context **": "&made.context", "armilla_data **": "&made.data", "armilla_model **": "&made.model",
    "armilla_clustering **": "&made.clusters", "armilla_output **": "&made.output", "armilla_top **": "&made.top",
    "const armilla_top *": "top", "armilla_top *": "NULL", "armilla_top_list": "ARMILLA_TOP_FEATURES",
    "armilla_top_group *": "&scratch.group", "armilla_top_entry *": "&scratch.top_entry",
    "const armilla_labels *": "&classes", "armilla_cluster_quality *": "&scratch.quality", "armilla_structure *": "&scratch.structure",
    "const armilla_options *": "&options", "armilla_options *": "&scratch.options",
    "const armilla_cluster_options *": "&clustering", "armilla_cluster_options *": "&scratch.clustering",
    "const armilla_read_options *": "&reading", "armilla_read_options *": "&scratch.reading",
    "const armilla_write_options *": "&writing", "armilla_write_options *": "&scratch.writing",
    "const armilla_selection *": "&selection", "armilla_selection *": "&scratch.selection",
    "const armilla_model_arrays *": "&arrays", "armilla_model_arrays *": "&scratch.arrays",
    "const armilla_data_source *": "&source", "armilla_data_source *": "&scratch.source",
    "armilla_checkpoint *": "&scratch.checkpoint",
    "const armilla_workload *": "&(armilla_workload){.size = sizeof(armilla_workload), .work = ARMILLA_WORK_FIT}",
    "const armilla_ranks *": "NULL", "armilla_ranks *": "&scratch.ranks",
    "const armilla_allocator *": "NULL", "armilla_data_facts *": "&scratch.facts",
    "armilla_model_summary *": "&scratch.summary", "armilla_trace_entry *": "&scratch.entry",
    "armilla_check *": "&scratch.check", "armilla_cluster_summary *": "&scratch.cluster_summary",
    "armilla_cluster_number *": "&scratch.cluster_number", "armilla_cluster_choice *": "&scratch.choice", "const armilla_cluster_choice *": "&scratch.choice",
    "armilla_labels *": "&scratch.labels", "armilla_scores *": "&scratch.scores",
    "armilla_table_row *": "&scratch.row", "const armilla_option *": "armilla_option_table()",
    "armilla_watch": "NULL", "armilla_put": "NULL", "int *": "NULL", "armilla_wording": "NULL", "armilla_log_function": "NULL",
    "const char *": '"2"', "const void *": "numbers", "void *": "numbers", "double *": "numbers", "const double *": "numbers",
    "const int64_t *": "labels", "int64_t *": "&count", "bool *": "&flag", "char *": "text",
    "void **": "&block", "size_t *": "&bytes", "const char *const *": "texts", "const char **": "&word",
    "int64_t": "2", "int": "1", "size_t": "sizeof text", "bool": "true",
    "armilla_type": "ARMILLA_F64", "armilla_index": "ARMILLA_I32", "armilla_naming": "ARMILLA_SAMPLE_NAMES",
    "armilla_table": "ARMILLA_TABLE_BASIS", "armilla_status": "ARMILLA_OK", "armilla_stop": "ARMILLA_STOP_CONVERGED",
    "armilla_stage": "ARMILLA_STAGE_START",
}
special = {
    "path": "path", "block": "&block", "starts": "starts", "features": "labels", "target": "&scratch.options",
    "source": "&options", "truth": "labels",
    ("armilla_data_from_source", "source"): "&source",
    ("armilla_model_read_names", "model"): "model", ("armilla_model_keep_clusters", "model"): "model",
    ("armilla_model_predict", "labels"): "labels",
    ("armilla_data_source_default_sized", "source"): "&scratch.source",
    ("armilla_columns_put", "block"): "numbers", ("armilla_release", "block"): "NULL", ("armilla_data_set_names", "count"): "0",
    ("armilla_wording_apply", "text"): '"a"', ("armilla_output_write", "count"): "0",
    ("armilla_table_get_sized", "index"): "0", ("armilla_model_open_memory", "count"): "8", ("armilla_option_find", "name"): '"rank"',
}


def declarations():
    text = ""
    folder = os.path.join(root, "include", "armilla")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as file:
            text += re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    for match in re.finditer(r"ARMILLA_API\s+([^;(]*?)(armilla_\w+)\(([^;]*?)\)\s*(?:__attribute__[^;]*)?;", text):
        result = " ".join(match[1].split())
        arguments = []
        for argument in match[3].split(","):
            argument = " ".join(argument.split())
            if argument in ("void", "..."):
                continue
            kind, name = re.fullmatch(r"(.*?)(\w+)", argument).groups()
            arguments.append((kind.strip(), name))
        yield result, match[2], arguments


def value(function, kind, name):
    for key in ((function, name), name, kind):
        if key in special:
            return special[key]
    if kind not in values:
        sys.exit(f"{function}: nothing is known for '{kind} {name}'; add it to `values` of {sys.argv[0]}")
    if name == "size" and function.endswith("_sized"):
        return None
    return values[kind]


def size_of(arguments, function):
    """The struct that a _sized function fills: the last pointer before the size."""
    given = value(function, *arguments[-2])
    return f"sizeof *({given})"


def calls():
    for result, function, arguments in declarations():
        given = [size_of(arguments, function) if function.endswith("_sized") and a[1] == "size" else
                 value(function, *a) for a in arguments]
        for place, (kind, name) in enumerate(arguments):
            pointer = kind.endswith("*") or kind in ("armilla_watch", "armilla_wording", "armilla_log_function")
            if not pointer:
                continue
            with_null = [f"({kind})NULL" if i == place else g for i, g in enumerate(given)]
            call = f"{function}({', '.join(with_null)})"
            allowed = (function, name) in nullable or ("*", name) in nullable
            # The sentence stands in the context, which the first argument is or holds.
            told = "true" if place > 0 and function != "armilla_context_new" else "false"
            if allowed:
                yield f"    allowed(\"{function}: {name}\"); (void){call};" if result != "void" else \
                      f"    allowed(\"{function}: {name}\"); {call};"
            elif result == "armilla_status":
                yield f"    refused(\"{function}\", \"{name}\", {call}, {told});"
            else:
                yield f"    allowed(\"{function}: {name}\"); {'(void)' if result != 'void' else ''}{call};"


PROGRAM = r"""
#include <armilla/armilla.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *now = "";
static int calls, bad;
static armilla_context *context;

static void allowed(const char *what) { now = what; calls++; armilla_context_set_memory(context, 0); }

static void refused(const char *function, const char *argument, armilla_status status, bool told)
{
    const char *sentence = armilla_context_error(context);
    calls++;
    if (status != ARMILLA_BAD_ARGUMENT) {
        printf("%s with %s = NULL returns %d\n", function, argument, (int)status);
        bad++;
    } else if (told && (!strstr(sentence, argument) || !strstr(sentence, "NULL"))) {
        printf("%s with %s = NULL says '%s'\n", function, argument, sentence);
        bad++;
    }
}

int main(int argc, char **argv)
{
    static double numbers[64];
    static int64_t labels[64];
    static int32_t starts[3];
    static char text[64];
    const char *path = argv[1], *texts[2] = {"a", "b"}, *word = NULL;
    int64_t count = 0;
    bool flag = false;
    void *block = NULL;
    size_t bytes = 0;
    struct { armilla_context *context; armilla_data *data; armilla_model *model; armilla_clustering *clusters;
             armilla_output *output; armilla_comparison *comparison; armilla_neighbors *near; armilla_top *top;
             armilla_table_facts *table; } made = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    struct { armilla_options options; armilla_cluster_options clustering; armilla_read_options reading;
             armilla_write_options writing; armilla_selection selection; armilla_model_arrays arrays;
             armilla_data_facts facts; armilla_model_summary summary; armilla_trace_entry entry; armilla_check check;
             armilla_cluster_summary cluster_summary; armilla_cluster_number cluster_number; armilla_labels labels; armilla_scores scores;
             armilla_comparison_summary comparison; armilla_atom_match match;
             armilla_table_row row; armilla_data_source source; armilla_ranks ranks;
             armilla_checkpoint checkpoint; armilla_neighbors_options nearness;
             armilla_neighbors_summary near_summary; armilla_top_group group; armilla_top_entry top_entry;
             armilla_cluster_quality quality; armilla_structure structure; armilla_column_facts column; armilla_cluster_choice choice; } scratch;
    armilla_labels classes = {.size = sizeof classes, .count = 6, .classes = 1, .values = labels};
    armilla_options options; armilla_cluster_options clustering; armilla_read_options reading;
    armilla_write_options writing; armilla_selection selection; armilla_model_arrays arrays; armilla_data_source source;
    armilla_data *X = NULL; armilla_model *model = NULL; armilla_clustering *clusters = NULL;
    armilla_comparison *comparison = NULL;
    armilla_neighbors *near = NULL; armilla_neighbors_options nearness;
    armilla_output *output = NULL; armilla_top *top = NULL;
    (void)argc; (void)classes; (void)texts; (void)word; (void)starts; (void)flag; (void)bytes;
    for (int i = 0; i < 64; i++) numbers[i] = 1 + i % 5;
    memset(&scratch, 0, sizeof scratch);
    armilla_options_default(&options); armilla_options_default(&scratch.options);
    armilla_checkpoint_default(&scratch.checkpoint);
    armilla_cluster_options_default(&clustering); armilla_cluster_options_default(&scratch.clustering);
    armilla_read_options_default(&reading); armilla_write_options_default(&writing);
    armilla_selection_default(&selection); armilla_model_arrays_default(&arrays); armilla_data_source_default(&source);
    armilla_neighbors_options_default(&nearness); armilla_neighbors_options_default(&scratch.nearness);
    scratch.choice.size = sizeof scratch.choice;
    nearness.count = 2; options.rank = 2; options.threads = 1; clustering.k = 2;
    armilla_status status = armilla_context_new(NULL, &context);
    if (status == ARMILLA_OK) status = armilla_data_wrap_dense(context, ARMILLA_F64, numbers, 4, 6, 4, &X);
    if (status == ARMILLA_OK) status = armilla_fit(context, X, &options, &model);
    if (status == ARMILLA_OK) status = armilla_cluster_model(context, model, &clustering, &clusters);
    if (status == ARMILLA_OK) status = armilla_model_compare(context, model, model, X, 1, &comparison);
    if (status == ARMILLA_OK) status = armilla_neighbors_of_model(context, model, NULL, &nearness, &near);
    if (status == ARMILLA_OK) status = armilla_top_atoms(context, model, X, 2, 1, &top);
    if (status == ARMILLA_OK) status = armilla_output_new(context, path, true, &output);
    if (status != ARMILLA_OK) return printf("cannot begin: %s\n", armilla_context_error(context)), 1;
    setvbuf(stdout, NULL, _IONBF, 0);
@CALLS@
    armilla_top_free(top); armilla_comparison_free(comparison); armilla_output_free(output); armilla_clustering_free(clusters); armilla_neighbors_free(near);
    armilla_model_free(model);
    armilla_data_free(X);
    printf("%d calls, %d bad, last %s\n", calls, bad, now);
    return bad != 0;
}
"""


def main():
    made = list(calls())
    if len(made) < 100:
        sys.exit(f"only {len(made)} calls were found in include/")
    flags = ["-fsanitize=" + os.environ["ARMILLA_SANITIZED"]] if os.environ.get("ARMILLA_SANITIZED") else []
    with tempfile.TemporaryDirectory() as work:
        source, program = os.path.join(work, "calls.c"), os.path.join(work, "calls")
        with open(source, "w") as file:
            file.write(PROGRAM.replace("@CALLS@", "\n".join(made)))
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "-Wno-nonnull", "-Wno-format", "-O0",
                        *flags, "-I", os.path.join(root, "include"), source, library, "-o", program], check=True)
        environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library))
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # calls may succeed
        found = subprocess.run([program, os.path.join(work, "output")], env=environment, stdout=subprocess.PIPE,
                               text=True)
        print(found.stdout, end="")
        if found.returncode < 0:
            print(f"ended by signal {-found.returncode}")
        return 1 if found.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
