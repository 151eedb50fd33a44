//! The language of a task, recognized by its function words and its script.

use scorer_bm25::stop_words::{is_english, is_french};
use scorer_bm25::words::each_compound;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    French,
    German,
    Spanish,
}

impl Language {
    /// The language that most function words of a task belong to; English if there are none.
    pub fn of(task: &str) -> Self {
        let mut counts = [0_u32; 4];
        each_compound(task, |word| {
            for (count, language) in counts.iter_mut().zip(ALL) {
                *count += u32::from(language.has(word));
            }
        });
        let best = counts.iter().max().copied().unwrap_or_default();
        let place = counts.iter().position(|count| *count == best).unwrap_or_default();
        ALL[place]
    }

    /// Whether a word is a function word of the language.
    pub fn has(self, word: &str) -> bool {
        match self {
            Self::English => is_english(word),
            Self::French => is_french(word),
            Self::German => GERMAN.binary_search(&word).is_ok(),
            Self::Spanish => SPANISH.binary_search(&word).is_ok(),
        }
    }
}

const ALL: [Language; 4] = [Language::English, Language::French, Language::German, Language::Spanish];

/// Sorted, without accents.
const GERMAN: &[&str] = &[
    "aber", "alle", "allen", "alles", "als", "am", "an", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bitte",
    "da", "damit", "dann", "das", "dass", "dein", "dem", "den", "denn", "der", "des", "die", "dies", "diese", "diesem",
    "diesen", "dieser", "dieses", "doch", "du", "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er",
    "erstelle", "es", "etwas", "fur", "ganz", "gegen", "habe", "haben", "hat", "ich", "ihm", "ihn", "ihnen", "ihr",
    "ihre", "ihren", "im", "in", "ins", "ist", "ja", "jede", "jeder", "jedes", "kann", "kein", "keine", "keinen",
    "konnen", "konnte", "man", "mehr", "mein", "meine", "meinen", "mich", "mir", "mit", "muss", "mussen", "nach",
    "nicht", "noch", "nur", "ob", "oder", "ohne", "schon", "sehr", "sein", "seine", "seit", "sich", "sie", "sind",
    "so", "soll", "sollen", "sollte", "uber", "um", "und", "uns", "unser", "unsere", "unserem", "unseren", "unserer",
    "unter", "viel", "vom", "von", "vor", "wann", "war", "warum", "was", "wegen", "weil", "welche", "welcher",
    "welches", "wenn", "wer", "werden", "wie", "wieder", "will", "wir", "wird", "wo", "wurde", "zu", "zum", "zur",
    "zwei", "zwischen",
];

/// Sorted, without accents.
const SPANISH: &[&str] = &[
    "a", "al", "algo", "ante", "antes", "aqui", "asi", "aunque", "cada", "como", "con", "contra", "cual", "cuando",
    "de", "del", "desde", "despues", "donde", "dos", "el", "ella", "ellos", "en", "entre", "era", "es", "esa", "ese",
    "eso", "esta", "estamos", "estan", "estar", "este", "esto", "estos", "fue", "ha", "hace", "hacer", "han", "hasta",
    "hay", "la", "las", "le", "les", "lo", "los", "mas", "me", "mi", "mis", "muy", "necesito", "ni", "no", "nos",
    "nuestra", "nuestras", "nuestro", "nuestros", "o", "otra", "otro", "para", "pero", "poco", "por", "porque",
    "puede", "puedo", "que", "quien", "quiero", "se", "ser", "si", "sin", "sobre", "son", "su", "sus", "tambien", "te",
    "tengo", "tiene", "tienen", "todo", "todos", "tu", "un", "una", "uno", "unos", "y", "ya", "yo",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_reveal_the_language() {
        for (task, language) in [
            ("How do I make a backup of the base?", Language::English),
            ("Comment faire une sauvegarde de la base ?", Language::French),
            ("Wie mache ich eine Sicherung von der Datenbank?", Language::German),
            ("¿Cómo hago una copia de los datos?", Language::Spanish),
            ("kubernetes", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(Language::of(task), language, "{task}");
        }
    }

    #[test]
    fn the_lists_are_sorted() {
        assert!(GERMAN.is_sorted() && SPANISH.is_sorted());
    }
}
