//! Limits the rate of requests per peer, so that one cannot starve the others.

use http_server::network;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most peers that are tracked. Idle ones are dropped first.
const MAX_PEERS: usize = 4096;

/// A steady rate, and the size of a burst.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub per_second: u32,
    pub burst: u32,
}

#[derive(Debug)]
pub struct Limiter {
    /// The time that each request costs.
    cost: Duration,
    /// How far a peer may run ahead of the steady rate.
    credit: Duration,
    /// Per peer, the time up to which its requests are paid for. A time in the past is equivalent to no entry.
    paid_until: Mutex<HashMap<IpAddr, Instant>>,
}

impl Limiter {
    pub fn new(rate: Rate) -> Self {
        let cost = Duration::from_secs(1) / rate.per_second;
        Self { cost, credit: cost * rate.burst, paid_until: Mutex::default() }
    }

    /// Counts a request, and returns whether it is within the rate.
    pub fn take(&self, peer: IpAddr, now: Instant) -> bool {
        let mut paid_until = self.paid_until.lock().unwrap_or_else(PoisonError::into_inner);
        if paid_until.len() >= MAX_PEERS {
            paid_until.retain(|_, until| *until > now);
        }
        if paid_until.len() >= MAX_PEERS {
            // A peer with that many addresses cannot be limited anyway, and must not affect the others.
            paid_until.clear();
        }
        let until = paid_until.entry(network(peer)).or_insert(now);
        let next = (*until).max(now) + self.cost;
        let within = next <= now + self.credit;
        if within {
            *until = next;
        }
        within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_second: 10, burst: 3 };

    fn peer(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_burst_passes_and_then_only_the_steady_rate() {
        let (limiter, start, here) = (Limiter::new(RATE), Instant::now(), peer("127.0.0.1"));
        let taken = |milliseconds| limiter.take(here, start + Duration::from_millis(milliseconds));
        assert_eq!([taken(0), taken(0), taken(0), taken(0)], [true, true, true, false]);
        // Refused requests cost nothing.
        assert_eq!([taken(99), taken(100), taken(101), taken(200)], [false, true, false, true]);
        assert_eq!([taken(9_000), taken(9_000), taken(9_000), taken(9_000)], [true, true, true, false]);
    }

    #[test]
    fn peers_are_distinguished_by_network() {
        let (limiter, now) = (Limiter::new(Rate { per_second: 1, burst: 1 }), Instant::now());
        assert!(limiter.take(peer("192.0.2.1"), now));
        assert!(limiter.take(peer("192.0.2.2"), now));
        assert!(!limiter.take(peer("::ffff:192.0.2.1"), now), "the same address, mapped to IPv6");
        assert!(limiter.take(peer("2001:db8::1"), now));
        assert!(!limiter.take(peer("2001:db8::2:1"), now));
        assert!(limiter.take(peer("2001:db8:0:1::1"), now));
        assert!(limiter.take(peer("::1"), now));
    }

    #[test]
    fn the_number_of_tracked_peers_is_limited() {
        let (limiter, now) = (Limiter::new(RATE), Instant::now());
        for number in 0..20_000_u32 {
            limiter.take(std::net::Ipv4Addr::from_bits(number).into(), now);
        }
        assert!(limiter.paid_until.lock().unwrap().len() <= MAX_PEERS);
    }
}
