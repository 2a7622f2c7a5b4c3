//! Journals on simulated storage: what goes in comes out, and what fails loses nothing that was acknowledged.

mod damage;
mod faults;
mod files;

use proptest::prelude::*;

use super::{Edit, Journal, JournalWriter};
use crate::archive::types::Timestamp;
use crate::error::{Error, Result};
use crate::storage::{SimulatedStorage, Storage};

/// An edit that owns its bytes: kind, document, offset, length, name and text, of which it uses what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owned {
    kind: u8,
    document: u32,
    offset: u64,
    length: u64,
    modified: Option<Timestamp>,
    mode: Option<u32>,
    name: Vec<u8>,
    text: Vec<u8>,
}

impl Owned {
    fn append(text: impl Into<Vec<u8>>) -> Self {
        Self { kind: 1, text: text.into(), ..Self::nothing() }
    }

    fn nothing() -> Self {
        Self {
            kind: 0,
            document: 0,
            offset: 0,
            length: 0,
            modified: None,
            mode: None,
            name: Vec::new(),
            text: Vec::new(),
        }
    }

    fn edit(&self) -> Edit<'_> {
        let Self { document, offset, length, modified, mode, .. } = *self;
        let (name, text) = (&self.name[..], &self.text[..]);
        match self.kind {
            0 => Edit::Insert { document, offset, text },
            1 => Edit::Append { document, text },
            2 => Edit::Delete { document, offset, length },
            3 => Edit::Replace { document, offset, length, text },
            4 => Edit::Add { name, modified, mode, text },
            5 => Edit::Remove { document },
            _ => Edit::Rename { document, name },
        }
    }

    fn of(edit: Edit<'_>) -> Self {
        let none = Self::nothing();
        let text = edit.text().to_vec();
        match edit {
            Edit::Insert { document, offset, .. } => {
                Self { kind: 0, document, offset, text, ..none }
            }
            Edit::Append { document, .. } => Self { kind: 1, document, text, ..none },
            Edit::Delete { document, offset, length } => {
                Self { kind: 2, document, offset, length, ..none }
            }
            Edit::Replace { document, offset, length, .. } => {
                Self { kind: 3, document, offset, length, text, ..none }
            }
            Edit::Add { name, modified, mode, .. } => {
                Self { kind: 4, modified, mode, name: name.to_vec(), text, ..none }
            }
            Edit::Remove { document } => Self { kind: 5, document, ..none },
            Edit::Rename { document, name } => {
                Self { kind: 6, document, name: name.to_vec(), ..none }
            }
        }
    }
}

/// Numbers that look random, from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn text(&mut self, longest: u64) -> Vec<u8> {
        let length = self.below(longest + 1);
        match self.below(3) {
            0 => vec![0; length as usize],
            1 => {
                b"text that can be packed, ".iter().copied().cycle().take(length as usize).collect()
            }
            _ => (0..length).map(|_| self.next() as u8).collect(),
        }
    }

    fn edit(&mut self, longest: u64) -> Owned {
        let name = format!("{} {}", self.below(100), self.next());
        let edit = Owned {
            kind: self.below(7) as u8,
            document: self.next() as u32 >> self.below(32),
            offset: self.next() >> self.below(64),
            length: self.next() >> self.below(64),
            modified: (self.below(2) == 0).then(|| Timestamp {
                seconds: self.next() as i64,
                nanoseconds: self.below(1_000_000_000) as u32,
            }),
            mode: (self.below(2) == 0).then(|| self.below(0o10000) as u32),
            name: name.into_bytes(),
            text: self.text(longest),
        };
        // Only what it has.
        Owned::of(edit.edit())
    }
}

/// All edits of a journal.
fn edits(journal: &Journal) -> Vec<Owned> {
    let mut edits = Vec::new();
    journal
        .replay(|edit| {
            edits.push(Owned::of(edit));
            Ok::<(), Error>(())
        })
        .unwrap();
    assert_eq!(edits.len() as u64, journal.edit_count());
    let text: usize = edits.iter().map(|edit| edit.text.len()).sum();
    assert_eq!(text as u64, journal.text_bytes());
    edits
}

/// Reads what is behind `start`.
fn read(bytes: &[u8], start: u64) -> Journal {
    let storage = SimulatedStorage::new(bytes);
    let length = storage.len().unwrap();
    let journal = Journal::read(std::sync::Arc::new(storage), start, length).unwrap();
    journal.unwrap().expect("a journal")
}

fn commit(writer: &mut JournalWriter<SimulatedStorage>, edits: &[Owned], sync: bool) -> Result<()> {
    edits.iter().try_for_each(|edit| writer.push(&edit.edit()))?;
    writer.commit(sync)
}

fn any_edit() -> impl Strategy<Value = Owned> {
    let text = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..100),
        (any::<u8>(), 0..6000_usize).prop_map(|(byte, length)| vec![byte; length]),
    ];
    let name = prop::collection::vec(1_u8.., 1..20);
    let time = (any::<i64>(), 0..1_000_000_000_u32)
        .prop_map(|(seconds, nanoseconds)| Timestamp { seconds, nanoseconds });
    let attributes = (prop::option::of(time), prop::option::of(0..0o10000_u32));
    (0..7_u8, any::<(u32, u64, u64)>(), attributes, name, text).prop_map(
        |(kind, (document, offset, length), (modified, mode), name, text)| {
            let edit = Owned { kind, document, offset, length, modified, mode, name, text };
            Owned::of(edit.edit())
        },
    )
}

