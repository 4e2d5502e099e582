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
set xrange [0.0007101:0.02544]
set xtics ('0.0001' 0.0001, '0.0002' 0.0002, '0.0005' 0.0005, '0.001' 0.001, '0.002' 0.002, '0.005' 0.005, '0.01' 0.01, '0.02' 0.02, '0.05' 0.05)
$series0 << EOD
0.005770460004 1008.161282
0.01205185417 925.1883179
0.01799993451 928.3957544
0.02212382319 999.464392
EOD
$series1 << EOD
0.0008165989257 2387.524394
0.002876432184 1282.958606
0.009382488516 989.1161166
0.02212382319 999.464392
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'adaptive', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'fixed'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
