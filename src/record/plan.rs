//! What is read to be recorded.

use crate::source::Resource;
use crate::source::cluster::{Interest, OF_WORKLOADS};

/// Where pods ran that are gone.
const OF_PODS: &str = "involvedObject.kind=Pod,reason=Scheduled";
const OF_NODES: &str = "involvedObject.kind=Node";

/// In steps: what a later one leaves out depends on what an earlier one told.
pub(super) fn steps(namespace: Option<&str>) -> [Vec<Interest>; 3] {
    let all = |resource| Interest::all(resource, namespace);
    let rest = Resource::ALL.into_iter().filter(|resource| !matches!(resource, Resource::Jobs | Resource::JobSets));
    let rest = rest.flat_map(|resource| match resource {
        Resource::Nodes => vec![Interest::all(resource, None)],
        Resource::Events => {
            // A node's Events are in no workload's namespace.
            let selectors = [Some(OF_WORKLOADS), Some(OF_PODS), Some(OF_NODES).filter(|_| namespace.is_none())];
            let selected = selectors.into_iter().flatten();
            selected.map(|fields| Interest { fields: fields.to_owned(), ..all(resource) }).collect()
        }
        _ => vec![all(resource)],
    });
    [vec![all(Resource::JobSets)], vec![all(Resource::Jobs)], rest.collect()]
}
