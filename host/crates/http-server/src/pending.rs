//! Connections that have not sent an admitted request yet. When all places are taken, one of them makes room.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// All pending connections by peer, oldest first. An entry that is removed evicts its connection.
#[derive(Default)]
pub struct Pending {
    table: Mutex<Table>,
    /// Notified when the request of a connection was admitted although the connection was chosen to make room.
    pub survived: Notify,
}

#[derive(Default)]
struct Table {
    next: u64,
    by_peer: HashMap<IpAddr, BTreeMap<u64, oneshot::Sender<Infallible>>>,
}

impl Pending {
    pub fn add(self: &Arc<Self>, peer: IpAddr) -> PendingConnection {
        let (entry, evicted) = oneshot::channel();
        let peer = network(peer);
        let mut table = self.table();
        let id = table.next;
        table.next += 1;
        table.by_peer.entry(peer).or_default().insert(id, entry);
        drop(table);
        PendingConnection { evicted, place: Place { id, peer, pending: Arc::clone(self) } }
    }

    /// Evicts the oldest connection of the peer that has the most, so that a peer with many does not affect the others.
    /// Returns whether there was one.
    pub fn evict(&self) -> bool {
        let mut table = self.table();
        let oldest = |connections: &BTreeMap<u64, _>| connections.keys().next().copied();
        let fullest = table.by_peer.iter().max_by_key(|(_, all)| (all.len(), oldest(all).map(std::cmp::Reverse)));
        let chosen = fullest.and_then(|(peer, all)| Some((*peer, oldest(all)?)));
        chosen.is_some_and(|(peer, id)| table.remove(peer, id))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn remove(&mut self, peer: IpAddr, id: u64) -> bool {
        let Some(connections) = self.by_peer.get_mut(&peer) else { return false };
        let removed = connections.remove(&id).is_some();
        if connections.is_empty() {
            self.by_peer.remove(&peer);
        }
        removed
    }
}

pub struct PendingConnection {
    /// Resolves when the connection must make room.
    pub evicted: oneshot::Receiver<Infallible>,
    pub place: Place,
}

/// An entry in the table, until the connection is closed or admitted.
pub struct Place {
    id: u64,
    peer: IpAddr,
    pending: Arc<Pending>,
}

impl Place {
    /// Keeps the connection from being evicted.
    pub fn admit(&self) {
        if !self.pending.table().remove(self.peer, self.id) {
            self.pending.survived.notify_one();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.pending.table().remove(self.peer, self.id);
    }
}

/// Returns what counts as one peer: for IPv6 the /64 network, because a host usually has a whole one.
pub fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_evicted(connection: &mut PendingConnection) -> bool {
        connection.evicted.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    #[test]
    fn the_oldest_connection_of_the_peer_with_the_most_makes_room() {
        let pending = Arc::new(Pending::default());
        let peers = ["192.0.2.1", "2001:db8::1", "2001:db8::2", "::ffff:192.0.2.1", "2001:db8::3", "192.0.2.2"];
        let mut connections: Vec<_> = peers.map(|peer| pending.add(peer.parse().unwrap())).into();
        // Three of one IPv6 network, two of one IPv4 address, one of another.
        for expected in [1, 0, 2, 3, 4, 5] {
            assert!(!is_evicted(&mut connections[expected]), "{expected}");
            assert!(pending.evict());
            assert!(is_evicted(&mut connections[expected]), "{expected}");
        }
        assert!(!pending.evict());
    }

    #[test]
    fn admitted_and_closed_connections_are_not_evicted() {
        let pending = Arc::new(Pending::default());
        let [admitted, closed, last] = [1, 2, 3].map(|_| pending.add(std::net::Ipv4Addr::LOCALHOST.into()));
        admitted.place.admit();
        drop(closed);
        assert!(pending.evict() && !pending.evict());
        drop((admitted, last));
        assert!(pending.table().by_peer.is_empty());
    }
}
