/* Sums over all values before each one.

   Two launches: every group adds up its stretch of the values, then goes over it again, from the sum of all
   stretches before its own. A stretch is whole tiles; a tile is turned in local memory, so that memory is read
   and written in the order of lanes while every lane adds up values that follow each other.

   Bytes that must move for each value: `stretch_sums` reads it, `scan` reads it and writes a sum: 12 for u32 to u32,
   16 for u32 to u64, 24 for u64 to u64. */

/* As in tuning.rs. */
#define PER_LANE 8
#define TILE (GROUP * PER_LANE)

/* Where a value of a tile is in local memory: a gap behind those of each lane keeps lanes in different banks. */
#define PLACE(index) ((index) + (index) / PER_LANE)
#define PLACES (TILE + GROUP)

/* The sum of what each lane has. */
FUNCTION u64 sum_of_lanes(u64 value, LOCAL u64 *scratch)
{
    u64 total;
    group_sum_before_u64(value, scratch, &total);
    return total;
}

/* The sum of all stretches before this group's. */
FUNCTION u64 sum_of_stretches(GLOBAL const u64 *stretches, LOCAL u64 *scratch)
{
    u64 sum = 0;
    for (u32 stretch = LANE; stretch < GROUP_NUMBER; stretch += GROUP)
        sum += stretches[stretch];
    return sum_of_lanes(sum, scratch);
}

/* Makes the values of a tile the sums before them, and gives the sum behind them. */
FUNCTION u64 scan_tile(LOCAL u64 *tile, LOCAL u64 *scratch, u64 before)
{
    u32 first = LANE * (PER_LANE + 1);
    u64 sum = 0;
    BARRIER;
    for (u32 index = 0; index < PER_LANE; index++)
        sum += tile[first + index];
    u64 total;
    u64 at = before + group_sum_before_u64(sum, scratch, &total);
    for (u32 index = 0; index < PER_LANE; index++) {
        u64 value = tile[first + index];
        tile[first + index] = at;
        at += value;
    }
    BARRIER;
    return before + total;
}

FUNCTION u64 least(u64 one, u64 other)
{
    return one < other ? one : other;
}

KERNEL stretch_sums_u32(GLOBAL const u32 *values, GLOBAL u64 *stretches, u64 count, u64 stretch)
{
    LOCAL_ARRAY(u64, scratch, GROUP);
    u64 end = least(count, (GROUP_NUMBER + (u64)1) * stretch);
    u64 sum = 0;
    for (u64 place = GROUP_NUMBER * stretch + LANE; place < end; place += GROUP)
        sum += values[place];
    sum = sum_of_lanes(sum, scratch);
    if (LANE == 0)
        stretches[GROUP_NUMBER] = sum;
}

KERNEL stretch_sums_u64(GLOBAL const u64 *values, GLOBAL u64 *stretches, u64 count, u64 stretch)
{
    LOCAL_ARRAY(u64, scratch, GROUP);
    u64 end = least(count, (GROUP_NUMBER + (u64)1) * stretch);
    u64 sum = 0;
    for (u64 place = GROUP_NUMBER * stretch + LANE; place < end; place += GROUP)
        sum += values[place];
    sum = sum_of_lanes(sum, scratch);
    if (LANE == 0)
        stretches[GROUP_NUMBER] = sum;
}

/* What the three kinds of `scan` are but for the types in their parameters. The sum of all goes behind the sums if
   `with_end` is not 0. */
#define SCAN(type)                                                                   \
    LOCAL_ARRAY(u64, tile, PLACES);                                                  \
    LOCAL_ARRAY(u64, scratch, GROUP);                                                \
    u64 sum = sum_of_stretches(stretches, scratch);                                  \
    u64 end = least(count, (GROUP_NUMBER + (u64)1) * stretch);                       \
    for (u64 start = GROUP_NUMBER * stretch; start < end; start += TILE) {           \
        for (u32 index = LANE; index < TILE; index += GROUP)                         \
            tile[PLACE(index)] = start + index < end ? values[start + index] : 0;    \
        sum = scan_tile(tile, scratch, sum);                                         \
        for (u32 index = LANE; index < TILE; index += GROUP)                         \
            if (start + index < end)                                                 \
                sums[start + index] = (type)tile[PLACE(index)];                      \
        BARRIER;                                                                     \
    }                                                                                \
    if (GROUP_NUMBER == GROUP_COUNT - 1 && LANE == 0) {                              \
        total[0] = (type)sum;                                                        \
        if (with_end != 0)                                                           \
            sums[count] = (type)sum;                                                 \
    }

KERNEL scan_u32(GLOBAL const u32 *values, GLOBAL u32 *sums, GLOBAL const u64 *stretches,
    GLOBAL u32 *total, u64 count, u64 stretch, u32 with_end)
{
    SCAN(u32)
}

KERNEL scan_u32_to_u64(GLOBAL const u32 *values, GLOBAL u64 *sums, GLOBAL const u64 *stretches,
    GLOBAL u64 *total, u64 count, u64 stretch, u32 with_end)
{
    SCAN(u64)
}

KERNEL scan_u64(GLOBAL const u64 *values, GLOBAL u64 *sums, GLOBAL const u64 *stretches,
    GLOBAL u64 *total, u64 count, u64 stretch, u32 with_end)
{
    SCAN(u64)
}
