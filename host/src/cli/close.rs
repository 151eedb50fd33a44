//! Words that somebody who mistyped one may have meant.

/// Most words that are offered.
const MOST: usize = 5;

/// Those that are about the same, the closest first.
pub fn close<'known>(wanted: &str, known: impl IntoIterator<Item = &'known str>) -> Vec<&'known str> {
    let plain = |word: &str| word.to_ascii_lowercase().replace(['-', '.'], "_");
    let wanted = plain(wanted);
    let mut close: Vec<(usize, &str)> = Vec::new();
    for word in known {
        let (name, distance) = (plain(word), distance(&wanted, &plain(word)));
        let is_part = wanted.len() > 3 && (name.contains(&wanted) || wanted.contains(&name));
        if is_part || distance <= 1 + name.len() / 4 {
            close.push((distance, word));
        }
    }
    close.sort_unstable();
    close.into_iter().take(MOST).map(|(_, word)| word).collect()
}

/// How many single letters differ between two words.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
