/* How often every symbol occurs: the sum of the weights of the lists that it gets from, row by row.

   Rows are cut into tiles of at most TILE edges. The weights of a tile's edges are gathered into local memory and
   added up there from the first to the last, so that the sum of a row is a difference of two such sums, however long
   it is; sums may pass 2^64, their differences do not. A row that is longer than a tile is cut into pieces, whose sums
   are added in global memory.

   Bytes that must be moved: 4 an edge, 8 a weight gathered, 4 a row's start and 8 a row's sum. */

#define PER_LANE 4
#define TILE (GROUP * PER_LANE)
/* The tile is a piece of one row. */
#define PIECE 0x80000000u

/* The sum of a value over the lanes before this one. `scratch` has GROUP places, and may be used again after
   the call. */
FUNCTION u64 group_sum_before_u64(u64 value, LOCAL u64 *scratch)
{
    u32 lane = LANE;
    scratch[lane] = value;
    BARRIER;
    for (u32 reach = 1; reach < GROUP; reach *= 2) {
        u64 more = lane >= reach ? scratch[lane - reach] : 0;
        BARRIER;
        scratch[lane] += more;
        BARRIER;
    }
    u64 through = scratch[lane];
    BARRIER;
    return through - value;
}

/* Adds up the rows of a tile. */
FUNCTION void sum_tile(u32 tile, GLOBAL const u32 *tile_rows, GLOBAL const u32 *tile_edges,
                       GLOBAL const u32 *use_starts, GLOBAL const u32 *uses, GLOBAL u64 *weights,
                       GLOBAL u64 *item_weights, u32 rules, LOCAL u64 *sums, LOCAL u64 *scratch)
{
    u32 lane = LANE;
    u32 is_piece = tile_rows[tile] & PIECE;
    u32 first_row = tile_rows[tile] & ~PIECE;
    u32 last_row = tile_rows[tile + 1] & ~PIECE;
    u32 first_edge = tile_edges[tile];
    u32 edges = tile_edges[tile + 1] - first_edge;
    for (u32 k = 0; k < PER_LANE; k++) {
        u32 at = k * GROUP + lane;
        sums[at] = at < edges ? weights[uses[first_edge + at]] : 0;
    }
    BARRIER;
    u64 own = 0;
    for (u32 k = 0; k < PER_LANE; k++) {
        own += sums[lane * PER_LANE + k];
    }
    u64 sum = group_sum_before_u64(own, scratch);
    for (u32 k = 0; k < PER_LANE; k++) {
        sum += sums[lane * PER_LANE + k];
        sums[lane * PER_LANE + k] = sum;
    }
    BARRIER;
    if (is_piece) {
        if (lane == 0) {
            GLOBAL u64 *place =
                first_row < rules ? weights + first_row : item_weights + (first_row - rules);
            add_u64(place, sums[TILE - 1]);
        }
    } else {
        for (u32 row = first_row + lane; row < last_row; row += GROUP) {
            u32 start = use_starts[row] - first_edge;
            u32 end = use_starts[row + 1] - first_edge;
            u64 weight = (end == 0 ? 0 : sums[end - 1]) - (start == 0 ? 0 : sums[start - 1]);
            if (row < rules) {
                weights[row] = weight;
            } else {
                item_weights[row - rules] = weight;
            }
        }
    }
    BARRIER;
}

/* Weights before anything is added up: none for rules, and what the root has of each symbol behind them. */
KERNEL start_weights(GLOBAL const u32 *root_counts, GLOBAL u64 *weights, u32 rules, u32 symbols)
{
    u64 place = LANE_OF_ALL;
    if (place < rules) {
        weights[place] = 0;
    } else if (place < (u64)rules + symbols) {
        weights[place] = root_counts[place - rules];
    }
}

/* The tiles of one level, a group for each. */
KERNEL sum_level(GLOBAL const u32 *tile_rows, GLOBAL const u32 *tile_edges, GLOBAL const u32 *use_starts,
                 GLOBAL const u32 *uses, GLOBAL u64 *weights, GLOBAL u64 *item_weights, u32 rules, u32 first_tile)
{
    LOCAL_ARRAY(u64, sums, TILE);
    LOCAL_ARRAY(u64, scratch, GROUP);
    sum_tile(first_tile + GROUP_NUMBER, tile_rows, tile_edges, use_starts, uses, weights, item_weights, rules, sums,
             scratch);
}

/* The tiles of several levels one after the other, by one group: what a level waits for is done by the same
   group, and a barrier is enough. */
KERNEL sum_small_levels(GLOBAL const u32 *tile_rows, GLOBAL const u32 *tile_edges, GLOBAL const u32 *use_starts,
                        GLOBAL const u32 *uses, GLOBAL u64 *weights, GLOBAL u64 *item_weights, u32 rules,
                        u32 first_tile, u32 last_tile)
{
    LOCAL_ARRAY(u64, sums, TILE);
    LOCAL_ARRAY(u64, scratch, GROUP);
    for (u32 tile = first_tile; tile < last_tile; tile++) {
        sum_tile(tile, tile_rows, tile_edges, use_starts, uses, weights, item_weights, rules, sums, scratch);
    }
}
