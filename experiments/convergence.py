"""Change of U, and the objective with lambda large enough and too small (the paper's second figure); all pairs."""
import numpy as np

from common import AXES, BLUE, GREEN, RED, Experiment, facts

FEATURES, SAMPLES, PARTS, ITERATIONS = 50, 500, 5, 500
CODES = {"sphere": None, "nonneg-sphere": None, "sparse-sphere": 2, "nonneg-sparse-sphere": 2}
TOLERANCES = {"palm": 0, "fast": 1e-10}

PANELS = f"""
set multiplot layout 1,3 margins 0.07,0.98,0.2,0.86 spacing 0.075
{AXES}unset key
set xlabel 'iteration'
set title '‖{{/:Italic U}}_{{k+1}} − {{/:Italic U}}_k‖_F'
set logscale y; set format y '10^{{%T}}'
plot 'trace.dat' using 1:($2>0?$2:NaN) with lines lw 2 lc rgb '{RED}'
unset logscale y; set format y '%g'
set title '{{/:Italic h}} / ‖{{/:Italic X}}‖^2, safe λ'
plot 'trace.dat' using 1:3 with lines lw 2 lc rgb '{BLUE}'
set title '{{/:Italic h}} / ‖{{/:Italic X}}‖^2, 0.3 of the safe λ'
plot 'trace.dat' using 1:4 with lines lw 2 lc rgb '{BLUE}'
unset multiplot
"""


