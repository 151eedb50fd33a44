//! How many requests a peer may send, so that one cannot keep the server from all others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most peers that are remembered. Those that were quiet for a while are forgotten first.
const MOST_PEERS: usize = 4096;

/// A steady number of requests, and how many may come at once after a pause.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub each_second: u32,
    pub at_once: u32,
}

/// Who sent how much lately.
#[derive(Debug)]
pub struct Limiter {
    /// What each request costs.
    cost: Duration,
    /// How far a peer may run ahead of the steady rate.
    credit: Duration,
    /// For each peer, the time up to which its requests are paid for. One in the past is as good as none.
    paid_until: Mutex<HashMap<IpAddr, Instant>>,
}

impl Limiter {
    pub fn new(rate: Rate) -> Self {
        let cost = Duration::from_secs(1) / rate.each_second;
        Self { cost, credit: cost * rate.at_once, paid_until: Mutex::default() }
    }

    /// Counts a request of a peer, and says whether it is still within the rate.
    pub fn take(&self, peer: IpAddr, now: Instant) -> bool {
        let mut paid_until = self.paid_until.lock().unwrap_or_else(PoisonError::into_inner);
        if paid_until.len() >= MOST_PEERS {
            paid_until.retain(|_, until| *until > now);
        }
        if paid_until.len() >= MOST_PEERS {
            // Whoever has that many addresses is not held back by any of them. The others must not suffer.
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

/// Who counts as one peer. A host that has one address of IPv6 usually has the 64 bits below it as well.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { each_second: 10, at_once: 3 };

    fn peer(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_burst_passes_and_then_only_the_steady_rate() {
        let (limiter, start, here) = (Limiter::new(RATE), Instant::now(), peer("127.0.0.1"));
        let taken = |milliseconds| limiter.take(here, start + Duration::from_millis(milliseconds));
        assert_eq!([taken(0), taken(0), taken(0), taken(0)], [true, true, true, false]);
        assert_eq!([taken(99), taken(100), taken(101), taken(200)], [false, true, false, true]);
        assert_eq!([taken(9_000), taken(9_000), taken(9_000), taken(9_000)], [true, true, true, false]);
    }

    #[test]
    fn refused_requests_cost_nothing() {
        let (limiter, start, here) = (Limiter::new(RATE), Instant::now(), peer("127.0.0.1"));
        let taken = (0..1_000).filter(|_| limiter.take(here, start)).count();
        assert_eq!(taken, 3);
        assert!(limiter.take(here, start + Duration::from_millis(100)));
    }

    #[test]
    fn peers_are_told_apart_by_their_network() {
        let (limiter, now) = (Limiter::new(Rate { each_second: 1, at_once: 1 }), Instant::now());
        assert!(limiter.take(peer("192.0.2.1"), now));
        assert!(limiter.take(peer("192.0.2.2"), now));
        assert!(!limiter.take(peer("::ffff:192.0.2.1"), now), "the same address in other clothes");
        assert!(limiter.take(peer("2001:db8::1"), now));
        assert!(!limiter.take(peer("2001:db8::2:1"), now));
        assert!(limiter.take(peer("2001:db8:0:1::1"), now));
        assert!(limiter.take(peer("::1"), now));
    }

    #[test]
    fn only_so_many_peers_are_remembered() {
        let (limiter, now) = (Limiter::new(RATE), Instant::now());
        for number in 0..20_000_u32 {
            limiter.take(std::net::Ipv4Addr::from_bits(number).into(), now);
        }
        assert!(limiter.paid_until.lock().unwrap().len() <= MOST_PEERS);
    }
}
