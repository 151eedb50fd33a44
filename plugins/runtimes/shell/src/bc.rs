//! The calculator `bc`.
//!
//! bashkit's own uses binary floating point and rounds; `bc` uses decimals and truncates. Scripts print these results.

mod decimal;
mod syntax;
mod value;

use async_trait::async_trait;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result};

use value::Calculator;

pub struct Bc;

#[async_trait]
impl Builtin for Bc {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let mut calculator = Calculator::default();
        let mut program = String::new();
        for argument in ctx.args {
            match argument.as_str() {
                "-l" | "--mathlib" => calculator.load_functions(),
                option if option.starts_with('-') => {}
                file => {
                    let Ok(content) = ctx.fs.read_file(&ctx.cwd.join(file)).await else {
                        return Ok(ExecResult::err(format!("File {file} is unavailable.\n"), 1));
                    };
                    program.push_str(&String::from_utf8_lossy(&content));
                    program.push('\n');
                }
            }
        }
        program.push_str(ctx.stdin_text_lossy().unwrap_or_default().as_ref());
        let problem = match syntax::parse(&program) {
            Ok(statements) => calculator.run(&statements).err(),
            Err(line) => Some(format!("(standard_in) {line}: syntax error")),
        };
        let stderr = problem.map(|problem| problem + "\n").unwrap_or_default();
        Ok(ExecResult { stdout: calculator.printed.into(), stderr: stderr.into(), ..ExecResult::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::{syntax, value::Calculator};

    fn printed(program: &str) -> String {
        let mut calculator = Calculator::default();
        calculator.run(&syntax::parse(program).expect("correct")).expect("computable");
        calculator.printed
    }

    #[test]
    fn results_are_truncated() {
        assert_eq!(printed("scale=3; 22/7"), "3.142\n");
        assert_eq!(printed("scale=2; 100*2/3; -1/3; 7%3; .5*.5"), "66.66\n-.33\n.01\n.25\n");
    }

    #[test]
    fn the_usual_language() {
        assert_eq!(printed("x=5; x*2; if (x>3) print \"big\\n\""), "10\nbig\n");
        assert_eq!(printed("for (i=0; i<3; i++) { s = s + i }; s"), "3\n");
        assert_eq!(printed("10 > 5; 1 == 2; 2^10; -7/2; (1+2)*3; sqrt(16); -2^2"), "1\n0\n1024\n-3\n9\n4\n4\n");
        assert_eq!(printed("obase=16; 255; obase=2; 5"), "FF\n101\n");
        assert_eq!(printed("ibase=2; 1010"), "10\n");
    }

    #[test]
    fn long_fractions_fit() {
        assert_eq!(printed("scale=20; 1/3"), ".33333333333333333333\n");
        assert_eq!(printed("scale=20; (1/3)*100"), "33.33333333333333333300\n");
    }
}
