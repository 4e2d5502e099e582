# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'invariance'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Bits that flip, and squared error, test set' noenhanced
set xlabel 'bits that flip under noise, %' noenhanced
set ylabel 'mean squared error (8-bit scale)' noenhanced
$series0 << EOD
1.153450521 1063.953023
1.106640625 1065.170331
1.057421875 1066.844105
1.015494792 1072.301079
0.9251302083 1083.408519
0.7629557292 1110.652005
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'weights of equation 14'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
