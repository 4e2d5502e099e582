# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'fig3-found'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'What these find of the ten nearest by all their bits' noenhanced
set xlabel 'bits of a code' noenhanced
set ylabel 'share that is found' noenhanced
set logscale x
set xrange [6.957:2355]
set xtics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, '1000' 1000, '2000' 2000, '5000' 5000)
$series0 << EOD
8 1
16 0.9948
32 0.5531
64 0.1356
128 0.0468
256 0.0282
512 0.0165
1024 0.0149
2048 0.0141
EOD
$series1 << EOD
8 1
16 0.9608
32 0.2009
64 0.0341
128 0.0117
256 0.0057
512 0.0042
1024 0.0035
2048 0.0031
EOD
$series2 << EOD
8 1
16 0.9968
32 0.7992
64 0.347
128 0.1548
256 0.0885
512 0.0689
1024 0.0624
2048 0.0707
EOD
$series3 << EOD
8 1
16 1
32 1
64 1
128 1
256 1
512 1
1024 1
2048 1
EOD
$series4 << EOD
8 1
16 0.9549
32 0.0671
64 0.0001
128 0
256 0
512 0
1024 0
2048 0
EOD
$series5 << EOD
8 1
16 0.9993
32 0.3114
64 0.0007
128 0
256 0
512 0
1024 0
2048 0
EOD
$series6 << EOD
8 1
16 1
32 0.6696
64 0.0043
128 0
256 0
512 0
1024 0
2048 0
EOD
$series7 << EOD
8 1
16 1
32 0.9303
64 0.0155
128 0
256 0
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'ordered, R = 32', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'ordered, R = 2', \
     $series2 with linespoints linecolor '#009E73' linewidth 1.6 pointtype 9 pointsize 0.5 title 'ordered, R = 512', \
     $series3 with linespoints linecolor '#CC79A7' linewidth 1.6 pointtype 11 pointsize 0.5 title 'scan of all', \
     $series4 with linespoints linecolor '#E69F00' linewidth 1.6 pointtype 13 pointsize 0.5 title 'semantic hash, radius 0', \
     $series5 with linespoints linecolor '#56B4E9' linewidth 1.6 pointtype 6 pointsize 0.5 title 'radius 1', \
     $series6 with linespoints linecolor '#333333' linewidth 1.6 pointtype 4 pointsize 0.5 title 'radius 2', \
     $series7 with linespoints linecolor '#D55E00' linewidth 1.6 dashtype 2 pointtype 7 pointsize 0.5 title 'radius 3'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
