#!/usr/bin/env python3
"""A decoder of tadoc archives, written from format.md alone: it proves that the document is enough.

    python3 decoder.py ARCHIVE.tdc -C FOLDER    restores all documents into a folder
    python3 decoder.py ARCHIVE.tdc --list       prints names and lengths
    python3 decoder.py ARCHIVE.tdc              checks everything, writes nothing

Plain rather than fast. Needs the package `zstandard`. Numbers such as (4.2) are sections of format.md.
Exit code 2 for an archive that must be rejected (12), or one that cannot be read or written.
"""

import argparse
import bisect
import copy
import os
import struct
import sys
from collections import namedtuple

import zstandard

MASK = (1 << 64) - 1
SCALE = 1 << 14
LOWEST_STATE = 1 << 31
BLOCK = 1 << 15
PIECE = 8 << 20
MOST_BYTES = 1 << 32

Document = namedtuple("Document", "name bytes seconds nanoseconds mode")
SEGMENT_FIELDS = "first_document documents text_bytes tokens token_types words rules symbols root_symbols depth"
Segment = namedtuple("Segment", SEGMENT_FIELDS)
Archive = namedtuple("Archive", "written_by lexer builder level documents digests segments sections edits origin")


class Rejected(Exception):
    """The archive is none, damaged or malformed (12)."""


def require(condition, message):
    if not condition:
        raise Rejected(message)


# (2) Conventions


