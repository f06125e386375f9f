
__LINE__
__LINE__ __FILE__
#line 77
__LINE__
#line 5 "a\\b.cl"
__LINE__ __FILE__