/* Sequences of n items that cross a border between two symbols of a row, which is a rule's body or a document's
   stretch of the root.

   A sequence that lies within one symbol is met in that symbol's own body. The others are seen from the first and last
   n - 1 items of every symbol: its head and its tail, packed with `bits` bits an item, the last item in the lowest
   bits. Symbols are the rules, then the items.

   Keys have 64 bits or, if `wide` is not 0, 128. A rule has its ends in 2 or 4 words: head, then tail, low word first. The
   highest 4 bits of the head, which are free, have the number of items that head and tail have: n - 1, or all of a
   shorter rule. */

/* As in tuning.rs. */
#define PER_LANE 8

#define TILE (GROUP * PER_LANE)
/* Symbols before a place that can be seen from it: n - 1 at most. */
#define SEEN 4
#define TAG_SHIFT 60
/* What tells documents from rules among lists. */
#define DOCUMENT 0x80000000u

typedef struct {
    u64 high;
    u64 low;
} Key;

FUNCTION Key shifted_left(Key key, u32 bits)
{
    if (bits >= 64) {
        key.high = key.low << (bits - 64);
        key.low = 0;
    } else if (bits > 0) {
        key.high = key.high << bits | key.low >> (64 - bits);
        key.low <<= bits;
    }
    return key;
}

FUNCTION Key shifted_right(Key key, u32 bits)
{
    if (bits >= 64) {
        key.low = key.high >> (bits - 64);
        key.high = 0;
    } else if (bits > 0) {
        key.low = key.low >> bits | key.high << (64 - bits);
        key.high >>= bits;
    }
    return key;
}

FUNCTION Key joined(Key one, Key other)
{
    one.high |= other.high;
    one.low |= other.low;
    return one;
}

/* The lowest so many bits. */
FUNCTION Key lowest(Key key, u32 bits)
{
    if (bits <= 64)
        key.high = 0;
    else if (bits < 128)
        key.high &= ((u64)1 << (bits - 64)) - 1;
    if (bits < 64)
        key.low &= ((u64)1 << bits) - 1;
    return key;
}

FUNCTION Key key_of(u32 item)
{
    Key key;
    key.high = 0;
    key.low = item;
    return key;
}

FUNCTION u32 least(u32 one, u32 other)
{
    return one < other ? one : other;
}

/* The head of a symbol; `length` gets the number of its items. */
FUNCTION Key head_of(GLOBAL const u64 *ends, u32 symbol, u32 rules, u32 wide, u32 *length)
{
    if (symbol >= rules) {
        *length = 1;
        return key_of(symbol - rules);
    }
    Key head;
    u64 top;
    u64 tag = (u64)15 << TAG_SHIFT;
    if (wide) {
        top = ends[(u64)symbol * 4 + 1];
        head.low = ends[(u64)symbol * 4];
        head.high = top & ~tag;
    } else {
        top = ends[(u64)symbol * 2];
        head.low = top & ~tag;
        head.high = 0;
    }
    *length = (u32)(top >> TAG_SHIFT);
    return head;
}

/* The tail of a symbol, which has as many items as its head. */
FUNCTION Key tail_of(GLOBAL const u64 *ends, u32 symbol, u32 rules, u32 wide)
{
    if (symbol >= rules)
        return key_of(symbol - rules);
    Key tail;
    tail.low = ends[wide ? (u64)symbol * 4 + 2 : (u64)symbol * 2 + 1];
    tail.high = wide ? ends[(u64)symbol * 4 + 3] : 0;
    return tail;
}

/* Heads and tails of the rules of a level, when those of all later levels are there; n is 2 or more.

   Bytes for each rule: its start (4), its length (4), one or more symbols at either end (4) with their ends (16, or 32 if
   keys are wide), which are scattered, and its own ends written. */
