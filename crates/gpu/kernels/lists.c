/* Lists merged: the list of a row is that of its edges' lists put together, with the counts of equal values added up.

   A list has values, ascending, and their counts. An edge is the number of a list, or, from `virtual_from` on, a list
   of one value that is counted once. The entries of a row are those of its edges; `offsets` says how many
   entries there are before each edge.

   Rows of at most HALF entries are merged in tiles: tile k has the rows whose first entry is in k * HALF up to (k + 1) * HALF,
   so that it has at most TILE entries. Each entry stays with its lane, and looks for its place among the entries of
   the next edge, then of the next two, the next four; only values are in local memory. Of longer rows there are two kinds: those
   with many entries for the values that there are get a counter for each value, and the others are sorted (`sort`).

   Bytes that must be moved in a tile: 8 read an entry and at most as many written, 12 an edge and 16 a row. */

#define PER_LANE 4
#define TILE (GROUP * PER_LANE)
#define HALF (TILE / 2)
/* Entries of a long row that a group takes at a time: many for each counter in local memory that it clears and adds. */
#define STRETCH 8192
/* Where there are no more values than these, each has a counter in local memory. */
#define LOCAL_VALUES 2048

/* The greatest value of the lanes up to this one. `scratch` has GROUP places, and may be used again after
   the call. */
FUNCTION u32 group_greatest_through(u32 value, LOCAL u32 *scratch)
{
    u32 lane = LANE;
    scratch[lane] = value;
    BARRIER;
    for (u32 reach = 1; reach < GROUP; reach *= 2) {
        u32 other = lane >= reach ? scratch[lane - reach] : 0;
        BARRIER;
        if (other > scratch[lane]) {
            scratch[lane] = other;
        }
        BARRIER;
    }
    u32 greatest = scratch[lane];
    BARRIER;
    return greatest;
}

/* Gives every place of a tile the greatest mark at or before it. */
FUNCTION void spread_marks(LOCAL u32 *marks, LOCAL u32 *scratch)
{
    u32 lane = LANE;
    u32 own = 0;
    for (u32 k = 0; k < PER_LANE; k++) {
        u32 mark = marks[lane * PER_LANE + k];
        own = mark > own ? mark : own;
    }
    group_greatest_through(own, scratch);
    u32 greatest = lane == 0 ? 0 : scratch[lane - 1];
    for (u32 k = 0; k < PER_LANE; k++) {
        u32 mark = marks[lane * PER_LANE + k];
        greatest = mark > greatest ? mark : greatest;
        marks[lane * PER_LANE + k] = greatest;
    }
    BARRIER;
}

/* Where the entries of a row begin. */
FUNCTION u64 row_entries(GLOBAL const u32 *row_starts, GLOBAL const u64 *offsets, u32 first_edge, u32 row)
{
    return offsets[row_starts[row] - first_edge];
}

/* How many lanes say yes; `found` is one number that they share. */
FUNCTION u32 lanes_that(u32 say_yes, LOCAL u32 *found)
{
    if (LANE == 0) {
        *found = 0;
    }
    BARRIER;
    if (say_yes) {
        local_add_u32(found, 1);
    }
    BARRIER;
    u32 lanes = *found;
    BARRIER;
    return lanes;
}

/* A step of a search by all lanes, each of which has looked at the row `low + LANE * step` and says whether what is
   searched for is behind it. */
FUNCTION void narrow_search(u32 is_before, u32 step, u32 *low, u32 *high, LOCAL u32 *found)
{
    u32 below = lanes_that(is_before, found);
    if (below == 0) {
        *high = *low;
    } else {
        u64 end = (u64)*low + (u64)below * step;
        *low = *low + (below - 1) * step + 1;
        *high = end < *high ? (u32)end : *high;
    }
}

/* The first of the rows from `low` to `high` (or `high`) whose entries do not begin before `place`, found by all lanes
   together; `found` is one number that they share. */
