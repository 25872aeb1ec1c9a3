"""Two groups that differ in direction, not in distance (the paper's first figure of its experiments)."""
import numpy as np

from common import AXES, BLUE, RED, Experiment

DRAWS = 100

PANELS = """
set multiplot
unset key
set border 127+256+512 lw 0.5 lc rgb '#808080'
set ticslevel 0
set tics scale 0.3 font ',8'
set xtics 2; set ytics 2; set ztics 3
set xrange [-1:7]; set yrange [-1:7]; set zrange [0:10]
set grid x y z vertical lw 0.4 lc rgb '#e0e0e0'
set view 62,128,1.05,1
set label 11 'X' at 3,9.6,0 center; set label 12 'Y' at 9.6,3,0 center; set label 13 'Z' at 7,-1,10.8 center
colour(c) = c == 0 ? 0x0072B2 : 0xD55E00
mark(c) = c == 0 ? 7 : 9
set origin 0,0.04; set size 0.34,0.93
set label 1 'the two groups' at screen 0.165,0.94 center
splot 'points.dat' using 1:2:3:(mark($4)):(colour($4)) with points pt variable ps 0.45 lc rgb variable
set origin 0.335,0.04
set label 1 sprintf('2-means on the points: %.1f %% right', points_right) at screen 0.5,0.94 center
splot 'points.dat' using 1:2:3:(mark($5)):(colour($5)) with points pt variable ps 0.45 lc rgb variable
unset label 1; unset label 11; unset label 12; unset label 13; unset grid; unset border; unset tics
set origin 0.69,0.09; set size 0.3,0.83
set size ratio -1
set xrange [-0.1*l:1.15*l]; set yrange [-0.1*l:1.15*l]
set object 1 circle at 0,0 size l arc [0:90] nowedge fs empty border lc rgb '#b0b0b0' lw 1
set arrow from 0,0 to 1.12*l,0 head filled size screen 0.008,20 lc rgb '#606060' lw 0.8
set arrow from 0,0 to 0,1.12*l head filled size screen 0.008,20 lc rgb '#606060' lw 0.8
set label 2 '{/:Italic v}_1' at 1.1*l,-0.06*l center; set label 3 '{/:Italic v}_2' at -0.06*l,1.1*l center
set label 4 sprintf('2-means on the codes: %.1f %% right', codes_right) at screen 0.835,0.94 center
set key at screen 0.33,0.115 left top vertical Left reverse samplen 0.5
plot 'points.dat' using 6:7:(mark($8)):(colour($8)) with points pt variable ps 0.6 lc rgb variable notitle, \\
     NaN with points pt 7 ps 0.7 lc rgb 0x0072B2 title 'group or cluster 1', \\
     NaN with points pt 9 ps 0.7 lc rgb 0xD55E00 title 'group or cluster 2'
unset multiplot
"""

DRAWN = f"""
{AXES}unset key
set xrange [0.4:2.6]; set yrange [45:102]
set xtics ("2-means on\\nthe points" 1, "2-means on\\nthe codes" 2)
set bmargin 4
set ylabel 'right, % of 200 points'
plot 'draws.dat' using (1+0.3*(rand(0)-0.5)):1 with points pt 7 ps 0.5 lc rgb '{RED}', \\
     '' using (2+0.3*(rand(0)-0.5)):2 with points pt 7 ps 0.5 lc rgb '{BLUE}', \\
     'means.dat' using 1:2:3 with yerrorbars pt 9 ps 1.2 lw 1.6 lc rgb 'black'
"""


def matched(labels, truth):
    """Two clusters' labels under the better matching with the groups, and the share that is then right."""
    share = (labels == truth).mean()
    return (labels, share) if share >= 0.5 else (1 - labels, 1 - share)


def main():
    work = Experiment("cones", "Cones: angle tells the groups apart, distance does not")
    work.run("demo", "cones", "--seeds", DRAWS, "--out", ".", "--force")
    found = np.array([[float(row["points"]), float(row["codes"])] for row in work.read("draws.csv")])
    mean, deviation = found.mean(0), found.std(0, ddof=1)
    points = np.loadtxt(work.folder / "data.csv", delimiter=",", skiprows=1)
    truth, by_distance, by_code = np.loadtxt(work.folder / "clusters.csv", delimiter=",", skiprows=1, dtype=int).T
    by_distance, points_right = matched(by_distance, truth)
    by_code, codes_right = matched(by_code, truth)
    model = work.model("model")
    work.table("points.dat", np.column_stack([points, truth, by_distance, model["V"].T, by_code]))
    figures = f"l = {float(model['radius'])}\npoints_right = {100 * points_right}\ncodes_right = {100 * codes_right}\n"
    work.draw("cones", 900, 340, figures + PANELS)
    work.table("draws.dat", found)
    work.table("means.dat", np.column_stack([[1.28, 2.28], mean, deviation]))
    work.draw("draws", 420, 320, DRAWN)

    work.say("<b>The paper:</b> 200 points, half between X = Z and the Z axis, half between Y = Z and the Z axis."
             " K-means clusters poorly, the codes of an orthonormal basis and nonnegative codes on a circle cluster"
             " well.")
    work.say(f"<b>We get:</b> for these points 2-means finds {100 * points_right:.1f} %, 2-means on the codes"
             f" {100 * codes_right:.1f} %. Over {DRAWS} draws of the points:")
    work.rows(["", "mean", "sd", "worst", "best"],
              [[what, f"{mean[i]:.1f} %", f"{deviation[i]:.1f}", f"{found[:, i].min():.1f}", f"{found[:, i].max():.1f}"]
               for i, what in enumerate(("2-means on the points", "2-means on the codes"))])
    work.figure("cones", "Left: the groups. Centre: what 2-means makes of them. Right: the codes on their quarter"
                " circle.")
    work.figure("draws", f"Accuracy over {DRAWS} random draws, with mean and standard deviation.")
    work.finish()


if __name__ == "__main__":
    main()
