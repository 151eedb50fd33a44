//! Random bytes from the host, even if the instance was copied from a snapshot.

/// Seeds `RANDOM`, which would otherwise repeat in every copy of a snapshot.
pub fn seed() -> u32 {
    let mut seed = [0; 4];
    seed.copy_from_slice(&bytes(4));
    u32::from_le_bytes(seed) >> 1
}

#[cfg(target_family = "wasm")]
pub fn bytes(count: usize) -> Vec<u8> {
    crate::bindings::wasi::random::random::get_random_bytes(count as u64)
}

#[cfg(not(target_family = "wasm"))]
pub fn bytes(count: usize) -> Vec<u8> {
    use std::io::Read;

    let mut bytes = vec![0; count];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut device| device.read_exact(&mut bytes))
        .expect("every system on which this is tested has the device");
    bytes
}