FUNCTION u32 first_row_from(GLOBAL const u32 *row_starts, GLOBAL const u64 *offsets, u32 first_edge, u32 low,
                            u32 high, u64 place, LOCAL u32 *found)
{
    while (low < high) {
        u32 step = (high - low + GROUP - 1) / GROUP;
        u64 row = (u64)low + (u64)LANE * step;
        u32 is_before = row < high && row_entries(row_starts, offsets, first_edge, (u32)row) < place;
        narrow_search(is_before, step, &low, &high, found);
    }
    return low;
}

/* The same where the row is mostly among the first ones: these are looked at before the others are searched. */
FUNCTION u32 next_row_from(GLOBAL const u32 *row_starts, GLOBAL const u64 *offsets, u32 first_edge, u32 low,
                           u32 high, u64 place, LOCAL u32 *found)
{
    u32 row = low + LANE;
    u32 is_before = row < high && row_entries(row_starts, offsets, first_edge, row) < place;
    u32 below = lanes_that(is_before, found);
    low += below;
    if (below == GROUP) {
        low = first_row_from(row_starts, offsets, first_edge, low, high, place, found);
    }
    return low;
}

/* How many entries each edge brings. */
KERNEL edge_sizes(GLOBAL const u32 *edges, GLOBAL const u32 *sizes, GLOBAL u32 *edge_sizes_out, u32 first_edge,
                  u32 edge_count, u32 virtual_from)
{
    u64 place = LANE_OF_ALL;
    if (place < edge_count) {
        u32 edge = edges[first_edge + place];
        edge_sizes_out[place] = edge >= virtual_from ? 1 : sizes[edge];
    }
}

/* Merges the rows of at most HALF entries, and writes down the others in `long_rows`, whose number is `long_count`. A long row
   with a single edge has that edge's list, if it is in the same pool. Lists are written to the pool at a place that is taken from
   `used`; beyond its capacity nothing is written, and `used` says so. */
