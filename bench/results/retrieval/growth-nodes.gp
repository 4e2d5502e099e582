# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'growth-nodes'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Codes that a query looks at' noenhanced
set xlabel 'codes in the index' noenhanced
set ylabel 'codes looked at' noenhanced
set logscale x
set xrange [869.6:1.15e+07]
$series0 << EOD
1000 33
10000 34
100000 35
1000000 36
10000000 35
EOD
$series1 << EOD
1000 15
10000 15
100000 16
1000000 17
10000000 17
EOD
$series2 << EOD
1000 53
10000 57
100000 58
1000000 59
10000000 59
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
