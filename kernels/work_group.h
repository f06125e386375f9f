// Work-groups of GROUP work-items, of which a processor's have one. There nothing may depend on a work-item's number: what does is computed
// for a vector of work-items.
#if GROUP == 1
#define ME            0
#define SUM_BEFORE(x) 0
#define SUM(x)        (x)
#define BARRIER       // a work-item alone waits for nobody, and PoCL does not take barriers in such loops
#else
#define ME            get_local_id(0)
#define SUM_BEFORE(x) work_group_scan_exclusive_add(x)
#define SUM(x)        work_group_reduce_add(x)
#define BARRIER       barrier(CLK_LOCAL_MEM_FENCE)
#endif
