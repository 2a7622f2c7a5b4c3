/* What random access needs of a segment, made from its grammar when it is loaded: lengths, offsets, where each
   symbol is used, how often it occurs, the table of words and the documents of words. */

/* The length of each token. Moves 8 bytes a token. */
KERNEL text_token_lengths(GLOBAL const u32 *token_ends, GLOBAL u32 *bytes, u32 tokens)
{
    u64 token = LANE_OF_ALL;
    if (token < tokens)
        bytes[token] = token_ends[token] - (token == 0 ? 0 : token_ends[token - 1]);
}

/* The word of each token that has one. Moves 8 bytes a token. */
KERNEL text_words_of_tokens(GLOBAL const u32 *word_starts, GLOBAL u32 *words_of_tokens, u32 words)
{
    u64 word = LANE_OF_ALL;
    if (word >= words)
        return;
    for (u32 token = word_starts[word]; token < word_starts[word + 1]; token++)
        words_of_tokens[token] = (u32)word;
}

/* For the rules of one level, those below being done: where each symbol starts in the text of its rule, whose it is, how long
   the rule is, and the marks of the words in it. Moves 24 bytes a symbol. */
KERNEL text_rule_lengths(GLOBAL const u32 *order, GLOBAL const u32 *rule_starts, GLOBAL const u32 *bodies,
    GLOBAL const u32 *words_of_tokens, GLOBAL u32 *bytes, GLOBAL u32 *body_offsets, GLOBAL u32 *owners,
    GLOBAL u64 *marks, u32 first, u32 count, u32 tokens, u32 word_tokens)
{
    u64 lane = LANE_OF_ALL;
    if (lane >= count)
        return;
    u32 rule = order[first + lane];
    u32 sum = 0;
    u64 mark = 0;
    for (u32 at = rule_starts[rule]; at < rule_starts[rule + 1]; at++) {
        u32 symbol = bodies[at];
        body_offsets[at] = sum;
        owners[at] = rule;
        sum += bytes[symbol];
        if (symbol < word_tokens)
            mark |= mark_of(words_of_tokens[symbol]);
        else if (symbol >= tokens)
            mark |= marks[symbol - tokens];
    }
    bytes[tokens + rule] = sum;
    marks[rule] = mark;
}

/* The length of the symbol at each place of the root, to be summed up. Moves 12 bytes a place. */
KERNEL text_root_lengths(GLOBAL const u32 *root, GLOBAL const u32 *bytes, GLOBAL u32 *lengths, u32 places)
{
    u64 place = LANE_OF_ALL;
    if (place < places)
        lengths[place] = bytes[root[place]];
}