KERNEL make_ends(GLOBAL const u32 *bodies, GLOBAL const u32 *starts, GLOBAL u64 *ends, u32 first,
    u32 count, u32 rules, u32 n, u32 bits, u32 wide)
{
    u64 place = LANE_OF_ALL;
    if (place >= count)
        return;
    u32 rule = first + (u32)place;
    u32 start = starts[rule];
    u32 end = starts[rule + 1];
    u32 reach = n - 1;
    Key head = key_of(0);
    u32 items = 0;
    for (u32 at = start; at < end && items < reach; at++) {
        u32 length;
        Key own = head_of(ends, bodies[at], rules, wide, &length);
        u32 taken = least(length, reach - items);
        own = shifted_right(own, (length - taken) * bits);
        head = joined(shifted_left(head, taken * bits), own);
        items += taken;
    }
    Key tail = key_of(0);
    u32 behind = 0;
    for (u32 at = end; at > start && behind < reach; at--) {
        u32 symbol = bodies[at - 1];
        u32 length;
        head_of(ends, symbol, rules, wide, &length);
        u32 taken = least(length, reach - behind);
        Key own = lowest(tail_of(ends, symbol, rules, wide), taken * bits);
        tail = joined(tail, shifted_left(own, behind * bits));
        behind += taken;
    }
    u64 tag = (u64)items << TAG_SHIFT;
    if (wide) {
        ends[(u64)rule * 4] = head.low;
        ends[(u64)rule * 4 + 1] = head.high | tag;
        ends[(u64)rule * 4 + 2] = tail.low;
        ends[(u64)rule * 4 + 3] = tail.high;
    } else {
        ends[(u64)rule * 2] = head.low | tag;
        ends[(u64)rule * 2 + 1] = tail.low;
    }
}

/* The rows of the first and of the last place of a tile. */
FUNCTION void find_rows(GLOBAL const u32 *starts, u32 rows, u32 start, u32 end, LOCAL u32 *found)
{
    if (LANE < 2)
        found[LANE] = last_not_above(starts, 0, rows, LANE == 0 ? start : end - 1);
    BARRIER;
}

/* How many sequences of each tile of 2048 places of the symbols cross a border: those that end in the head of a symbol
   and have their first item before it. Rules that do not occur (their weight is 0) have none; `weights` is for rules, and
   not looked at for the root.

   Bytes for each place: its symbol (4), the length of a rule (4, scattered), and 4 for each row. */
KERNEL count_windows(GLOBAL const u32 *symbols, GLOBAL const u32 *starts, GLOBAL const u32 *lengths,
    GLOBAL const u64 *weights, GLOBAL u32 *counts, u32 count, u32 rows, u32 rules, u32 n, u32 in_root,
    u32 first_tile)
{
    LOCAL_ARRAY(u32, scratch, GROUP);
    LOCAL_ARRAY(u32, found, 2);
    LOCAL_ARRAY(u32, items, GROUP + SEEN);
    u32 reach = n - 1;
    u32 start = GROUP_NUMBER * TILE;
    u32 end = count - start < TILE ? count : start + TILE;
    u32 sum = 0;
    find_rows(starts, rows, start, end, found);
    for (u32 step = start; step < end; step += GROUP) {
        for (u32 index = LANE; index < GROUP + SEEN; index += GROUP) {
            u32 length = 0;
            if (step + index >= SEEN && step + index - SEEN < end) {
                u32 symbol = symbols[step + index - SEEN];
                length = symbol >= rules ? 1 : least(lengths[symbol], reach);
            }
            items[index] = length;
        }
        BARRIER;
        u32 place = step + LANE;
        if (place < end) {
            u32 row = last_not_above(starts, found[0], found[1] + 1, place);
            u32 room = least(place - starts[row], SEEN);
            u32 before = 0;
            for (u32 back = 1; back <= room && before < reach; back++)
                before += items[LANE + SEEN - back];
            u32 through = least(before, reach) + items[LANE + SEEN];
            if (through > reach && (in_root || weights[row] != 0))
                sum += through - reach;
        }
        BARRIER;
    }
    u32 total;
    group_sum_before(sum, scratch, &total);
    if (LANE == 0)
        counts[first_tile + GROUP_NUMBER] = total;
}

/* Writes what `count_windows` counted: keys, and for each its row, which is a rule or a document with the highest bit set.
   `out_starts` says where those of each tile go.

   Bytes for each place: its symbol (4) and its ends (16, or 32 if keys are wide; scattered), and 4 for each row; 12 or 20
   for each sequence. */
