# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'precision-pixels'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'CIFAR-10: neighbours by pixels that are found' noenhanced
set xlabel 'bits of a code' noenhanced
set ylabel 'share of ten' noenhanced
set logscale x
set xrange [6.957:1178]
set xtics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, '1000' 1000, '2000' 2000, '5000' 5000)
$series0 << EOD
8 0.00466
16 0.02145
32 0.05148
64 0.08579
128 0.10501
256 0.10586
512 0.10874
1024 0.11369
EOD
$series1 << EOD
8 0.00734
16 0.02398
32 0.05321
64 0.0827
128 0.11732
256 0.14109
512 0.16772
EOD
$series2 << EOD
8 0.00593
16 0.02204
32 0.02889
64 0.02799
128 0.02508
256 0.02072
512 0.01702
1024 0.01361
EOD
$series3 << EOD
8 0.00218
16 0.00762333
32 0.0221433
64 0.0506833
128 0.09673
256 0.151553
512 0.204733
1024 0.24624
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
