/* What tasks do with weights and tables beside merging lists: order entries, turn rows into columns, add up tables,
   and make a network of sequences. Rows of a table are those between neighbouring starts. */

/* The greatest count; `most` is 0 before. Reads 4 bytes a count. */
KERNEL greatest_count(GLOBAL const u32 *counts, GLOBAL u32 *most, u32 count)
{
    LOCAL_ARRAY(u32, greatest, 2);
    if (LANE == 0) {
        greatest[0] = 0;
    }
    BARRIER;
    u32 own = 0;
    for (u64 place = LANE_OF_ALL; place < count; place += LANES_OF_ALL) {
        own = counts[place] > own ? counts[place] : own;
    }
    local_max_u32(greatest, own);
    BARRIER;
    if (LANE == 0) {
        max_u32(most, greatest[0]);
    }
}

/* Keys that put entries in the order of rows, then counts descending: the row, and what the count lacks of the greatest one. Of the
   entries at `places` only, if there are any. Reads 16 bytes an entry, and writes 12. */
KERNEL rank_keys(GLOBAL const u32 *rows, GLOBAL const u32 *values, GLOBAL const u32 *counts, GLOBAL const u32 *places,
                 GLOBAL u64 *keys, GLOBAL u32 *along, u32 count, u32 most, u32 count_bits, u32 has_places)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u64 at = has_places ? places[place] : place;
        keys[place] = ((u64)rows[at] << count_bits) | (most - counts[at]);
        along[place] = values[at];
    }
}

/* Marks the rows that are not in the order of counts. */
KERNEL mark_unordered_rows(GLOBAL const u32 *rows, GLOBAL const u32 *counts, GLOBAL u8 *is_unordered, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place > 0 && place < count && rows[place] == rows[place - 1] && counts[place] > counts[place - 1]) {
        is_unordered[rows[place]] = 1;
    }
}

/* Takes the marks of rows to their entries. */
KERNEL mark_unordered_entries(GLOBAL const u32 *rows, GLOBAL const u8 *is_unordered, GLOBAL u8 *flags, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        flags[place] = is_unordered[rows[place]];
    }
}

/* Writes entries that were put in order to the places that they were taken from. */
KERNEL put_back(GLOBAL const u64 *keys, GLOBAL const u32 *along, GLOBAL const u32 *places, GLOBAL u32 *values,
                GLOBAL u32 *counts, u32 count, u32 most, u32 count_bits)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u64 mask = ((u64)1 << count_bits) - 1;
        values[places[place]] = along[place];
        counts[places[place]] = most - (u32)(keys[place] & mask);
    }
}

/* The counts again. */
KERNEL ranked_counts(GLOBAL const u64 *keys, GLOBAL u32 *counts, u32 count, u32 most, u32 count_bits)
{
    u64 mask = ((u64)1 << count_bits) - 1;
    for (u64 place = LANE_OF_ALL; place < count; place += LANES_OF_ALL) {
        counts[place] = most - (u32)(keys[place] & mask);
    }
}

/* Where the entries of each row begin among sorted keys; there is one start more for the end. */
KERNEL ranked_starts(GLOBAL const u64 *keys, GLOBAL u32 *starts, u32 count, u32 rows, u32 count_bits)
{
    u64 row = LANE_OF_ALL;
    if (row <= rows) {
        u32 low = 0, high = count;
        while (low < high) {
            u32 middle = low + (high - low) / 2;
            if ((keys[middle] >> count_bits) < row) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        starts[row] = low;
    }
}

/* The numbers from 0 on. */
KERNEL number(GLOBAL u32 *numbers, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        numbers[place] = (u32)place;
    }
}

/* Keys in another order; those of one word have no high ones. */
KERNEL order_keys(GLOBAL const u64 *high, GLOBAL const u64 *low, GLOBAL const u32 *order, GLOBAL u64 *out_high,
                  GLOBAL u64 *out_low, u32 count, u32 is_wide)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        out_low[place] = low[order[place]];
        if (is_wide) {
            out_high[place] = high[order[place]];
        }
    }
}

/* How many entries of each row are kept: all, or none if the row's total is below the least. */
KERNEL kept_sizes(GLOBAL const u32 *starts, GLOBAL const u64 *totals, GLOBAL u32 *sizes, u32 rows, u64 least)
{
    u64 row = LANE_OF_ALL;
    if (row < rows) {
        sizes[row] = totals[row] >= least ? starts[row + 1] - starts[row] : 0;
    }
}

/* The sum of each row, of the sums over all counts before each. */
KERNEL row_totals(GLOBAL const u32 *starts, GLOBAL const u64 *sums, GLOBAL u64 *totals, u32 rows)
{
    u64 row = LANE_OF_ALL;
    if (row < rows) {
        totals[row] = sums[starts[row + 1]] - sums[starts[row]];
    }
}

/* Adds the tables of rules to totals, each as often as its rule is in the root: 32 lanes a rule. */
KERNEL add_tables(GLOBAL const u32 *root_counts, GLOBAL const u32 *starts, GLOBAL const u32 *sizes,
                  GLOBAL const u32 *values, GLOBAL const u32 *counts, GLOBAL u64 *totals, u32 rules)
{
    for (u64 rule = LANE_OF_ALL / 32; rule < rules; rule += LANES_OF_ALL / 32) {
        u64 weight = root_counts[rule];
        if (weight != 0) {
            for (u32 at = LANE % 32; at < sizes[rule]; at += 32) {
                u32 place = starts[rule] + at;
                add_u64(totals + values[place], weight * counts[place]);
            }
        }
    }
}

/* Totals of items before that: what the root has of each itself. */
KERNEL start_totals(GLOBAL const u32 *root_counts, GLOBAL u64 *totals, u32 rules, u32 items)
{
    u64 item = LANE_OF_ALL;
    if (item < items) {
        totals[item] = root_counts[rules + item];
    }
}

/* Edges from rows of symbols to the rules among them; the others get a row that is behind all. Rows are bodies, or documents
   whose numbers begin at `first_row`. */
KERNEL list_children(GLOBAL const u32 *symbols, GLOBAL const u32 *starts, GLOBAL u32 *rows, GLOBAL u32 *edges,
                     u32 row_count, u32 first_row, u32 no_row, u32 rules, u32 to, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u32 symbol = symbols[place];
        rows[to + place] = symbol < rules ? first_row + last_not_above(starts, 0, row_count, (u32)place) : no_row;
        edges[to + place] = symbol;
    }
}

/* Edges from rules and documents to the sequences that cross a border in them. */
KERNEL list_windows(GLOBAL const u32 *lists, GLOBAL const u32 *sequence_starts, GLOBAL u32 *rows, GLOBAL u32 *edges,
                    u32 sequences, u32 rules, u32 to, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u32 list = lists[place];
        u32 is_document = list >> 31;
        rows[to + place] = is_document ? rules + (list & 0x7fffffffu) : list;
        edges[to + place] = rules + last_not_above(sequence_starts, 0, sequences, (u32)place);
    }
}
