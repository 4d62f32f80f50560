use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::{Dial, PortState, port_state};
use crate::model::{Cluster, NodeName};

/// Whoever is there answers within a fraction of this.
const PATIENCE: Duration = Duration::from_secs(2);
const AT_ONCE: usize = 64;

/// Tries once to reach every node of a cluster.
pub async fn probe<D: Dial>(dial: &D, cluster: &Cluster) -> BTreeMap<NodeName, PortState> {
    stream::iter(&cluster.nodes)
        .map(async |node| (node.name.value.clone(), port_state(dial, node.address.value, PATIENCE).await))
        .buffer_unordered(AT_ONCE)
        .collect()
        .await
}
