
#ifdef M_PI
#undef M_PI
#endif
#define M_PI 3
#define INT_MAX 5
M_PI INT_MAX