# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'fig3-time'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Time of a query of a million codes' noenhanced
set xlabel 'bits of a code' noenhanced
set ylabel 'microseconds a query' noenhanced
set logscale x
set xrange [6.957:294.4]
set xtics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500)
set logscale y
set yrange [0.227:4.974e+04]
$series0 << EOD
8 0.53
16 1.153
32 0.921999
64 0.630999
128 1.583
256 0.72
EOD
$series1 << EOD
8 0.470999
16 0.961999
32 0.261
64 0.270999
128 0.499999
256 0.330999
EOD
$series2 << EOD
8 0.49
16 2.564
32 2.555
64 2.465
128 2.985
256 1.293
EOD
$series3 << EOD
8 11212.5
16 8079.54
32 12080.3
64 10636.7
128 9247.11
EOD
$series4 << EOD
8 0.882
16 0.571
32 0.671
64 0.601
128 0.571
EOD
$series5 << EOD
8 3.1605
16 2.615
32 5.33
64 8.9865
128 11.501
EOD
$series6 << EOD
8 7.945
16 22.838
32 80.346
64 280.291
128 745.904
EOD
$series7 << EOD
8 19.682
16 136.737
32 815.951
64 17367.3
128 43249
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'ordered, R = 32', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'ordered, R = 2', \
     $series2 with linespoints linecolor '#009E73' linewidth 1.6 pointtype 9 pointsize 0.5 title 'ordered, R = 512', \
     $series3 with linespoints linecolor '#CC79A7' linewidth 1.6 pointtype 11 pointsize 0.5 title 'scan of all', \
     $series4 with linespoints linecolor '#E69F00' linewidth 1.6 pointtype 13 pointsize 0.5 title 'semantic hash, radius 0', \
     $series5 with linespoints linecolor '#56B4E9' linewidth 1.6 pointtype 6 pointsize 0.5 title 'radius 1', \
     $series6 with linespoints linecolor '#333333' linewidth 1.6 pointtype 4 pointsize 0.5 title 'radius 2', \
     $series7 with linespoints linecolor '#D55E00' linewidth 1.6 dashtype 2 pointtype 7 pointsize 0.5 title 'radius 3'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
