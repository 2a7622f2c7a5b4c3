//! Bytes that are missing or wrong: torn where a crash explains it, damaged otherwise, and never other edits.

use super::super::record::{JOURNAL_HEADER, RECORD_HEADER, RecordHeader};
use super::*;
use crate::storage::SECTOR;

const START: u64 = 300;

/// Where a record lies, what it knows, and how many transactions end with it or before it.
struct Place {
    start: usize,
    end: usize,
    synced: u64,
    transactions: u64,
}

/// A journal with records of many kinds, and its records. `synced` says behind which transactions it is synced.
fn journal(synced: impl Fn(usize) -> bool) -> (Vec<u8>, Vec<Owned>, Vec<Place>) {
    let storage = SimulatedStorage::new(vec![b'a'; START as usize]);
    let (_, mut writer) = JournalWriter::over(storage.clone(), START).unwrap();
    (writer.full_record, writer.long_text) = (6000, 2000);
    let mut random = Random(3);
    let mut all = Vec::new();
    let texts: [&[u8]; 8] = [
        b"one",
        &[0; 1500],
        b"",
        &[b'b'; 1999],
        b"two",
        &[b'c'; 2500],
        b"a longer one of which not much is to be told",
        b"three",
    ];
    for (number, text) in texts.into_iter().enumerate() {
        let mut edits = vec![Owned::append(text); if number == 3 { 4 } else { 1 }];
        edits.push(random.edit(40));
        commit(&mut writer, &edits, synced(number)).unwrap();
        all.extend(edits);
    }
    let bytes = storage.contents();
    let mut places = Vec::new();
    let (mut at, mut transactions) = (START as usize + JOURNAL_HEADER, 0);
    while at < bytes.len() {
        let header = bytes[at..at + RECORD_HEADER].try_into().unwrap();
        let header = RecordHeader::parse(header, at as u64).unwrap();
        let end = at + RECORD_HEADER + header.payload_bytes as usize;
        transactions += u64::from(header.commits());
        places.push(Place { start: at, end, synced: header.synced, transactions });
        at = end;
    }
    assert!(places.len() > 9 && places.last().unwrap().transactions == 8);
    (bytes, all, places)
}

fn check_prefix(journal: &Journal, all: &[Owned]) {
    let found = edits(journal);
    assert!(found[..] == all[..found.len()]);
}

#[test]
fn every_cut_gives_the_transactions_before_it() {
    let (bytes, all, places) = journal(|number| number % 2 == 0);
    for length in START as usize..=bytes.len() {
        let journal = read(&bytes[..length], START);
        let whole = places.iter().rfind(|place| place.end <= length);
        let expected = whole.map_or(0, |place| place.transactions);
        assert_eq!(journal.transactions(), expected, "{length}");
        assert!(journal.damage().is_none(), "{length}");
        assert_eq!(START + journal.bytes() + journal.torn(), length as u64);
        check_prefix(&journal, &all);
    }
    // A file that gets shorter while it is read is like one that was shorter before.
    let storage = SimulatedStorage::new(&bytes[..places[4].end + 5]);
    let longer = Journal::read(std::sync::Arc::new(storage), START, bytes.len() as u64);
    let journal = longer.unwrap().unwrap().unwrap();
    assert_eq!(journal.transactions(), places[4].transactions);
}

/// Whether a part of a range that is in one sector has zeros only.
fn has_zeroed_part(bytes: &[u8], from: usize, to: usize) -> bool {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for (at, &byte) in bytes.iter().enumerate().take(to).skip(from) {
        if at == from || (at as u64).is_multiple_of(SECTOR) {
            parts.push(Vec::new());
        }
        parts.last_mut().unwrap().push(byte);
    }
    parts.iter().any(|part| part.iter().all(|&byte| byte == 0))
}

#[test]
fn every_flip_is_torn_or_damaged_by_the_rules() {
    let patterns: [fn(usize) -> bool; 4] =
        [|_| true, |_| false, |number| number == 4, |number| number < 6];
    let (mut torn, mut damaged) = (0, 0);
    for synced in patterns {
        let (whole, all, places) = journal(synced);
        for at in START as usize..whole.len() {
            for mask in [1, 0x80, whole[at].max(1)] {
                let mut bytes = whole.clone();
                bytes[at] ^= mask;
                let journal = read(&bytes, START);
                check_prefix(&journal, &all);
                let Some(hit) = places.iter().position(|place| at < place.end && place.start <= at)
                else {
                    assert_eq!(journal.transactions(), 0);
                    let error = journal.damage().expect("a flipped header is no torn one");
                    assert!(matches!(error, Error::DamagedJournal { position: START, .. }));
                    continue;
                };
                let Place { start, end, .. } = places[hit];
                let kept = if hit == 0 { 0 } else { places[hit - 1].transactions };
                assert_eq!(journal.transactions(), kept, "{at}");
                let acknowledged =
                    places[hit + 1..].iter().any(|place| place.synced > start as u64);
                let in_header = at < start + RECORD_HEADER;
                let end = if in_header { start + RECORD_HEADER } else { end };
                let expected = acknowledged || !has_zeroed_part(&bytes, start, end);
                match journal.damage() {
                    Some(Error::DamagedJournal { position, transactions, edits, .. }) => {
                        assert!(expected, "{at} is damaged");
                        assert_eq!(position, start as u64);
                        assert_eq!((transactions, edits), (kept, journal.edit_count()));
                        damaged += 1;
                    }
                    Some(other) => panic!("{other}"),
                    None => {
                        assert!(!expected, "{at} is torn");
                        torn += 1;
                    }
                }
            }
        }
    }
    assert!(torn > 1000 && damaged > 10_000, "{torn} torn, {damaged} damaged");
}