KERNEL merge_tiles(GLOBAL const u32 *row_starts, GLOBAL const u32 *edges, GLOBAL const u64 *offsets, GLOBAL const u32 *starts,
                   GLOBAL const u32 *sizes, GLOBAL const u32 *values, GLOBAL const u32 *counts,
                   GLOBAL u32 *out_starts, GLOBAL u32 *out_sizes, GLOBAL u32 *out_values, GLOBAL u32 *out_counts,
                   GLOBAL u64 *used, GLOBAL u32 *long_rows, GLOBAL u32 *long_count, u64 capacity, u32 first_row,
                   u32 row_count, u32 first_edge, u32 edge_count, u32 virtual_from, u32 out_first,
                   u32 same_pool)
{
    LOCAL_ARRAY(u32, sorted, TILE);
    LOCAL_ARRAY(u32, heads, TILE);
    LOCAL_ARRAY(u32, sums, TILE);
    LOCAL_ARRAY(u32, scratch, GROUP);
    LOCAL_ARRAY(u32, shared, 1);
    LOCAL_ARRAY(u64, taken, 1);
    u32 lane = LANE;
    u32 end_row = first_row + row_count;
    u64 total = offsets[edge_count];
    u64 tiles = total / HALF + 1;
    /* Each group has tiles that follow each other, so that one ends where the next one begins. */
    u64 of_group = (tiles + GROUP_COUNT - 1) / GROUP_COUNT;
    u64 first_tile = of_group * GROUP_NUMBER;
    u64 end_tile = first_tile + of_group < tiles ? first_tile + of_group : tiles;
    u32 next = end_row;
    if (first_tile < end_tile) {
        next = first_row_from(row_starts, offsets, first_edge, first_row, end_row, first_tile * HALF, shared);
    }
    for (u64 tile = first_tile; tile < end_tile; tile++) {
        u32 low = next;
        u32 high = next_row_from(row_starts, offsets, first_edge, low, end_row, (tile + 1) * HALF, shared);
        next = high;
        if (low == high) {
            continue;
        }
        /* Only the last row can be long: it leads out of the stretch that rows begin in. */
        u64 base = row_entries(row_starts, offsets, first_edge, low);
        u64 last = row_entries(row_starts, offsets, first_edge, high - 1);
        u64 end = row_entries(row_starts, offsets, first_edge, high);
        if (end - last > HALF) {
            high--;
            if (lane == 0) {
                u32 edge_at = row_starts[high];
                if (same_pool && row_starts[high + 1] - edge_at == 1) {
                    out_starts[high - out_first] = starts[edges[edge_at]];
                    out_sizes[high - out_first] = sizes[edges[edge_at]];
                } else {
                    long_rows[add_u32(long_count, 1)] = high;
                }
            }
            end = last;
        }
        u32 entries = (u32)(end - base);
        u32 tile_edge = row_starts[low];
        u32 tile_edge_end = row_starts[high];
        for (u32 k = 0; k < PER_LANE; k++) {
            sorted[k * GROUP + lane] = 0;
            heads[k * GROUP + lane] = 0;
        }
        BARRIER;
        /* Where edges and rows begin; those without entries begin nowhere. Numbers are from 1 on. */
        for (u32 edge = tile_edge + lane; edge < tile_edge_end; edge += GROUP) {
            u64 start = offsets[edge - first_edge];
            if (offsets[edge - first_edge + 1] > start) {
                sorted[(u32)(start - base)] = edge - tile_edge + 1;
            }
        }
        for (u32 row = low + lane; row < high; row += GROUP) {
            u64 start = row_entries(row_starts, offsets, first_edge, row);
            if (row_entries(row_starts, offsets, first_edge, row + 1) > start) {
                heads[(u32)(start - base)] = row - low + 1;
            }
        }
        if (lane == 0) {
            shared[0] = 0;
        }
        BARRIER;
        spread_marks(sorted, scratch);
        spread_marks(heads, scratch);
        /* The entries of this lane: value, count, and place; the stretch in which it is in order; the edge among those of its
           row, how many these are, and the first of them. */
        u32 value[PER_LANE], count[PER_LANE], place[PER_LANE], run_start[PER_LANE], run_end[PER_LANE];
        u32 edge_in_row[PER_LANE], row_edges[PER_LANE], row_edge[PER_LANE];
        u32 most_edges = 0;
        for (u32 k = 0; k < PER_LANE; k++) {
            u32 at = k * GROUP + lane;
            row_edges[k] = 0;
            value[k] = 0;
            count[k] = 0;
            place[k] = at;
            run_start[k] = at;
            run_end[k] = at;
            edge_in_row[k] = 0;
            row_edge[k] = 0;
            if (at < entries) {
                u32 edge_at = tile_edge + sorted[at] - 1;
                u32 row = low + heads[at] - 1;
                u32 edge = edges[edge_at];
                run_start[k] = (u32)(offsets[edge_at - first_edge] - base);
                run_end[k] = (u32)(offsets[edge_at - first_edge + 1] - base);
                row_edge[k] = row_starts[row];
                row_edges[k] = row_starts[row + 1] - row_edge[k];
                edge_in_row[k] = edge_at - row_edge[k];
                if (edge >= virtual_from) {
                    value[k] = edge - virtual_from;
                    count[k] = 1;
                } else {
                    u32 from = starts[edge] + (at - run_start[k]);
                    value[k] = values[from];
                    count[k] = counts[from];
                }
                most_edges = row_edges[k] > most_edges ? row_edges[k] : most_edges;
            }
        }
        local_max_u32(shared, most_edges);
        BARRIER;
        most_edges = shared[0];
        for (u32 k = 0; k < PER_LANE; k++) {
            u32 at = k * GROUP + lane;
            sorted[at] = value[k];
            heads[at] = 0;
            sums[at] = 0;
        }
        BARRIER;
        for (u32 width = 1; width < most_edges; width *= 2) {
            for (u32 k = 0; k < PER_LANE; k++) {
                if (row_edges[k] > width) {
                    u32 block = edge_in_row[k] / width;
                    u32 is_right = block & 1;
                    /* The other block: its entries stand behind those of this one, or before them. */
                    u32 from, to;
                    if (is_right) {
                        from = (u32)(offsets[row_edge[k] + (block - 1) * width - first_edge] - base);
                        to = run_start[k];
                    } else {
                        u32 until = row_edges[k] / width >= block + 2 ? (block + 2) * width : row_edges[k];
                        from = run_end[k];
                        to = (u32)(offsets[row_edge[k] + until - first_edge] - base);
                    }
                    u32 start = from;
                    u32 stop = to;
                    /* Of equal values those of the first edge come first. */
                    while (start < stop) {
                        u32 middle = (start + stop) / 2;
                        if (sorted[middle] < value[k] || (is_right && sorted[middle] == value[k])) {
                            start = middle + 1;
                        } else {
                            stop = middle;
                        }
                    }
                    if (is_right) {
                        place[k] = place[k] - (to - from) + (start - from);
                        run_start[k] = from;
                    } else {
                        place[k] += start - from;
                        run_end[k] = to;
                    }
                }
            }
            BARRIER;
            for (u32 k = 0; k < PER_LANE; k++) {
                if (row_edges[k] > width) {
                    sorted[place[k]] = value[k];
                }
            }
            BARRIER;
        }
        /* The first of equal values of a row. */
        for (u32 k = 0; k < PER_LANE; k++) {
            if (row_edges[k] != 0) {
                heads[place[k]] = place[k] == run_start[k] || sorted[place[k] - 1] != value[k];
            }
        }
        BARRIER;
        u32 own = 0;
        for (u32 k = 0; k < PER_LANE; k++) {
            own += heads[lane * PER_LANE + k];
        }
        u32 made;
        u32 sum = group_sum_before(own, scratch, &made);
        for (u32 k = 0; k < PER_LANE; k++) {
            sum += heads[lane * PER_LANE + k];
            heads[lane * PER_LANE + k] = sum;
        }
        if (lane == 0) {
            taken[0] = add_u64(used, made);
        }
        BARRIER;
        for (u32 k = 0; k < PER_LANE; k++) {
            if (row_edges[k] != 0) {
                /* Equal values write the same. */
                u32 to = heads[place[k]] - 1;
                sorted[to] = value[k];
                local_add_u32(&sums[to], count[k]);
            }
        }
        BARRIER;
        u64 pool_place = taken[0];
        u32 fits = pool_place + made <= capacity;
        if (fits) {
            for (u32 at = lane; at < made; at += GROUP) {
                out_values[pool_place + at] = sorted[at];
                out_counts[pool_place + at] = sums[at];
            }
        }
        for (u32 row = low + lane; row < high; row += GROUP) {
            u32 start = (u32)(row_entries(row_starts, offsets, first_edge, row) - base);
            u32 stop = (u32)(row_entries(row_starts, offsets, first_edge, row + 1) - base);
            u32 before = start == 0 ? 0 : heads[start - 1];
            u32 through = stop == 0 ? 0 : heads[stop - 1];
            out_starts[row - out_first] = (u32)pool_place + before;
            out_sizes[row - out_first] = fits ? through - before : 0;
        }
        BARRIER;
    }
}

