# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'fig2-sizes'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Neighbourhoods of seven queries' noenhanced
set xlabel 'bits shared' noenhanced
set ylabel 'share' noenhanced
set logscale y
set yrange [0.003438:0.7546]
set ytics ('0.001' 0.001, '0.002' 0.002, '0.005' 0.005, '0.01' 0.01, '0.02' 0.02, '0.05' 0.05, '0.1' 0.1, '0.2' 0.2, '0.5' 0.5)
$series0 << EOD
1 0.5
2 0.2658214286
3 0.1626642857
4 0.09137857143
5 0.08466428571
6 0.07007142857
7 0.06462142857
8 0.04338571429
9 0.04194285714
10 0.03454285714
11 0.03064285714
12 0.02786428571
13 0.02719285714
14 0.0256
15 0.02436428571
16 0.02358571429
17 0.02025
18 0.01621428571
19 0.01552142857
20 0.01455
21 0.01436428571
22 0.01436428571
23 0.01434285714
24 0.01434285714
25 0.01421428571
26 0.01105714286
27 0.008071428571
28 0.007721428571
29 0.007721428571
30 0.007721428571
31 0.007721428571
32 0.007721428571
EOD
$series1 << EOD
1 0.6561762535
2 0.3444898319
3 0.2069112702
4 0.06799221375
5 0.06185572727
6 0.05236760936
7 0.04164000576
8 0.02017615124
9 0.01912518769
10 0.01849937474
11 0.01734337349
12 0.01354098568
13 0.01354384554
14 0.01235156242
15 0.01186074087
16 0.009888235686
17 0.006631835824
18 0.005646369354
19 0.005577133767
20 0.005092828523
21 0.004986229742
22 0.004986229742
23 0.004978751948
24 0.004978751948
25 0.005016882302
26 0.004456205551
27 0.003953196781
28 0.00395934484
29 0.00395934484
30 0.00395934484
31 0.00395934484
32 0.00395934484
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'share of all points', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'squared distance, to that of all'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
