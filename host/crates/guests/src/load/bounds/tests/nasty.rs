//! Programs that are small and take the compiler long.

/// Numbered copies of a text, in which `#` is the number.
fn times(count: usize, text: &str) -> String {
    (0..count).map(|i| text.replace('#', &i.to_string())).collect()
}

fn module(definitions: &str) -> Vec<u8> {
    wat::parse_str(format!("(module (memory (export \"memory\") 1) {definitions})")).expect("valid text")
}

fn start(locals: &str, body: &str) -> String {
    format!("(func (export \"_start\") {locals} {body})")
}

fn locals(count: usize) -> String {
    format!("(local {})", times(count, "i32 "))
}

/// Every local is changed on one side of every branch.
pub fn phis(count: usize, branches: usize) -> Vec<u8> {
    let change = |i: usize| format!("(if (i32.load (local.get {i})) (then (local.set {i} (i32.const {i}))))");
    let body: String = (0..branches).map(|i| change(i % count)).collect();
    let uses = times(count, "(i32.store (i32.const 0) (local.get #))");
    module(&start(&locals(count), &(body + &uses)))
}

/// Every local is live through loops inside loops.
pub fn nested_loops(count: usize, depth: usize) -> Vec<u8> {
    let uses = times(count, "(local.set # (i32.add (local.get #) (i32.const 1)))");
    let ends = times(depth, "(br_if 0 (local.get 0)) end ");
    module(&start(&locals(count), &format!("{} {uses} {ends}", "loop ".repeat(depth))))
}

/// Loops after one another, each of which uses every local.
pub fn loops(count: usize, loops: usize) -> Vec<u8> {
    let body: String = (0..loops)
        .map(|i| {
            format!(
                "(loop (br_if 0 (local.tee {} (i32.add (local.get {}) (i32.const 1)))))",
                i % count,
                (i * 7) % count
            )
        })
        .collect();
    let uses = times(count, "(i32.store (i32.const 0) (local.get #))");
    module(&start(&locals(count), &(body + &uses)))
}

/// Many values on the stack, below many branches.
pub fn deep_stack(values: usize, branches: usize) -> Vec<u8> {
    let push = times(values, "(i32.load offset=# (i32.const 0))");
    let branch = "(if (i32.load (i32.const 4)) (then (i32.store (i32.const 0) (i32.const 1))))".repeat(branches);
    let pop = "i32.add ".repeat(values - 1);
    module(&start("", &format!("{push} {branch} {pop} drop")))
}

/// Jumps with many targets that carry many values.
pub fn jump_tables(arity: usize, targets: usize, tables: usize) -> Vec<u8> {
    let results = "i32 ".repeat(arity);
    let push = times(arity, "(i32.load offset=# (i32.const 0))");
    let table = format!(
        "(block (result {results}) {push} (br_table {} (i32.load (i32.const 0)))) {}",
        "0 ".repeat(targets),
        "drop ".repeat(arity)
    );
    module(&start("", &table.repeat(tables)))
}

/// A jump to each of many blocks, from inside of all of them, with live locals.
pub fn nested_targets(count: usize, depth: usize) -> Vec<u8> {
    let table = format!("(br_table {} (local.get 0))", times(depth, "# "));
    let ends: String = (0..depth).map(|i| format!("(local.set {} (i32.const {i})) end ", i % count)).collect();
    let uses = times(count, "(i32.store (i32.const 0) (local.get #))");
    module(&start(&locals(count), &format!("{} {table} {ends} {uses}", "block ".repeat(depth))))
}

/// Jumps out of blocks with many results.
pub fn wide_branches(arity: usize, branches: usize) -> Vec<u8> {
    let results = "i32 ".repeat(arity);
    let push = times(arity, "(i32.load offset=# (i32.const 0))");
    let branch = "(br_if 0 (i32.load (i32.const 0)))".repeat(branches);
    module(&start("", &format!("(block (result {results}) {push} {branch}) {}", "drop ".repeat(arity))))
}

