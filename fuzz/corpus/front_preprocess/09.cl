
#if -1 < 0u
no
#elif -1 > 0u && 0x7fffffffffffffff + 0 > 0 && (1 ? -1 : 0u) > 0
yes
#endif