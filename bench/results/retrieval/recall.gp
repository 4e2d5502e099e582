# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'recall'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Ten nearest of a million codes of 1,024 bits, one thread' noenhanced
set xlabel 'share of them that is missed' noenhanced
set ylabel 'microseconds a query' noenhanced
set logscale x
set xrange [0.0006087:1.067]
set xtics ('0.0001' 0.0001, '0.0002' 0.0002, '0.0005' 0.0005, '0.001' 0.001, '0.002' 0.002, '0.005' 0.005, '0.01' 0.01, '0.02' 0.02, '0.05' 0.05, '0.1' 0.1, '0.2' 0.2, '0.5' 0.5, '1' 1, '2' 2, '5' 5)
set logscale y
set yrange [10.26:2.524e+04]
set ytics ('10' 10, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, '1000' 1000, '2000' 2000, '5000' 5000, '10000' 10000, '20000' 20000, '50000' 50000)
$series0 << EOD
0.1913 3056.05
0.075 4546.2
0.0363 6016.75
0.025 5559.48
0.008 7600.49
0.0037 8819.48
0.0007 9273.76
EOD
$series1 << EOD
0.2187 1969.94
0.097 1997.77
0.0547 2136.27
0.032 1137.94
0.02 1183.59
0.014 1310.61
0.0017 1523.34
EOD
$series2 << EOD
0.928 11.802
0.757 103.404
0.554 460.334
0.357 2036.84
0.192 7794.74
0.093 11957.8
0.042 21952.1
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'taper, even weights', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'taper, falling weights', \
     $series2 with linespoints linecolor '#009E73' linewidth 1.6 pointtype 9 pointsize 0.5 title 'Faiss hash, 16 bits'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
