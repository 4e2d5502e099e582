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
set xrange [6.957:2355]
set xtics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, '1000' 1000, '2000' 2000, '5000' 5000)
set logscale y
set yrange [0.1826:7.406e+05]
$series0 << EOD
8 0.459997
16 0.460997
32 0.671997
64 0.480999
128 0.640997
256 0.720996
512 0.681001
1024 0.480995
2048 0.480995
EOD
$series1 << EOD
8 0.420998
16 0.32
32 0.320997
64 0.209999
128 0.310996
256 0.339998
512 0.360997
1024 0.229997
2048 0.211003
EOD
$series2 << EOD
8 0.540997
16 0.586499
32 1.523
64 0.892
128 1.192
256 1.403
512 2.695
1024 1.413
2048 1.022
EOD
$series3 << EOD
8 2144.86
16 1951.72
32 1941.27
64 3205.23
128 4795.4
256 6765.1
512 8905.04
1024 15018.3
2048 29439.1
EOD
$series4 << EOD
8 0.460001
16 0.401
32 0.311
64 0.491002
128 0.491
256 0.581
512 0.890999
1024 1.162
2048 2.044
EOD
$series5 << EOD
8 1.3325
16 1.663
32 2.184
64 8.0045
128 14.7475
256 27.286
512 31.6245
1024 64.577
2048 124.183
EOD
$series6 << EOD
8 4.664
16 10.3345
32 30.372
64 221.235
128 921.609
256 3586.97
512 10066.1
1024 35106.7
2048 127955
EOD
$series7 << EOD
8 12.8145
16 44.789
32 312.231
64 4947.26
128 30115.3
256 309039
EOD
$series8 << EOD
16 41.423
32 183.94
64 994.109
128 8885.35
256 48023.1
512 213669
1024 643961
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
     $series7 with linespoints linecolor '#D55E00' linewidth 1.6 dashtype 2 pointtype 7 pointsize 0.5 title 'radius 3', \
     $series8 with linespoints linecolor '#0072B2' linewidth 1.6 dashtype 2 pointtype 5 pointsize 0.5 title 'multi-index hashing'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