/* How many entries each long row has. */
KERNEL long_row_sizes(GLOBAL const u32 *row_starts, GLOBAL const u64 *offsets, GLOBAL const u32 *long_rows,
                      GLOBAL u64 *entries, u32 first_edge, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u32 row = long_rows[place];
        entries[place] = row_entries(row_starts, offsets, first_edge, row + 1)
            - row_entries(row_starts, offsets, first_edge, row);
    }
}

/* Into how many stretches each of the first `slot_count` rows is cut; those that there is only room for have none. */
KERNEL long_row_stretches(GLOBAL const u32 *row_starts, GLOBAL const u64 *offsets, GLOBAL const u32 *rows,
                          GLOBAL const u32 *slot_count, GLOBAL u32 *stretches, u32 first_edge, u32 room)
{
    u64 place = LANE_OF_ALL;
    if (place < room) {
        u64 entries = 0;
        if (place < slot_count[0]) {
            u32 row = rows[place];
            entries = row_entries(row_starts, offsets, first_edge, row + 1)
                - row_entries(row_starts, offsets, first_edge, row);
        }
        stretches[place] = (u32)((entries + STRETCH - 1) / STRETCH);
    }
}

/* Adds the entries of long rows to counters, a stretch of a row at a time; where there are few values, counters in local
   memory come before those. */