proptest! {
    #[test]
    fn transactions_come_back_in_order(
        transactions in prop::collection::vec(
            (prop::collection::vec(any_edit(), 0..20), 0..4_u8),
            0..8,
        ),
        start in 0..2000_u64,
        full_record in 1..8000_usize,
        long_text in 1..8000_usize,
    ) {
        let storage = SimulatedStorage::new(vec![7; start as usize]);
        let mut expected = Vec::new();
        let mut digest = 0;
        let (mut count, mut writer) = (0, JournalWriter::over(storage.clone(), start).unwrap().1);
        for (edits_now, then) in &transactions {
            (writer.full_record, writer.long_text) = (full_record, long_text);
            if *then == 0 {
                edits_now.iter().try_for_each(|edit| writer.push(&edit.edit())).unwrap();
                writer.abandon();
                prop_assert_eq!(writer.bytes() + start, storage.len().unwrap());
            } else {
                commit(&mut writer, edits_now, *then == 1).unwrap();
                expected.extend_from_slice(edits_now);
                count += u64::from(!edits_now.is_empty());
            }
            if *then == 2 {
                let (journal, again) = JournalWriter::over(storage.clone(), start).unwrap();
                prop_assert_eq!(&edits(&journal), &expected);
                writer = again;
            }
            let journal = read(&storage.contents(), start);
            prop_assert_eq!(journal.transactions(), count);
            prop_assert_eq!(journal.bytes(), writer.bytes());
            prop_assert_eq!(journal.torn(), 0);
            prop_assert_eq!(journal.is_empty(), expected.is_empty());
            let changed = *then != 0 && !edits_now.is_empty();
            prop_assert_eq!(journal.digest() != digest, changed);
            digest = journal.digest();
        }
        let journal = read(&storage.contents(), start);
        prop_assert_eq!(edits(&journal), expected);
        prop_assert!(storage.contents()[..start as usize].iter().all(|&byte| byte == 7));
        // The same behind an archive of another length.
        let mut copy = vec![8; 77];
        journal.copy(77, |bytes| { copy.extend_from_slice(bytes); Ok(()) }).unwrap();
        let copied = read(&copy, 77);
        prop_assert_eq!(copied.digest(), journal.digest());
        prop_assert_eq!(edits(&copied), edits(&journal));
    }

    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..300), whole in any::<bool>()) {
        let storage = SimulatedStorage::new(*b"archive");
        if whole {
            let (_, mut writer) = JournalWriter::over(storage.clone(), 7).unwrap();
            commit(&mut writer, &[Owned::append("x")], true).unwrap();
        }
        let storage = SimulatedStorage::new([storage.contents(), bytes].concat());
        if let Ok((journal, _)) = JournalWriter::over(storage, 7) {
            prop_assert_eq!(journal.transactions(), u64::from(whole));
        }
    }
}

#[test]
fn long_transactions_are_several_records() {
    let storage = SimulatedStorage::default();
    let (_, mut writer) = JournalWriter::over(storage.clone(), 0).unwrap();
    let mut random = Random(1);
    let noise: Vec<u8> = (0..(9 << 20)).map(|_| random.next() as u8).collect();
    let short = vec![b'a'; 1 << 20];
    for _ in 0..9 {
        writer.push(&Edit::Append { document: 1, text: &short }).unwrap();
    }
    assert!(writer.bytes() > 0, "some of it is written before the end");
    writer.push(&Edit::Append { document: 2, text: &noise }).unwrap();
    writer.push(&Edit::Remove { document: 3 }).unwrap();
    assert_eq!(read(&storage.contents(), 0).transactions(), 0);
    writer.commit(true).unwrap();
    let journal = read(&storage.contents(), 0);
    assert_eq!((journal.transactions(), journal.edit_count()), (1, 11));
    assert!(journal.bytes() < (10 << 20), "what repeats is packed: {}", journal.bytes());
    let found = edits(&journal);
    assert!(found[..9].iter().all(|edit| edit.text == short) && found[9].text == noise);
    assert_eq!(found[10].edit(), Edit::Remove { document: 3 });
    writer.push(&Edit::Append { document: 2, text: &noise }).unwrap();
    writer.abandon();
    assert_eq!(storage.len().unwrap(), journal.bytes());
}

#[test]
fn edits_that_cannot_be_are_refused_and_leave_no_trace() {
    let storage = SimulatedStorage::default();
    let (_, mut writer) = JournalWriter::over(storage.clone(), 0).unwrap();
    let time = Some(Timestamp { seconds: 0, nanoseconds: 1_000_000_000 });
    let text = &[b'x'; 100][..];
    for edit in [
        Edit::Rename { document: 0, name: b"" },
        Edit::Rename { document: 0, name: b"a\0b" },
        Edit::Add { name: b"a", modified: time, mode: None, text },
        Edit::Add { name: b"a", modified: None, mode: Some(0o10000), text },
    ] {
        writer.long_text = 50;
        let error = writer.push(&edit).unwrap_err();
        assert!(matches!(error, Error::BadEdit { .. }), "{error}");
    }
    writer.commit(true).unwrap();
    assert_eq!(storage.len().unwrap(), 0);
}
