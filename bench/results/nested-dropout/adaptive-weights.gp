# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'adaptive-weights'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Adaptive and fixed regularisation at full length, test set' noenhanced
set xlabel 'mean magnitude of a weight of the code layer' noenhanced
set ylabel 'mean squared error (8-bit scale)' noenhanced
set logscale x
set xrange [0.002408:0.02739]
set xtics ('0.001' 0.001, '0.002' 0.002, '0.005' 0.005, '0.01' 0.01, '0.02' 0.02, '0.05' 0.05)
$series0 << EOD
0.00598859191 1022.07226
0.0104992387 966.5759198
0.01518934792 951.9728851
0.0196343091 1000.600161
0.02381641338 1103.922053
EOD
$series1 << EOD
0.00276900582 1290.291819
0.009689349678 1013.234909
0.01436679852 954.193571
0.01609324355 948.6777288
0.01903202559 973.2025076
0.02326379476 1085.027469
0.02381641338 1103.922053
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'adaptive', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'fixed'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
