echo t | tee t1 t2; cat t1 t2; echo u | tee -a t1 > /dev/null; cat t1
