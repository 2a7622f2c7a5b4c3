//! Cases about Unicode: scripts with and without spaces, marks, joiners, spaces of all kinds and
//! letters that change their length when their case is folded.

use super::Case;
use crate::Random;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![mixed_scripts(), random_characters()];
    cases.extend(unspaced());
    cases.extend(marks_and_joiners());
    cases.extend(letters());
    cases
}

/// A line each of many languages, twice, so that lines repeat as wholes.
fn mixed_scripts() -> Case {
    let lines = [
        "The weather is fine today, and we walk along the river.",
        "Das Wetter ist heute schön, und wir gehen am Fluss spazieren.",
        "Il fait beau aujourd'hui, et nous marchons le long de la rivière.",
        "Сегодня хорошая погода, и мы гуляем вдоль реки.",
        "Ο καιρός είναι καλός σήμερα και περπατάμε δίπλα στο ποτάμι.",
        "الطقس جميل اليوم ونحن نمشي على ضفة النهر.",
        "מזג האוויר יפה היום ואנחנו הולכים לאורך הנהר.",
        "आज मौसम अच्छा है और हम नदी के किनारे चल रहे हैं।",
        "오늘은 날씨가 좋아서 우리는 강을 따라 걷는다.",
        "今天天气很好，我们沿着河边散步。",
        "今日は天気がいいので、川沿いを散歩します。",
        "วันนี้อากาศดี เราเดินเล่นริมแม่น้ำ",
        "ມື້ນີ້ອາກາດດີ",
        "ថ្ងៃនេះអាកាសធាតុល្អ",
        "ဒီနေ့ ရာသီဥတု ကောင်းတယ်။",
    ];
    let text = lines.join("\n");
    Case::single("mixed-scripts", format!("{text}\n{text}\n{}", lines[0]))
}

/// Scripts without spaces next to each other, to Latin letters, digits and marks.
fn unspaced() -> Vec<Case> {
    vec![
        Case::single("han", "中文分词测试，中文分词。中文测试！".repeat(30)),
        Case::single("japanese", "サーバーの設定を変更し、サーバーを再起動します。か\u{3099}ぎ".repeat(30)),
        Case::single("thai", "ที่นี่มีน้ำใจ ที่นั่นมีน้ำ ๑๒๓ ".repeat(30)),
        Case::single("lao", "ສະບາຍດີ ຢູ່ທີ່ນີ້ ໑໒ ".repeat(20)),
        Case::single("khmer", "ភាសាខ្មែរ ភាសាខ្មែរ។ ១២៣ ".repeat(20)),
        Case::single("myanmar", "မြန်မာဘာသာ မြန်မာစကား ၁၂၃။ ".repeat(20)),
        Case::single(
            "unspaced-and-latin",
            "USBポートに接続 iPhone用 第3章A版 Pythonで書く x中y文z ไทยabcไทย ខ្មែរkhmer ຢູ່lao မြန်မာmm ーabc 中ー中\n"
                .repeat(20),
        ),
        Case::single(
            "marks-of-unspaced-scripts",
            "ab\u{e31}\u{e48}cd \u{e31} a\u{17d2} ខ\u{301}\u{302}x 中\u{308}a\u{308}中 \u{3099}か \u{103b}z _\u{eb1}_ 1\u{e34}2\n"
                .repeat(10),
        ),
    ]
}

/// Characters made of several, and those with no width.
fn marks_and_joiners() -> Vec<Case> {
    vec![
        Case::single(
            "emoji",
            "👩\u{200d}👩\u{200d}👧 family 🏳\u{fe0f}\u{200d}🌈 flag 👍🏽 ok👍ok 1\u{fe0f}\u{20e3} 😀😀😀 \u{200d}a\u{200d}b \u{200c}c\n"
                .repeat(15),
        ),
        Case::single(
            "composed-and-decomposed",
            "é e\u{301} Å A\u{30a} 각 \u{1100}\u{1161}\u{11a8} ñ n\u{303} \u{301}alone e\u{301}\u{327}\u{308}x\n"
                .repeat(15),
        ),
        Case::single(
            "unicode-spaces",
            "\u{85}\u{a0}\u{1680}\u{2000}\u{2003}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{200b}\u{feff}\u{180e}"
                .chars()
                .map(|space| format!("a{space}b{space}{space}c{space}"))
                .collect::<String>()
                .repeat(4),
        ),
        Case::single("right-to-left", "שלום\u{200f} عالم\u{200e} (123) שלום עולם ٣٤ ۱۲\n".repeat(15)),
    ]
}

/// Letters whose folded form has another length, and letters past the basic plane.
fn letters() -> Vec<Case> {
    vec![
        Case::single(
            "case-folding",
            "I ı İ i ß ẞ SS ss Σ σ ς ﬀ FF ff ǅ Ǆ ǆ Å Å å K K k ŉ ΐ ﬓ Ꭰ ꭰ The THE the STRASSE Straße straße\n"
                .repeat(15),
        ),
        Case::single("past-the-basic-plane", "𝔘𝔫𝔦 𝔘𝔫𝔦 𠀀𠀁 𠀀 𐐷𐐐 𞤀𞤢 𝟙𝟚 😀x\n".repeat(15)),
        Case::single("underscores-and-digits", "_ __ a_b 1_000 ² ½ Ⅷ ① ٣ a1 1a ‿ ⁀\n".repeat(15)),
    ]
}

/// Characters drawn from where lexers go wrong: borders between one, two, three and four bytes,
/// word characters or not, marks or not, spaced or not.
fn random_characters() -> Case {
    let characters = [
        'a',
        'Z',
        '_',
        '7',
        ' ',
        '\n',
        '-',
        '\0',
        '\u{7f}',
        '\u{80}',
        '\u{aa}',
        'é',
        '\u{301}',
        'ß',
        '\u{7ff}',
        '\u{800}',
        '\u{e01}',
        '\u{e31}',
        '\u{e48}',
        '\u{e50}',
        '\u{eb1}',
        '\u{1780}',
        '\u{17d2}',
        '\u{1000}',
        '\u{103a}',
        '\u{200d}',
        '\u{2014}',
        '\u{3001}',
        '\u{3005}',
        'か',
        'カ',
        'ー',
        '\u{3099}',
        '中',
        '\u{d7ff}',
        '\u{e000}',
        '\u{fffd}',
        '\u{ffff}',
        '\u{10000}',
        '𠀀',
        '😀',
        '\u{e0100}',
        '\u{10ffff}',
    ];
    let mut random = Random::new(3);
    Case::numbered(
        "random-characters",
        (0..64).map(|_| {
            let length = random.below(300);
            (0..length).map(|_| random.choose(&characters)).collect::<String>().into_bytes()
        }),
    )
}
