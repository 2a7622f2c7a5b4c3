/* Batches of random access: extracts, counts and searches. */

/* Bytes that are gathered into whole words before they are written. */
typedef struct {
    GLOBAL u32 *words;
    u64 at;
    u32 word;
} Writer;

FUNCTION void put(Writer *writer, u32 byte)
{
    writer->word |= byte << (8 * (u32)(writer->at & 3));
    writer->at += 1;
    if ((writer->at & 3) == 0) {
        writer->words[writer->at / 4 - 1] = writer->word;
        writer->word = 0;
    }
}

/* How many bytes each extract has: as many as are asked for, or as there are. Moves 16 bytes a request. */
KERNEL extract_sizes(GLOBAL const u32 *documents, GLOBAL const u32 *offsets, GLOBAL const u32 *lengths,
    GLOBAL const u32 *document_lengths, GLOBAL u32 *sizes, u32 requests)
{
    u64 request = LANE_OF_ALL;
    if (request >= requests)
        return;
    u32 bytes = document_lengths[documents[request]];
    u32 left = offsets[request] < bytes ? bytes - offsets[request] : 0;
    sizes[request] = lengths[request] < left ? lengths[request] : left;
}

/* The bytes of extracts. A lane has a stretch of the result, whatever requests that is of: long extracts are shared by many
   lanes, short ones share one. Moves for each stretch the way down, and then for each byte itself twice and its share of its
   token's 8 bytes. */
KERNEL extract_bytes(GLOBAL const u8 *token_bytes, GLOBAL const u32 *token_ends, GLOBAL const u32 *rule_starts,
    GLOBAL const u32 *bodies, GLOBAL const u32 *body_offsets, GLOBAL const u32 *root, GLOBAL const u32 *root_offsets,
    GLOBAL const u32 *samples, GLOBAL const u64 *piece_keys, GLOBAL const u32 *piece_sources,
    GLOBAL const u32 *first_pieces, GLOBAL const u32 *document_lengths, GLOBAL const u8 *new_text,
    GLOBAL const u32 *documents, GLOBAL const u32 *offsets, GLOBAL const u64 *starts, GLOBAL u8 *found, u64 total,
    u32 requests, u32 stretch, u32 tokens, u32 places, u32 sample_bytes, u32 text_bytes)
{
    Writer writer = {(GLOBAL u32 *)found, LANE_OF_ALL * stretch, 0};
    if (writer.at >= total)
        return;
    Text text = {rule_starts, bodies, body_offsets, root, root_offsets, samples, tokens, places, sample_bytes};
    Way way;
    u64 end = total - writer.at < stretch ? total : writer.at + stretch;
    u32 request = last_not_above_u64(starts, 0, requests, writer.at);
    while (writer.at < end) {
        u64 stop = starts[request + 1] < end ? starts[request + 1] : end;
        u32 document = documents[request];
        u32 offset = offsets[request] + (u32)(writer.at - starts[request]);
        u32 behind = first_pieces[document + 1];
        u32 piece = first_pieces[document];
        u32 high = behind;
        while (high > piece + 1) {
            u32 middle = piece + (high - piece) / 2;
            if ((u32)piece_keys[middle] <= offset)
                piece = middle;
            else
                high = middle;
        }
        while (writer.at < stop) {
            u32 piece_start = (u32)piece_keys[piece];
            u32 piece_end = piece + 1 < behind ? (u32)piece_keys[piece + 1] : document_lengths[document];
            u32 left = stop - writer.at < piece_end - offset ? (u32)(stop - writer.at) : piece_end - offset;
            u32 source = piece_sources[piece] + (offset - piece_start);
            offset += left;
            piece += 1;
            if (source >= text_bytes) {
                for (u32 at = source - text_bytes; left > 0; at++, left--)
                    put(&writer, new_text[at]);
                continue;
            }
            u32 position;
            u32 symbol = way_down(&text, &way, source, &position);
            u32 skip = source - position;
            for (;;) {
                while (symbol >= tokens) {
                    way_enter(&text, &way, symbol);
                    symbol = way_next(&text, &way, position);
                }
                u32 token_end = token_ends[symbol];
                u32 token_start = symbol == 0 ? 0 : token_ends[symbol - 1];
                u32 at = token_start + skip;
                for (; at < token_end && left > 0; at++, left--)
                    put(&writer, token_bytes[at]);
                if (left == 0)
                    break;
                skip = 0;
                position += token_end - token_start;
                symbol = way_next(&text, &way, position);
            }
        }
        request += 1;
    }
    if ((writer.at & 3) != 0)
        writer.words[writer.at / 4] = writer.word;
}

