/* One pass of a stable radix sort: rows put in order by one digit of their key.

   `digit_counts` counts the digits of every tile, a scan makes places of the counts (digit by digit, tile by tile), and
   `move_rows` puts the rows of a tile in order by digit and moves them. What is put in order in local memory is a
   digit and a place for each row; the planes of the rows then go through local memory one after the other, so that both
   reading and writing go in runs.

   Bytes that must move for each row and pass: the plane of the digit is read once to count and once to move, other planes
   once, and all are written once: 32 for a key of 8 bytes with one of 4 beside it, and 4 bytes for each of 256
   digits written, scanned (12) and read for each tile, which is 2.5 for a row. */

/* As in tuning.rs. */
#define PER_LANE 8
#define DIGIT_BITS 8

#define TILE (GROUP * PER_LANE)
#define DIGITS (1 << DIGIT_BITS)

/* Counts of a tile are made in several copies, as neighbours often have the same digit. The odd length puts them into
   different banks. */
#define COPIES 8
#define COPY (DIGITS + 1)

/* A digit is put in order by two halves of so many bits. */
#define HALF_BITS (DIGIT_BITS / 2)
#define HALVES (1 << HALF_BITS)
/* Two counters are in one word: this many words for each lane. */
#define WORDS (HALVES / 2)

/* Where something is in local memory: gaps keep lanes, which have PER_LANE or WORDS of them each, in different banks. */
#define PLACE(index) ((index) + (index) / PER_LANE)
#define PLACES (TILE + TILE / PER_LANE)
#define WORD(index) ((index) + (index) / WORDS)
#define ALL_WORDS (GROUP * WORDS + GROUP)

/* Places of 8 bytes that a tile needs: entries and words while it is put in order, then a plane of it. */
#define SHARED ((PLACES + ALL_WORDS) / 2 > TILE ? (PLACES + ALL_WORDS) / 2 : TILE)

/* The digits of planes: `flip` is the mask of the digit for descending order, else 0. */
#define DIGIT(key) (((u32)((key) >> shift) & mask) ^ flip)

/* A plane of a tile in registers, every GROUP-th row of it from this lane's on: all of them are asked for before the first is
   needed. */
#define LOAD(plane, own)                                                                       \
    for (u32 index = 0; index < PER_LANE; index++)                                             \
        own[index] = index * GROUP + LANE < rows ? plane[start + index * GROUP + LANE] : 0;

FUNCTION void count_digit(LOCAL u32 *counts, u32 digit)
{
    local_add_u32(&counts[LANE % COPIES * COPY + digit], 1);
}

FUNCTION void clear_counts(LOCAL u32 *counts)
{
    for (u32 index = LANE; index < COPIES * COPY; index += GROUP)
        counts[index] = 0;
    BARRIER;
}

FUNCTION void write_counts(LOCAL u32 *counts, GLOBAL u32 *table, u32 digits)
{
    BARRIER;
    u32 digit = LANE;
    if (digit < digits) {
        u32 sum = 0;
        for (u32 copy = 0; copy < COPIES; copy++)
            sum += counts[copy * COPY + digit];
        table[(u64)digit * GROUP_COUNT + GROUP_NUMBER] = sum;
    }
}

/* What both kinds of `digit_counts` are but for the type of keys. */
#define COUNT_DIGITS(key_type)                                                                 \
    LOCAL_ARRAY(u32, counts, COPIES * COPY);                                                   \
    key_type own[PER_LANE];                                                                    \
    u64 start = (u64)GROUP_NUMBER * TILE;                                                      \
    u32 rows = count - start < TILE ? (u32)(count - start) : TILE;                             \
    LOAD(keys, own)                                                                            \
    clear_counts(counts);                                                                      \
    for (u32 index = 0; index < PER_LANE; index++)                                             \
        if (index * GROUP + LANE < rows)                                                       \
            count_digit(counts, DIGIT(own[index]));                                            \
    write_counts(counts, table, mask + 1);