def xxh64(data):
    """XXH64 with seed 0 (2)."""
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

    def left(value, count):
        return (value << count | value >> (64 - count)) & MASK

    def mix(lane, word):
        return left((lane + word * p2) & MASK, 31) * p1 & MASK

    at = 0
    if len(data) >= 32:
        a, b, c, d = (p1 + p2) & MASK, p2, 0, -p1 & MASK
        at = len(data) // 32 * 32
        for w0, w1, w2, w3 in struct.iter_unpack("<4Q", memoryview(data)[:at]):
            a, b, c, d = mix(a, w0), mix(b, w1), mix(c, w2), mix(d, w3)
        result = (left(a, 1) + left(b, 7) + left(c, 12) + left(d, 18)) & MASK
        for lane in (a, b, c, d):
            result = ((result ^ mix(0, lane)) * p1 + p4) & MASK
    else:
        result = p5
    result = (result + len(data)) & MASK
    while at + 8 <= len(data):
        word = int.from_bytes(data[at : at + 8], "little")
        result = (left(result ^ mix(0, word), 27) * p1 + p4) & MASK
        at += 8
    if at + 4 <= len(data):
        word = int.from_bytes(data[at : at + 4], "little")
        result = (left(result ^ word * p1 & MASK, 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        result = left(result ^ byte * p5 & MASK, 11) * p1 & MASK
    result = (result ^ result >> 33) * p2 & MASK
    result = (result ^ result >> 29) * p3 & MASK
    return result ^ result >> 32


class Reader:
    """Takes a section apart from its start to its end (2)."""

    def __init__(self, data, what):
        self.data, self.what, self.at = data, what, 0

    def require(self, condition, message):
        require(condition, f"{self.what}: {message}")

    def left(self):
        return len(self.data) - self.at

    def take(self, length):
        self.require(length <= self.left(), f"{length} bytes are announced where {self.left()} are left")
        self.at += length
        return self.data[self.at - length : self.at]

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                self.require(value <= MASK, "a number has more than 64 bits")
                return value
        self.require(False, "a number has more than 64 bits")

    def finish(self):
        self.require(self.left() == 0, f"{self.left()} bytes follow its end")


def unzigzag(value):
    return value >> 1 if value % 2 == 0 else -(value >> 1) - 1


def unpack_frame(reader, compressed, length):
    """One Zstandard frame of a length that is known, and nothing behind it (2)."""
    frame = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
    unpacked, step = bytearray(), 1 << 10
    try:
        for at in range(0, len(compressed), step):
            if frame.eof:
                break
            unpacked += frame.decompress(compressed[at : at + step])
            reader.require(len(unpacked) <= length, f"a frame unpacks to more bytes, not {length}")
    except zstandard.ZstdError as error:
        raise Rejected(f"{reader.what}: Zstandard: {error}") from error
    rest = frame.unused_data if frame.eof else b""
    whole = frame.eof and not rest and at + step >= len(compressed)
    reader.require(whole, "compressed bytes are not one Zstandard frame")
    reader.require(len(unpacked) == length, f"a frame unpacks to {len(unpacked)} bytes, not {length}")
    return bytes(unpacked)


# (3) The file


def read_sections(data):
    """Header and table: a dictionary from (kind, segment) to the bytes of the section (3)."""
    magic = b"\x89TDC\r\n\x1a\n"
    require(data and data[:8] == magic[: len(data)], "not a tadoc archive")
    require(len(data) >= 64, "the archive is cut short: the header needs 64 bytes")
    version, flags, length, offset, size, table_sum, reserved, header_sum = struct.unpack("<IIQQQQQQ", data[8:64])
    require(xxh64(data[:56]) == header_sum, "damaged: checksum of the header")
    require(version in (1, 2), f"format version {version}, this decoder reads versions 1 and 2")
    require(flags == 0 and reserved == 0, "header: it has flags that this version does not know")
    require(len(data) >= length, f"the archive is cut short: {length} bytes are needed")
    require(64 <= offset <= offset + size <= length, "header: the table of sections is outside of the file")
    require(size <= 40 << 20, "header: the table of sections is too long")
    table = data[offset : offset + size]
    require(xxh64(table) == table_sum, "damaged: checksum of the table of sections")
    require(size % 40 == 0, f"table of sections: {size} bytes are no table")
    sections, end = {}, 64
    for kind, segment, flags, reserved, at, length, checksum in struct.iter_unpack("<4sIIIQQQ", table):
        name = kind.decode("latin-1").encode("unicode_escape").decode()
        require(flags & ~1 == 0 and reserved == 0, f"table of sections: section {name} has unknown flags")
        require(at + length <= offset, f"table of sections: section {name} is outside of the file")
        require(at % 8 == 0, f"table of sections: section {name} is at {at}, which is no multiple of 8")
        require(at >= end, f"table of sections: section {name} lies on another one")
        end = at + length
        if name in ("INFO", "DOCS", "ORIG", "DICT", "ITEM", "SYMB", "SYMD", "SYMX", "ROOT", "CNTW"):
            alone = name in ("INFO", "DOCS", "ORIG")
            require((segment == 0xFFFFFFFF) == alone, f"table of sections: section {name} is of the wrong segment")
            key = (name, None if alone else segment)
            require(key not in sections, f"table of sections: section {name} is there twice")
            sections[key] = data[at : at + length]
            require(xxh64(sections[key]) == checksum, f"damaged: checksum of section {name}")
        else:
            require(flags & 1, f"table of sections: it needs the section {name}, which this version does not know")
    later = version == 1 and any(name == "SYMX" for name, _ in sections)
    require(not later, "section SYMX is of a later version")
    return sections


# (4) Coded streams


class Model:
    """Frequencies of classes (4.1)."""

    def __init__(self, reader, limit):
        used = reader.varint()
        reader.require(used <= limit, f"{used} classes in a model")
        self.classes, self.starts, self.frequencies, start, last = [], [], [], 0, -1
        for _ in range(used):
            last += 1 + reader.varint()
            reader.require(last < limit, "a model has a class that does not exist")
            frequency = reader.varint()
            reader.require(1 <= frequency <= SCALE // 16 * 15, f"{frequency} as a frequency")
            self.classes.append(last)
            self.starts.append(start)
            self.frequencies.append(frequency)
            start += frequency
        reader.require(start == SCALE, f"frequencies sum up to {start}, not to {SCALE}")


class Stream:
    """Classes and raw bits (4.2)."""

    def __init__(self, reader, data):
        self.reader = reader
        reader.require(len(data) % 4 == 0 and len(data) >= 8, "a coded stream is not made of whole words")
        self.words = iter(struct.unpack(f"<{len(data) // 4}I", data))
        self.state = next(self.words) << 32 | next(self.words)
        in_range = LOWEST_STATE <= self.state < 1 << 63
        reader.require(in_range, "a coded stream starts in no possible state")

    def refill(self):
        if self.state < LOWEST_STATE:
            word = next(self.words, None)
            self.reader.require(word is not None, "a coded stream does not end where its content does")
            self.state = self.state << 32 | word

    def one_class(self, model):
        slot = self.state % SCALE
        index = bisect.bisect_right(model.starts, slot) - 1
        self.state = model.frequencies[index] * (self.state >> 14) + slot - model.starts[index]
        self.refill()
        return model.classes[index]

    def bits(self, count):
        value = self.state & (1 << count) - 1
        self.state >>= count
        self.refill()
        return value

    def below_top_bit(self, length):
        return 0 if length == 0 else 1 << (length - 1) | self.bits(length - 1)

    def finish(self):
        ended = self.state == LOWEST_STATE and next(self.words, None) is None
        self.reader.require(ended, "a coded stream does not end where its content does")


def most_values(length):
    return 11 * (8 * length + 64)


def read_list(reader):
    """A list of integers (4.3)."""
    count = reader.varint()
    if count == 0:
        return []
    model = Model(reader, 65)
    data = reader.take(reader.varint())
    reader.require(count <= most_values(len(data)), f"{count} integers cannot be in {len(data)} bytes")
    stream = Stream(reader, data)
    values = [read_integer(stream, model) for _ in range(count)]
    stream.finish()
    return values


def read_integer(stream, model):
    """The class of its bit length, and raw bits (4.3)."""
    length = stream.one_class(model)
    value = done = 0
    while done + 1 < length:
        now = min(31, length - 1 - done)
        value += stream.bits(now) << done
        done += now
    return value + (1 << (length - 1) if length else 0)


# (5) and (6) What is in the archive


def read_info(data):
    """Texts, level, documents, bytes of text, and the segments (5)."""
    reader = Reader(data, "section INFO")
    texts = []
    for _ in range(3):
        try:
            texts.append(reader.take(reader.varint()).decode("utf-8"))
        except UnicodeDecodeError as error:
            raise Rejected("section INFO: a text is not UTF-8") from error
    level, documents, text_bytes, count = (reader.varint() for _ in range(4))
    reader.require(level <= 1, f"{level} is no level")
    reader.require(count <= 1 << 16, f"{count} segments")
    segments = [Segment(*(reader.varint() for _ in Segment._fields)) for _ in range(count)]
    reader.finish()
    following = 0
    for number, segment in enumerate(segments):
        starts = (following, following - 1) if number else (0,)
        fits = segment.first_document in starts and segment.documents > 0
        require(fits, f"segment {number} starts at document {segment.first_document}")
        following = segment.first_document + segment.documents
    total = sum(segment.text_bytes for segment in segments)
    require(total < 1 << 63, f"{total} bytes of text are too many")
    adds_up = (following, total) == (documents, text_bytes)
    require(adds_up, "the segments do not add up to the documents")
    return texts, level, documents, text_bytes, segments


def runs(documents):
    """The runs of documents that have a digest together (6)."""
    run, length = [], 0
    for number, document in enumerate(documents):
        run.append(number)
        length += document.bytes
        if length >= 4096 or number + 1 == len(documents):
            yield run
            run, length = [], 0


def read_documents(data):
    """The documents, and the digest of each run (6)."""
    reader = Reader(data, "section DOCS")
    count = reader.varint()
    reader.require(count < 1 << 32, "more documents than 32 bits can number")

    def column(what):
        values = read_list(reader)
        reader.require(len(values) == count, f"{len(values)} {what} of {count} documents")
        return values

    shared, suffix_lengths = column("names"), column("names")
    compressed = reader.take(reader.varint())
    lengths, times = column("lengths"), column("times")
    nanoseconds, modes = iter(read_list(reader)), column("modes")
    name_bytes = sum(shared) + sum(suffix_lengths)
    reader.require(name_bytes <= (1 << 28) + 1024 * len(data), "the names are too long")
    suffixes = Reader(unpack_frame(reader, compressed, sum(suffix_lengths)), "section DOCS")

    documents, name, seconds = [], b"", 0
    for common, length, size, step, mode in zip(shared, suffix_lengths, lengths, times, modes):
        reader.require(common <= len(name), "a name shares more than there is")
        previous, name = name, name[:common] + suffixes.take(length)
        reader.require(b"\0" not in name, "a name has a NUL in it")
        reader.require(name > previous, "the names are not in order")
        time = part = None
        if step:
            seconds = (seconds + unzigzag(step - 1) + (1 << 63)) % (1 << 64) - (1 << 63)
            time, part = seconds, next(nanoseconds, None)
            reader.require(part is not None and part < 10**9, "a time has no nanoseconds")
        reader.require(mode <= 0o7777 + 1, f"{mode - 1} is no mode")
        documents.append(Document(name, size, time, part, mode - 1 if mode else None))
    reader.require(next(nanoseconds, None) is None, "there are nanoseconds without a time")
    digests = [int.from_bytes(reader.take(4), "little") for _ in runs(documents)]
    reader.finish()
    return documents, digests


def read_attributes(reader):
    """Time and mode of a file (15.3)."""
    attributes = reader.take(1)[0]
    reader.require(attributes < 4, "a file has unknown attributes")
    seconds = nanoseconds = mode = None
    if attributes & 1:
        seconds, nanoseconds = unzigzag(reader.varint()), reader.varint()
        reader.require(nanoseconds < 10**9, f"{nanoseconds} nanoseconds, where at most 999999999 can be")
    if attributes & 2:
        mode = reader.varint()
        reader.require(mode <= 0o7777, f"{mode} is a mode, where at most 4095 can be")
    return seconds, nanoseconds, mode


def read_origin(data):
    """Whether files were cut into lines, and the files that no line came of (16)."""
    reader = Reader(data, "section ORIG")
    split = reader.varint()
    reader.require(split <= 1, f"{split} is no way to cut files")
    base = reader.varint()
    reader.require(base <= 2, f"{base} is no kind of base")
    if base == 1:
        parts = reader.take(reader.varint()).split(b"/")
        down = not any(part in (b"", b".", b"..") or b"\0" in part for part in parts)
        from_archive = parts == [b""] or down or set(parts) == {b".."}
        reader.require(from_archive, "the base is no path from the archive's folder")
    elif base == 2:
        reader.take(8)
    reader.require(b"\0" not in reader.take(reader.varint()), "the prefix has a NUL in it")
    empty, previous = [], b""
    for _ in range(reader.varint()):
        name = reader.take(reader.varint())
        attributes = read_attributes(reader)
        reader.require(b"\0" not in name, "a name has a NUL in it")
        reader.require(name > previous, "the names are not in order")
        empty.append(Document(name, 0, *attributes))
        previous = name
    reader.finish()
    return split == 1, empty


def open_archive(data):
    """Everything but the segments' contents."""
    sections = read_sections(data)
    for kind in ("INFO", "DOCS"):
        require((kind, None) in sections, f"section {kind} is missing")
    texts, level, count, text_bytes, segments = read_info(sections["INFO", None])
    for kind, segment in sections:
        known = segment is None or segment < len(segments)
        require(known, f"section {kind} is of a segment that is not there")
    for number in range(len(segments)):
        symbols = "SYMB" if level == 0 else "SYMX" if ("SYMX", number) in sections else "SYMD"
        for kind in ("DICT", "ITEM", symbols, "ROOT"):
            require((kind, number) in sections, f"section {kind} is missing")
        for other in ("SYMD", "SYMX") if level == 0 else ("SYMB",):
            require((other, number) not in sections, f"section {other} is of the other level")
        both = symbols == "SYMX" and ("SYMD", number) in sections
        require(not both, "section SYMD is there beside SYMX")
    documents, digests = read_documents(sections["DOCS", None])
    agree = len(documents) == count and sum(document.bytes for document in documents) == text_bytes
    require(agree, "documents and summary do not agree")
    origin = read_origin(sections["ORIG", None]) if ("ORIG", None) in sections else (False, [])
    return Archive(*texts, level, documents, digests, segments, sections, read_journal(data), origin)


# (7) The dictionary


CONTROL = {byte: number for number, byte in enumerate([*range(9), *range(14, 32)])}
DIGITS, LONG, LITERAL = 24, 25, 26


def read_block(data, digits, count):
    """The entries of an unpacked block (7.2)."""
    reader = Reader(data, "section DICT")
    hexadecimal = "".join(f"{byte & 15:x}{byte >> 4:x}" for byte in digits).encode()
    used, entry, shared, entries = 0, b"", 0, []
    for _ in range(count):
        previous, entry = entry, bytearray(entry[:shared])
        while True:
            byte = reader.take(1)[0]
            number = CONTROL.get(byte)
            if number is None:
                entry.append(byte)
            elif number == DIGITS:
                wanted = reader.varint()
                left = len(hexadecimal) - used
                reader.require(wanted <= left, f"{wanted} hexadecimal digits, where at most {left} can be")
                entry += hexadecimal[used : used + wanted]
                used += wanted
            elif number == LITERAL:
                entry += reader.take(1)
            else:
                break
        entry = bytes(entry)
        in_order = entry[shared : shared + 1] > previous[shared : shared + 1]
        reader.require(in_order, "entries are empty or not in order")
        shared = 24 + reader.varint() if number == LONG else number
        reader.require(shared <= len(entry), "an entry shares more than there is")
        entries.append(entry)
    reader.require((used + 1) // 2 == len(digits), "there are hexadecimal digits without an entry")
    reader.finish()
    return entries


def read_tokens(data, text_bytes):
    """The bytes of all tokens, and how many words there are (7)."""
    reader = Reader(data, "section DICT")
    words, separators = reader.varint(), reader.varint()
    forms = read_list(reader)
    reader.require(len(forms) == words, f"forms of {len(forms)} words, not {words}")
    for form in forms:
        reader.require(1 <= form <= 3, f"{form} is no form of a word")
    count = separators + words + sum(form == 3 for form in forms)
    reader.require(count < 1 << 32, "more tokens than 32 bits can number")
    counts, frames, unpacked, digits = (read_list(reader) for _ in range(4))
    lengths = {len(counts), len(frames), len(unpacked), len(digits)}
    reader.require(len(lengths) == 1, "the lists of blocks differ in length")
    keys = [reader.take(reader.varint()) for _ in counts]
    adds_up = sum(counts) == words + separators and sum(frames) + sum(digits) == reader.left()
    reader.require(adds_up, "its blocks do not add up to its entries")
    limit = min(text_bytes, (1 << 32) + 1024 * reader.left())

    tokens, entries, total, last = [], 0, 0, b""
    for index, key in enumerate(keys):
        mixed = entries < words < entries + counts[index]
        reader.require(counts[index] and not mixed and unpacked[index] < 1 << 32, f"block {index} cannot be")
        block = unpack_frame(reader, reader.take(frames[index]), unpacked[index])
        block = read_block(block, reader.take(digits[index]), counts[index])
        reader.require(block[0].startswith(key), "a block has the key of another one")
        in_order = entries in (0, words) or key > last
        reader.require(in_order, "blocks are not in order")
        last = block[-1]
        for entry in block:
            form = forms[entries] if entries < words else 1
            entries += 1
            added = ([entry] if form & 1 else []) + ([b" " + entry] if form & 2 else [])
            total += sum(map(len, added))
            reader.require(total <= limit, f"its tokens have more than {limit} bytes, all that they can have")
            tokens += added
    reader.finish()
    return tokens, words


def words_of_tokens(data):
    """For each token that has a word its number (7.1)."""
    reader = Reader(data, "section DICT")
    reader.varint(), reader.varint()
    forms = read_list(reader)
    return [word for word, form in enumerate(forms) for _ in range(2 if form == 3 else 1)]


# (8) The grammar


def read_items(data):
    """T, the symbol and the group of each item by ordinal, and the length of each rule (8.1)."""
    reader = Reader(data, "section ITEM")
    tokens, rules = reader.varint(), reader.varint()
    count = tokens + rules
    fits = count < 1 << 32 and count <= most_values(len(data))
    reader.require(fits, f"{count} items cannot be in {len(data)} bytes")
    classes, steps = Model(reader, 2112), Model(reader, 66)
    lengths = [reader.varint() for _ in range(0, count, BLOCK)]
    symbols, groups, rule_lengths, seen = [], [], [], set()
    for start, length in zip(range(0, count, BLOCK), lengths):
        stream = Stream(reader, reader.take(length))
        previous = 0
        for _ in range(min(BLOCK, count - start)):
            item = stream.one_class(classes)
            if item < 64:
                step = stream.one_class(steps)
                magnitude = stream.below_top_bit(step // 2)
                previous += -magnitude if step % 2 else magnitude
                reader.require(0 <= previous < tokens, f"token {previous} of {tokens}")
                reader.require(previous not in seen, f"token {previous} is introduced twice")
                seen.add(previous)
                symbols.append(previous)
                groups.append(item)
            else:
                rule_lengths.append(2 + stream.below_top_bit((item - 64) % 32))
                symbols.append(count - len(rule_lengths))
                groups.append(64 + (item - 64) // 32)
        stream.finish()
    reader.finish()
    reader.require(len(rule_lengths) == rules, f"{len(rule_lengths)} rules are described, {rules} announced")
    return tokens, symbols, groups, rule_lengths[::-1]


def read_symbols(data, items, groups, expected):
    """All bodies in one row: the root, then the rules in order (8.3)."""
    reader = Reader(data, "section SYMB")
    count = reader.varint()
    reader.require(count == expected, f"{count} symbols, where the rules have {expected}")
    reader.require(count <= most_values(len(data)), f"{count} symbols cannot be in {len(data)} bytes")
    model = Model(reader, 4608)
    for number in model.classes:
        nearby = number - 1 < 256 and (number - 1) % 64 // 2 <= 16
        reader.require(number >= 512 or number == 0 or nearby, f"class {number} has no meaning")
    blocks = [(reader.varint(), reader.varint()) for _ in range(0, count, BLOCK)]
    introductions = sum(introduces for introduces, _ in blocks)
    reader.require(introductions == len(items), f"{introductions} introductions of {len(items)} items")
    of_group = [[] for _ in range(128)]
    row, following, end = [], 0, 0
    for start, (introduces, length) in zip(range(0, count, BLOCK), blocks):
        stream = Stream(reader, reader.take(length))
        end += introduces
        recent = [0, 0, 0, 0]
        for _ in range(min(BLOCK, count - start)):
            number = stream.one_class(model)
            if number == 0:
                reader.require(following < end, "a block introduces too much")
                ordinal = following
                following += 1
                of_group[groups[ordinal]].append(ordinal)
            elif number < 512:
                distance = stream.below_top_bit((number - 1) % 64 // 2)
                ordinal = recent[(number - 1) // 64] + (-distance if (number - 1) % 2 else distance)
            else:
                group, length = divmod(number - 512, 32)
                since = (1 << length) + stream.bits(length)
                reader.require(since <= len(of_group[group]), "a symbol refers to nothing")
                ordinal = of_group[group][-since]
            reader.require(0 <= ordinal < following, "a symbol refers to nothing")
            row.append(items[ordinal])
            recent = [ordinal, *recent[:3]]
        reader.require(following == end, "a block introduces too little")
        stream.finish()
    reader.finish()
    return row[::-1]


# (10) Dense sections


class Decisions:
    """Decisions under given probabilities (10.1)."""

    def __init__(self, data):
        self.data, self.at = data, 0
        self.low, self.high, self.value = 0, 0xFFFFFFFF, 0
        for _ in range(4):
            self.value = self.value << 8 | self.byte()

    def byte(self):
        """The next byte; whether there was one is asked after each symbol."""
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def ended_early(self):
        return self.at > len(self.data)

    def decision(self, probability):
        middle = self.low + ((self.high - self.low) * probability >> 16)
        bit = int(self.value <= middle)
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        while self.low >> 24 == self.high >> 24:
            self.low = self.low << 8 & 0xFFFFFFFF
            self.high = (self.high << 8 | 255) & 0xFFFFFFFF
            self.value = (self.value << 8 | self.byte()) & 0xFFFFFFFF
        return bit


LOGISTIC = [1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2047, 2549, 2994, 3348]
LOGISTIC += [3607, 3785, 3901, 3975, 4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094]


def clamp(value, low, high):
    return max(low, min(high, value))


def squash(value):
    """From the logistic domain to a probability of 12 bits (10.2)."""
    index, weight = divmod(clamp(value, -2047, 2047) + 2048, 128)
    return (LOGISTIC[index] * (128 - weight) + LOGISTIC[index + 1] * weight + 64) >> 7


SQUASHED = [squash(value) for value in range(-2047, 2048)]
STRETCH = [min(bisect.bisect_left(SQUASHED, probability) - 2047, 2047) for probability in range(4096)]


class Mixer:
    """Tables of estimates, and the weights that they have in decisions (10.2, 10.3)."""

    def __init__(self, decisions, sizes, slowest, rate):
        self.decisions, self.slowest, self.rate = decisions, slowest, rate
        self.probabilities = [[1 << 21] * size for size in sizes]
        self.counts = [bytearray(size) for size in sizes]
        self.weights = [[21299] * 5 for _ in range(5 * 32)]

    def mixed(self, number, places, least=1):
        weights = self.weights[number]
        stretched = [STRETCH[table[place] >> 10] for table, place in zip(self.probabilities, places)]
        total = sum(value * weight for value, weight in zip(stretched, weights))
        probability = clamp(squash(total >> 16), least, 4096 - least)
        bit = self.decisions.decision(16 * probability + 8)
        error = self.rate * (4096 * bit - probability)
        for index, place in enumerate(places):
            moved = weights[index] + ((stretched[index] * error + 8192) >> 14)
            weights[index] = clamp(moved, -1 << 31, (1 << 31) - 1)
            self.learn(index, place, bit)
        return bit

    def learn(self, index, place, bit):
        table, counts = self.probabilities[index], self.counts[index]
        step = (1 << 17) // (2 * counts[place] + 3)
        target = (1 << 22) - 1 if bit else 0
        table[place] += (target - table[place]) * step >> 16
        counts[place] = min(counts[place] + 1, self.slowest)

    def alone(self, index, place):
        """A decision under one estimate (10.9)."""
        probability = max(self.probabilities[index][place] >> 10, 1)
        bit = self.decisions.decision(16 * probability + 8)
        self.learn(index, place, bit)
        return bit


def hashed(value):
    return value * 0x9E3779B97F4A7C15 & MASK


def mix(left, right):
    value = (left ^ hashed(right)) * 0xD6E8FEB86659FD93 & MASK
    return (value << 29 | value >> 35) & MASK


NOTHING = 0xFFFFFFFF
INTRODUCED, GUESSED = 132, 133


class DenseSymbols:
    """All bodies in one row, as read_symbols gives it, from the section SYMD (10.4 to 10.6)."""

    def __init__(self, tokens, items, groups, root_lengths, rule_lengths):
        self.tokens, self.items, self.groups = tokens, items, groups
        self.root_lengths, self.rule_lengths = root_lengths, rule_lengths
        self.first, self.second = list(range(tokens)), [None] * tokens
        self.first += [None] * len(rule_lengths)
        self.second += [None] * len(rule_lengths)
        self.of_group = [[] for _ in range(128)]
        self.following, self.recent = 0, [0] * 4
        self.before, self.second_before = INTRODUCED, INTRODUCED

    def read(self, data, expected):
        reader = self.reader = Reader(data, "section SYMD")
        count = reader.varint()
        reader.require(count == expected, f"{count} symbols, where the rules have {expected}")
        reader.require(count <= len(data) << 14, f"{count} symbols cannot be in {len(data)} bytes")
        self.decisions = Decisions(reader.take(reader.left()))
        bits = clamp(count.bit_length(), 12, 24)
        self.table_bits = [min(bits, 18), min(bits, 20), min(bits, 22), bits, bits]
        self.mixer = Mixer(self.decisions, [1 << size for size in self.table_bits], 255, 6)
        self.memory_bits = bits - 2
        self.memories = [{}, {}, {}]
        bodies = []
        for rule in reversed(range(len(self.rule_lengths))):
            body = self.body(self.rule_lengths[rule], rule)
            head, symbol = body[0], self.tokens + rule
            self.first[symbol] = self.first[head]
            self.second[symbol] = self.second[head] if head >= self.tokens else self.first[body[1]]
            bodies.append(body)
        bodies += [self.body(length, None) for length in reversed(self.root_lengths)]
        all_occur = self.following == len(self.items)
        reader.require(all_occur, f"{self.following} of {len(self.items)} items occur")
        ended = self.decisions.at == len(self.decisions.data)
        require(ended, "a mixed stream does not end where its content does")
        return [symbol for body in reversed(bodies) for symbol in body]

    def body(self, length, rule):
        """The body of a rule, or that of a document, where there is none."""
        backwards = []
        for _ in range(length):
            symbol = self.items[self.symbol(self.context(backwards))]
            described = rule is None or symbol < self.tokens or symbol > self.tokens + rule
            self.reader.require(described, "a rule uses one that is not described yet")
            self.reader.require(not self.decisions.ended_early(), "it ends early")
            backwards.append(symbol)
        return backwards[::-1]

    def context(self, backwards):
        """Next token, the token behind it, and the symbol behind the next one (10.5)."""
        if not backwards:
            return NOTHING, NOTHING, NOTHING
        symbol = backwards[-1]
        second_symbol = backwards[-2] if len(backwards) > 1 else NOTHING
        if symbol >= self.tokens:
            second_token = self.second[symbol]
        else:
            second_token = NOTHING if second_symbol == NOTHING else self.first[second_symbol]
        return self.first[symbol], second_token, second_symbol

    def row(self, kind, detail, context):
        """The set of weights of a row's first place, and where the row starts in each table (10.4)."""
        token, _, second_symbol = context
        number = 8 * detail + kind
        contexts = [
            number,
            mix(number, self.before + 1),
            mix(number, (self.before + 1) << 8 | (self.second_before + 1) << 24),
            mix(number, token | 1 << 40),
            mix(number, second_symbol | 1 << 41),
        ]
        starts = [hashed(one) >> (64 - (bits - 5)) << 5 for one, bits in zip(contexts, self.table_bits)]
        return 32 * kind, starts

    def decide(self, row, place):
        weights, starts = row
        return self.mixer.mixed(weights + place, [start + place for start in starts])

    def tree(self, row, start, count):
        path = 1
        for _ in range(count):
            path = 2 * path + self.decide(row, start + path)
        return path - (1 << count)

    def raw(self, row, count):
        predicted = min(count, 2)
        value = self.tree(row, 4, predicted)
        for _ in range(count - predicted):
            value = 2 * value + self.decisions.decision(1 << 15)
        return value

    def symbol(self, context):
        """The ordinal of the next symbol (10.6)."""
        token, second_token, second_symbol = context
        contexts = mix(token, second_token + 1), mix(second_symbol, 1 << 42), mix(token, 1 << 43)
        # Memories are dictionaries here: rows that nothing was put into are empty.
        remembered = [
            memory.setdefault(hashed(one) >> (64 - self.memory_bits), [])
            for memory, one in zip(self.memories, contexts)
        ]
        ordinal, kind = self.introduced_or_guessed(context, remembered) or self.described(context)
        for row in remembered:
            if ordinal in row:
                row.remove(ordinal)
            row.insert(0, ordinal)
            del row[6:]
        self.second_before, self.before = self.before, kind
        self.recent = [ordinal, *self.recent[:3]]
        return ordinal

    def introduced_or_guessed(self, context, remembered):
        row = self.row(0, 0, context)
        if self.decide(row, 0):
            ordinal = self.following
            self.reader.require(ordinal < len(self.items), "a symbol refers to nothing")
            self.following += 1
            self.of_group[self.groups[ordinal]].append(ordinal)
            return ordinal, INTRODUCED
        rejected = set()
        for number, ordinals in enumerate(remembered):
            for place, ordinal in enumerate(ordinals):
                if ordinal in rejected:
                    continue
                if self.decide(row, 1 + 6 * number + place):
                    return ordinal, GUESSED
                rejected.add(ordinal)
        return None

    def described(self, context):
        high = self.tree(self.row(1, 0, context), 0, 3)
        group = 32 * high + self.tree(self.row(2, high, context), 0, 5)
        self.reader.require(group < 132, "a symbol refers to nothing")
        length = self.tree(self.row(3, group, context), 0, 5)
        row = self.row(4, 256 * group + length, context)
        if group < 4:
            minus = self.decide(row, 0)
            distance = (1 << (length - 1)) + self.raw(row, length - 1) if length else 0
            ordinal = self.recent[group] + (-distance if minus else distance)
        else:
            since = (1 << length) + self.raw(row, length)
            introduced = self.of_group[group - 4]
            self.reader.require(since <= len(introduced), "a symbol refers to nothing")
            ordinal = introduced[-since]
        self.reader.require(0 <= ordinal < self.following, "a symbol refers to nothing")
        return ordinal, group


STREAM, FIRST_STREAM, MOST_STREAMS = 1 << 18, 1 << 16, 16


def streams(root_length, rule_lengths):
    """The streams of each phase (10.7): the first and last positions and rules of each, ends excluded."""
    starts = [root_length]
    for length in rule_lengths:
        starts.append(starts[-1] + length)
    last = len(rule_lengths)

    def rule_at(position):
        return max(bisect.bisect_right(starts, position) - 1, 0)

    def cuts(start, end):
        count = min(-(-(end - start) // STREAM), MOST_STREAMS)
        return [end - (end - start) * number // count for number in range(1, count)]

    phases = []
    if starts[-1] - root_length > STREAM:
        first = rule_at(starts[-1] - FIRST_STREAM)
        phases.append([(starts[first], starts[last], first, last)])
        last = first
    phase = []
    for start in [rule_at(cut) for cut in cuts(root_length, starts[last])] + [0]:
        if start < last:
            phase.append((starts[start], starts[last], start, last))
            last = start
    phases.append(phase)
    ends = [root_length, *cuts(0, root_length), 0] if root_length else []
    phases.append([(start, end, 0, 0) for end, start in zip(ends, ends[1:])])
    return [phase for phase in phases if phase]


class StreamSymbols:
    """All bodies in one row, as read_symbols gives it, from the section SYMX (10.7 to 10.10)."""

    def __init__(self, tokens, items, groups, root_lengths, rule_lengths):
        self.tokens, self.items, self.groups = tokens, items, groups
        self.root_lengths, self.rule_lengths = root_lengths, rule_lengths
        self.group_of = dict(zip(items, groups))
        self.known, self.heads = {}, {}

    def read(self, data, expected):
        reader = self.reader = Reader(data, "section SYMX")
        count = reader.varint()
        reader.require(count == expected, f"{count} symbols, where the rules have {expected}")
        reader.require(count <= len(data) << 11, f"{count} symbols cannot be in {len(data)} bytes")
        phases = streams(sum(self.root_lengths), self.rule_lengths)
        introduced, parts = 0, []
        for _ in range(sum(map(len, phases))):
            more, length = reader.varint(), reader.varint()
            reader.require(more <= len(self.items) - introduced, "too many introductions")
            parts.append((introduced, introduced + more, length))
            introduced += more
        reader.require(introduced == len(self.items), f"{introduced} of {len(self.items)} items occur")
        parts = iter([(start, end, reader.take(length)) for start, end, length in parts])
        reader.finish()

        longest = max((end - start for phase in phases for start, end, *_ in phase), default=0)
        bits = clamp(longest.bit_length(), 12, 20)
        self.table_bits = [min(bits, 14), bits, min(bits, 18), bits, bits]
        self.memory_bits = bits - 2
        sizes = [1 << size for size in self.table_bits]
        learnt = Mixer(None, [*sizes, 132 * 32 * 4], 127, 10), [{}, {}, {}]
        self.row_of_all = [None] * count
        for phase in phases:
            described = {}
            for stream in phase:
                self.mixer, self.memories = copy.deepcopy(learnt)
                self.heads = dict(self.known)
                self.stream(stream, *next(parts))
                described |= self.heads
            learnt, self.known = (self.mixer, self.memories), described
        return self.row_of_all

    def stream(self, stream, start, end, data):
        low, high, first_rule, last_rule = stream
        self.mixer.decisions = self.decisions = Decisions(data)
        self.of_group = [[] for _ in range(128)]
        for ordinal in range(start):
            self.of_group[self.groups[ordinal]].append(ordinal)
        self.following, self.end, self.recent = start, end, [0] * 4
        self.before, self.second_before = INTRODUCED, INTRODUCED
        for rule, body_start, body_end in self.bodies(low, high, first_rule, last_rule):
            for position in reversed(range(body_start, body_end)):
                behind = (self.row_of_all[position + 1 : min(position + 3, body_end)] + [NOTHING] * 2)[:2]
                symbol = self.items[self.symbol(behind)]
                described = rule is None or symbol < self.tokens or symbol > self.tokens + rule
                self.reader.require(described, "a rule uses one that is not described yet")
                self.reader.require(not self.decisions.ended_early(), "it ends early")
                self.row_of_all[position] = symbol
            if rule is not None:
                head, second = self.row_of_all[body_start : body_start + 2]
                token, second_token = self.first_two(head)
                second_token = second_token if head >= self.tokens else self.first_two(second)[0]
                self.heads[self.tokens + rule] = token, second_token
        self.reader.require(self.following == end, "a stream introduces too little")
        ended = self.decisions.at == len(self.decisions.data)
        require(ended, "a mixed stream does not end where its content does")

    def bodies(self, low, high, first_rule, last_rule):
        """Rules, or nothing for a document, and what of each the stream has, from the last."""
        if first_rule < last_rule:
            end = high
            for rule in reversed(range(first_rule, last_rule)):
                yield rule, end - self.rule_lengths[rule], end
                end -= self.rule_lengths[rule]
        else:
            end = sum(self.root_lengths)
            for length in reversed(self.root_lengths):
                yield None, max(end - length, low), min(end, high)
                end -= length

    def first_two(self, symbol):
        if symbol < self.tokens or symbol == NOTHING:
            return symbol, NOTHING
        return self.heads.get(symbol, (symbol, symbol))

    def row(self, kind, detail):
        """The set of weights of a row's first place, and where the row starts in each table (10.8)."""
        number = 4 * detail + kind
        (next_group, second_group), second_symbol = self.next_groups, self.second_symbol
        contexts = [
            number,
            mix(number, 1 << 40 | self.before << 8 | self.second_before),
            mix(number, 2 << 40 | next_group),
            mix(number, 3 << 40 | next_group << 8 | second_group),
            mix(number, 4 << 40 | second_symbol),
        ]
        starts = [hashed(one) >> (64 - (bits - 5)) << 5 for one, bits in zip(contexts, self.table_bits)]
        return 32 * kind, starts

    def decide(self, row, place, least=1):
        weights, starts = row
        return self.mixer.mixed(weights + place, [start + place for start in starts], least)

    def tree(self, row, start, count):
        path = 1
        for _ in range(count):
            path = 2 * path + self.decide(row, start + path)
        return path - (1 << count)

    def raw(self, estimates, count):
        predicted, path = min(count, 2), 1
        for _ in range(predicted):
            path = 2 * path + self.mixer.alone(5, estimates + path)
        value = path - (1 << predicted)
        for _ in range(count - predicted):
            value = 2 * value + self.decisions.decision(1 << 15)
        return value

    def symbol(self, behind):
        """The ordinal of the next symbol (10.10), given the two that follow it."""
        following, self.second_symbol = behind
        token, second_token = self.first_two(following)
        if following < self.tokens:
            second_token = self.first_two(self.second_symbol)[0]
        self.next_groups = [128 if symbol == NOTHING else self.group_of[symbol] for symbol in behind]
        contexts = mix(token, second_token + 1), mix(self.second_symbol, 1 << 42), mix(token, 1 << 43)
        # Memories are dictionaries here: rows that nothing was put into are empty.
        remembered = [
            memory.setdefault(hashed(one) >> (64 - self.memory_bits), [])
            for memory, one in zip(self.memories, contexts)
        ]
        row = self.row(0, 0)
        if self.decide(row, 0, 16):
            ordinal, way = self.following, INTRODUCED
            self.reader.require(ordinal < self.end, "a stream introduces too much")
            self.following += 1
            self.of_group[self.groups[ordinal]].append(ordinal)
        else:
            ordinal, way = self.guessed(row, remembered) or self.described(row)
        for ordinals in remembered:
            if ordinal in ordinals:
                ordinals.remove(ordinal)
            ordinals.insert(0, ordinal)
            del ordinals[4:]
        self.second_before, self.before = self.before, way
        self.recent = [ordinal, *self.recent[:3]]
        return ordinal

    def guessed(self, row, remembered):
        candidates = {}
        for number, ordinals in enumerate(remembered):
            for place, ordinal in enumerate(ordinals):
                candidates.setdefault(ordinal, 1 + 4 * number + place)
        if not candidates or not self.decide(row, 13 + (len(candidates) - 1) // 4):
            return None
        *others, last = candidates
        for ordinal in others:
            if self.decide(row, candidates[ordinal]):
                return ordinal, GUESSED
        return last, GUESSED

    def described(self, first_row):
        high = self.tree(first_row, 24, 3)
        way = 32 * high + self.tree(self.row(1, high), 0, 5)
        self.reader.require(way < 132, "a symbol refers to nothing")
        length = self.tree(self.row(2, way), 0, 5)
        estimates = 4 * (32 * way + length)
        if way < 4:
            minus = self.mixer.alone(5, estimates)
            distance = (1 << (length - 1)) + self.raw(estimates, length - 1) if length else 0
            ordinal = self.recent[way] + (-distance if minus else distance)
        else:
            since = (1 << length) + self.raw(estimates, length)
            ordinals = self.of_group[way - 4]
            self.reader.require(since <= len(ordinals), "a symbol refers to nothing")
            ordinal = ordinals.pop(-since)
            if (way - 4) % 64 >= 3:
                ordinals.append(ordinal)
        self.reader.require(0 <= ordinal < self.following, "a symbol refers to nothing")
        return ordinal, way


def read_grammar(sections, number):
    """T, R, the row of all symbols, the bodies of the rules, and those of the documents (8)."""
    tokens, items, groups, rule_lengths = read_items(sections["ITEM", number])
    reader = Reader(sections["ROOT", number], "section ROOT")
    root_lengths = read_list(reader)
    reader.finish()
    require(sum(root_lengths) < 1 << 32, "section ROOT: the root passes 2^32 symbols")
    total = sum(root_lengths) + sum(rule_lengths)
    require(total < 1 << 32, "the lengths of the rules pass 2^32")
    if ("SYMX", number) in sections:
        row = StreamSymbols(tokens, items, groups, root_lengths, rule_lengths).read(sections["SYMX", number], total)
    elif ("SYMD", number) in sections:
        row = DenseSymbols(tokens, items, groups, root_lengths, rule_lengths).read(sections["SYMD", number], total)
    else:
        row = read_symbols(sections["SYMB", number], items, groups, total)
    bodies, at = [], 0
    for length in root_lengths + rule_lengths:
        bodies.append(row[at : at + length])
        at += length
    documents, rules = bodies[: len(root_lengths)], bodies[len(root_lengths) :]
    for rule, body in enumerate(rules):
        for symbol in body:
            above = symbol < tokens or symbol > tokens + rule
            require(above, f"rule {rule} uses rule {symbol - tokens}, but a rule may use only rules of a higher number")
    return tokens, rules, row, documents


# (17) How often each word occurs


def check_word_counts(sections, number, tokens, words, rules, documents):
    """The counts that are stored must be those of the grammar (17)."""
    reader = Reader(sections["CNTW", number], "section CNTW")
    count = reader.varint()
    reader.require(count == words, f"counts of {count} words, where there are {words}")
    models = [Model(reader, 65), Model(reader, 65)]
    blocks = [min(1 << 15, count - start) for start in range(0, count, 1 << 15)]
    lengths = [reader.varint() for _ in blocks]
    stored = []
    for block, length in zip(blocks, lengths):
        stream, last = Stream(reader, reader.take(length)), 1
        for _ in range(block):
            last = read_integer(stream, models[last != 1])
            reader.require(last > 0, "a word does not occur")
            stored.append(last)
        stream.finish()
    reader.finish()
    uses = [0] * (len(tokens) + len(rules))
    for symbol in (symbol for document in documents for symbol in document):
        uses[symbol] += 1
    for rule, body in enumerate(rules):
        for symbol in body:
            uses[symbol] += uses[len(tokens) + rule]
    own = words_of_tokens(sections["DICT", number])
    counts = [0] * words
    for token, word in enumerate(own):
        counts[word] += uses[token]
    reader.require(counts == stored, "counts of another text")


# (9) Back to text


def segment_documents(archive, number):
    """Of each document of a segment, its length and its pieces of text, none longer than a token (9)."""
    segment = archive.segments[number]
    count, rules, row, documents = read_grammar(archive.sections, number)
    tokens, words = read_tokens(archive.sections["DICT", number], segment.text_bytes)
    found = [len(tokens), words, count, len(rules), len(row), sum(map(len, documents)), len(documents)]
    recorded = [segment.token_types, segment.words, segment.token_types, segment.rules]
    recorded += [segment.symbols, segment.root_symbols, segment.documents]
    require(found == recorded, f"segment {number} has {found} parts, recorded are {recorded}")
    lengths = [len(token) for token in tokens] + [0] * len(rules)
    for rule in reversed(range(len(rules))):
        lengths[count + rule] = sum(lengths[symbol] for symbol in rules[rule])
        require(lengths[count + rule] <= MASK, f"rule {rule} would expand to more than 2^64 units")
    document_lengths = [sum(lengths[symbol] for symbol in document) for document in documents]
    total = sum(document_lengths)
    same = total == segment.text_bytes
    require(same, f"segment {number} expands to {total} bytes, recorded are {segment.text_bytes}")
    if ("CNTW", number) in archive.sections:
        check_word_counts(archive.sections, number, tokens, words, rules, documents)

    def expand(document):
        stack = [iter(document)]
        while stack:
            symbol = next(stack[-1], None)
            if symbol is None:
                stack.pop()
            elif symbol < count:
                yield tokens[symbol]
            else:
                stack.append(iter(rules[symbol - count]))

    return [(length, expand(document)) for length, document in zip(document_lengths, documents)]


def restore_stored(archive):
    """Each document that was stored and its bytes, in order. Digests are checked as runs end (6)."""
    digests = {run[-1]: digest for run, digest in zip(runs(archive.documents), archive.digests)}
    hashes, held, size = b"", [], 0
    for number, segment in enumerate(archive.segments):
        following = archive.segments[number + 1 : number + 2]
        for place, (length, pieces) in enumerate(segment_documents(archive, number)):
            index = segment.first_document + place
            document = archive.documents[index]
            ends = not any(other.first_document == index for other in following)
            size += length
            fits = size == document.bytes if ends else size <= document.bytes
            name = escape(document.name)
            require(fits, f"document “{name}” expands to {size} bytes, recorded are {document.bytes}")
            require(size <= MOST_BYTES, f"document “{name}” is too long for this decoder, which holds it in memory")
            held += pieces
            if not ends:
                continue
            text = b"".join(held)
            for at in range(0, max(1, len(text)), PIECE):
                hashes += xxh64(text[at : at + PIECE]).to_bytes(8, "little")
            if index in digests:
                digest = xxh64(hashes) & 0xFFFFFFFF
                require(digest == digests[index], f"document “{name}” is damaged: its digest is {digest:08x}")
                hashes = b""
            held, size = [], 0
            yield document, text


# (15) The journal


SECTOR = 512
RECORD = 64


def sectors(start, end):
    """The parts of a range of the file that lie in one sector each (15.4)."""
    while start < end:
        after = min(end, (start // SECTOR + 1) * SECTOR)
        yield start, after
        start = after


def record_header(data, at):
    """The fields of the record header at a position, or None if its magic or checksum is another one (15.2)."""
    header = data[at : at + RECORD]
    if len(header) < RECORD or header[:4] != b"\x89TJR":
        return None
    *fields, checksum = struct.unpack("<IQQQQIIQQ", header[4:])
    return fields if xxh64(header[:56] + at.to_bytes(8, "little")) == checksum else None


def later_headers(data, at):
    """All record headers behind a position whose checksums hold."""
    while (at := data.find(b"\x89TJR", at + 1)) >= 0:
        if (header := record_header(data, at)) is not None:
            yield header


def read_journal(data):
    """The edits of all whole transactions (15.4)."""
    start = int.from_bytes(data[16:24], "little")
    if len(data) == start:
        return []
    fields = b"\x89TDJ\r\n\x1a\n" + struct.pack("<IIQ", 1, 0, start)
    expected = fields + xxh64(fields).to_bytes(8, "little")
    found = data[start : start + 32]
    if found != expected:
        if len(found) == 32 and found[:8] == fields[:8] and xxh64(found[:24]) == int.from_bytes(found[24:], "little"):
            version = int.from_bytes(found[8:12], "little")
            require(version == 1, f"edits in a journal of version {version}, this decoder reads version 1")
        parts = [(a - start, b - start) for a, b in sectors(start, start + len(found))]
        torn = all(found[a:b] == expected[a:b] or not any(found[a:b]) for a, b in parts)
        later = list(later_headers(data, start))
        if torn and all(header[2] <= start for header in later):
            return []
        require(not later, f"the journal of edits is damaged at byte {start}: its header")
        raise Rejected(f"the file has {len(data)} bytes, where {start} were written")
    transactions, current, at, number = [], [], start + 32, 0
    while at < len(data):
        header, end, payload, whole = record_header(data, at), at + RECORD, b"", False
        cut = end > len(data)
        if header is not None:
            flags, sequence, synced, length, text_bytes, edits, reserved, checksum = header
            if flags <= 3 and reserved == 0 and sequence == number and synced <= at:
                end += length
                cut = end > len(data)
                payload = data[at + RECORD : end]
                whole = not cut and xxh64(payload) == checksum
        if not whole:
            known = any(later[2] > at for later in later_headers(data, at))
            zeroed = cut or any(not any(data[a:b]) for a, b in sectors(at, end))
            require(zeroed and not known, f"the journal of edits is damaged at byte {at} of the file")
            break
        current.append((payload, flags & 2, edits, text_bytes))
        if flags & 1:
            transactions += [edit for record in current for edit in read_edits(*record)]
            current = []
        at, number = end, number + 1
    return transactions


def read_edits(payload, packed, count, text_bytes):
    """The edits of a record (15.3): kind, document, offset, length, name, times and mode, text."""
    reader = Reader(payload, "a record of the journal")
    if packed:
        length = reader.varint()
        reader.require(length <= 1 << 26, f"{length} bytes are packed, where at most {1 << 26} can be")
        reader = Reader(unpack_frame(reader, reader.take(reader.left()), length), reader.what)
    edits = []
    for _ in range(count):
        kind = reader.take(1)[0]
        reader.require(kind <= 6, f"{kind} is no kind of edit")
        document = offset = length = name = seconds = nanoseconds = mode = None
        text = b""
        if kind != 4:
            document = reader.varint()
            reader.require(document < 1 << 32, f"{document} is the number of a document")
        if kind in (0, 2, 3):
            offset = reader.varint()
        if kind in (2, 3):
            length = reader.varint()
        if kind in (4, 6):
            name = reader.take(reader.varint())
            reader.require(name, "a name is empty")
            reader.require(0 not in name, "a name has a NUL in it")
        if kind == 4:
            attributes = reader.take(1)[0]
            reader.require(attributes <= 3, "a document has unknown attributes")
            if attributes & 1:
                seconds, nanoseconds = unzigzag(reader.varint()), reader.varint()
                reader.require(nanoseconds < 10**9, "a time has no nanoseconds of 10^9 and more")
            if attributes & 2:
                mode = reader.varint()
                reader.require(mode <= 0o7777, "a mode has more than permission bits")
        if kind in (0, 1, 3, 4):
            text = reader.take(reader.varint())
        edits.append((kind, document, offset, length, name, (seconds, nanoseconds, mode), text))
    texts = sum(len(edit[-1]) for edit in edits)
    reader.require(texts == text_bytes, "it has more or less text than it says")
    reader.finish()
    return edits


def apply_edits(stored, edits):
    """Documents and their bytes after all edits, in order of their names (15.3)."""
    documents = [(document, bytearray(text)) for document, text in stored]
    names = {document.name for document, _ in documents}
    for kind, number, offset, length, name, attributes, text in edits:
        if kind in (4, 6):
            same = kind == 6 and number < len(documents) and documents[number] and documents[number][0].name == name
            require(same or name not in names, f"the journal: two documents are called “{escape(name)}”")
        if kind == 4:
            names.add(name)
            documents.append((Document(name, 0, *attributes), bytearray(text)))
            continue
        there = number < len(documents) and documents[number] is not None
        require(there, f"the journal: document {number} is not there")
        document, content = documents[number]
        if kind == 5:
            names.remove(document.name)
            documents[number] = None
            continue
        if kind == 6:
            names.remove(document.name)
            names.add(name)
            documents[number] = document._replace(name=name), content
            continue
        start = len(content) if kind == 1 else offset
        end = start + (length or 0)
        require(end <= len(content), f"the journal: offset {end} is past the end of “{escape(document.name)}”")
        content[start:end] = text
    there = [(document._replace(bytes=len(text)), bytes(text)) for document, text in filter(None, documents)]
    return sorted(there, key=lambda pair: pair[0].name)


def restore(archive):
    """Each document of the corpus and its bytes, in order."""
    if not archive.edits:
        return restore_stored(archive)
    return apply_edits(restore_stored(archive), archive.edits)


def current_documents(archive):
    """The documents of the corpus, without their bytes."""
    if not archive.edits:
        return archive.documents
    return [document for document, _ in restore(archive)]


def restore_files(archive):
    """Each file and its bytes: documents, joined where they are lines of a file (16)."""
    split, empty = archive.origin
    names = {document.name for document in current_documents(archive)}
    files = {}
    for document, text in restore(archive):
        file, number = document.name[:-11], document.name[-11:]
        is_line = file and number[:1] == b":" and number[1:].isdigit() and file not in names
        name = file if split and is_line else document.name
        first, before = files.get(name, (document, b""))
        files[name] = first._replace(name=name), before + text
    for document in empty:
        files.setdefault(document.name, (document, b""))
    return [files[name] for name in sorted(files)]


def escape(name):
    """A name as `tadoc list` prints it."""
    text = name.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def check_name(name):
    """Names that must not become paths (9.3)."""
    shown = escape(name)
    require(not name.startswith(b"/"), f"document “{shown}” is not restored: its name is absolute")
    parts = name.split(b"/")
    require(b".." not in parts, f"document “{shown}” is not restored: its name leads out of the folder")
    whole = b"" not in parts and b"." not in parts
    require(whole, f"document “{shown}” is not restored: its name has an empty part")


def write_file(folder, document, text):
    """Writes a document below a folder that is open; follows no link and replaces nothing (9.3)."""
    *folders, name = document.name.split(b"/")
    opened = [os.dup(folder)]
    try:
        for part in folders:
            try:
                os.mkdir(part, dir_fd=opened[-1])
            except FileExistsError:
                pass
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            opened.append(os.open(part, flags, dir_fd=opened[-1]))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(name, flags, 0o666, dir_fd=opened[-1]), "wb") as file:
            file.write(text)
            file.flush()
            if document.mode is not None:
                os.fchmod(file.fileno(), document.mode & 0o777)
            if document.seconds is not None:
                time = document.seconds * 10**9 + document.nanoseconds
                os.utime(file.fileno(), ns=(time, time))
    finally:
        for descriptor in opened:
            os.close(descriptor)


def main():
    parser = argparse.ArgumentParser(description="Restores a tadoc archive, slowly.")
    parser.add_argument("archive")
    parser.add_argument("-C", dest="folder", help="restore into this folder")
    parser.add_argument("--list", action="store_true", help="print names and lengths")
    arguments = parser.parse_args()
    try:
        with open(arguments.archive, "rb") as file:
            archive = open_archive(file.read())
        if arguments.list:
            for document in current_documents(archive):
                print(escape(document.name), document.bytes, sep="\t")
            return 0
        if arguments.folder is not None:
            files = restore_files(archive)
            for document, _ in files:
                check_name(document.name)
            os.makedirs(arguments.folder, exist_ok=True)
            folder = os.open(arguments.folder, os.O_RDONLY | os.O_DIRECTORY)
            for document, text in files:
                write_file(folder, document, text)
        else:
            for _ in restore(archive):
                pass
    except (Rejected, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
