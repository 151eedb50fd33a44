seq 10 > s; split -l 4 s part_; ls part_*; cat part_ab; split -b 5 s byte_; ls byte_* | wc -l; split -n 2 s n_ ; ls n_*
