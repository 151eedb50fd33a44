//! Suggestions for mistyped names.

use strsim::levenshtein;

const MAX_SUGGESTIONS: usize = 5;

/// Returns the names that resemble `mistyped`, closest first.
pub fn close_names<'known>(mistyped: &str, known: impl IntoIterator<Item = &'known str>) -> Vec<&'known str> {
    let normalized = |name: &str| name.to_ascii_lowercase().replace(['-', '.'], "_");
    let mistyped = normalized(mistyped);
    let mut close: Vec<(usize, &str)> = Vec::new();
    for name in known {
        let normal = normalized(name);
        let distance = levenshtein(&mistyped, &normal);
        let is_part = mistyped.len() > 3 && (normal.contains(&mistyped) || mistyped.contains(&normal));
        if is_part || distance <= 1 + normal.len() / 4 {
            close.push((distance, name));
        }
    }
    close.sort_unstable();
    close.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name).collect()
}
