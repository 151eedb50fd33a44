//! Words that do not change the meaning of a question.

/// Filler words of English questions.
#[rustfmt::skip]
pub const FILLERS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "anything", "are", "as", "at", "be", "been", "being", "by",
    "can", "check", "could", "currently", "details", "did", "display", "do", "does", "fetch", "find", "for", "from",
    "get", "give", "had", "hand", "has", "have", "hello", "help", "here", "hey", "hi", "how", "i", "if", "in", "info",
    "information", "is", "it", "its", "just", "kindly", "know", "latest", "let", "like", "list", "look", "m", "many",
    "me", "need", "now", "of", "on", "or", "our", "out", "please", "pull", "query", "read", "regarding", "related",
    "retrieve", "return", "right", "s", "see", "show", "some", "summarise", "summarize", "summary", "tell", "that",
    "the", "their", "them", "then", "there", "these", "they", "thing", "things", "this", "to", "up", "us", "view",
    "want", "was", "we", "were", "what", "when", "where", "whether", "which", "who", "whose", "will", "with", "would",
    "you", "your",
];

/// Words that introduce a request.
#[rustfmt::skip]
const POLITE: &[&str] = &[
    "can", "could", "hello", "hey", "hi", "i", "just", "kindly", "like", "need", "now", "please", "to", "us", "want",
    "we", "will", "would", "you",
];

/// Verbs that request a change if they come first.
#[rustfmt::skip]
const CHANGING: &[&str] = &[
    "add", "approve", "archive", "assign", "cancel", "change", "close", "create", "delete", "dismiss", "edit", "fix",
    "fork", "invite", "lock", "make", "mark", "merge", "move", "open", "post", "publish", "push", "put", "release",
    "remove", "rename", "reopen", "reply", "rerun", "resolve", "restart", "retry", "revert", "run", "send", "set",
    "start", "stop", "submit", "trigger", "unassign", "update", "upload", "write",
];

/// Nouns after such a verb that make it a question, as in `merge conflicts`.
const NAMING: &[&str] = &["conflict", "conflicts", "state", "status"];

/// Whether folded words request a change, which integrations never make.
pub fn asks_for_a_change(words: &[String]) -> bool {
    let mut words = words.iter().map(String::as_str).skip_while(|word| POLITE.contains(word));
    let Some(first) = words.next().filter(|word| CHANGING.contains(word)) else { return false };
    match (first, words.next()) {
        ("open", next) => matches!(next, Some("a" | "an" | "the" | "this" | "that" | "new" | "up")),
        ("release" | "run", next) => matches!(next, Some("a" | "an" | "the" | "this" | "that" | "new" | "it" | "all")),
        (_, next) => next.is_none_or(|next| !NAMING.contains(&next)),
    }
}
