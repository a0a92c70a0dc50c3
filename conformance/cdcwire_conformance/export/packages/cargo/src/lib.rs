//! Walks the golden cases of cdcwire. data/README.md describes a case, data/COMPARISON.md the comparison.

use serde_json::Value;
use std::panic::{catch_unwind, AssertUnwindSafe};

mod files;
pub use files::{CASES, MANIFEST, SCHEMAS};

/// The features that a decoder lacks, and its choices as (subject, choice).
#[derive(Default)]
pub struct Settings<'a> {
    pub without: Vec<&'a str>,
    pub choices: Vec<(&'a str, &'a str)>,
}

/// A wrong answer. A binding one is a bug of the decoder.
#[derive(Debug, PartialEq)]
pub struct Failure {
    pub id: String,
    pub binding: bool,
    pub problem: String,
}

/// Yields each case of a format. An unknown format has none.
pub fn cases(format: &str) -> impl Iterator<Item = Value> {
    let text = CASES.iter().find(|(name, _)| *name == format).map_or("", |(_, text)| text);
    text.lines().map(|line| serde_json::from_str(line).expect("a line of the corpus is JSON"))
}

/// Returns the bytes of a key or value of a message; None is Kafka's null.
pub fn bytes(value: &Value) -> Option<Vec<u8>> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut found, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for letter in value.as_str()?.bytes().filter(|letter| *letter != b'=') {
        bits = (bits << 6) | LETTERS.iter().position(|each| *each == letter)? as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            found.push((bits >> count) as u8);
        }
    }
    Some(found)
}

/// Returns whether a decoder with these settings is asked a case.
pub fn is_asked(case: &Value, settings: &Settings) -> bool {
    let (subject, choice) = choice_of(case);
    let is_other = settings.choices.iter().any(|(name, mine)| *name == subject && *mine != choice);
    let lacks = |feature: &Value| settings.without.iter().any(|each| feature == each);
    case["expect"] != "encode" && !is_other && !case["features"].as_array().unwrap().iter().any(lacks)
}

/// Gives the request of each case to `decode`, whose error is a refusal. A panic is a crash.
/// `same` compares the right events with the given ones. Returns the number of asked cases.
pub fn walk<T, E: std::fmt::Display>(
    format: &str,
    mut decode: impl FnMut(&Value) -> Result<T, E>,
    same: impl Fn(&Value, &T) -> bool,
    settings: &Settings,
) -> (usize, Vec<Failure>) {
    let (mut asked, mut failures) = (0, Vec::new());
    for case in cases(format).filter(|case| is_asked(case, settings)) {
        asked += 1;
        let is_valid = case["expect"] == "accept";
        let answer = catch_unwind(AssertUnwindSafe(|| match decode(&case["request"]) {
            Err(error) if is_valid => Some(format!("refused a valid message: {error}")),
            Ok(_) if !is_valid => Some("read a malformed message".to_string()),
            Ok(given) if !same(&case["events"], &given) => Some("gave other events".to_string()),
            _ => None,
        }));
        if let Some(problem) = answer.unwrap_or_else(|_| Some("crashed".to_string())) {
            let is_chosen = settings.choices.iter().any(|(name, _)| *name == choice_of(&case).0);
            let binding = case["level"] == "must" || (case["level"] == "may" && is_chosen);
            let id = case["id"].as_str().unwrap_or_default().to_string();
            failures.push(Failure { id, binding, problem });
        }
    }
    (asked, failures)
}

fn choice_of(case: &Value) -> (&str, &str) {
    case["choice"].as_str().and_then(|text| text.split_once(": ")).unwrap_or_default()
}