#[test]
fn a_writer_refuses_what_is_damaged_and_cuts_what_is_torn() {
    let (whole, all, places) = journal(|number| number < 6);
    let last = &places[places.len() - 1];
    let mut bytes = whole.clone();
    bytes[places[2].start + 70] ^= 1;
    let error = JournalWriter::over(SimulatedStorage::new(bytes), START).unwrap_err();
    assert!(error.to_string().contains(&format!("byte {}", places[2].start)), "{error}");

    let storage = SimulatedStorage::new(&whole[..last.end - 1]);
    let (journal, mut writer) = JournalWriter::over(storage.clone(), START).unwrap();
    assert_eq!((journal.transactions(), journal.torn()), (7, (last.end - 1 - last.start) as u64));
    assert_eq!(storage.after_power_loss(|| false, |_| last.start as u64), whole[..last.start]);
    let more = [Owned::append("more")];
    commit(&mut writer, &more, true).unwrap();
    let mut expected = all[..edits(&journal).len()].to_vec();
    expected.extend(more);
    assert_eq!(edits(&read(&storage.contents(), START)), expected);
}

#[test]
fn what_is_no_journal_is_refused() {
    let open = |behind: &[u8]| {
        let bytes = [&[b'a'; START as usize], behind].concat();
        JournalWriter::over(SimulatedStorage::new(bytes), START)
    };
    for behind in [&b"x"[..], b"\n", &[b'y'; 5000], b"\x89TDJ\r\n\x1a\nx"] {
        let error = open(behind).unwrap_err();
        assert!(matches!(error, Error::BytesBehindArchive { stored: START, .. }), "{error}");
    }
    let header = super::super::record::journal_header(START);
    for torn in [&header[..], &header[..9], &[0; 1], &[0; 3000]] {
        let (journal, _) = open(torn).unwrap();
        assert_eq!((journal.transactions(), journal.torn()), (0, torn.len() as u64));
    }
    let mut later = header;
    later[8] = 2;
    let sum = crate::archive::container::checksum(&later[..24]);
    later[24..].copy_from_slice(&sum.to_le_bytes());
    let error = open(&later).unwrap_err();
    assert!(matches!(error, Error::UnsupportedJournal { found: 2, .. }), "{error}");
    // That of an archive of another length.
    let other = super::super::record::journal_header(START + 1);
    assert!(open(&other).is_err());
}

#[test]
fn records_with_right_checksums_and_wrong_content_are_errors() {
    let good = RecordHeader {
        flags: 1,
        sequence: 0,
        synced: 0,
        payload_bytes: 3,
        text_bytes: 0,
        edits: 1,
        reserved: 0,
        payload_sum: 0,
    };
    let replay = |header: RecordHeader, payload: &[u8]| -> Result<u64> {
        let payload_sum = crate::archive::container::checksum(payload);
        let payload_bytes = payload.len() as u64;
        let header = RecordHeader { payload_sum, payload_bytes, ..header };
        let bytes = [
            &super::super::record::journal_header(0)[..],
            &header.to_bytes(JOURNAL_HEADER as u64),
            payload,
        ]
        .concat();
        let (journal, _) = JournalWriter::over(SimulatedStorage::new(bytes), 0)?;
        let mut count = 0;
        journal.replay(|_| {
            count += 1;
            Ok::<(), Error>(())
        })?;
        Ok(count)
    };
    assert_eq!(replay(good, &[5, 9]).unwrap(), 1);
    let packed = |bytes: &[u8], length: u64| {
        let mut payload = Vec::new();
        crate::archive::wire::put_varint(&mut payload, length);
        payload.extend(zstd::bulk::compress(bytes, 1).unwrap());
        payload
    };
    let flags = |flags| RecordHeader { flags, ..good };
    assert_eq!(replay(flags(3), &packed(&[5, 9], 2)).unwrap(), 1);
    for (header, payload, error) in [
        (flags(5), vec![5, 9], "flags that this version does not know"),
        (RecordHeader { reserved: 1, ..good }, vec![5, 9], "flags that this version"),
        (RecordHeader { sequence: 1, ..good }, vec![5, 9], "record 1 where record 0"),
        (RecordHeader { synced: 99, ..good }, vec![5, 9], "behind itself"),
        (good, vec![7, 9], "7 is no kind of edit"),
        (good, vec![5, 9, 9], "1 bytes follow its end"),
        (RecordHeader { edits: 2, ..good }, vec![5, 9], "bytes are announced"),
        (RecordHeader { text_bytes: 1, ..good }, vec![5, 9], "more or less text"),
        (good, vec![1, 9, 200, 1], "200 bytes are announced where 0 are left"),
        (good, vec![5, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F], "is the number of a document"),
        (good, vec![6, 9, 0], "a name is empty"),
        (good, vec![6, 9, 1, 0], "a NUL"),
        (good, vec![4, 1, b'a', 4, 0], "unknown attributes"),
        (good, vec![4, 1, b'a', 2, 0x80, 0x20, 0], "permission bits"),
        (flags(3), packed(&[5, 9], 3), "unpacks to 2 bytes, not 3"),
        (flags(3), packed(&[5, 9], 1), "unpacks to more bytes, not 1"),
        (flags(3), packed(&[0; 100], 1 << 40), "bytes are packed, where at most"),
        (flags(3), vec![2, 5, 9], "Zstandard"),
        (flags(3), vec![], "inside of a number"),
    ] {
        let found = replay(header, &payload).unwrap_err().to_string();
        assert!(found.contains(error), "{found}, not {error}");
    }
}
