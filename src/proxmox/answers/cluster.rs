use serde::Deserialize;

use crate::model::HostName;
use crate::proxmox::lenient;

/// `GET /cluster/status`; needs `Sys.Audit` on `/`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<Row>")]
pub struct ClusterStatus {
    /// None for a host that is in no cluster.
    pub name: Option<String>,
    /// A host on its own always has quorum.
    pub quorate: bool,
    pub members: Vec<ClusterMember>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterMember {
    pub name: HostName,
    pub online: bool,
    /// Whether it is the one that answered.
    pub local: bool,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default, rename = "type", deserialize_with = "lenient::some_text")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "lenient::some_text")]
    name: Option<String>,
    #[serde(default, deserialize_with = "lenient::flag")]
    quorate: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    online: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    local: bool,
}

impl TryFrom<Vec<Row>> for ClusterStatus {
    type Error = crate::model::Invalid;

    fn try_from(rows: Vec<Row>) -> Result<Self, Self::Error> {
        let is = |row: &&Row, kind: &str| row.kind.as_deref() == Some(kind);
        let cluster = rows.iter().find(|row| is(row, "cluster"));
        let member = |row: &Row| {
            let name = row.name.as_deref().unwrap_or_default().parse()?;
            Ok(ClusterMember { name, online: row.online, local: row.local })
        };
        Ok(Self {
            name: cluster.and_then(|row| row.name.clone()),
            quorate: cluster.is_none_or(|row| row.quorate),
            members: rows.iter().filter(|row| is(row, "node")).map(member).collect::<Result<_, _>>()?,
        })
    }
}
