# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'recall'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Ten nearest of a million codes of 1,024 bits, one thread' noenhanced
set xlabel 'share of them that is missed' noenhanced
set ylabel 'microseconds a query' noenhanced
set logscale x
set xrange [8.696e-05:1.067]
set logscale y
set yrange [10.26:2.524e+04]
set ytics ('10' 10, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, '1000' 1000, '2000' 2000, '5000' 5000, '10000' 10000, '20000' 20000, '50000' 50000)
$series0 << EOD
0.065 2728.34
0.0098 4996.69
0.0024 6469.3
0.001 7269.6
0.0002 8360.94
0.0001 9890.87
EOD
$series1 << EOD
0.0145 1449.95
0.0033 1777.52
0.0009 1652.95
0.0004 1732.39
0.0002 2396.77
EOD
$series2 << EOD
0.6665 81.473
0.5485 140.589
0.4005 273.634
0.2845 493.125
0.179 991.064
0.0915 1814.54
0.0415 2935.04
0.011 5517.2
0.002 8514.49
EOD
$series3 << EOD
0.513 317.41
0.3833 454.653
0.263 505.699
0.172 869.611
0.1077 1644.11
0.055 3282.68
0.03 7242.4
0.0133 12885.5
EOD
$series4 << EOD
0.928 11.802
0.757 103.404
0.554 460.334
0.357 2036.84
0.192 7794.74
0.093 11957.8
0.042 21952.1
EOD
$series5 << EOD
0.583 264.727
0.4325 428.744
0.312 610.114
0.208 1115.43
0.1375 2163.56
0.0765 3890.56
0.041 7327.66
0.023 21462.9
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'taper, even weights', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'taper, falling weights', \
     $series2 with linespoints linecolor '#009E73' linewidth 1.6 pointtype 9 pointsize 0.5 title 'Faiss IVF, 1,024 lists', \
     $series3 with linespoints linecolor '#CC79A7' linewidth 1.6 pointtype 11 pointsize 0.5 title 'Faiss HNSW, 32 links', \
     $series4 with linespoints linecolor '#E69F00' linewidth 1.6 pointtype 13 pointsize 0.5 title 'Faiss hash, 16 bits', \
     $series5 with linespoints linecolor '#56B4E9' linewidth 1.6 pointtype 6 pointsize 0.5 title 'USearch HNSW'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
