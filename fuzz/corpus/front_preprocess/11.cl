
#if 'a' == 97 && '\n' == 10 && undefined_name == 0 && true && !false
yes
#endif