use crate::model::SchematicId;
use crate::proxmox::{SetupError, with_causes};
use crate::schematic::FactoryUrl;

/// Why a schematic is not registered, or may not be.
#[derive(Debug, thiserror::Error)]
pub enum FactoryError {
    #[error("no connection to a factory can be set up")]
    Setup(#[from] SetupError),
    #[error("the HTTP client cannot be set up")]
    Http(#[source] reqwest::Error),
    #[error("the factory at {factory} does not answer")]
    Unanswered { factory: FactoryUrl, source: reqwest::Error },
    #[error("the factory at {factory} refused the schematic with {status}: {text}")]
    Refused { factory: FactoryUrl, status: u16, text: String },
    #[error("the answer of {factory} is none of an Image Factory")]
    Unreadable { factory: FactoryUrl },
    /// It stands in the factory now, but under another name than the one that everything here would use.
    #[error("the factory at {factory} calls the schematic {theirs}, and here it comes to {ours}")]
    OtherId { factory: FactoryUrl, theirs: SchematicId, ours: SchematicId },
}

impl FactoryError {
    /// The error and its causes in one line.
    pub fn with_causes(&self) -> String {
        with_causes(self)
    }

    /// What the user can do next, in one sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::Setup(error) => error.hint().to_owned(),
            Self::Http(_) => "report this as a bug of pvetalos".to_owned(),
            Self::Unanswered { .. } => {
                "check the address of --factory and the way there; where there is none, register \
                the schematic from another machine: its id is the same everywhere"
                    .to_owned()
            }
            Self::Refused { status: 400..=499, .. } => "correct what the factory names; it may be older than the \
                schematic's fields"
                .to_owned(),
            Self::Refused { .. } => "try again later: this is the factory's own trouble".to_owned(),
            Self::Unreadable { .. } => "check that the address of --factory is that of an Image Factory".to_owned(),
            Self::OtherId { theirs, .. } => format!(
                "use {theirs}, which is what the factory builds; some factories write rare texts in another way. If this \
                 is the public factory, report it as a bug of pvetalos"
            ),
        }
    }
}
