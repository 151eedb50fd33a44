use super::*;
use crate::memory::operator;

fn codes(findings: &[Finding]) -> Vec<(&str, Option<u32>)> {
    findings.iter().map(|finding| (finding.code, finding.line)).collect()
}

#[test]
fn the_stock_file_of_other_servers_changes_nothing() {
    let stock = "\
matching:\n  min_score: 0.2\n  max_results: 3\n  ambiguity_threshold: 0.1\nrefresh:\n  enabled: true\n  interval_minutes: 15\n\
scripts:\n  enabled: true\n  timeout_seconds: 60\n  max_output_bytes: 1000\n  allowed_extensions:\n    - .sh\n    - .ts\n    \
- .js\n    - .py\n  runners:\n    \".sh\": \"bash\"\n    \".ts\": \"npx tsx\"\n    \".js\": \"node\"\n    \".py\": \"python3\"\n\
assets:\n  max_size_bytes: 1048576\n  inline_text_max_bytes: 10240\nanalytics:\n  enabled: false\n  endpoint: \"\"\n";
    let (settings, findings) = read(stock, &operator());
    assert_eq!(codes(&findings), []);
    assert_eq!(settings.scripts, operator().scripts);
    assert_eq!(settings.max_size_bytes, Some(1_048_576));
}

#[test]
fn content_can_lower_and_switch_off() {
    let text = "scripts: {timeout_seconds: 5, fuel: 10, allowed_extensions: [py, .JS]}";
    let (settings, findings) = read(text, &operator());
    assert_eq!((settings.scripts.timeout_seconds, settings.scripts.fuel), (5, 10));
    assert_eq!(settings.scripts.allowed_extensions, [".py", ".js"]);
    assert_eq!(codes(&findings), []);
    assert!(!read("scripts: {enabled: false}", &operator()).0.scripts.enabled);
}

#[test]
fn content_cannot_raise_enable_grant_or_choose() {
    let mut disabled = operator();
    disabled.scripts.enabled = false;
    let (settings, findings) = read("scripts:\n  enabled: true\n", &disabled);
    assert_eq!((settings.scripts.enabled, codes(&findings)), (false, vec![("forbidden-setting", Some(2))]));
    for (text, code, line) in [
        ("scripts:\n  timeout_seconds: 61\n", "raised-limit", 2),
        ("scripts:\n  memory_bytes: 99999999\n", "raised-limit", 2),
        ("scripts:\n  memory_bytes: 999999999999999999999999999999\n", "raised-limit", 2),
        ("scripts:\n  allowed_extensions: [.py, .js, .sh, .ts, .rb]\n", "raised-limit", 2),
        ("scripts:\n  runners:\n    .py: /tmp/evil.wasm\n", "forbidden-setting", 3),
        ("scripts:\n  runners:\n    .sh: python3\n", "forbidden-setting", 3),
        ("scripts:\n  runners:\n    .sh: [bash]\n", "forbidden-setting", 3),
        ("scripts:\n  runs_at_once: 99\n", "forbidden-setting", 2),
        ("assets:\n  max_size_bytes: 1048577\n", "raised-limit", 2),
        ("assets:\n\n  inline_text_max_bytes: 18446744073709551616\n", "raised-limit", 3),
        ("grants:\n  /a: {}\n", "forbidden-setting", 1),
        ("git: {credential_helper: true}\n", "forbidden-setting", 1),
        ("repos: [https://evil.example/a]\n", "forbidden-setting", 1),
        ("profile: sk\n", "forbidden-setting", 1),
        ("matching:\n  scorer: evil.wasm\n", "forbidden-setting", 2),
        ("matching:\n  scorer: keyword\n", "forbidden-setting", 2),
        ("integrations: [evil.wasm]\n", "forbidden-setting", 1),
        ("analytics:\n  endpoint: https://evil.example\n", "forbidden-setting", 2),
        ("analytics:\n  enabled: true\n", "forbidden-setting", 2),
        ("analytics:\n  include_text: true\n", "forbidden-setting", 2),
    ] {
        let (settings, findings) = read(text, &operator());
        assert_eq!(codes(&findings), [(code, Some(line))], "{text}");
        assert_eq!(settings, FileSettings::unset(&operator()), "{text}");
    }
}