/// Calls with many parameters and results.
pub fn wide_calls(arity: usize, calls: usize) -> Vec<u8> {
    let values = "i32 ".repeat(arity);
    let called = format!("(func $f (param {values}) (result {values}) {})", times(arity, "local.get # "));
    let push = "(i32.load (i32.const 0))".repeat(arity);
    module(&format!(
        "{called} {}",
        start("", &format!("{push} {} {}", "call $f ".repeat(calls), "drop ".repeat(arity)))
    ))
}

/// Values that are live across calls.
pub fn live_across_calls(count: usize, calls: usize) -> Vec<u8> {
    let set = times(count, "(local.set # (i32.load offset=# (i32.const 0)))");
    let body: String =
        (0..calls).map(|i| format!("(local.set {} (call $f (local.get {})))", i % count, (i * 13) % count)).collect();
    let uses = times(count, "(i32.store (i32.const 0) (local.get #))");
    module(&format!(
        "(func $f (param i32) (result i32) (i32.const 0)) {}",
        start(&locals(count), &(set + &body + &uses))
    ))
}

/// Many functions, each of which can be called from outside.
pub fn functions(count: usize, parameters: usize) -> Vec<u8> {
    let values = "i32 ".repeat(parameters);
    let elements = times(count, "# ");
    module(&format!(
        "{} {} (table {count} funcref) (elem (i32.const 0) func {elements})",
        times(count, &format!("(func (param {values}))")),
        start("", "")
    ))
}

/// Operators after one another.
pub fn straight(operators: &str, count: usize) -> Vec<u8> {
    module(&start("(local i32 v128)", &operators.repeat(count)))
}

/// Globals that are computed.
pub fn globals(count: usize) -> Vec<u8> {
    let globals = "(global i32 (i32.add (global.get $g) (i32.mul (global.get $g) (i32.const 3))))".repeat(count);
    module(&format!("(global $g i32 (i32.const 1)) {globals} {}", start("", "")))
}

/// Elements that are computed.
pub fn elements(count: usize) -> Vec<u8> {
    module(&format!("(table {count} funcref) (elem funcref {}) {}", "(ref.func 0) ".repeat(count), start("", "")))
}

/// Elements of which only the last is there.
pub fn tables(count: usize, entries: usize) -> Vec<u8> {
    let tables =
        times(count, &format!("(table {entries} funcref) (elem (table #) (i32.const {}) func 0)", entries - 1));
    module(&format!("{tables} {}", start("", "")))
}

/// Data of which only the first and the last byte are there.
pub fn images(count: usize) -> Vec<u8> {
    let data = times(count, "(data (memory #) (i32.const 0) \"a\") (data (memory #) (i32.const 16000000) \"a\")");
    let text = format!("(module {} {data} {})", "(memory 256)".repeat(count), start("", ""));
    wat::parse_str(text).expect("valid text")
}

/// Data in many places.
pub fn segments(count: usize) -> Vec<u8> {
    let data = times(count, "(data (i32.const #) \"a\")");
    module(&format!("{data} {}", start("", "")))
}

/// Components that contain the next one twice.
pub fn nested_components(depth: usize) -> Vec<u8> {
    let mut text = "(component (core module $m) (core instance (instantiate $m)))".to_owned();
    for _ in 0..depth {
        text = text.replacen("(component", "(component $c", 1);
        text = format!("(component {text} (instance (instantiate $c)) (instance (instantiate $c)))");
    }
    wat::parse_str(text).expect("valid text")
}

/// A component that makes functions of its own inside of another.
pub fn nested_code() -> Vec<u8> {
    let text = "(component (component (core module $m (func (export \"f\"))) (core instance $i (instantiate $m)) \
                (func (export \"f\") (canon lift (core func $i \"f\")))))";
    wat::parse_str(text).expect("valid text")
}
