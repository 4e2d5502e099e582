# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'fig1-cost'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'A gradient of 1,000 images with frozen units'' gradients' noenhanced
set xlabel 'units frozen' noenhanced
set ylabel 'milliseconds' noenhanced
$series0 << EOD
0 26.672118
15 23.155371
31 26.076866
47 25.309382
63 22.358931
79 21.799054
95 26.151998
EOD
$series1 << EOD
0 26.457371
15 24.196208
31 29.615836
47 30.994951
63 29.207518
79 33.562236
95 41.693916
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'left out', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'computed all the same'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
