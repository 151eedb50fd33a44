//! Outside the sandbox, where tests run, there is no network.

use std::time::Duration;

use super::{Answer, Failure, Request};

pub struct Exchange;

pub fn send(_: &Request) -> Result<Exchange, Failure> {
    Err(Failure::Denied)
}

pub fn wait(_: &[&Exchange], _: Option<Duration>) -> Vec<usize> {
    Vec::new()
}

impl Exchange {
    pub fn finish(self) -> Result<Answer, Failure> {
        let Self = self;
        Err(Failure::Denied)
    }
}
