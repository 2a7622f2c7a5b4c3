/* Places that have something: marks, one bit a place, and the list of those that are marked.

   Marking reads what it looks at once, and writes a bit a place; listing reads the bits and writes 4 bytes for each that is
   set. So a place moves the bytes of its key or flag and a quarter of one, and 4 more if it is marked. */

/* As in tuning.rs. */
#define PER_LANE 8

#define TILE (GROUP * PER_LANE)
#define WORDS (TILE / 32)

/* What all marking is but for the condition on `place`: the marks of a tile, and how many are set. The key before a place is
   read by the lane before, so that it comes from the cache. */
#define MARK(condition)                                                     \
    LOCAL_ARRAY(u32, marks, WORDS);                                         \
    LOCAL_ARRAY(u32, marked, 1);                                            \
    if (LANE < WORDS)                                                       \
        marks[LANE] = 0;                                                    \
    if (LANE == 0)                                                          \
        marked[0] = 0;                                                      \
    BARRIER;                                                                \
    u64 start = (u64)GROUP_NUMBER * TILE;                                   \
    for (u32 index = LANE; index < TILE; index += GROUP) {                  \
        u64 place = start + index;                                          \
        if (place < count && (condition))                                   \
            local_or_u32(&marks[index / 32], (u32)1 << index % 32);         \
    }                                                                       \
    BARRIER;                                                                \
    if (LANE < WORDS) {                                                     \
        words[(u64)GROUP_NUMBER * WORDS + LANE] = marks[LANE];              \
        local_add_u32(&marked[0], bits_set(marks[LANE]));                   \
    }                                                                       \
    BARRIER;                                                                \
    if (LANE == 0)                                                          \
        tiles[GROUP_NUMBER] = marked[0];

KERNEL mark_flags_u8(GLOBAL const u8 *flags, GLOBAL u32 *words, GLOBAL u32 *tiles, u64 count)
{
    MARK(flags[place] != 0)
}

KERNEL mark_flags_u32(GLOBAL const u32 *flags, GLOBAL u32 *words, GLOBAL u32 *tiles, u64 count)
{
    MARK(flags[place] != 0)
}

KERNEL mark_heads_u32(GLOBAL const u32 *keys, GLOBAL u32 *words, GLOBAL u32 *tiles, u64 count)
{
    MARK(place == 0 || keys[place] != keys[place - 1])
}

KERNEL mark_heads_u64(GLOBAL const u64 *keys, GLOBAL u32 *words, GLOBAL u32 *tiles, u64 count)
{
    MARK(place == 0 || keys[place] != keys[place - 1])
}

KERNEL mark_heads_double(GLOBAL const u64 *high, GLOBAL const u64 *low, GLOBAL u32 *words,
    GLOBAL u32 *tiles, u64 count)
{
    MARK(place == 0 || low[place] != low[place - 1] || high[place] != high[place - 1])
}

KERNEL list_places(GLOBAL const u32 *words, GLOBAL const u32 *tiles, GLOBAL u32 *places, u64 count)
{
    LOCAL_ARRAY(u32, scratch, GROUP);
    LOCAL_ARRAY(u32, befores, WORDS);
    GLOBAL const u32 *own = words + (u64)GROUP_NUMBER * WORDS;
    u32 total;
    u32 before = group_sum_before(LANE < WORDS ? bits_set(own[LANE]) : 0, scratch, &total);
    if (LANE < WORDS)
        befores[LANE] = tiles[GROUP_NUMBER] + before;
    BARRIER;
    for (u32 index = LANE; index < TILE; index += GROUP) {
        u32 word = own[index / 32];
        u32 bit = (u32)1 << index % 32;
        if (word & bit)
            places[befores[index / 32] + bits_set(word & (bit - 1))] = GROUP_NUMBER * TILE + index;
    }
    /* Behind the last one, where all end. */
    if (GROUP_NUMBER == GROUP_COUNT - 1 && LANE == 0)
        places[tiles[GROUP_COUNT]] = (u32)count;
}
