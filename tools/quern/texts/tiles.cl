// For what async copies are worth: each group sums up its part of the array, which comes through local memory in tiles,
// the next one while this one is read. Global size: any number of groups of GROUP; `in` holds `tiles` tiles a group.
#define GROUP 256
#define TILE  1024

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
tiles(uint tiles, global const float *restrict in, global float *restrict out) {
    local float tile[2][TILE];
    event_t events[2];
    size_t i = get_local_id(0);
    float sum = 0.0f;
    in += get_group_id(0) * tiles * TILE;
    events[0] = async_work_group_copy(tile[0], in, TILE, 0);
    for (uint t = 0; t < tiles; t++) {
        uint now = t & 1;
        if (t + 1 < tiles)
            events[now ^ 1] = async_work_group_copy(tile[now ^ 1], in + (t + 1) * TILE, TILE, 0);
        wait_group_events(1, &events[now]);
        for (uint k = 0; k < TILE; k += GROUP) sum += tile[now][k + GROUP - 1 - i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}
