//! Sizes, counts and times: as people write them, and as they read them.

use std::time::Duration;

use tadoc::Timestamp;

/// A number of rows or bytes as one in memory, which has as many bits.
#[expect(clippy::cast_possible_truncation, reason = "tadoc-core builds for 64-bit targets only")]
pub const fn usize_of(number: u64) -> usize {
    number as usize
}

/// A size in bytes such as `512M`, `1GiB`, `1.5G` or `4096`; units are powers of 1024.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fraction of a byte is dropped; what 64 bits do not hold is an error"
)]
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("expected a size such as 512M, 1.5G or 2GiB (powers of 1024), found `{text}`");
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let power = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return Err(wrong()),
    };
    let factor = 1024u64.pow(power);
    if let Ok(whole) = number.parse::<u64>() {
        return whole
            .checked_mul(factor)
            .ok_or_else(|| format!("`{text}` is more than 2^64 bytes"));
    }
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = number * factor as f64;
    if bytes >= u64::MAX as f64 {
        return Err(format!("`{text}` is more than 2^64 bytes"));
    }
    Ok(bytes as u64)
}

/// A size for people: `17 B`, `1.5 KiB`, `230 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 and more would print as 1024.0.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A count for people, with separators: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut result = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    result
}

/// A count and its noun: `1 document`, `2 documents`.
pub fn counted(value: u64, noun: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(value))
}

/// What part of `whole` a `part` is: `17.7%`; of nothing, `-`.
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "-".into() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}

/// A duration for people: `85 ms`, `2.4 s`, `3 min 20 s`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 0.9995 {
        format!("{:.0} ms", seconds * 1000.0)
    } else if seconds < 59.95 {
        format!("{seconds:.1} s")
    } else {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a duration is not below 0, and `Duration` has its seconds in 64 bits"
        )]
        let whole = seconds.round() as u64;
        format!("{} min {} s", whole / 60, whole % 60)
    }
}

/// A duration that is an estimate: `20 s`, `3 min`, `2 h 10 min`.
pub fn rough_duration(seconds: f64) -> String {
    // Up to a minute in steps of five seconds, but for the last ones.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "1 or more; what 64 bits do not hold saturates"
    )]
    let whole = seconds.ceil().max(1.0) as u64;
    match whole {
        0..=9 => format!("{whole} s"),
        10..=57 => format!("{} s", whole.next_multiple_of(5)),
        58..=3570 => format!("{} min", (whole + 30) / 60),
        _ => format!("{} h {} min", (whole + 30) / 3600, (whole + 30) % 3600 / 60),
    }
}

/// A moment for people: `2024-05-01 12:24:05 UTC`, to the second.
pub fn moment_for_people(time: Timestamp) -> String {
    let whole = Timestamp { nanoseconds: 0, ..time }.to_string();
    whole.replace('T', " ").replace('Z', " UTC")
}

/// Permission bits as `chmod` takes them: `0644`.
pub fn mode(mode: u32) -> String {
    format!("{mode:04o}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_rough() {
        for (seconds, told) in [
            (0.2, "1 s"),
            (9.0, "9 s"),
            (11.0, "15 s"),
            (57.5, "1 min"),
            (100.0, "2 min"),
            (3600.0, "1 h 0 min"),
            (7800.0, "2 h 10 min"),
        ] {
            assert_eq!(rough_duration(seconds), told);
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!(parse_size("0"), Ok(0));
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("512M"), Ok(512 << 20));
        assert_eq!(parse_size("1GiB"), Ok(1 << 30));
        assert_eq!(parse_size("1 gb"), Ok(1 << 30));
        assert_eq!(parse_size("1.5G"), Ok(3 << 29));
        assert_eq!(parse_size(".5k"), Ok(512));
        assert_eq!(parse_size("2T"), Ok(2 << 40));
        assert_eq!(parse_size("18446744073709551615"), Ok(u64::MAX));
        for wrong in
            ["", "G", "-1G", "1X", "1.2.3G", "1e9", "nan", "99999999T", "18446744073709551616"]
        {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size((1 << 20) - 1), "1.0 MiB");
        assert_eq!(size(u64::MAX), "16.0 EiB");
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "document"), "1 document");
        assert_eq!(counted(0, "document"), "0 documents");
        assert_eq!(share(1, 8), "12.5%");
        assert_eq!(share(1, 0), "-");
        assert_eq!(duration(Duration::from_millis(85)), "85 ms");
        assert_eq!(duration(Duration::from_millis(2400)), "2.4 s");
        assert_eq!(duration(Duration::from_secs(200)), "3 min 20 s");
        assert_eq!(mode(0o644), "0644");
        assert_eq!(mode(0o4755), "4755");
    }

    #[test]
    fn moments() {
        let at = |seconds, nanoseconds| Timestamp { seconds, nanoseconds }.to_string();
        assert_eq!(at(0, 0), "1970-01-01T00:00:00Z");
        assert_eq!(at(-1, 5), "1969-12-31T23:59:59.000000005Z");
        assert_eq!(at(951_782_400, 0), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_714_566_245, 0), "2024-05-01T12:24:05Z");
        assert_eq!(at(4_107_542_399, 0), "2100-02-28T23:59:59Z");
        assert_eq!(at(4_107_542_400, 0), "2100-03-01T00:00:00Z");
        let shown = moment_for_people(Timestamp { seconds: 1_714_566_245, nanoseconds: 9 });
        assert_eq!(shown, "2024-05-01 12:24:05 UTC");
    }
}
