# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'fig1-error'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Binary 3072-100-3072, geometric:0.9, test set' noenhanced
set xlabel 'bits kept' noenhanced
set ylabel 'mean squared error (8-bit scale)' noenhanced
$series0 << EOD
1 3394.077477
2 3115.432247
3 2896.1306
4 2752.567842
6 2552.870853
8 2423.635695
12 2218.209271
16 2099.109344
20 2015.763675
24 1944.240838
28 1889.326388
32 1844.036928
40 1771.39391
48 1710.132598
56 1664.032599
64 1626.972831
80 1566.024617
96 1520.677362
100 1512.712431
EOD
$series1 << EOD
1 3392.24994
2 3105.47489
3 2879.355182
4 2724.912006
6 2536.983903
8 2399.677449
12 2212.712328
16 2092.975896
20 2009.14065
24 1935.347407
28 1879.716212
32 1836.728066
40 1764.969421
48 1719.694212
56 1688.643687
64 1672.916901
80 1666.603048
96 1715.301563
100 1735.006562
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'with unit sweeping', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'without'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
