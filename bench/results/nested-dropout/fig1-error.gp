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
1 3613.204996
2 3370.670022
3 3162.003961
4 2951.693324
6 2723.778912
8 2541.681945
12 2288.870201
16 2125.47854
20 2014.066636
24 1940.579089
28 1871.034712
32 1822.047338
40 1737.710712
48 1668.098171
56 1618.87846
64 1579.886023
80 1514.059259
96 1468.572884
100 1461.007794
EOD
$series1 << EOD
1 3318.285093
2 3022.19935
3 2856.945638
4 2731.383055
6 2554.08473
8 2423.604859
12 2235.221778
16 2118.307684
20 2025.520922
24 1955.511129
28 1897.050652
32 1853.963528
40 1777.688044
48 1729.785079
56 1697.934592
64 1678.181525
80 1663.181221
96 1665.520815
100 1667.281615
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'with unit sweeping', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'without'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
