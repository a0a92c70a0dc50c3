//! The files of the corpus, as texts.

/// The cases of each format, one JSON object per line.
pub const CASES: &[(&str, &str)] = &[
@rust_cases@
];

/// The JSON Schemas by name.
pub const SCHEMAS: &[(&str, &str)] = &[
@rust_schemas@
];

/// The versions, and for each format the rules of comparison and the number of cases.
pub const MANIFEST: &str = include_str!("../data/manifest.json");
