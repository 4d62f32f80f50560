use std::collections::BTreeSet;

use super::problem::{Place, Problem};
use super::suggest::nearest_name;
use crate::model::{Cluster, NodeName, Quoted};

/// The nodes that a flag names, or every name that no node has, with the one that was probably meant.
pub fn named_nodes(
    cluster: &Cluster,
    names: &[String],
    flag: &'static str,
) -> Result<BTreeSet<NodeName>, Vec<Problem>> {
    let known: Vec<&str> = cluster.nodes.iter().map(|node| node.name.value.as_str()).collect();
    find(cluster, names, |name| unknown(name, &known, flag))
}

/// The same for nodes that are to be destroyed. Whoever types a name for that is offered no other one: it would be that
/// of a node that lives.
pub fn named_nodes_to_destroy(
    cluster: &Cluster,
    names: &[String],
    flag: &'static str,
) -> Result<BTreeSet<NodeName>, Vec<Problem>> {
    find(cluster, names, |name| {
        let left_over = match name.parse::<NodeName>() {
            Ok(name) => name.to_string(),
            Err(_) => "NAME".to_owned(),
        };
        no_node(name, flag).hint(format!(
            "the node is not in the files; if it was taken out of them, its VM goes by `--left-over {left_over}`"
        ))
    })
}

fn find(
    cluster: &Cluster,
    names: &[String],
    unknown: impl Fn(&str) -> Problem,
) -> Result<BTreeSet<NodeName>, Vec<Problem>> {
    let mut found = BTreeSet::new();
    let mut problems = Vec::new();
    for name in names {
        match cluster.nodes.iter().find(|node| node.name.value.as_str() == name) {
            Some(node) => drop(found.insert(node.name.value.clone())),
            None => problems.push(unknown(name)),
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn unknown(name: &str, known: &[&str], flag: &str) -> Problem {
    let problem = no_node(name, flag);
    match nearest_name(name, known.iter().copied()) {
        Some(meant) => problem.did_you_mean(Some(meant)),
        None => problem.hint(format!("the nodes are {}", shortened(known))),
    }
}

fn no_node(name: &str, flag: &str) -> Problem {
    Problem::error(format!("no node has the name {}", Quoted::new(name))).at(Place::Named(flag.to_owned()))
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

    type Find = fn(&Cluster, &[String], &'static str) -> Result<BTreeSet<NodeName>, Vec<Problem>>;

    fn named(find: Find, names: &[&str]) -> Result<Vec<String>, Vec<String>> {
        let cluster = load(Inputs::from_texts(SAMPLE, None, None), Explain::No).cluster.expect("the sample is right");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        match find(&cluster, &names, "--only") {
            Ok(nodes) => Ok(nodes.iter().map(ToString::to_string).collect()),
            Err(problems) => Err(problems
                .iter()
                .map(|problem| format!("{}; {}", problem.message, problem.hint.clone().unwrap_or_default()))
                .collect()),
        }
    }

    #[test]
    fn every_name_that_no_node_has_is_told_with_what_was_meant() {
        assert_eq!(
            named(named_nodes, &["cp-2", "worker-1", "cp-2"]),
            Ok(vec!["cp-2".to_owned(), "worker-1".to_owned()])
        );
        let nodes = "the nodes are cp-1, cp-2, cp-3, worker-1, worker-2";
        assert_eq!(
            named(named_nodes, &["cp-1", "worker1", "Cp-3", "db"]),
            Err(vec![
                "no node has the name `worker1`; did you mean `worker-1`?".to_owned(),
                "no node has the name `Cp-3`; did you mean `cp-3`?".to_owned(),
                format!("no node has the name `db`; {nodes}"),
            ])
        );
    }

    #[test]
    fn no_other_node_is_offered_to_whoever_destroys() {
        assert_eq!(named(named_nodes_to_destroy, &["cp-2"]), Ok(vec!["cp-2".to_owned()]));
        let hint = "the node is not in the files; if it was taken out of them, its VM goes by";
        assert_eq!(
            named(named_nodes_to_destroy, &["worker-9", "Worker 9"]),
            Err(vec![
                format!("no node has the name `worker-9`; {hint} `--left-over worker-9`"),
                format!("no node has the name `Worker 9`; {hint} `--left-over NAME`"),
            ])
        );
    }
}
