//! Batches on the device against plain text.

use proptest::prelude::*;

use super::*;
use crate::device::compile_for_cuda;
use crate::reference::access::{Made, Plain, Segment};
use crate::reference::inputs::noise;
use crate::testing::device;

/// Numbers below bounds that are given.
fn numbers(seed: u32) -> impl FnMut(usize) -> u32 {
    let mut numbers = noise(seed, 1 << 14).into_iter().cycle();
    move |end| numbers.next().unwrap() % (end.max(1) as u32)
}

fn check_extracts(resident: &ResidentText, plain: &Plain, seed: u32, count: usize) {
    let mut below = numbers(seed);
    let count = if plain.documents.is_empty() { 0 } else { count };
    let extracts: Vec<Extract> = (0..count)
        .map(|_| {
            let document = below(plain.documents.len());
            let bytes = plain.documents[document as usize].len();
            let length = match below(4) {
                0 => u32::MAX,
                1 => 0,
                _ => below(200),
            };
            Extract { document, offset: below(bytes + 3), length }
        })
        .collect();
    let given = Extracts::upload(resident.device(), &extracts).unwrap();
    let (bytes, starts) = resident.extract(&given).unwrap().download().unwrap();
    assert_eq!(starts.len(), extracts.len() + 1);
    for (extract, ends) in extracts.iter().zip(starts.windows(2)) {
        let expected = plain.extract(extract.document, extract.offset, extract.length);
        let found = &bytes[ends[0] as usize..ends[1] as usize];
        assert_eq!(found, expected, "{extract:?}");
    }
    assert_eq!(bytes.len() as u64, *starts.last().unwrap());
}

fn check_words(resident: &ResidentText, segment: &Segment, plain: &Plain, seed: u32, count: usize) {
    let mut below = numbers(seed);
    let words = segment.word_starts.len() - 1;
    let asked: Vec<(Vec<u8>, u32)> = (0..count)
        .map(|_| {
            let word = match below(10) {
                1.. if words > 0 => segment.word(below(words) as usize).to_vec(),
                _ => [&b""[..], b"nowhere", b"w", b" "][below(4) as usize].to_vec(),
            };
            let one = below(3) > 0 && !plain.documents.is_empty();
            (word, if one { below(plain.documents.len()) } else { ALL })
        })
        .collect();
    let given = asked.iter().map(|(word, document)| (&word[..], *document));
    let given = Words::upload(resident.device(), given).unwrap();
    let counted = resident.count(&given).unwrap();
    let counts = counted.download().unwrap();
    let (places, starts) = resident.search(&given, &counted).unwrap().download().unwrap();
    for (number, (word, document)) in asked.iter().enumerate() {
        let expected = plain.search(word, *document);
        let found = &places[starts[number] as usize..starts[number + 1] as usize];
        assert_eq!(found, expected, "{:?} in {document}", String::from_utf8_lossy(word));
        assert_eq!(counts[number] as usize, expected.len());
    }
}

/// What loading has made, and samples, marks and the table, which there are several right ones of, by what they must do.
fn check_made(resident: &ResidentText, segment: &Segment) {
    let row = |buffer: &Buffer<u32>| resident.device.download(buffer).unwrap();
    let made = Made {
        bytes: row(&resident.bytes),
        body_offsets: row(&resident.body_offsets),
        owners: row(&resident.owners),
        root_offsets: row(&resident.root_offsets),
        document_offsets: row(&resident.document_offsets),
        weights: row(&resident.weights),
        use_starts: row(&resident.use_starts),
        uses: row(&resident.uses),
        use_before: row(&resident.use_before),
        posting_starts: row(&resident.posting_starts),
        posting_documents: row(&resident.posting_documents),
        posting_counts: row(&resident.posting_counts),
    };
    assert_eq!(made, segment.made());
    for (sample, place) in row(&resident.samples).into_iter().enumerate() {
        let position = sample as u32 * crate::tuning::SAMPLE_BYTES;
        let places = &made.root_offsets[..segment.root.len()];
        let behind = places.partition_point(|&offset| offset <= position);
        assert_eq!(place as usize, behind.saturating_sub(1));
    }
    let mut entries = row(&resident.table);
    entries.retain(|&entry| entry > 0);
    entries.sort_unstable();
    assert_eq!(entries, (1..segment.word_starts.len() as u32).collect::<Vec<_>>());
    // Rules have the marks of their symbols; of a token it is the bit that a rule of it alone would have.
    let marks = resident.device.download(&resident.marks).unwrap();
    let tokens = segment.token_ends.len() as u32;
    for (rule, body) in segment.rule_starts.windows(2).enumerate() {
        let body = &segment.bodies[body[0] as usize..body[1] as usize];
        let below = body.iter().filter_map(|symbol| symbol.checked_sub(tokens));
        let below = below.fold(0, |all, child| all | marks[child as usize]);
        let words = body.iter().filter(|&&symbol| symbol < *segment.word_starts.last().unwrap());
        assert_eq!(marks[rule] & below, below);
        assert!((marks[rule] & !below).count_ones() as usize <= words.clone().count());
        assert!(marks[rule] != 0 || words.count() == 0);
    }
}

