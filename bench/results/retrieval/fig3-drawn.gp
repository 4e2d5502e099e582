# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'fig3-drawn'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'The same of bits that are drawn' noenhanced
set xlabel 'bits of a code' noenhanced
set ylabel 'microseconds a query' noenhanced
set logscale x
set xrange [6.957:2355]
set xtics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, '1000' 1000, '2000' 2000, '5000' 5000)
set logscale y
set yrange [0.1652:3.503e+05]
$series0 << EOD
8 0.249998
16 0.249998
32 0.450997
64 0.649998
128 0.479999
256 0.641001
512 0.460997
1024 0.660999
2048 0.459999
EOD
$series1 << EOD
8 0.210999
16 0.189997
32 0.199998
64 0.360997
128 0.225498
256 0.310003
512 0.219999
1024 0.359996
2048 0.219999
EOD
$series2 << EOD
8 0.280997
16 0.400996
32 0.770997
64 1.854
128 0.831998
256 1.433
512 0.841996
1024 1.152
2048 0.761
EOD
$series3 << EOD
8 2231.59
16 1826.65
32 1831.37
64 3352.77
128 3030.1
256 6869.03
512 7990.19
1024 14832.4
2048 26951.5
EOD
$series4 << EOD
8 0.500997
16 0.460001
32 0.2705
64 0.439999
128 0.420001
256 0.511001
512 0.931999
1024 1.473
2048 2.114
EOD
$series5 << EOD
8 1.312
16 3.256
32 1.974
64 6.943
128 9.328
256 18.445
512 51.9175
1024 102.833
2048 136.712
EOD
$series6 << EOD
8 4.739
16 22.282
32 28.413
64 208.19
128 578.875
256 2524.88
512 8119.23
1024 44260.1
2048 135629
EOD
$series7 << EOD
8 14.482
16 103.344
32 291.472
64 4322.63
128 26016.9
256 304605
EOD
$series8 << EOD
16 65.5535
32 535.679
64 2267.96
128 24016.2
256 75900.7
512 128993
1024 259055
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
     $series7 with linespoints linecolor '#D55E00' linewidth 1.6 dashtype 2 pointtype 7 pointsize 0.5 title 'radius 3', \
     $series8 with linespoints linecolor '#0072B2' linewidth 1.6 dashtype 2 pointtype 5 pointsize 0.5 title 'multi-index hashing'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
