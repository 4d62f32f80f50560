use std::str::FromStr;

use super::problem::{Problem, Problems};
use super::reader::{Fields, FromYaml, Reader};
use super::values::Unchecked;
use crate::model::{Invalid, Origin, Setting};

/// Where in a file a key may stand; a setting may have another name in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Who a node is: an entry of `nodes:` in nodes.yaml.
    Node,
    /// The same in `nodes:` of pvetalos.yaml, where the name is the key.
    Overlay,
    /// What a VM is like: nodes, `defaults:`, and the maps `proxmox_vm_…` of cluster.yaml.
    Vm,
    /// The section `proxmox:`.
    Proxmox,
    /// The section `network:`.
    Network,
    /// The top level of nodes.yaml and pvetalos.yaml only.
    Own,
    /// The top level of every file.
    Top,
    /// The top level of cluster.yaml only.
    Cluster,
    /// An entry of `nics:`.
    Nic,
    /// An entry of `data_disks:`.
    DataDisk,
}

/// One setting as one place gives it.
#[derive(Clone, Debug, Default)]
pub(super) enum Field<T> {
    #[default]
    Absent,
    /// Given, but unusable; that is reported already, and must not be reported again as absence.
    Wrong,
    /// Given in a file that is encrypted: what it is will be known when somebody needs it.
    Sealed(Origin),
    Given(Setting<T>),
}

impl<T> Field<T> {
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    pub(super) fn get(&self) -> Option<&Setting<T>> {
        match self {
            Self::Given(setting) => Some(setting),
            Self::Absent | Self::Wrong | Self::Sealed(_) => None,
        }
    }

    /// Where it stands encrypted, if it does.
    pub(super) fn sealed(&self) -> Option<&Origin> {
        match self {
            Self::Sealed(origin) => Some(origin),
            Self::Absent | Self::Wrong | Self::Given(_) => None,
        }
    }

    pub(super) fn into_setting(self) -> Option<Setting<T>> {
        match self {
            Self::Given(setting) => Some(setting),
            Self::Absent | Self::Wrong | Self::Sealed(_) => None,
        }
    }

    /// Itself, unless it is absent; then the text of somebody else's key, looked at only now.
    pub(super) fn or_checked(self, lower: Field<Unchecked>, problems: &mut Problems) -> Self
    where
        T: FromStr<Err = Invalid>,
    {
        match (self, lower) {
            (Self::Absent, Field::Given(Setting { value: Unchecked(text), origin })) => match text.parse() {
                Ok(value) => Self::Given(Setting::new(value, origin)),
                Err(invalid) => {
                    let problem = Problem::invalid(&invalid, |label| problems.place(&origin, label));
                    problems.report(problem);
                    Self::Wrong
                }
            },
            (Self::Absent, Field::Wrong) => Self::Wrong,
            (own, _) => own,
        }
    }

    /// Itself, unless it is absent.
    pub(super) fn or(self, lower: Self) -> Self {
        if self.is_absent() { lower } else { self }
    }
}

/// One setting: its names, its words, its shape.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) setting: &'static str,
    pub(super) names: &'static [(Scope, &'static [&'static str])],
    pub(super) doc: &'static str,
    pub(super) schema: fn() -> serde_json::Value,
}

impl Key {
    /// Its names there, the usual one first; none where it does not belong.
    pub(super) fn names(&self, scope: Scope) -> &'static [&'static str] {
        self.names.iter().find(|(own, _)| *own == scope).map_or(&[], |(_, names)| names)
    }
}

/// What one place says about a group of settings; every one of them may be absent.
pub(super) trait Layer: Default + Sized {
    const KEYS: &'static [Key];

    /// Takes the keys that belong in this scope out of the fields.
    fn read(scope: Scope, fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Self;

    /// Takes from `lower` what is not said here.
    fn fill_from(&mut self, lower: &Self);

    /// Unites two places of the same rank; a setting that both give is reported.
    fn unite(self, other: Self, problems: &mut Problems) -> Self;

    /// What is said, as text, and where it comes from.
    fn explain(&self) -> Vec<(&'static str, String, Origin)>;

    /// All names that may stand in this scope.
    fn names(scope: Scope) -> Vec<&'static str> {
        Self::KEYS.iter().flat_map(|key| key.names(scope)).copied().collect()
    }
}

/// Declares a layer: for each setting its words for people, its type, and its names in each scope.
macro_rules! layer {
    ($(#[$meta:meta])* $name:ident {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty, $($scope:ident [$($key:literal),+]),+;)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default)]
        pub(super) struct $name {
            $($(#[doc = $doc])+ pub(super) $field: $crate::config::layer::Field<$type>,)+
        }

        impl $crate::config::layer::Layer for $name {
            const KEYS: &'static [$crate::config::layer::Key] = &[$($crate::config::layer::Key {
                setting: stringify!($field),
                names: &[$(($crate::config::layer::Scope::$scope, &[$($key),+])),+],
                doc: concat!($($doc),+),
                schema: <$type as $crate::config::reader::FromYaml>::schema,
            }),+];

            fn read(
                scope: $crate::config::layer::Scope,
                fields: &mut $crate::config::reader::Fields<'_>,
                reader: &mut $crate::config::reader::Reader<'_>,
            ) -> Self {
                let mut keys = Self::KEYS.iter().map(|key| key.names(scope));
                Self { $($field: fields.setting(keys.next().unwrap_or_default(), reader)),+ }
            }

            fn fill_from(&mut self, lower: &Self) {
                $(if self.$field.is_absent() { self.$field = lower.$field.clone(); })+
            }

            fn unite(self, other: Self, problems: &mut $crate::config::problem::Problems) -> Self {
                Self { $($field: $crate::config::layer::only_one(self.$field, other.$field, problems)),+ }
            }

            fn explain(&self) -> Vec<(&'static str, String, $crate::model::Origin)> {
                let mut rows = Vec::new();
                $($crate::config::layer::explain(stringify!($field), &self.$field, &mut rows);)+
                rows
            }
        }
    };
}
pub(super) use layer;

/// The one of two that is given; both at once cannot be meant.
pub(super) fn only_one<T>(first: Field<T>, second: Field<T>, problems: &mut Problems) -> Field<T> {
    if let (Field::Given(first), Field::Given(second)) = (&first, &second) {
        let (earlier, later) = match (&first.origin, &second.origin) {
            (Origin::File { span: a, .. }, Origin::File { span: b, .. }) if a.start > b.start => (second, first),
            _ => (first, second),
        };
        let problem = Problem::error("the same setting is given twice in this file")
            .at(problems.place(&later.origin, "given again"))
            .at(problems.place(&earlier.origin, "first given here"));
        problems.report(problem.hint("keep one of the two"));
    }
    first.or(second)
}

pub(super) fn explain<T: FromYaml>(
    name: &'static str,
    field: &Field<T>,
    rows: &mut Vec<(&'static str, String, Origin)>,
) {
    rows.extend(field.get().map(|setting| (name, setting.value.show(), setting.origin.clone())));
    rows.extend(field.sealed().map(|origin| (name, "(not decrypted)".to_owned(), origin.clone())));
}
