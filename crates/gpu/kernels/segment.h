/* What kernels over the text of a segment share: hashes of words, and the way down the rules to a place of the text and from
   there on symbol by symbol.

   A way keeps a frame for each rule that it is inside of: where in the body it goes on, and the end. Only the
   innermost FRAMES are kept. Whoever comes to the end of these in a grammar that is deeper goes down anew from
   the root, so that any depth is right, and the usual one costs a few registers' worth of memory. */

FUNCTION u32 hash_step(u32 hash, u32 byte)
{
    return (hash ^ byte) * 16777619u;
}

FUNCTION u32 hash_end(u32 hash)
{
    hash ^= hash >> 15;
    hash *= 0x2c1b3c6du;
    hash ^= hash >> 12;
    hash *= 0x297a2d39u;
    return hash ^ (hash >> 15);
}

/* The bit of a word in the marks of rules that have it. */
FUNCTION u64 mark_of(u32 word)
{
    return (u64)1 << (hash_end(word) & 63);
}

#define FRAMES 32

typedef struct {
    GLOBAL const u32 *rule_starts;
    GLOBAL const u32 *bodies;
    GLOBAL const u32 *body_offsets;
    GLOBAL const u32 *root;
    GLOBAL const u32 *root_offsets;
    GLOBAL const u32 *samples;
    u32 tokens;
    u32 places;
    u32 sample_bytes;
} Text;

typedef struct {
    u32 at[FRAMES];
    u32 end[FRAMES];
    u32 frames;
    u32 top;
    u32 has_lost;
    u32 place;
} Way;

FUNCTION void way_push(Way *way, u32 at, u32 end)
{
    if (at == end)
        return;
    if (way->frames == FRAMES)
        way->has_lost = 1;
    else
        way->frames += 1;
    way->top = (way->top + 1) % FRAMES;
    way->at[way->top] = at;
    way->end[way->top] = end;
}

/* Goes into a rule. */
FUNCTION void way_enter(const Text *text, Way *way, u32 symbol)
{
    u32 rule = symbol - text->tokens;
    way_push(way, text->rule_starts[rule], text->rule_starts[rule + 1]);
}

/* Goes to the token in which a byte of the text is; `start` gets where the token starts. The byte must be there.
   Moves: two samples, a few root offsets and the symbol; for each level of rules two starts and a few offsets. */
FUNCTION u32 way_down(const Text *text, Way *way, u32 position, u32 *start)
{
    u32 sample = position / text->sample_bytes;
    u32 low = text->samples[sample];
    u32 high = text->samples[sample + 1] + 1;
    u32 place = last_not_above(text->root_offsets, low, high, position);
    u32 symbol = text->root[place];
    u32 before = text->root_offsets[place];
    way->place = place;
    way->frames = 0;
    way->top = 0;
    way->has_lost = 0;
    while (symbol >= text->tokens) {
        u32 rule = symbol - text->tokens;
        u32 end = text->rule_starts[rule + 1];
        u32 at = last_not_above(text->body_offsets, text->rule_starts[rule], end, position - before);
        before += text->body_offsets[at];
        symbol = text->bodies[at];
        way_push(way, at + 1, end);
    }
    *start = before;
    return symbol;
}

/* The symbol behind all that was gone through, a token or a rule, whose text starts at `position`, which must be before the end. */
FUNCTION u32 way_next(const Text *text, Way *way, u32 position)
{
    if (way->frames > 0) {
        u32 top = way->top;
        u32 at = way->at[top];
        if (at + 1 == way->end[top]) {
            way->frames -= 1;
            way->top = (top + FRAMES - 1) % FRAMES;
        } else {
            way->at[top] = at + 1;
        }
        return text->bodies[at];
    }
    if (way->has_lost) {
        u32 start;
        return way_down(text, way, position, &start);
    }
    way->place += 1;
    return text->root[way->place];
}