def pairs_script(names):
    lines = ["set multiplot layout 2,4 margins 0.09,0.985,0.13,0.9 spacing 0.035,0.19",
             AXES + "set tics font ',9'",
             "set logscale xy; set xrange [1:500]; set yrange [1e-9:2]; set format y ''; set ytics 1e-9,1e3,1"]
    for i, name in enumerate(names):
        name = name.replace(" × ", " ×\\n")
        lines += [f"set title \"{name}\" font ',10' offset 0,-0.5",
                  "set format y '10^{%T}'" if i % 4 == 0 else "set format y ''",
                  "set ylabel 'above the least' offset 0.5" if i % 4 == 0 else "unset ylabel",
                  "set xlabel 'iteration'" if i >= 4 else "unset xlabel",
                  "set key bottom right Left reverse samplen 1.2 font ',9'" if i == 3 else "unset key",
                  f"plot 'pairs.dat' index {2 * i} using 1:2 with lines lw 2 lc rgb '{RED}' title 'palm', "
                  f"'' index {2 * i + 1} using 1:2 with lines lw 2 lc rgb '{GREEN}' title 'fast'"]
    return "\n".join(lines + ["unset multiplot"]) + "\n"


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(seed, index, low, high):
    """Numbers in [low, high) that depend on seed and index alone, on any machine: splitmix64 of both."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    bits = mix(mix(np.full(1, seed, np.uint64) + golden) + (np.asarray(index, np.uint64) + np.uint64(1)) * golden)
    return low + (high - low) * ((bits >> np.uint64(11)).astype(float) * 2.0**-53)


def planted(seed):
    """Samples that are made of two of the parts, at unit length, and of nearly normal noise; nonnegative."""
    parts = uniform(seed, np.arange(PARTS * FEATURES), 0, 1).reshape(PARTS, FEATURES) ** 4
    j = 4 * np.arange(SAMPLES)
    first = uniform(seed + 1, j, 0, PARTS).astype(int)
    second = (first + 1 + uniform(seed + 1, j + 1, 0, PARTS - 1).astype(int)) % PARTS
    a, b = (uniform(seed + 1, j + k, 0.2, 1.2)[:, None] for k in (2, 3))
    noise = np.full(SAMPLES * FEATURES, -6.0)
    for k in range(12):
        noise += uniform(seed + 2, 12 * np.arange(SAMPLES * FEATURES) + k, 0, 1)
    return np.abs((a * parts[first] + b * parts[second]) / np.sqrt(a * a + b * b) + 0.05 * noise.reshape(SAMPLES, FEATURES))


def course(work, name):
    """The objective of a fit over its iterations, as a share of ||X||^2."""
    model = work.model(name)
    return model["trace_objective"] / facts(model)["squared_norm"]


def compare(work, basis, codes):
    """One pair by both solvers from the same start: what they reach, and when fast is as good as palm in the end."""
    found = {}
    for solver, tolerance in TOLERANCES.items():
        name = f"{basis}-{codes}-{solver}"
        work.fit("planted.csv", name, rank=PARTS, basis=basis, codes=codes, sparsity=CODES[codes], solver=solver,
                 max_iter=ITERATIONS, tol=tolerance, start="random", seed=0)
        found[solver] = course(work, name)
    there = np.flatnonzero(found["fast"] <= found["palm"][-1] * (1 + 1e-6))
    rises = {f"rises_{solver}": int((np.diff(trace) > 1e-13).sum()) for solver, trace in found.items()}
    return {"basis": basis, "codes": codes, "palm": f"{found['palm'][-1]:.9g}", "fast": f"{found['fast'][-1]:.9g}",
            "fast_reaches_palm": int(there[0]) if len(there) else -1, **rises}


def compute(work):
    """palm on the points of the cones with two step weights, and all pairs on planted data."""
    work.run("demo", "cones", "--no-pictures", "--out", "cones", "--force", "--quiet")
    for name, weight in (("trace", "1x"), ("small", "0.3x")):
        work.fit("cones/data.csv", name, rank=2, codes="nonneg-sphere", solver="palm", max_iter=60, tol=0, start="random",
                 seed=0, **{"lambda": weight})
    np.savetxt(work.folder / "planted.csv", planted(0), fmt="%.6f", delimiter=",")
    work.write("pairs.csv", [compare(work, basis, codes) for basis in ("orthonormal", "nonnegative") for codes in CODES])


def main():
    work = Experiment("convergence", "Convergence: safe step weights never let the objective rise", runs=19)
    compute(work)
    norm = np.square(np.loadtxt(work.folder / "cones" / "data.csv", delimiter=",", skiprows=1)).sum()
    safe, small = work.trace("trace"), work.trace("small")
    moves = [float(row["dU"]) for row in work.read("trace.csv")]
    rises = [int((np.diff(trace) > 1e-12 * norm).sum()) for trace in (safe, small)]
    work.table("trace.dat", np.column_stack([np.arange(len(safe)), moves, safe / norm, small / norm]))
    work.draw("steps", 900, 300, PANELS)

    norm = np.square(np.loadtxt(work.folder / "planted.csv", delimiter=",")).sum()
    curves, names, rows = [], [], []
    for row in work.read("pairs.csv"):
        traces = [work.trace(f"{row['basis']}-{row['codes']}-{solver}") / norm for solver in ("palm", "fast")]
        least = min(trace.min() for trace in traces)
        for trace in traces:
            curves.append(np.column_stack([np.arange(1, len(trace) + 1), np.maximum(trace - least, 1e-10)]))
        names.append(f"{row['basis']} × {row['codes']}")
        reached = int(row["fast_reaches_palm"])
        rows.append([names[-1], f"{float(row['palm']):.6f}", f"{float(row['fast']):.6f}",
                     reached if reached >= 0 else "not reached", row["rises_palm"], row["rises_fast"]])
    work.table("pairs.dat", curves, blocks=True)
    work.draw("pairs", 900, 490, pairs_script(names))

    work.say("<b>The paper:</b> U settles after few iterations; the objective falls steadily where λ is large enough,"
             " and oscillates where it is too small.")
    work.say(f"<b>We get:</b> on the cone points, {rises[0]} of {len(safe) - 1} steps rise with the safe λ and"
             f" {rises[1]} with 0.3 of it.")
    work.figure("steps", "The change of U, the objective with the safe λ, and with a λ that is too small (palm).")
    work.say("All eight pairs on planted data (50 × 500, rank 5, two entries in a sparse code), both solvers from the"
             " same random start:")
    work.rows(["pair", "h/‖X‖² palm, 500", "fast", "fast is there after", "rises palm", "rises fast"], rows)
    work.figure("pairs", "How far the objective is from the least that was found, over the iterations.")
    work.finish()


if __name__ == "__main__":
    main()
