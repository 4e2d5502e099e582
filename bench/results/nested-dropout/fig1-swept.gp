# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'fig1-swept'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Unit sweeping: which unit is being swept' noenhanced
set xlabel 'epoch' noenhanced
set ylabel 'units frozen at the end of the epoch' noenhanced
$series0 << EOD
1 0
2 3
3 7
4 12
5 16
6 21
7 26
8 31
9 35
10 40
11 45
12 49
13 55
14 59
15 63
16 67
17 72
18 76
19 81
20 86
21 90
22 93
23 96
24 99
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'units frozen'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