KERNEL add_to_counters(GLOBAL const u32 *row_starts, GLOBAL const u32 *edges, GLOBAL const u64 *offsets,
                       GLOBAL const u32 *starts, GLOBAL const u32 *values, GLOBAL const u32 *counts,
                       GLOBAL const u32 *rows, GLOBAL const u32 *stretch_starts, GLOBAL u32 *counters,
                       GLOBAL const u32 *slot_count, u32 value_count, u32 first_edge, u32 virtual_from)
{
    LOCAL_ARRAY(u32, sums, LOCAL_VALUES);
    u32 lane = LANE;
    u32 is_local = value_count <= LOCAL_VALUES;
    u32 slots = slot_count[0];
    u32 stretches = stretch_starts[slots];
    for (u32 stretch = GROUP_NUMBER; stretch < stretches; stretch += GROUP_COUNT) {
        u32 slot = last_not_above(stretch_starts, 0, slots, stretch);
        u32 row = rows[slot];
        u32 low = row_starts[row] - first_edge;
        u32 high = row_starts[row + 1] - first_edge;
        u64 at = offsets[low] + (u64)(stretch - stretch_starts[slot]) * STRETCH;
        u64 end = offsets[high];
        end = end < at + STRETCH ? end : at + STRETCH;
        GLOBAL u32 *own = counters + (u64)slot * value_count;
        if (is_local) {
            for (u32 value = lane; value < value_count; value += GROUP) {
                sums[value] = 0;
            }
        }
        BARRIER;
        /* The edges of this stretch alone. */
        low = last_not_above_u64(offsets, low, high, at);
        high = last_not_above_u64(offsets, low, high, end - 1) + 1;
        for (at += lane; at < end; at += GROUP) {
            low = last_not_above_u64(offsets, low, high, at);
            u32 edge = edges[first_edge + low];
            u32 value = edge - virtual_from;
            u32 count = 1;
            if (edge < virtual_from) {
                u32 from = starts[edge] + (u32)(at - offsets[low]);
                value = values[from];
                count = counts[from];
            }
            if (is_local) {
                local_add_u32(&sums[value], count);
            } else {
                add_u32(own + value, count);
            }
        }
        BARRIER;
        if (is_local) {
            for (u32 value = lane; value < value_count; value += GROUP) {
                if (sums[value] != 0) {
                    add_u32(own + value, sums[value]);
                }
            }
        }
        BARRIER;
    }
}

/* 1 for each counter that is not zero. */
KERNEL mark_counters(GLOBAL const u32 *counters, GLOBAL u32 *flags, u64 count)
{
    for (u64 place = LANE_OF_ALL; place < count; place += LANES_OF_ALL) {
        flags[place] = counters[place] != 0;
    }
}

/* Takes room for `made` entries from the pool. */
KERNEL take_room(GLOBAL const u32 *made, GLOBAL u64 *used, GLOBAL u64 *taken)
{
    if (LANE == 0) {
        taken[0] = add_u64(used, made[0]);
    }
}

/* Writes the counters that are not zero to the pool. */
KERNEL write_counters(GLOBAL const u32 *counters, GLOBAL const u32 *places, GLOBAL const u32 *made,
                      GLOBAL const u64 *taken, GLOBAL u32 *out_values, GLOBAL u32 *out_counts, u32 value_count,
                      u64 count, u64 capacity)
{
    u64 pool_place = taken[0];
    if (pool_place + made[0] <= capacity) {
        for (u64 place = LANE_OF_ALL; place < count; place += LANES_OF_ALL) {
            if (counters[place] != 0) {
                out_values[pool_place + places[place]] = (u32)(place % value_count);
                out_counts[pool_place + places[place]] = counters[place];
            }
        }
    }
}