KERNEL digit_counts_u32(GLOBAL const u32 *keys, GLOBAL u32 *table, u32 count, u32 shift, u32 mask,
    u32 flip)
{
    COUNT_DIGITS(u32)
}

KERNEL digit_counts_u64(GLOBAL const u64 *keys, GLOBAL u32 *table, u32 count, u32 shift, u32 mask,
    u32 flip)
{
    COUNT_DIGITS(u64)
}

/* Puts the entries of a tile, which are a digit above 16 bits of a place, in order by half of the digit, stably. `words`
   has room for ALL_WORDS: for each half digit a counter for each lane, two in a word, the low one for half digits below
   WORDS and the high one for those above. */
FUNCTION void order_by_half(LOCAL u32 *entries, LOCAL u32 *words, LOCAL u32 *scratch, u32 shift)
{
    u32 entry[PER_LANE];
    u32 rank[PER_LANE];
    u32 lane = LANE;
    for (u32 word = 0; word < WORDS; word++)
        words[WORD(word * GROUP + lane)] = 0;
    BARRIER;
    for (u32 index = 0; index < PER_LANE; index++) {
        entry[index] = entries[PLACE(lane * PER_LANE + index)];
        u32 nibble = entry[index] >> shift & (HALVES - 1);
        u32 place = WORD(nibble % WORDS * GROUP + lane);
        u32 side = nibble / WORDS * 16;
        u32 word = words[place];
        rank[index] = word >> side & 0xffff;
        words[place] = word + ((u32)1 << side);
    }
    BARRIER;
    u32 sum = 0;
    for (u32 index = 0; index < WORDS; index++)
        sum += words[WORD(lane * WORDS + index)];
    u32 total;
    u32 before = group_sum_before(sum, scratch, &total);
    /* All of the low half digits come before the high ones. */
    before += total << 16;
    for (u32 index = 0; index < WORDS; index++) {
        u32 place = WORD(lane * WORDS + index);
        u32 word = words[place];
        words[place] = before;
        before += word;
    }
    BARRIER;
    for (u32 index = 0; index < PER_LANE; index++) {
        u32 nibble = entry[index] >> shift & (HALVES - 1);
        u32 word = words[WORD(nibble % WORDS * GROUP + lane)];
        u32 place = (word >> (nibble / WORDS * 16) & 0xffff) + rank[index];
        entries[PLACE(place)] = entry[index];
    }
    BARRIER;
}

/* Puts the entries of a tile in order by their digit and says for each of this lane's rows, which are every GROUP-th of
   those in order, where it comes from in the tile and where it goes. */
FUNCTION void order_tile(LOCAL u32 *entries, LOCAL u32 *words, LOCAL u32 *scratch, LOCAL u32 *firsts,
    GLOBAL const u32 *table, u32 mask, u32 *from, u32 *to)
{
    u32 lane = LANE;
    BARRIER;
    order_by_half(entries, words, scratch, 16);
    if (mask >= HALVES)
        order_by_half(entries, words, scratch, 16 + HALF_BITS);
    /* The first of each digit: where it goes tells where all of them go. */
    for (u32 index = 0; index < PER_LANE; index++) {
        u32 place = index * GROUP + lane;
        u32 digit = entries[PLACE(place)] >> 16;
        if (place == 0 || entries[PLACE(place - 1)] >> 16 != digit)
            firsts[digit] = table[(u64)digit * GROUP_COUNT + GROUP_NUMBER] - place;
    }
    BARRIER;
    for (u32 index = 0; index < PER_LANE; index++) {
        u32 place = index * GROUP + lane;
        u32 entry = entries[PLACE(place)];
        from[index] = entry & 0xffff;
        to[index] = firsts[entry >> 16] + place;
    }
    BARRIER;
}

