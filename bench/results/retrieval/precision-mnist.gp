# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'precision-mnist'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'MNIST: neighbours of the query''s class' noenhanced
set xlabel 'bits of a code' noenhanced
set ylabel '% of ten' noenhanced
set logscale x
set xrange [6.957:1178]
set xtics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, '1000' 1000, '2000' 2000, '5000' 5000)
$series0 << EOD
8 53.941
16 74.807
32 84.983
64 90.342
128 91.819
256 91.65
EOD
$series1 << EOD
8 61.842
16 80.035
32 88.44
64 91.719
128 93.257
256 94.146
512 94.283
EOD
$series2 << EOD
8 56.205
16 73.616
32 83.196
64 85.72
128 84.408
256 79.953
512 70.683
EOD
$series3 << EOD
8 28.4417
16 48.2693
32 67.3587
64 81.8077
128 89.2543
256 92.327
512 93.7493
1024 94.4357
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'ordered', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'ITQ', \
     $series2 with linespoints linecolor '#009E73' linewidth 1.6 pointtype 9 pointsize 0.5 title 'PCA signs', \
     $series3 with linespoints linecolor '#CC79A7' linewidth 1.6 pointtype 11 pointsize 0.5 title 'random'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