/* Where the lists of rows with counters are. */
KERNEL close_counted_rows(GLOBAL const u32 *rows, GLOBAL const u32 *places, GLOBAL const u32 *made,
                          GLOBAL const u64 *taken, GLOBAL u32 *out_starts, GLOBAL u32 *out_sizes,
                          GLOBAL const u32 *slot_count, u32 value_count, u32 out_first, u64 capacity)
{
    u64 slot = LANE_OF_ALL;
    u32 slots = slot_count[0];
    if (slot < slots) {
        u32 start = places[slot * value_count];
        u32 end = slot + 1 < slots ? places[(slot + 1) * value_count] : made[0];
        u32 fits = taken[0] + made[0] <= capacity;
        out_starts[rows[slot] - out_first] = (u32)taken[0] + start;
        out_sizes[rows[slot] - out_first] = fits ? end - start : 0;
    }
}

/* Writes the entries of long rows one after the other: row (as its place among them) and value as a key, and the count. */
KERNEL gather_entries(GLOBAL const u32 *row_starts, GLOBAL const u32 *edges, GLOBAL const u64 *offsets,
                      GLOBAL const u32 *starts, GLOBAL const u32 *values, GLOBAL const u32 *counts,
                      GLOBAL const u32 *rows, GLOBAL const u32 *stretch_starts, GLOBAL const u32 *entry_starts,
                      GLOBAL u64 *keys, GLOBAL u32 *key_counts, u32 slots, u32 value_bits, u32 first_edge, u32 virtual_from)
{
    u32 stretches = stretch_starts[slots];
    for (u32 stretch = GROUP_NUMBER; stretch < stretches; stretch += GROUP_COUNT) {
        u32 slot = last_not_above(stretch_starts, 0, slots, stretch);
        u32 row = rows[slot];
        u32 low = row_starts[row] - first_edge;
        u32 high = row_starts[row + 1] - first_edge;
        u64 first = offsets[low];
        u64 at = first + (u64)(stretch - stretch_starts[slot]) * STRETCH;
        u64 end = offsets[high];
        end = end < at + STRETCH ? end : at + STRETCH;
        /* The edges of this stretch alone. */
        low = last_not_above_u64(offsets, low, high, at);
        high = last_not_above_u64(offsets, low, high, end - 1) + 1;
        for (at += LANE; at < end; at += GROUP) {
            low = last_not_above_u64(offsets, low, high, at);
            u32 edge = edges[first_edge + low];
            u32 value = edge - virtual_from;
            u32 count = 1;
            if (edge < virtual_from) {
                u32 from = starts[edge] + (u32)(at - offsets[low]);
                value = values[from];
                count = counts[from];
            }
            u64 to = entry_starts[slot] + (at - first);
            keys[to] = ((u64)slot << value_bits) | value;
            key_counts[to] = count;
        }
    }
}

/* 1 for each key that is another than the one before it. */
KERNEL mark_keys(GLOBAL const u64 *keys, GLOBAL u32 *flags, u32 count)
{
    for (u64 place = LANE_OF_ALL; place < count; place += LANES_OF_ALL) {
        flags[place] = place == 0 || keys[place] != keys[place - 1];
    }
}

/* Writes sorted keys to the pool, each once, and adds up the counts of equal ones; the room for counts is zero before. */
KERNEL write_keys(GLOBAL const u64 *keys, GLOBAL const u32 *key_counts, GLOBAL const u32 *places, GLOBAL const u32 *made,
                  GLOBAL const u64 *taken, GLOBAL u32 *out_values, GLOBAL u32 *out_counts, u32 count, u32 value_bits,
                  u64 capacity)
{
    u64 pool_place = taken[0];
    if (pool_place + made[0] <= capacity) {
        for (u64 place = LANE_OF_ALL; place < count; place += LANES_OF_ALL) {
            u32 is_head = place == 0 || keys[place] != keys[place - 1];
            u64 to = pool_place + places[place] - (is_head ? 0 : 1);
            if (is_head) {
                out_values[to] = (u32)(keys[place] & (((u64)1 << value_bits) - 1));
            }
            add_u32(out_counts + to, key_counts[place]);
        }
    }
}

/* Makes the counts in the room that was taken zero. */
KERNEL clear_room(GLOBAL const u32 *made, GLOBAL const u64 *taken, GLOBAL u32 *out_counts, u64 capacity)
{
    if (taken[0] + made[0] <= capacity) {
        for (u64 place = LANE_OF_ALL; place < made[0]; place += LANES_OF_ALL) {
            out_counts[taken[0] + place] = 0;
        }
    }
}

