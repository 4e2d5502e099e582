# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'classify'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Labels from the front of a container, by five neighbours' noenhanced
set xlabel 'bits of a code that are read' noenhanced
set ylabel '% errors' noenhanced
set logscale x
set xrange [1.739:73.6]
set xtics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50)
set logscale y
set yrange [0.9304:71.12]
set ytics ('0.1' 0.1, '0.2' 0.2, '0.5' 0.5, '1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50)
$series0 << EOD
2 60.64
4 32.63
8 1.31
12 1.24
16 1.13
24 1.11
32 1.09
48 1.12
64 1.07
EOD
$series1 << EOD
2 61.84
4 42.07
8 20.82
12 1.31
16 1.18
24 1.17
32 1.15
48 1.1
64 1.14
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'MNIST, test images', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'MNIST, another seed'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