/* The number of each word that is asked for, or `words` if it is none. Moves the bytes of the word twice, and a few places
   of the table. */
KERNEL find_words(GLOBAL const u8 *token_bytes, GLOBAL const u32 *token_ends, GLOBAL const u32 *word_starts,
    GLOBAL const u32 *table, GLOBAL const u8 *asked, GLOBAL const u32 *asked_ends, GLOBAL u32 *found, u32 requests,
    u32 words, u32 mask)
{
    u64 request = LANE_OF_ALL;
    if (request >= requests)
        return;
    u32 start = request == 0 ? 0 : asked_ends[request - 1];
    u32 length = asked_ends[request] - start;
    u32 hash = 2166136261u;
    for (u32 at = 0; at < length; at++)
        hash = hash_step(hash, asked[start + at]);
    hash = hash_end(hash);
    u32 result = words;
    for (;; hash++) {
        u32 entry = table[hash & mask];
        if (entry == 0)
            break;
        u32 token = word_starts[entry - 1];
        u32 first = token == 0 ? 0 : token_ends[token - 1];
        u32 end = token_ends[token];
        if (first < end && token_bytes[first] == ' ')
            first += 1;
        if (end - first != length)
            continue;
        u32 same = 0;
        while (same < length && token_bytes[first + same] == asked[start + same])
            same += 1;
        if (same == length) {
            result = entry - 1;
            break;
        }
    }
    found[request] = result;
}

/* How often a word is in the segment. */
FUNCTION u32 weight_of(GLOBAL const u32 *word_starts, GLOBAL const u32 *weights, u32 word)
{
    u32 weight = 0;
    for (u32 token = word_starts[word]; token < word_starts[word + 1]; token++)
        weight += weights[token];
    return weight;
}

/* How often a word is in a document. */
FUNCTION u32 count_in(GLOBAL const u32 *posting_starts, GLOBAL const u32 *posting_documents,
    GLOBAL const u32 *posting_counts, u32 word, u32 document)
{
    u32 low = posting_starts[word];
    u32 end = posting_starts[word + 1];
    if (low == end)
        return 0;
    low = last_not_above(posting_documents, low, end, document);
    return posting_documents[low] == document ? posting_counts[low] : 0;
}

/* How often each word is in a document, or in the segment if the document is `all`. Moves 12 bytes a request, and the weights of the
   word or a few of its documents. */
KERNEL count_words(GLOBAL const u32 *found, GLOBAL const u32 *documents, GLOBAL const u32 *word_starts,
    GLOBAL const u32 *weights, GLOBAL const u32 *posting_starts, GLOBAL const u32 *posting_documents,
    GLOBAL const u32 *posting_counts, GLOBAL u32 *counts, u32 requests, u32 words, u32 all)
{
    u64 request = LANE_OF_ALL;
    if (request >= requests)
        return;
    u32 word = found[request];
    u32 count = 0;
    if (word < words && documents[request] == all)
        count = weight_of(word_starts, weights, word);
    else if (word < words)
        count = count_in(posting_starts, posting_documents, posting_counts, word, documents[request]);
    counts[request] = count;
}

/* How each search is done, and how much work that is. In units of work: one for each
   occurrence of the word in the segment, or for each window of the document, whichever is less to do. `ways` gets 1 for windows.
   Moves 16 bytes a request more than counting. */
KERNEL plan_searches(GLOBAL const u32 *found, GLOBAL const u32 *documents, GLOBAL const u32 *counts,
    GLOBAL const u32 *word_starts, GLOBAL const u32 *weights, GLOBAL const u32 *document_offsets,
    GLOBAL u32 *units, GLOBAL u32 *ways, u32 requests, u32 all, u32 window, u32 occurrence_bytes)
{
    u64 request = LANE_OF_ALL;
    if (request >= requests)
        return;
    u32 work = counts[request];
    u32 by_windows = 0;
    u32 document = documents[request];
    if (work > 0 && document != all) {
        u32 weight = weight_of(word_starts, weights, found[request]);
        u32 bytes = document_offsets[document + 1] - document_offsets[document];
        by_windows = bytes < (u64)weight * occurrence_bytes;
        work = by_windows ? (u32)(((u64)bytes + window - 1) / window) : weight;
    }
    ways[request] = by_windows;
    units[request] = work;
}

