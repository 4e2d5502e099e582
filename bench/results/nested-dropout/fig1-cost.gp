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
0 34.563578
15 52.997359
31 57.709539
47 52.753106
63 52.036181
79 43.040052
95 18.050209
EOD
$series1 << EOD
0 35.08519
15 53.749378
31 66.710564
47 65.001094
63 62.912717
79 66.241789
95 28.858221
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'left out', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'computed all the same'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