/* Where the lists of rows that were sorted are. */
KERNEL close_sorted_rows(GLOBAL const u32 *rows, GLOBAL const u32 *entry_starts, GLOBAL const u32 *places,
                         GLOBAL const u32 *made, GLOBAL const u64 *taken, GLOBAL u32 *out_starts,
                         GLOBAL u32 *out_sizes, u32 slots, u32 out_first, u64 capacity)
{
    u64 slot = LANE_OF_ALL;
    if (slot < slots) {
        u32 start = places[entry_starts[slot]];
        u32 end = slot + 1 < slots ? places[entry_starts[slot + 1]] : made[0];
        u32 fits = taken[0] + made[0] <= capacity;
        out_starts[rows[slot] - out_first] = (u32)taken[0] + start;
        out_sizes[rows[slot] - out_first] = fits ? end - start : 0;
    }
}

/* The first of the rows from `low` to `high` (or `high`) that begins behind `place`, found by all lanes together. */
FUNCTION u32 first_row_behind(GLOBAL const u32 *starts, u32 low, u32 high, u32 place, LOCAL u32 *found)
{
    while (low < high) {
        u32 step = (high - low + GROUP - 1) / GROUP;
        u64 row = (u64)low + (u64)LANE * step;
        u32 is_before = row < high && starts[row] <= place;
        narrow_search(is_before, step, &low, &high, found);
    }
    return low;
}

/* The row of each entry of a table, a tile of entries at a time: rows are marked where they begin, and marks are
   spread. Reads 4 bytes a row and writes 4 an entry. */
KERNEL rows_of_entries(GLOBAL const u32 *starts, GLOBAL u32 *entry_rows, u32 rows, u32 entries)
{
    LOCAL_ARRAY(u32, marks, TILE);
    LOCAL_ARRAY(u32, scratch, GROUP);
    LOCAL_ARRAY(u32, shared, 1);
    u32 lane = LANE;
    u32 first = GROUP_NUMBER * TILE;
    u32 length = entries - first < TILE ? entries - first : TILE;
    u32 low = first_row_behind(starts, 0, rows, first, shared) - 1;
    u32 high = first_row_behind(starts, low + 1, rows, first + length - 1, shared);
    for (u32 k = 0; k < PER_LANE; k++) {
        marks[k * GROUP + lane] = 0;
    }
    BARRIER;
    for (u32 row = low + lane; row < high; row += GROUP) {
        u32 start = starts[row];
        if (starts[row + 1] > start) {
            marks[start < first ? 0 : start - first] = row - low + 1;
        }
    }
    BARRIER;
    spread_marks(marks, scratch);
    for (u32 at = lane; at < length; at += GROUP) {
        entry_rows[first + at] = low + marks[at] - 1;
    }
}

/* Copies lists so that they lie one after the other. Moves 16 bytes an entry, and reads its row. */
KERNEL copy_lists(GLOBAL const u32 *starts, GLOBAL const u32 *new_starts, GLOBAL const u32 *entry_rows,
                  GLOBAL const u32 *values, GLOBAL const u32 *counts, GLOBAL u32 *out_values, GLOBAL u32 *out_counts,
                  u32 entries)
{
    u64 place = LANE_OF_ALL;
    if (place < entries) {
        u32 row = entry_rows[place];
        u32 from = starts[row] + ((u32)place - new_starts[row]);
        out_values[place] = values[from];
        out_counts[place] = counts[from];
    }
}

/* Where the lists of the root are, if its postings are at the start of the pool; rules have no list yet. */
KERNEL start_lists(GLOBAL const u32 *posting_starts, GLOBAL u32 *starts, GLOBAL u32 *sizes, u32 rules, u32 symbols)
{
    u64 place = LANE_OF_ALL;
    if (place < rules) {
        starts[place] = 0;
        sizes[place] = 0;
    } else if (place < (u64)rules + symbols) {
        u32 symbol = (u32)place - rules;
        starts[place] = posting_starts[symbol];
        sizes[place] = posting_starts[symbol + 1] - posting_starts[symbol];
    }
}
