//! The skills and tasks to test a scorer with: in many scripts, very short, very long, and odd.

use bindings::types::{SkillText, TextChange};

/// The number of skills in a large library.
pub const LARGE_LIBRARY: u32 = 1_000;

/// The length of a task that is a whole ticket, in bytes.
const LONG_TASK: usize = 100 << 10;

/// Updates of a catalog, each with a name. Skills are added in no order, change, are removed, and reuse numbers.
pub fn updates() -> Vec<(&'static str, Vec<TextChange>)> {
    use TextChange::{Gone, Put};
    let other_text = skill(4, "ui/login", "Sign out everywhere at once", &["logout"], "Remove the session.");
    let other_skill = skill(2, "ops/rollback", "Go back to the release before", &["deploy"], "Ask first.");
    vec![
        (
            "one skill was added",
            vec![Put(skill(4, "ui/login", "Sign-in screens", &["login", "form"], "Ask for a password."))],
        ),
        ("others were added", others().into_iter().map(Put).collect()),
        ("one changed and two were removed", vec![Put(other_text), Gone(9), Gone(0)]),
        ("a number was reused for another skill", vec![Gone(2), Put(other_skill)]),
    ]
}

fn others() -> Vec<SkillText> {
    let mut french =
        skill(2, "facturation", "Établir une facture à la fin du mois", &["facture", "été"], "L'échéance…");
    french.aliases = ["billing", "invoice"].map(str::to_owned).into();
    vec![
        skill(40, "long", "A very long skill", &["long"], &"many words and Ünïcödé 文字 \n".repeat(6_000)),
        skill(2_000, "ja/ログイン", "ログイン画面の作り方", &["ログイン", "認証"], "パスワードを確認します。"),
        skill(9, "تسجيل", "تسجيل الدخول إلى الخادم", &["دخول"], "كلمة المرور"),
        skill(0, "emoji", "👩🏽‍💻 e\u{301}\u{200b}\u{202e} \u{0}", &["🚀", "", " "], "\u{feff}\r\n\t"),
        skill(7, "", "", &[], ""),
        french,
        skill(5, "देवनागरी", "ภาษาไทย 한국어 Ελληνικά עברית", &["русский"], "Straße İstanbul ǅ ﬁ"),
    ]
}

/// Tasks that users and agents may send.
pub fn tasks() -> Vec<String> {
    const TICKET: &str = "The login form of the billing page fails since the last release. ";
    let short =
        ["build a login form", "login", "LOGIN!!", "établir une facture d'été", "ログイン画面を作る", "تسجيل الدخول"];
    let odd = ["", " \n\t", "?!", "🚀 e\u{301} \u{0}\u{202e}", "a-b_c/d.e:f@g"];
    let words: String = (0..500).map(|number| format!("word{number} ")).collect();
    let long = [TICKET.repeat(LONG_TASK / TICKET.len()), "x".repeat(LONG_TASK), words.repeat(20)];
    short.into_iter().chain(odd).map(str::to_owned).chain(long).collect()
}

/// A large library of skills with a page of text each.
pub fn large_library() -> Vec<TextChange> {
    const WORDS: [&str; 16] = [
        "deploy", "the", "service", "rotate", "keys", "report", "customer", "invoice", "form", "query", "index",
        "test", "review", "release", "payment", "gateway",
    ];
    let word = |number: u32| format!("{}{}", WORDS[number as usize % WORDS.len()], number % 211);
    let text = |from: u32, count: u32| {
        (0..count).map(|step| word(from.wrapping_mul(31) + step * (step % 7 + 1))).collect::<Vec<_>>().join(" ")
    };
    let generate = |number: u32| {
        let keywords = [word(number), word(number + 3)];
        let keywords: Vec<&str> = keywords.iter().map(String::as_str).collect();
        skill(number, &format!("area/{}-{number}", word(number)), &text(number, 12), &keywords, &text(number + 1, 250))
    };
    (0..LARGE_LIBRARY).map(generate).map(TextChange::Put).collect()
}

fn skill(number: u32, path: &str, description: &str, keywords: &[&str], body: &str) -> SkillText {
    SkillText {
        number,
        name: path.rsplit('/').next().unwrap_or(path).to_owned(),
        path: path.to_owned(),
        description: description.to_owned(),
        keywords: keywords.iter().map(|&word| word.to_owned()).collect(),
        aliases: Vec::new(),
        body: body.to_owned(),
    }
}
