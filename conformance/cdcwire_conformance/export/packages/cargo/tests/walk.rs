use cdcwire_corpus::{bytes, cases, is_asked, walk, Settings, MANIFEST, SCHEMAS};
use serde_json::{json, Value};

#[test]
fn right_and_wrong_answers_are_counted() {
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    for (format, facts) in manifest["formats"].as_object().unwrap() {
        let all: Vec<Value> = cases(format).collect();
        assert_eq!(all.len() as u64, facts["lines"]["stored"].as_u64().unwrap());
        let none = Settings::default();
        let asked: Vec<&Value> = all.iter().filter(|case| is_asked(case, &none)).collect();
        let valid = asked.iter().filter(|case| case["expect"] == "accept").count();
        let mut answers = asked.iter();
        let right = |_: &Value| {
            let case = answers.next().unwrap();
            case.get("events").cloned().ok_or("refused")
        };
        assert_eq!(walk(format, right, |right, given| right == given, &none), (asked.len(), vec![]));
        let refuse = |_: &Value| Err::<Value, _>("refused");
        assert_eq!(walk(format, refuse, |_, _| true, &none).1.len(), valid);
        let read = |_: &Value| Ok::<Value, String>(json!([]));
        assert_eq!(walk(format, read, |_, _| true, &none).1.len(), asked.len() - valid);
        let feature = asked.iter().find_map(|case| case["features"][0].as_str()).unwrap();
        let lacks = |case: &&&Value| case["features"].as_array().unwrap().contains(&json!(feature));
        let settings = Settings { without: vec![feature], choices: vec![] };
        let left = asked.len() - asked.iter().filter(lacks).count();
        assert_eq!(walk(format, refuse, |_, _| true, &settings).0, left);
    }
}

#[test]
fn bytes_and_schemas_are_read() {
    assert_eq!(bytes(&json!("AQI=")), Some(vec![1, 2]));
    assert_eq!(bytes(&Value::Null), None);
    assert!(SCHEMAS.iter().any(|(name, _)| *name == "case-line"));
}
