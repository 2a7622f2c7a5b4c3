/* Inserts into documents that are made of pieces, all at once: their offsets mean the text before.

   A piece is a stretch of the stored text or of text that was inserted, known by its document and its offset in it (the key, in
   the high and the low half) and by its source: places of the stored text, and behind these those of the new text. Inserts
   and pieces are put into one row of events, an insert before the piece that starts at the same offset. Between an event and
   the next lies a stretch of a piece, and an insert has its own text before that. */

/* How many of ascending keys are below a key. */
FUNCTION u32 keys_below(GLOBAL const u64 *keys, u32 count, u64 key)
{
    u32 low = 0;
    u32 high = count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The keys of inserts: document and offset, which for appends (`at_end`) is the document's length. Moves 20 bytes an insert. */
KERNEL insert_keys(GLOBAL const u32 *documents, GLOBAL const u32 *offsets, GLOBAL const u32 *document_lengths,
    GLOBAL u64 *keys, GLOBAL u32 *numbers, u32 inserts, u32 at_end)
{
    u64 insert = LANE_OF_ALL;
    if (insert >= inserts)
        return;
    u32 document = documents[insert];
    u32 offset = offsets[insert] == at_end ? document_lengths[document] : offsets[insert];
    keys[insert] = ((u64)document << 32) | offset;
    numbers[insert] = (u32)insert;
}

/* The lengths of the texts of inserts that are in order. Moves 16 bytes an insert. */
KERNEL insert_lengths(GLOBAL const u32 *numbers, GLOBAL const u32 *text_ends, GLOBAL u32 *lengths, u32 inserts)
{
    u64 insert = LANE_OF_ALL;
    if (insert >= inserts)
        return;
    u32 number = numbers[insert];
    lengths[insert] = text_ends[number] - (number == 0 ? 0 : text_ends[number - 1]);
}

/* The row of events: inserts by their places in order, and behind them the numbers of pieces. Moves 12 bytes an event, and the keys that
   a search looks at. */
KERNEL piece_events(GLOBAL const u64 *insert_keys, GLOBAL const u64 *piece_keys, GLOBAL u32 *events, u32 inserts,
    u32 pieces)
{
    u64 lane = LANE_OF_ALL;
    if (lane < inserts) {
        u32 insert = (u32)lane;
        events[insert + keys_below(piece_keys, pieces, insert_keys[insert])] = insert;
    } else if (lane < (u64)inserts + pieces) {
        u32 piece = (u32)(lane - inserts);
        events[piece + keys_below(insert_keys, inserts, piece_keys[piece] + 1)] = inserts + piece;
    }
}

FUNCTION u64 key_of_event(GLOBAL const u64 *insert_keys, GLOBAL const u64 *piece_keys, u32 inserts, u32 event)
{
    return event < inserts ? insert_keys[event] : piece_keys[event - inserts];
}

/* How many bytes of the text before are between an event and the next one of its document. */
FUNCTION u32 bytes_behind_event(GLOBAL const u64 *insert_keys, GLOBAL const u64 *piece_keys, GLOBAL const u32 *events,
    GLOBAL const u32 *document_lengths, u32 inserts, u32 pieces, u32 place)
{
    u64 key = key_of_event(insert_keys, piece_keys, inserts, events[place]);
    u32 document = (u32)(key >> 32);
    u32 end = document_lengths[document];
    if (place + 1 < inserts + pieces) {
        u64 next = key_of_event(insert_keys, piece_keys, inserts, events[place + 1]);
        if ((u32)(next >> 32) == document)
            end = (u32)next;
    }
    return end - (u32)key;
}

/* How many pieces come of each event. Moves 32 bytes an event. */
KERNEL count_pieces(GLOBAL const u64 *insert_keys, GLOBAL const u32 *inserted_before, GLOBAL const u64 *piece_keys,
    GLOBAL const u32 *events, GLOBAL const u32 *document_lengths, GLOBAL u32 *counts, u32 inserts, u32 pieces)
{
    u64 place = LANE_OF_ALL;
    if (place >= (u64)inserts + pieces)
        return;
    u32 event = events[place];
    u32 bytes = bytes_behind_event(
        insert_keys, piece_keys, events, document_lengths, inserts, pieces, (u32)place);
    u32 has_text = event < inserts && inserted_before[event + 1] > inserted_before[event];
    counts[place] = (bytes > 0) + has_text;
}

/* The pieces of each event. Moves 48 bytes an event and 12 a piece. */
KERNEL fill_pieces(GLOBAL const u64 *insert_keys, GLOBAL const u32 *insert_numbers, GLOBAL const u32 *text_ends,
    GLOBAL const u32 *inserted_before, GLOBAL const u64 *piece_keys, GLOBAL const u32 *piece_sources,
    GLOBAL const u32 *events, GLOBAL const u32 *before, GLOBAL u64 *new_keys, GLOBAL u32 *new_sources, u32 inserts, u32 pieces, u32 text_start)
{
    u64 lane = LANE_OF_ALL;
    if (lane >= (u64)inserts + pieces)
        return;
    u32 place = (u32)lane;
    u32 event = events[place];
    u64 key = key_of_event(insert_keys, piece_keys, inserts, event);
    u64 document = key >> 32;
    u32 slot = before[place];
    /* Inserts before this event, and those of documents before. */
    u32 inserts_before = event < inserts ? event : place - (event - inserts);
    u32 inserted = inserted_before[inserts_before] - inserted_before[keys_below(insert_keys, inserts, document << 32)];
    if (event < inserts) {
        u32 length = inserted_before[event + 1] - inserted_before[event];
        if (length > 0) {
            u32 number = insert_numbers[event];
            new_keys[slot] = key + inserted;
            new_sources[slot] = text_start + (number == 0 ? 0 : text_ends[number - 1]);
            slot += 1;
            inserted += length;
        }
    }
    if (slot == before[place + 1])
        return;
    u32 piece = event < inserts ? keys_below(piece_keys, pieces, key + 1) - 1 : event - inserts;
    new_keys[slot] = key + inserted;
    new_sources[slot] = piece_sources[piece] + ((u32)key - (u32)piece_keys[piece]);
}

/* The first piece of each document, the end behind the last, and the new lengths. Moves 16 bytes a document, and the keys that searches
   look at. */
KERNEL piece_documents(GLOBAL const u64 *insert_keys, GLOBAL const u32 *inserted_before, GLOBAL const u64 *new_keys,
    GLOBAL u32 *first_pieces, GLOBAL u32 *document_lengths, u32 inserts, u32 new_pieces, u32 documents)
{
    u64 document = LANE_OF_ALL;
    if (document > documents)
        return;
    first_pieces[document] = keys_below(new_keys, new_pieces, document << 32);
    if (document < documents) {
        u32 from = keys_below(insert_keys, inserts, document << 32);
        u32 to = keys_below(insert_keys, inserts, (document + 1) << 32);
        document_lengths[document] += inserted_before[to] - inserted_before[from];
    }
}

/* The pieces of documents as they are stored: one each that has text. Moves 16 bytes a document. */
KERNEL stored_pieces(GLOBAL const u32 *document_offsets, GLOBAL const u32 *before, GLOBAL u64 *keys,
    GLOBAL u32 *sources, u32 documents)
{
    u64 document = LANE_OF_ALL;
    if (document < documents && before[document + 1] != before[document]) {
        keys[before[document]] = document << 32;
        sources[before[document]] = document_offsets[document];
    }
}

/* The lengths of documents, and whether they have a piece. Moves 16 bytes a document. */
KERNEL stored_lengths(GLOBAL const u32 *document_offsets, GLOBAL u32 *document_lengths, GLOBAL u32 *has_piece,
    u32 documents)
{
    u64 document = LANE_OF_ALL;
    if (document >= documents)
        return;
    u32 length = document_offsets[document + 1] - document_offsets[document];
    document_lengths[document] = length;
    has_piece[document] = length > 0;
}