/* Takes the next slot of a request, and puts an offset there. */
FUNCTION void found_at(GLOBAL u64 *keys, GLOBAL const u64 *starts, GLOBAL u32 *taken, u32 request, u32 position,
    u32 position_bits)
{
    u32 slot = add_u32(&taken[request], 1);
    keys[starts[request] + slot] = ((u64)request << position_bits) | position;
}

/* Where words are, as request and place in the text, in any order within a request. A lane has a unit of a plan: an occurrence of the word, from which it
   goes up from use to use to the root; or a window of the document, which it goes through, passing over rules without the word's mark.
   Moves for an occurrence on each level two starts, the uses that a search looks at, and 12 bytes; for a window the way down and
   12 bytes a symbol. */
KERNEL search_words(GLOBAL const u8 *token_bytes, GLOBAL const u32 *token_ends, GLOBAL const u32 *rule_starts,
    GLOBAL const u32 *bodies, GLOBAL const u32 *body_offsets, GLOBAL const u32 *owners, GLOBAL const u32 *root,
    GLOBAL const u32 *root_offsets, GLOBAL const u32 *samples, GLOBAL const u32 *bytes, GLOBAL const u64 *marks,
    GLOBAL const u32 *use_starts, GLOBAL const u32 *uses, GLOBAL const u32 *use_before,
    GLOBAL const u32 *document_starts, GLOBAL const u32 *document_offsets, GLOBAL const u32 *word_starts,
    GLOBAL const u32 *found, GLOBAL const u32 *documents, GLOBAL const u32 *ways, GLOBAL const u64 *unit_starts,
    GLOBAL const u64 *starts, GLOBAL u32 *taken, GLOBAL u64 *keys, u64 units, u32 requests, u32 all, u32 window,
    u32 tokens, u32 places, u32 sample_bytes, u32 body_symbols, u32 position_bits)
{
    u64 unit = LANE_OF_ALL;
    if (unit >= units)
        return;
    u32 request = last_not_above_u64(unit_starts, 0, requests, unit);
    u32 document = documents[request];
    u32 index = (u32)(unit - unit_starts[request]);
    u32 first_token = word_starts[found[request]];
    u32 end_token = word_starts[found[request] + 1];
    if (ways[request]) {
        Text text = {rule_starts, bodies, body_offsets, root, root_offsets, samples, tokens, places, sample_bytes};
        Way way;
        u64 mark = mark_of(found[request]);
        u32 first = document_offsets[document] + index * window;
        u32 end = document_offsets[document + 1];
        if (end - first > window)
            end = first + window;
        u32 position;
        u32 symbol = way_down(&text, &way, first, &position);
        for (;;) {
            if (symbol >= tokens && (marks[symbol - tokens] & mark) != 0) {
                way_enter(&text, &way, symbol);
            } else {
                if (position >= first && symbol >= first_token && symbol < end_token) {
                    u32 token_start = symbol == 0 ? 0 : token_ends[symbol - 1];
                    u32 space = token_bytes[token_start] == ' ';
                    found_at(keys, starts, taken, request, position + space, position_bits);
                }
                position += bytes[symbol];
            }
            if (position >= end)
                break;
            symbol = way_next(&text, &way, position);
        }
        return;
    }
    u32 symbol = first_token;
    u32 weight = use_before[use_starts[symbol + 1]] - use_before[use_starts[symbol]];
    if (index >= weight) {
        index -= weight;
        symbol += 1;
    }
    u32 token_start = symbol == 0 ? 0 : token_ends[symbol - 1];
    u32 position = token_bytes[token_start] == ' ';
    for (;;) {
        u32 low = use_starts[symbol];
        u32 high = use_starts[symbol + 1];
        u32 before = use_before[low];
        while (high - low > 1) {
            u32 middle = low + (high - low) / 2;
            if (use_before[middle] - before <= index)
                low = middle;
            else
                high = middle;
        }
        index -= use_before[low] - before;
        u32 use = uses[low];
        if (use >= body_symbols) {
            u32 place = use - body_symbols;
            position += root_offsets[place];
            if (document == all
                || (place >= document_starts[document] && place < document_starts[document + 1]))
                found_at(keys, starts, taken, request, position, position_bits);
            return;
        }
        position += body_offsets[use];
        symbol = tokens + owners[use];
    }
}

/* The places alone, of keys that are in order. Moves 12 bytes a place. */
KERNEL positions_of_keys(GLOBAL const u64 *keys, GLOBAL u32 *positions, u64 count, u32 position_bits)
{
    u64 at = LANE_OF_ALL;
    if (at < count)
        positions[at] = (u32)(keys[at] & (((u64)1 << position_bits) - 1));
}
