
#if __has_include("a.h") && !__has_include(<nope.h>) && defined __has_include
yes
#endif