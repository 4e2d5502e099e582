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
2 0
3 0
4 0
5 1
6 6
7 11
8 16
9 21
10 27
11 32
12 37
13 42
14 47
15 53
16 58
17 63
18 68
19 73
20 79
21 84
22 89
23 94
24 99
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'units frozen'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
