# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'growth-time'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Time of a query' noenhanced
set xlabel 'codes in the index' noenhanced
set ylabel 'microseconds a query' noenhanced
set logscale x
set xrange [869.6:1.15e+07]
$series0 << EOD
1000 0.490996
10000 0.510998
100000 0.430999
1000000 0.470998
10000000 0.500997
EOD
$series1 << EOD
1000 0.210995
10000 0.239997
100000 0.179996
1000000 0.209999
10000000 0.229997
EOD
$series2 << EOD
1000 0.610995
10000 0.831002
100000 0.681997
1000000 0.791999
10000000 0.941996
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'R = 32', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'R = 2', \
     $series2 with linespoints linecolor '#009E73' linewidth 1.6 pointtype 9 pointsize 0.5 title 'R = 512'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