/* Writes a plane of a tile that is in registers to where its rows go. */
#define STORE(own, moved, stage)                                                               \
    for (u32 index = 0; index < PER_LANE; index++)                                             \
        stage[index * GROUP + LANE] = own[index];                                              \
    BARRIER;                                                                                   \
    for (u32 index = 0; index < PER_LANE; index++)                                             \
        if (index * GROUP + LANE < rows)                                                       \
            moved[to[index]] = stage[from[index]];                                             \
    BARRIER;

FUNCTION void move_u32(GLOBAL const u32 *plane, GLOBAL u32 *moved, LOCAL u32 *stage, u64 start, u32 rows,
    const u32 *from, const u32 *to)
{
    u32 own[PER_LANE];
    LOAD(plane, own)
    STORE(own, moved, stage)
}

FUNCTION void move_u64(GLOBAL const u64 *plane, GLOBAL u64 *moved, LOCAL u64 *stage, u64 start, u32 rows,
    const u32 *from, const u32 *to)
{
    u64 own[PER_LANE];
    LOAD(plane, own)
    STORE(own, moved, stage)
}

/* What both kinds of `move_rows` do but for the plane of the digit. Places behind the last row have the highest digit, and
   so come last. `beside` says which planes there are beside that of the digit: 1 for `wide`, 2 for `first`, 4 for
   `second`; the others are not touched. */
#define MOVE_ROWS(key_type)                                                                    \
    LOCAL_ARRAY(u64, shared, SHARED);                                                          \
    LOCAL_ARRAY(u32, scratch, GROUP);                                                          \
    LOCAL_ARRAY(u32, firsts, DIGITS);                                                          \
    u32 from[PER_LANE];                                                                        \
    u32 to[PER_LANE];                                                                          \
    key_type own[PER_LANE];                                                                    \
    LOCAL u32 *entries = (LOCAL u32 *)shared;                                                  \
    u64 start = (u64)GROUP_NUMBER * TILE;                                                      \
    u32 rows = count - start < TILE ? (u32)(count - start) : TILE;                             \
    LOCAL key_type *stage = (LOCAL key_type *)shared;                                          \
    LOAD(keys, own)                                                                            \
    for (u32 index = 0; index < PER_LANE; index++) {                                           \
        u32 place = index * GROUP + LANE;                                                      \
        u32 digit = place < rows ? DIGIT(own[index]) : mask;                                   \
        entries[PLACE(place)] = digit << 16 | place;                                           \
    }                                                                                          \
    order_tile(entries, entries + PLACES, scratch, firsts, table, mask, from, to);             \
    STORE(own, moved_keys, stage)                                                              \
    if (beside & 1)                                                                            \
        move_u64(wide, moved_wide, shared, start, rows, from, to);                             \
    if (beside & 2)                                                                            \
        move_u32(first, moved_first, entries, start, rows, from, to);                          \
    if (beside & 4)                                                                            \
        move_u32(second, moved_second, entries, start, rows, from, to);

KERNEL move_rows_u32(GLOBAL const u32 *keys, GLOBAL u32 *moved_keys, GLOBAL const u64 *wide,
    GLOBAL u64 *moved_wide, GLOBAL const u32 *first, GLOBAL u32 *moved_first,
    GLOBAL const u32 *second, GLOBAL u32 *moved_second, GLOBAL const u32 *table, u32 count,
    u32 shift, u32 mask, u32 flip, u32 beside)
{
    MOVE_ROWS(u32)
}

KERNEL move_rows_u64(GLOBAL const u64 *keys, GLOBAL u64 *moved_keys, GLOBAL const u64 *wide,
    GLOBAL u64 *moved_wide, GLOBAL const u32 *first, GLOBAL u32 *moved_first,
    GLOBAL const u32 *second, GLOBAL u32 *moved_second, GLOBAL const u32 *table, u32 count,
    u32 shift, u32 mask, u32 flip, u32 beside)
{
    MOVE_ROWS(u64)
}
