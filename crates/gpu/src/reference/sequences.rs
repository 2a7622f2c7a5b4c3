//! What the rows of `sequences` stand for.

use std::collections::BTreeMap;

use crate::device::Device;
use crate::network::ResidentNetwork;

/// For each rule of a network as it is on a device, in which documents it occurs, with how often.
pub fn documents_of_rules(device: &Device, network: &ResidentNetwork) -> Vec<BTreeMap<u32, u64>> {
    let download = |values| device.download(values).unwrap();
    let (bodies, body_starts) = (download(&network.bodies), download(&network.body_starts));
    let (root, document_starts) = (download(&network.root), download(&network.document_starts));
    let rules = network.rule_count;
    let mut found = vec![BTreeMap::<u32, u64>::new(); rules as usize];
    for (document, bounds) in document_starts.windows(2).enumerate() {
        for &symbol in &root[bounds[0] as usize..bounds[1] as usize] {
            if symbol < rules {
                *found[symbol as usize].entry(document as u32).or_default() += 1;
            }
        }
    }
    // Whoever uses a rule has a lower number.
    for rule in 0..rules as usize {
        let own = found[rule].clone();
        for &symbol in &bodies[body_starts[rule] as usize..body_starts[rule + 1] as usize] {
            if symbol < rules {
                for (&document, count) in &own {
                    *found[symbol as usize].entry(document).or_default() += count;
                }
            }
        }
    }
    found
}
