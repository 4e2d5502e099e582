# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'precision-cifar10'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'CIFAR-10: neighbours of the query''s class' noenhanced
set xlabel 'bits of a code' noenhanced
set ylabel '% of ten' noenhanced
set logscale x
set xrange [6.957:1178]
set xtics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, '1000' 1000, '2000' 2000, '5000' 5000)
$series0 << EOD
8 16.963
16 20.819
32 24.618
64 28.448
128 31.669
256 33.533
512 34.014
1024 33.947
EOD
$series1 << EOD
8 17.865
16 20.994
32 24.263
64 26.275
128 28.322
256 29.305
512 30.149
EOD
$series2 << EOD
8 16.858
16 19.845
32 21.904
64 22.478
128 22.448
256 21.938
512 21.54
1024 21.058
EOD
$series3 << EOD
8 14.0843
16 16.0573
32 19.5153
64 22.9493
128 26.02
256 28.7077
512 30.4657
1024 31.6397
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
