//! Finds the lines of two files that differ, by Myers' algorithm, with changes placed like GNU diff.

use std::ops::Range;

/// Lines of the old file replaced by lines of the new one. One range may be empty.
pub struct Change {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// With more changed lines the search takes too much memory, and the middle counts as one change.
const MAX_CHANGES: usize = 4000;

pub fn changes<Line: PartialEq>(old: &[Line], new: &[Line]) -> Vec<Change> {
    let prefix = old.iter().zip(new).take_while(|(left, right)| left == right).count();
    let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(left, right)| left == right).count();
    let (old_middle, new_middle) = (&old_rest[..old_rest.len() - suffix], &new_rest[..new_rest.len() - suffix]);
    if old_middle.is_empty() && new_middle.is_empty() {
        return Vec::new();
    }
    let kept = kept_pairs(old_middle, new_middle).unwrap_or_default();
    let end = (old.len() - suffix, new.len() - suffix);
    let mut found = Vec::new();
    let (mut old_at, mut new_at) = (prefix, prefix);
    let kept = kept.into_iter().map(|(left, right)| (left + prefix, right + prefix));
    for (left, right) in kept.chain([end]) {
        if old_at < left || new_at < right {
            found.push(Change { old: old_at..left, new: new_at..right });
        }
        (old_at, new_at) = (left + 1, right + 1);
    }
    shift_late(found, old, new)
}

/// Returns the longest common subsequence, as pairs of positions.
fn kept_pairs<Line: PartialEq>(old: &[Line], new: &[Line]) -> Option<Vec<(usize, usize)>> {
    let width = old.len() + new.len();
    let limit = width.min(MAX_CHANGES);
    // `furthest[k]` is the position reached in the old file on diagonal `k - limit`; one copy is kept per round.
    let mut furthest = vec![0_usize; 2 * limit + 3];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for round in 0..=limit {
        rounds.push(furthest[limit + 1 - round..=limit + 1 + round].to_vec());
        for diagonal in (limit + 1 - round..=limit + 1 + round).step_by(2) {
            let down = round == 0
                || diagonal == limit + 1 - round
                || (diagonal != limit + 1 + round && furthest[diagonal - 1] < furthest[diagonal + 1]);
            let mut left = if down { furthest[diagonal + 1] } else { furthest[diagonal - 1] + 1 };
            if round == 0 {
                left = 0;
            }
            let mut right = (left + limit + 1).checked_sub(diagonal)?;
            while left < old.len() && right < new.len() && old[left] == new[right] {
                left += 1;
                right += 1;
            }
            furthest[diagonal] = left;
            if left >= old.len() && right >= new.len() {
                return Some(traced(&rounds, round, old.len(), new.len()));
            }
        }
    }
    None
}

/// Traces back through the rounds and collects the kept lines.
fn traced(rounds: &[Vec<usize>], last: usize, old: usize, new: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut left, mut right) = (old, new);
    for round in (1..=last).rev() {
        // `reached[i]` belongs to diagonal `i - round`, where a diagonal is old minus new.
        let reached = &rounds[round];
        let centre = round;
        let index = centre + left - right;
        let down = index == 0 || (index != 2 * round && reached[index - 1] < reached[index + 1]);
        let (from_left, from_right) = if down {
            let from = reached[index + 1];
            (from, from + centre - (index + 1))
        } else {
            let from = reached[index - 1];
            (from, from + centre - (index - 1))
        };
        let (start_left, start_right) = if down { (from_left, from_right + 1) } else { (from_left + 1, from_right) };
        while left > start_left && right > start_right {
            left -= 1;
            right -= 1;
            pairs.push((left, right));
        }
        (left, right) = (from_left, from_right);
    }
    while left > 0 && right > 0 {
        left -= 1;
        right -= 1;
        pairs.push((left, right));
    }
    pairs.reverse();
    pairs
}

/// Among equal lines, moves a pure insertion or deletion as late as possible.
fn shift_late<Line: PartialEq>(found: Vec<Change>, old: &[Line], new: &[Line]) -> Vec<Change> {
    let mut placed: Vec<Change> = Vec::new();
    for mut change in found.into_iter().rev() {
        let end = placed.last().map_or((old.len(), new.len()), |next| (next.old.start, next.new.start));
        loop {
            let can_slide = change.old.end < end.0 && change.new.end < end.1;
            let slides = can_slide
                && if change.new.is_empty() {
                    old[change.old.start] == old[change.old.end]
                } else {
                    change.old.is_empty() && new[change.new.start] == new[change.new.end]
                };
            if !slides {
                break;
            }
            change.old = change.old.start + 1..change.old.end + 1;
            change.new = change.new.start + 1..change.new.end + 1;
        }
        match placed.last_mut() {
            Some(next) if change.old.end == next.old.start && change.new.end == next.new.start => {
                next.old.start = change.old.start;
                next.new.start = change.new.start;
            }
            _ => placed.push(change),
        }
    }
    placed.reverse();
    placed
}

#[cfg(test)]
mod tests {
    use super::changes;

    fn found(old: &str, new: &str) -> Vec<(usize, usize, usize, usize)> {
        let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        let found = changes(&old, &new);
        found.iter().map(|change| (change.old.start, change.old.end, change.new.start, change.new.end)).collect()
    }

    #[test]
    fn lines_are_found() {
        assert_eq!(found("abc", "abc"), []);
        assert_eq!(found("abc", "axc"), [(1, 2, 1, 2)]);
        assert_eq!(found("", "ab"), [(0, 0, 0, 2)]);
        assert_eq!(found("ab", ""), [(0, 2, 0, 0)]);
        assert_eq!(found("abcdefg", "bxdegh"), [(0, 1, 0, 0), (2, 3, 1, 2), (5, 6, 4, 4), (7, 7, 5, 6)]);
    }

    #[test]
    fn insertions_are_placed_late() {
        assert_eq!(found("u.a", "u.n.a"), [(2, 2, 2, 4)]);
    }
}
