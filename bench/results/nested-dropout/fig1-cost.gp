# Draws the plot anew: gnuplot FILE, in the folder where it lies.
if (!exists('stem')) stem = 'fig1-cost'
set encoding utf8
set border 3 linecolor '#666666'
set tics nomirror out
set grid xtics ytics linecolor '#e4e4e4' linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.25 noenhanced
set title 'Multiply-adds of a training step' noenhanced
set xlabel 'epoch' noenhanced
set ylabel 'million multiply-adds an image' noenhanced
$series0 << EOD
1 0.869699368
2 0.906805895
3 0.880047158
4 0.879885474
5 0.939498442
6 0.916636295
7 0.941276968
8 0.984462821
9 1.01379234
10 1.05052699
11 1.06011486
12 1.07104472
13 1.08161886
14 1.07338914
15 1.05477928
16 1.02585398
17 0.978221811
18 0.931187874
19 0.883313179
20 0.835050442
21 0.787030232
22 0.739107032
23 0.691232337
24 0.643309137
EOD
$series1 << EOD
1 0.869699368
2 0.906805895
3 0.880047158
4 0.879885474
5 0.939466105
6 0.897266526
7 0.892335158
8 0.904138105
9 0.905997474
10 0.914566737
11 0.900257684
12 0.894275368
13 0.905189053
14 0.877379368
15 0.893224421
16 0.909635368
17 0.873903158
18 0.902440421
19 0.897832421
20 0.881340632
21 0.911494737
22 0.909473684
23 0.897428211
24 0.906967579
EOD
set terminal svg size 960,540 dynamic font 'sans-serif,15' background '#ffffff'
set output stem.'.svg'
plot $series0 with linespoints linecolor '#D55E00' linewidth 3 pointtype 7 pointsize 0.7 title 'with unit sweeping', \
     $series1 with linespoints linecolor '#0072B2' linewidth 1.6 pointtype 5 pointsize 0.5 title 'without'
set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth 1.5
set output stem.'.png'
replot
unset output