#[test]
fn invalid_settings_are_reported_with_their_line_and_ignored() {
    for (text, code, line) in [
        ("other: 1\n", "unknown-key", 1),
        ("other:\n", "unknown-key", 1),
        ("scripts:\n  tiemout: 1\n", "unknown-key", 2),
        ("matching:\n  minscore:\n", "unknown-key", 2),
        ("refresh:\n  every: 1\n", "unknown-key", 2),
        ("assets:\n  max_size: 1\n", "unknown-key", 2),
        ("matching: [min_score]\n", "wrong-type", 1),
        ("matching: 0.5\n", "wrong-type", 1),
        ("refresh: false\n", "wrong-type", 1),
        ("assets: 100\n", "wrong-type", 1),
        ("analytics: [x]\n", "wrong-type", 1),
        ("matching:\n  min_score: high\n", "wrong-type", 2),
        ("matching:\n  min_score: '0.5'\n", "wrong-type", 2),
        ("matching:\n  min_score: [0.5]\n", "wrong-type", 2),
        ("matching:\n  min_score: {a: 0.5}\n", "wrong-type", 2),
        ("matching:\n  min_score: .nan\n", "wrong-type", 2),
        ("matching:\n  min_score: NaN\n", "wrong-type", 2),
        ("matching:\n  min_score: .inf\n", "wrong-type", 2),
        ("matching:\n  min_score: 1.1\n", "out-of-range", 2),
        ("matching:\n  min_score: -0.1\n", "out-of-range", 2),
        ("matching:\n  ambiguity_threshold: 1e300\n", "out-of-range", 2),
        ("matching:\n  ambiguity_threshold: true\n", "wrong-type", 2),
        ("matching:\n  max_results: 0\n", "out-of-range", 2),
        ("matching:\n  max_results: 101\n", "out-of-range", 2),
        ("matching:\n  max_results: 4294967299\n", "out-of-range", 2),
        ("matching:\n  max_results: 99999999999999999999999999\n", "out-of-range", 2),
        ("matching:\n  max_results: 2.5\n", "wrong-type", 2),
        ("matching:\n  max_results: -1\n", "wrong-type", 2),
        ("refresh:\n  enabled: yes\n", "wrong-type", 2),
        ("refresh:\n  enabled: 1\n", "wrong-type", 2),
        ("refresh:\n  interval_minutes: 0\n", "out-of-range", 2),
        ("refresh:\n  interval_minutes: 525601\n", "out-of-range", 2),
        ("refresh:\n  interval_minutes: soon\n", "wrong-type", 2),
        ("assets:\n  max_size_bytes: 1MB\n", "wrong-type", 2),
        ("assets:\n  max_size_bytes: -1\n", "wrong-type", 2),
        ("assets:\n  inline_text_max_bytes: 1.5\n", "wrong-type", 2),
    ] {
        let (settings, findings) = read(text, &operator());
        assert_eq!(codes(&findings), [(code, Some(line))], "{text}");
        assert_eq!(settings, FileSettings::unset(&operator()), "{text}");
    }
}

#[test]
fn invalid_script_settings_disable_scripts() {
    for text in [
        "scripts: [",
        "- a",
        "text",
        "scripts: {enabled: false}\n--- \nscripts: {enabled: true}",
        "a: 1\n---\nb: 1\n",
        "scripts:\n\tenabled: false\n",
        "scripts: false",
        "scripts: []",
        "scripts: {enabled: maybe}",
        "scripts: {enabled: 'false'}",
        "scripts: {timeout_seconds: 1.5}",
        "scripts: {timeout_seconds: -1}",
        "scripts: {timeout_seconds: '5'}",
        "scripts: {allowed_extensions: .py}",
        "scripts: {allowed_extensions: [.py, [.js]]}",
        "scripts: {allowed_extensions: [.py, null]}",
        "scripts: {runners: [bash]}",
    ] {
        let (settings, findings) = read(text, &operator());
        assert!(!settings.scripts.enabled && findings.len() == 1 && findings[0].line.is_some(), "{text}: {findings:?}");
    }
}

#[test]
fn an_empty_file_changes_nothing() {
    for text in
        ["", "# nothing yet\n", "\u{feff}", "---\n", "scripts:\nmatching: ~\n", "scripts: {enabled: , fuel: }\n"]
    {
        assert_eq!(read(text, &operator()), (FileSettings::unset(&operator()), Vec::new()), "{text:?}");
    }
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    let (settings, findings) = read("\u{feff}matching:\r\n  min_score: 0.5\r\n", &operator());
    assert_eq!((settings.min_score, codes(&findings)), (Some(0.5), vec![]));
}

#[test]
fn the_first_duplicate_counts_and_the_lowest_limit() {
    let text = "\
matching: {min_score: 0.5, min_score: 0.6}\nscripts: {fuel: 9, fuel: 20}\nscripts: {fuel: 10}\nassets: {max_size_bytes: 9}\n\
assets: {max_size_bytes: 5}\nscripts: {enabled: false, enabled: true}\n";
    let (settings, findings) = read(text, &operator());
    assert_eq!((settings.min_score, settings.scripts.fuel, settings.max_size_bytes), (Some(0.5), 9, Some(5)));
    assert!(!settings.scripts.enabled);
    let mut lines: Vec<_> = codes(&findings);
    lines.sort_by_key(|(_, line)| *line);
    let twice = |line| ("duplicate-key", Some(line));
    assert_eq!(lines, [twice(1), twice(2), twice(3), twice(5), twice(6), twice(6)]);
}
