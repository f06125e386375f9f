
#if 0 && 1/0 || 1 || 1/0
yes
#endif
#if 1 ? 2 : 1/0
yes
#endif