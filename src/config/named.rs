use std::collections::BTreeSet;

use super::problem::{Place, Problem};
use super::suggest::nearest_name;
use crate::model::{Cluster, NodeName, Quoted};

/// The nodes that a flag names, or every name that no node has.
pub fn named_nodes(
    cluster: &Cluster,
    names: &[String],
    flag: &'static str,
) -> Result<BTreeSet<NodeName>, Vec<Problem>> {
    let known: Vec<&str> = cluster.nodes.iter().map(|node| node.name.value.as_str()).collect();
    let mut found = BTreeSet::new();
    let mut problems = Vec::new();
    for name in names {
        match cluster.nodes.iter().find(|node| node.name.value.as_str() == name) {
            Some(node) => drop(found.insert(node.name.value.clone())),
            None => problems.push(unknown(name, &known, flag)),
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn unknown(name: &str, known: &[&str], flag: &str) -> Problem {
    let problem =
        Problem::error(format!("no node has the name {}", Quoted::new(name))).at(Place::Named(flag.to_owned()));
    match nearest_name(name, known.iter().copied()) {
        Some(meant) => problem.did_you_mean(Some(meant)),
        None => problem.hint(format!("the nodes are {}", shortened(known))),
    }
}

/// Nobody reads through hundreds of names.
fn shortened(names: &[&str]) -> String {
    const MOST: usize = 12;
    match names.split_at_checked(MOST) {
        Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Explain, Inputs, SAMPLE, load};

    fn named(names: &[&str]) -> Result<Vec<String>, Vec<String>> {
        let cluster = load(Inputs::from_texts(SAMPLE, None, None), Explain::No).cluster.expect("the sample is right");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        match named_nodes(&cluster, &names, "--only") {
            Ok(nodes) => Ok(nodes.iter().map(ToString::to_string).collect()),
            Err(problems) => Err(problems
                .iter()
                .map(|problem| format!("{}; {}", problem.message, problem.hint.clone().unwrap_or_default()))
                .collect()),
        }
    }

    #[test]
    fn every_name_that_no_node_has_is_told_with_what_was_meant() {
        assert_eq!(named(&["cp-2", "worker-1", "cp-2"]), Ok(vec!["cp-2".to_owned(), "worker-1".to_owned()]));
        let nodes = "the nodes are cp-1, cp-2, cp-3, worker-1, worker-2";
        assert_eq!(
            named(&["cp-1", "worker1", "Cp-3", "db"]),
            Err(vec![
                "no node has the name `worker1`; did you mean `worker-1`?".to_owned(),
                "no node has the name `Cp-3`; did you mean `cp-3`?".to_owned(),
                format!("no node has the name `db`; {nodes}"),
            ])
        );
    }
}