fn segments() -> impl Strategy<Value = Segment> {
    let sizes = (any::<u32>(), 0..40_u32, 0..60_u32, prop_oneof![0..4_u32, 5..60_u32]);
    let depth = prop_oneof![Just(0_u32), Just(0), 1..90_u32];
    (sizes, depth).prop_map(|((seed, words, rules, documents), depth)| {
        Segment::random(seed, words, rules, documents, depth)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn reads_are_those_of_plain_text(
        segment in segments(),
        seed in any::<u32>(),
        count in prop_oneof![0..3_usize, 255..258_usize, 300..700_usize],
    ) {
        let Some(device) = device() else { return Ok(()) };
        let plain = segment.plain();
        let resident = ResidentText::load(&device, &segment.text()).unwrap();
        prop_assert!(resident.memory() <= ResidentText::needed(&segment.text()));
        check_made(&resident, &segment);
        check_extracts(&resident, &plain, seed, count);
        check_words(&resident, &segment, &plain, seed, count);
    }

    #[test]
    fn inserts_are_those_into_plain_text(
        segment in segments(),
        seed in any::<u32>(),
        batches in prop::collection::vec(prop_oneof![0..3_usize, 10..300_usize], 1..4),
    ) {
        let Some(device) = device() else { return Ok(()) };
        prop_assume!(segment.document_starts.len() > 1);
        let mut plain = segment.plain();
        let mut resident = ResidentText::load(&device, &segment.text()).unwrap();
        let mut below = numbers(seed);
        for count in batches {
            let texts: Vec<Vec<u8>> =
                (0..count).map(|number| format!("<{number}>").into_bytes()[..below(4) as usize].to_vec()).collect();
            let inserts: Vec<Insert<'_>> = texts.iter().map(|text| {
                let document = below(plain.documents.len());
                let offset = below(plain.documents[document as usize].len() + 1);
                Insert { document, offset: (below(4) > 0).then_some(offset), text }
            }).collect();
            resident.insert(&Inserts::upload(&device, &inserts).unwrap()).unwrap();
            plain.insert(&inserts);
            check_extracts(&resident, &plain, seed, 200);
        }
    }
}

/// Long documents, frequent words and few documents: searches of both kinds.
#[test]
fn long_texts() {
    let Some(device) = device() else { return };
    for (documents, seed) in [(1, 1), (4, 2), (1200, 3)] {
        let mut segment = Segment::random(seed, 300, 900, 1200, 40);
        let last = *segment.document_starts.last().unwrap();
        let every = 1200 / documents;
        segment.document_starts =
            segment.document_starts[..1200].iter().copied().step_by(every).chain([last]).collect();
        let plain = segment.plain();
        let resident = ResidentText::load(&device, &segment.text()).unwrap();
        check_extracts(&resident, &plain, seed, 2000);
        check_words(&resident, &segment, &plain, seed, 2000);
    }
}

#[test]
fn what_is_too_long_is_refused() {
    let Some(device) = device() else { return };
    let segment = Segment::random(1, 3, 3, 3, 0);
    for text_bytes in [u64::from(u32::MAX), u64::MAX / 2, 1] {
        let text = SegmentText { text_bytes, ..segment.text() };
        let refused = ResidentText::load(&device, &text).unwrap_err();
        assert!(matches!(refused, crate::Error::Unsupported { .. }), "{refused}");
    }
}

#[test]
fn kernels_compile_as_cuda() {
    for module in [&load::MODULE, &batch::MODULE, &pieces::MODULE] {
        match compile_for_cuda(module, "compute_75") {
            Ok(code) => assert!(!code.is_empty()),
            Err(error) => assert!(error.to_string().contains("libnvrtc was not found"), "{error}"),
        }
    }
}