/* For each so many bytes of the text the place that has them. Moves a few offsets a sample. */
KERNEL text_samples(GLOBAL const u32 *root_offsets, GLOBAL u32 *samples, u32 count, u32 places, u32 sample_bytes)
{
    u64 sample = LANE_OF_ALL;
    if (sample >= count)
        return;
    u64 position = sample * sample_bytes;
    u32 low = 0;
    u32 high = places;
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (root_offsets[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    samples[sample] = low;
}

/* Where the text of each document starts, and the end behind the last. Moves 12 bytes a document. */
KERNEL text_document_offsets(GLOBAL const u32 *document_starts, GLOBAL const u32 *root_offsets,
    GLOBAL u32 *document_offsets, u32 documents)
{
    u64 document = LANE_OF_ALL;
    if (document <= documents)
        document_offsets[document] = root_offsets[document_starts[document]];
}

/* The symbols of all bodies and then of the root, with their places, to be sorted. Moves 12 bytes a symbol. */
KERNEL text_uses(GLOBAL const u32 *bodies, GLOBAL const u32 *root, GLOBAL u32 *symbols, GLOBAL u32 *uses,
    u32 body_symbols, u32 places)
{
    u64 use = LANE_OF_ALL;
    if (use >= (u64)body_symbols + places)
        return;
    symbols[use] = use < body_symbols ? bodies[use] : root[use - body_symbols];
    uses[use] = (u32)use;
}

/* Where each of some numbers starts in a sorted row of them, and the end behind the last. Moves 8 bytes a number and
   4 for each that is possible. */
KERNEL text_starts(GLOBAL const u32 *sorted, GLOBAL u32 *starts, u32 length, u32 numbers)
{
    u64 at = LANE_OF_ALL;
    if (at > length)
        return;
    u32 from = at == 0 ? 0 : sorted[at - 1] + 1;
    u32 to = at == length ? numbers : sorted[at];
    for (u64 number = from; number <= to; number++)
        starts[number] = (u32)at;
}

/* How often each rule is in the root. Moves 4 bytes a place, and adds for those that are rules. */
KERNEL text_root_weights(GLOBAL const u32 *root, GLOBAL u32 *weights, u32 places, u32 tokens)
{
    u64 place = LANE_OF_ALL;
    if (place < places && root[place] >= tokens)
        add_u32(&weights[root[place]], 1);
}

/* Adds how often the rules of one level occur to the rules in them; those above are done. Moves 4 bytes a symbol, and adds
   for those that are rules. */
KERNEL text_rule_weights(GLOBAL const u32 *order, GLOBAL const u32 *rule_starts, GLOBAL const u32 *bodies,
    GLOBAL u32 *weights, u32 first, u32 count, u32 tokens)
{
    u64 lane = LANE_OF_ALL;
    if (lane >= count)
        return;
    u32 rule = order[first + lane];
    u32 weight = weights[tokens + rule];
    for (u32 at = rule_starts[rule]; at < rule_starts[rule + 1]; at++)
        if (bodies[at] >= tokens)
            add_u32(&weights[bodies[at]], weight);
}

/* How often what uses a symbol occurs, for each use, to be summed up. Moves 16 bytes a use. */
KERNEL text_use_weights(GLOBAL const u32 *uses, GLOBAL const u32 *owners, GLOBAL const u32 *weights,
    GLOBAL u32 *values, u32 count, u32 body_symbols, u32 tokens)
{
    u64 use = LANE_OF_ALL;
    if (use < count)
        values[use] = uses[use] < body_symbols ? weights[tokens + owners[uses[use]]] : 1;
}

/* How often each symbol occurs: sums may have gone round, differences are right. Moves 16 bytes a symbol. */
KERNEL text_weights(GLOBAL const u32 *use_starts, GLOBAL const u32 *use_before, GLOBAL u32 *weights, u32 symbols)
{
    u64 symbol = LANE_OF_ALL;
    if (symbol < symbols)
        weights[symbol] = use_before[use_starts[symbol + 1]] - use_before[use_starts[symbol]];
}

/* Puts each word into a table by its hash: its number and one, 0 is free. Moves the bytes of the words and a few places
   of the table each. */
KERNEL text_word_table(GLOBAL const u8 *token_bytes, GLOBAL const u32 *token_ends, GLOBAL const u32 *word_starts,
    GLOBAL u32 *table, u32 words, u32 mask)
{
    u64 word = LANE_OF_ALL;
    if (word >= words)
        return;
    u32 token = word_starts[word];
    u32 start = token == 0 ? 0 : token_ends[token - 1];
    u32 end = token_ends[token];
    if (start < end && token_bytes[start] == ' ')
        start += 1;
    u32 hash = 2166136261u;
    for (u32 at = start; at < end; at++)
        hash = hash_step(hash, token_bytes[at]);
    hash = hash_end(hash);
    while (swap_if_u32(&table[hash & mask], 0, word + 1) != 0)
        hash += 1;
}

/* How many words of a range of tokens start in each window of the text; the first of two phases. Moves 4 bytes for each token
   of the text, and what the way down moves. */
KERNEL text_count_words(GLOBAL const u32 *rule_starts, GLOBAL const u32 *bodies, GLOBAL const u32 *body_offsets,
    GLOBAL const u32 *root, GLOBAL const u32 *root_offsets, GLOBAL const u32 *samples, GLOBAL const u32 *bytes,
    GLOBAL u32 *counts, u32 windows, u32 window, u32 tokens, u32 places, u32 sample_bytes, u32 text_bytes,
    u32 first_token, u32 end_token)
{
    u64 lane = LANE_OF_ALL;
    if (lane >= windows)
        return;
    Text text = {rule_starts, bodies, body_offsets, root, root_offsets, samples, tokens, places, sample_bytes};
    Way way;
    u32 count = 0;
    u32 first = (u32)lane * window;
    u32 end = text_bytes - first < window ? text_bytes : first + window;
    u32 position;
    u32 symbol = way_down(&text, &way, first, &position);
    for (;;) {
        if (symbol >= tokens) {
            way_enter(&text, &way, symbol);
        } else {
            count += position >= first && symbol >= first_token && symbol < end_token;
            position += bytes[symbol];
        }
        if (position >= end)
            break;
        symbol = way_next(&text, &way, position);
    }
    counts[lane] = count;
}

/* The same words, each with the document in which it is, to be sorted; the second phase. Moves 8 bytes a word more. */
KERNEL text_fill_words(GLOBAL const u32 *rule_starts, GLOBAL const u32 *bodies, GLOBAL const u32 *body_offsets,
    GLOBAL const u32 *root, GLOBAL const u32 *root_offsets, GLOBAL const u32 *samples, GLOBAL const u32 *bytes,
    GLOBAL const u32 *words_of_tokens, GLOBAL const u32 *document_offsets, GLOBAL const u32 *before, GLOBAL u64 *keys,
    u32 windows, u32 window, u32 tokens, u32 places, u32 sample_bytes, u32 text_bytes, u32 documents,
    u32 document_bits, u32 first_token, u32 end_token)
{
    u64 lane = LANE_OF_ALL;
    if (lane >= windows)
        return;
    Text text = {rule_starts, bodies, body_offsets, root, root_offsets, samples, tokens, places, sample_bytes};
    Way way;
    u32 first = (u32)lane * window;
    u32 end = text_bytes - first < window ? text_bytes : first + window;
    u32 document = last_not_above(document_offsets, 0, documents, first);
    u32 slot = before[lane];
    u32 first_word = words_of_tokens[first_token];
    u32 position;
    u32 symbol = way_down(&text, &way, first, &position);
    for (;;) {
        if (symbol >= tokens) {
            way_enter(&text, &way, symbol);
        } else {
            if (position >= first && symbol >= first_token && symbol < end_token) {
                while (document + 1 < documents && document_offsets[document + 1] <= position)
                    document += 1;
                keys[slot] = ((u64)(words_of_tokens[symbol] - first_word) << document_bits) | document;
                slot += 1;
            }
            position += bytes[symbol];
        }
        if (position >= end)
            break;
        symbol = way_next(&text, &way, position);
    }
}

/* 1 where a sorted key differs from the one before it, to be summed up. Moves 12 bytes a key. */
KERNEL text_heads(GLOBAL const u64 *keys, GLOBAL u32 *heads, u32 count)
{
    u64 at = LANE_OF_ALL;
    if (at < count)
        heads[at] = at == 0 || keys[at] != keys[at - 1];
}

/* Where each run of equal keys starts, with its word and document. Moves 12 bytes a key and 12 a run. */
KERNEL text_runs(GLOBAL const u64 *keys, GLOBAL const u32 *before, GLOBAL u32 *run_starts, GLOBAL u32 *run_words,
    GLOBAL u32 *run_documents, u32 count, u32 document_bits, u32 first_word)
{
    u64 at = LANE_OF_ALL;
    if (at > count)
        return;
    if (at == count) {
        run_starts[before[count]] = count;
    } else if (before[at + 1] != before[at]) {
        u32 run = before[at];
        run_starts[run] = (u32)at;
        run_words[run] = first_word + (u32)(keys[at] >> document_bits);
        run_documents[run] = (u32)(keys[at] & (((u64)1 << document_bits) - 1));
    }
}

/* The lengths of runs. Moves 8 bytes a run. */
KERNEL text_run_lengths(GLOBAL const u32 *run_starts, GLOBAL u32 *lengths, u32 runs)
{
    u64 run = LANE_OF_ALL;
    if (run < runs)
        lengths[run] = run_starts[run + 1] - run_starts[run];
}