KERNEL write_windows(GLOBAL const u32 *symbols, GLOBAL const u32 *starts, GLOBAL const u64 *ends,
    GLOBAL const u64 *weights, GLOBAL const u64 *out_starts, GLOBAL u64 *high, GLOBAL u64 *low,
    GLOBAL u32 *lists, u32 count, u32 rows, u32 rules, u32 n, u32 bits, u32 wide, u32 in_root,
    u32 first_tile)
{
    LOCAL_ARRAY(u32, scratch, GROUP);
    LOCAL_ARRAY(u32, found, 2);
    LOCAL_ARRAY(u32, items, GROUP + SEEN);
    LOCAL_ARRAY(u64, tails_high, GROUP + SEEN);
    LOCAL_ARRAY(u64, tails_low, GROUP + SEEN);
    u32 reach = n - 1;
    u32 start = GROUP_NUMBER * TILE;
    u32 end = count - start < TILE ? count : start + TILE;
    u64 out = out_starts[first_tile + GROUP_NUMBER];
    find_rows(starts, rows, start, end, found);
    for (u32 step = start; step < end; step += GROUP) {
        Key head = key_of(0);
        /* The places before the step first, so that a lane ends with the head of its own place. */
        for (u32 turn = 0; turn < 2; turn++) {
            u32 index = turn == 0 ? LANE : LANE + SEEN;
            u32 length = 0;
            Key tail = key_of(0);
            int mine = turn == 1 || LANE < SEEN;
            if (mine && step + index >= SEEN && step + index - SEEN < end) {
                u32 symbol = symbols[step + index - SEEN];
                /* A sequence of one crosses no border: rules have no ends. */
                if (symbol >= rules || reach > 0) {
                    head = head_of(ends, symbol, rules, wide, &length);
                    tail = tail_of(ends, symbol, rules, wide);
                }
            }
            if (mine) {
                items[index] = length;
                tails_high[index] = tail.high;
                tails_low[index] = tail.low;
            }
        }
        BARRIER;
        u32 place = step + LANE;
        u32 length = items[LANE + SEEN];
        u32 before = 0;
        u32 windows = 0;
        u32 row = 0;
        Key passed = key_of(0);
        if (place < end) {
            row = last_not_above(starts, found[0], found[1] + 1, place);
            u32 room = least(place - starts[row], SEEN);
            for (u32 back = 1; back <= room && before < reach; back++) {
                u32 index = LANE + SEEN - back;
                u32 taken = least(items[index], reach - before);
                Key tail;
                tail.high = tails_high[index];
                tail.low = tails_low[index];
                tail = shifted_left(lowest(tail, taken * bits), before * bits);
                passed = joined(passed, tail);
                before += taken;
            }
            if (before + length > reach && (in_root || weights[row] != 0))
                windows = before + length - reach;
        }
        u32 total;
        u64 at = out + group_sum_before(windows, scratch, &total);
        out += total;
        /* The last n items through each of the head's that ends a sequence. */
        for (u32 left = windows; left > 0; left--) {
            Key key = shifted_left(passed, (length - left + 1) * bits);
            key = lowest(joined(key, shifted_right(head, (left - 1) * bits)), n * bits);
            low[at] = key.low;
            if (wide)
                high[at] = key.high;
            lists[at] = in_root ? row | DOCUMENT : row;
            at++;
        }
    }
}

/* How often each sequence of a list occurs: as often as the rule, or once in the root.

   Bytes for each: its list (4), the weight of a rule (8, scattered) and 8 written. */
KERNEL weigh_edges(GLOBAL const u32 *lists, GLOBAL const u64 *weights, GLOBAL u64 *weighed, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u32 list = lists[place];
        weighed[place] = list & DOCUMENT ? 1 : weights[list];
    }
}

/* The key of each row, from those of all its edges.

   Bytes for each row: its start (4), its key read and written (16, or 32). */
KERNEL take_keys(GLOBAL const u64 *high, GLOBAL const u64 *low, GLOBAL const u32 *starts,
    GLOBAL u64 *row_high, GLOBAL u64 *row_low, u32 rows, u32 wide)
{
    u64 row = LANE_OF_ALL;
    if (row < rows) {
        u32 start = starts[row];
        row_low[row] = low[start];
        if (wide)
            row_high[row] = high[start];
    }
}

/* The sum over each row, from the sums before each edge.

   Bytes for each row: its start (4), a sum read and its count written (16). */
KERNEL sums_of_rows(GLOBAL const u64 *sums, GLOBAL const u32 *starts, GLOBAL u64 *counts, u32 rows)
{
    u64 row = LANE_OF_ALL;
    if (row < rows)
        counts[row] = sums[starts[row + 1]] - sums[starts[row]];
}
