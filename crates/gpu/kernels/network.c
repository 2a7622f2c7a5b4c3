/* Puts a grammar into the form in which traversals want it: rules by level, uses by symbol, the root by symbol
   and document. Run once when a network is loaded. */

/* How many of `count` ascending numbers are not above `value`. */
FUNCTION u32 count_not_above(GLOBAL const u32 *numbers, u32 count, u32 value)
{
    u32 low = 0, high = count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (numbers[middle] <= value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* How many of `count` ascending numbers are below `value`. */
FUNCTION u32 count_below(GLOBAL const u32 *numbers, u32 count, u32 value)
{
    u32 low = 0, high = count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (numbers[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A symbol of the grammar (items, then rules) in the network's numbers (rules by level, then items). */
FUNCTION u32 renumbered(u32 symbol, GLOBAL const u32 *new_numbers, u32 items, u32 rules)
{
    return symbol < items ? rules + symbol : new_numbers[symbol - items];
}

/* Writes the bodies in the order of the new numbers, and beside each symbol the rule whose body it is in.
   Reads 4 bytes a symbol and writes 8. */
KERNEL arrange_bodies(GLOBAL const u32 *symbols, GLOBAL const u32 *old_starts, GLOBAL const u32 *new_numbers,
                      GLOBAL const u32 *body_starts, GLOBAL u32 *bodies, GLOBAL u32 *owners, u32 items,
                      u32 rules, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u32 at = (u32)place;
        u32 rule = count_not_above(body_starts, rules, at) - 1;
        u32 symbol = symbols[old_starts[rule] + (at - body_starts[rule])];
        bodies[at] = renumbered(symbol, new_numbers, items, rules);
        owners[at] = rule;
    }
}

/* Renumbers the root, and writes beside each symbol its document. Reads 4 bytes a symbol and writes 8. */
KERNEL arrange_root(GLOBAL const u32 *symbols, GLOBAL const u32 *new_numbers, GLOBAL const u32 *document_starts,
                    GLOBAL u32 *root, GLOBAL u32 *documents, u32 items, u32 rules, u32 document_count,
                    u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u32 at = (u32)place;
        root[at] = renumbered(symbols[at], new_numbers, items, rules);
        documents[at] = count_not_above(document_starts, document_count, at) - 1;
    }
}

/* Where the entries of each row begin among entries that are sorted by row; starts has one more for the end. */
KERNEL find_starts(GLOBAL const u32 *rows, u32 count, GLOBAL u32 *starts, u32 row_count)
{
    u64 place = LANE_OF_ALL;
    if (place <= row_count) {
        starts[place] = count_below(rows, count, (u32)place);
    }
}

/* 1 where a symbol and document are others than those before them. */
KERNEL mark_postings(GLOBAL const u32 *symbols, GLOBAL const u32 *documents, GLOBAL u32 *flags, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u32 at = (u32)place;
        flags[at] = at == 0 || symbols[at] != symbols[at - 1] || documents[at] != documents[at - 1];
    }
}

/* Writes symbol, document and first place of each posting to where the sum of the flags before it says. */
KERNEL place_postings(GLOBAL const u32 *symbols, GLOBAL const u32 *documents, GLOBAL const u32 *places,
                      GLOBAL u32 *posting_symbols, GLOBAL u32 *posting_documents, GLOBAL u32 *firsts, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        u32 at = (u32)place;
        if (at == 0 || symbols[at] != symbols[at - 1] || documents[at] != documents[at - 1]) {
            u32 to = places[at];
            posting_symbols[to] = symbols[at];
            posting_documents[to] = documents[at];
            firsts[to] = at;
        }
    }
}

/* From the first places of postings to how many places each has. */
KERNEL count_postings(GLOBAL const u32 *firsts, GLOBAL u32 *counts, u32 postings, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < postings) {
        u32 at = (u32)place;
        counts[at] = (at + 1 < postings ? firsts[at + 1] : count) - firsts[at];
    }
}

/* The differences of neighbours among starts. */
KERNEL count_rows(GLOBAL const u32 *starts, GLOBAL u32 *counts, u32 rows)
{
    u64 place = LANE_OF_ALL;
    if (place < rows) {
        counts[place] = starts[place + 1] - starts[place];
    }
}

/* 1 for each symbol that is in the root. */
KERNEL mark_in_root(GLOBAL const u32 *root_counts, GLOBAL u32 *flags, u32 symbols)
{
    u64 place = LANE_OF_ALL;
    if (place < symbols) {
        flags[place] = root_counts[place] != 0;
    }
}

/* Where the uses of each symbol begin: those in bodies, and one more for each symbol before it that is in the
   root. */
KERNEL place_uses(GLOBAL const u32 *body_use_starts, GLOBAL const u32 *in_root_before, GLOBAL const u32 *root_counts,
                  GLOBAL u32 *use_starts, u32 symbols)
{
    u64 place = LANE_OF_ALL;
    if (place < symbols) {
        u32 symbol = (u32)place;
        use_starts[symbol] = body_use_starts[symbol] + in_root_before[symbol];
        if (symbol + 1 == symbols) {
            use_starts[symbols] =
                body_use_starts[symbols] + in_root_before[symbol] + (root_counts[symbol] != 0 ? 1 : 0);
        }
    }
}

/* Writes the rules that use each symbol; `owners` are sorted by `symbols`. */
KERNEL write_body_uses(GLOBAL const u32 *symbols, GLOBAL const u32 *owners, GLOBAL const u32 *in_root_before,
                       GLOBAL u32 *uses, u32 count)
{
    u64 place = LANE_OF_ALL;
    if (place < count) {
        uses[place + in_root_before[symbols[place]]] = owners[place];
    }
}

/* Writes, as the last use of each symbol that is in the root, the list of what the root has of it. */
KERNEL write_root_uses(GLOBAL const u32 *root_counts, GLOBAL const u32 *use_starts, GLOBAL u32 *uses, u32 rules,
                       u32 symbols)
{
    u64 place = LANE_OF_ALL;
    if (place < symbols && root_counts[place] != 0) {
        uses[use_starts[place + 1] - 1] = rules + (u32)place;
    }
}
