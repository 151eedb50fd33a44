fn main() {
    std::process::exit(i32::from(runtime_javascript::run(&std::env::args().nth(1).unwrap())))
}
