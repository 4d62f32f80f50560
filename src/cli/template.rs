use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use clap::{Args, Subcommand};

use super::args::{GlobalArgs, OutputFormat};
use super::consent::consent;
use super::exit::{Ended, Exit};
use super::interrupt::Interrupts;
use super::schematic::{ExtensionArgs, FactoryArgs, image, parsed, problem, read_shown, said};
use super::session::{ConnectionArgs, Session, with_session};
use super::way::Way;
use crate::config::{Place as Location, Problem};
use crate::model::{Cluster, HostName, Node, SchematicId, StorageId, TalosVersion};
use crate::proxmox::Client;
use crate::schematic::{Image, ImageFormat, ImageUrl};
use crate::talos::NoWay;
use crate::template::{
    Doomed, Ensured, Event, ImageChecksum, Listed, LocalImage, Place, Settings, Source, Trouble, Want, choose_doomed,
    delete, ensure, inventory,
};
use crate::ui::{Ui, ensured_json, ensured_table, listed_json, listed_table, listed_text, pretty, to_yaml};

/// Make, list and delete the templates that nodes are cloned from
#[derive(Debug, Args)]
pub(super) struct TemplateArgs {
    #[command(subcommand)]
    command: TemplateCommand,
}

#[derive(Debug, Subcommand)]
enum TemplateCommand {
    Create(Box<CreateArgs>),
    List(ListArgs),
    Show(ShowArgs),
    Delete(DeleteArgs),
}

/// Make the templates that the nodes need, from images of an Image Factory
///
/// The hosts fetch the images themselves. On local storage every host gets its own template, on shared storage there is
/// one for all. What is there already stays as it is; what an interrupted run left is finished.
#[derive(Debug, Args)]
struct CreateArgs {
    #[command(flatten)]
    connection: ConnectionArgs,
    #[command(flatten)]
    image: ImageArgs,
    /// Only on these hosts [default: those of the nodes]
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = parsed::<HostName>)]
    host: Vec<HostName>,
    /// The storage of the template's disk [default: that of the nodes]
    #[arg(long, value_name = "STORAGE", value_parser = parsed::<StorageId>)]
    storage: Option<StorageId>,
    /// The storage that images are brought to [default: `image_storage` of the files]
    #[arg(long, value_name = "STORAGE", value_parser = parsed::<StorageId>)]
    image_storage: Option<StorageId>,
    /// Let that storage take disk images for import, if it does not yet
    #[arg(long)]
    enable_import: bool,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    factory: FactoryArgs,
}

/// Which image, instead of those that the nodes need.
#[derive(Debug, Args)]
struct ImageArgs {
    /// The Talos release, as in 1.12.0 [default: what the nodes need]
    #[arg(long, value_name = "VERSION", value_parser = parsed::<TalosVersion>)]
    talos_version: Option<TalosVersion>,
    /// A schematic file, as the Image Factory takes it
    #[arg(long, value_name = "FILE", requires = "talos_version", conflicts_with = "schematic_id")]
    schematic: Option<PathBuf>,
    /// The id of a schematic
    #[arg(long, value_name = "ID", requires = "talos_version", value_parser = parsed::<SchematicId>)]
    schematic_id: Option<SchematicId>,
    /// The image that is signed for secure boot
    #[arg(long, requires = "talos_version")]
    secureboot: bool,
    #[command(flatten)]
    extensions: ExtensionArgs,
}

/// Where the image comes from, if not from the factory.
#[derive(Debug, Args)]
struct SourceArgs {
    /// The form of the disk image: qcow2 or raw
    #[arg(long, value_name = "FORMAT", default_value = "qcow2", value_parser = parsed::<ImageFormat>)]
    format: ImageFormat,
    /// Where the hosts fetch the image, instead of from the factory
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// A disk image of this machine to upload, for hosts without internet
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    image: Option<PathBuf>,
    /// What the image has to come to, as sha256:… or sha512:…
    #[arg(long, value_name = "CHECKSUM", conflicts_with = "image", value_parser = parsed::<ImageChecksum>)]
    checksum: Option<ImageChecksum>,
}

/// List the templates of all hosts
#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Show everything about a template
#[derive(Debug, Args)]
struct ShowArgs {
    /// Its number or its name
    #[arg(value_name = "TEMPLATE")]
    template: String,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Delete templates that pvetalos made
///
/// Refuses while linked clones live on one, and never touches what it did not make. Nothing is deleted while one of the
/// templates cannot be.
#[derive(Debug, Args)]
struct DeleteArgs {
    /// Their numbers or names
    #[arg(required = true, value_name = "TEMPLATE")]
    templates: Vec<String>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

impl TemplateCommand {
    fn connection(&self) -> &ConnectionArgs {
        match self {
            Self::Create(args) => &args.connection,
            Self::List(args) => &args.connection,
            Self::Show(args) => &args.connection,
            Self::Delete(args) => &args.connection,
        }
    }
}

pub(super) async fn template(args: &TemplateArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    with_session(args.command.connection(), global, ui, async |session, ui| {
        let client = session.client(ui)?;
        match &args.command {
            TemplateCommand::Create(args) => create(args, session, client, global, ui).await,
            TemplateCommand::List(_) => list(session, client, global, ui).await,
            TemplateCommand::Show(args) => show(args, session, client, global, ui).await,
            TemplateCommand::Delete(args) => remove(args, session, client, ui).await,
        }
    })
    .await
}

async fn create(
    args: &CreateArgs,
    session: &Session,
    client: &Client<Way>,
    global: &GlobalArgs,
    ui: &mut Ui,
) -> Result<Exit, Ended> {
    let Some((wants, settings)) = prepared(args, session, ui) else {
        return Ok(Exit::WrongInput);
    };
    match make(client, &wants, &settings, ui).await? {
        Ok(ensured) => Ok(show_ensured(&ensured, global, ui)?),
        Err(trouble) => {
            ui.show_failure(&trouble.message, &trouble.fix);
            Ok(Exit::Failed)
        }
    }
}

/// Makes the templates that these nodes need, for whoever is about to clone them. What does not work is shown; the plan
/// then says which nodes it concerns.
pub(super) async fn make_for(
    nodes: &[&Node],
    enable_import: bool,
    session: &Session,
    ui: &mut Ui,
) -> Result<(), Ended> {
    let wants = Want::of_nodes(nodes.iter().copied());
    if wants.is_empty() {
        return Ok(());
    }
    if let Some(no_way) = &session.no_way {
        ui.show_failure(&format!("no template is made: {no_way}"), NoWay::hint());
        return Err(Ended::With(Exit::Failed));
    }
    let pace = session.settings().pace;
    let settings = Settings { enable_import, pace, ..Settings::of_cluster(&session.cluster, &session.token) };
    let client = session.client(ui)?;
    match make(client, &wants, &settings, ui).await? {
        Ok(ensured) => show_troubles(&ensured, ui),
        Err(trouble) => {
            ui.show_failure(&trouble.message, &trouble.fix);
            return Err(Ended::With(Exit::Failed));
        }
    }
    Ok(())
}

/// Makes what is wanted, and says what happens, until it is done or somebody presses Ctrl-C.
async fn make(
    client: &Client<Way>,
    wants: &[Want],
    settings: &Settings,
    ui: &mut Ui,
) -> Result<Result<Ensured, Trouble>, Ended> {
    if wants.iter().any(|want| want.image.secureboot) {
        ui.say(
            "note: disk images carry the keys for secure boot since Image Factory 1.3.3 (June 2026); with older ones secure \
             boot stays off, which shows after the first start",
        );
    }
    let mut interrupts = Interrupts::new()?;
    let ensured = {
        let talk = Mutex::new((&mut *ui, Percentages::default()));
        let tell = |place: &Place, event: &Event| {
            let mut talk = talk.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (ui, percentages) = &mut *talk;
            if let Some(line) = percentages.line(place, event) {
                ui.say(&line);
            }
        };
        interrupts.or(ensure(client, wants, settings, &tell)).await
    };
    ensured.ok_or_else(|| {
        ui.say("interrupted: what the hosts have begun goes on, and the next run continues it");
        Ended::With(Exit::Interrupted)
    })
}

fn show_ensured(ensured: &Ensured, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    match global.output {
        OutputFormat::Table => ui.show(&ensured_table(ensured))?,
        OutputFormat::Json => ui.print(&pretty(&ensured_json(ensured)))?,
        OutputFormat::Yaml => ui.print(&to_yaml(&ensured_json(ensured)))?,
    }
    show_troubles(ensured, ui);
    let failed = ensured.outcomes.iter().filter(|outcome| outcome.result.is_err()).count() + ensured.troubles.len();
    let done = ensured.outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
    Ok(match (done, failed) {
        (_, 0) => Exit::Done,
        (0, _) => Exit::Failed,
        _ => Exit::Partial,
    })
}

fn show_troubles(ensured: &Ensured, ui: &mut Ui) {
    for outcome in &ensured.outcomes {
        let troubles = outcome.result.as_ref().err().into_iter().flatten();
        let problems: Vec<Problem> = troubles.map(|trouble| told(trouble, Some(outcome.place.to_string()))).collect();
        ui.show_problems(&problems);
    }
    let problems: Vec<Problem> = ensured.troubles.iter().map(|trouble| told(trouble, None)).collect();
    ui.show_problems(&problems);
}

fn told(trouble: &Trouble, about: Option<String>) -> Problem {
    problem(trouble.message.clone(), Some(trouble.fix.clone()), about.map(Location::Named))
}

/// Tells of every tenth percent: enough to see that it goes on.
#[derive(Default)]
struct Percentages(std::collections::BTreeMap<String, u8>);

impl Percentages {
    fn line(&mut self, place: &Place, event: &Event) -> Option<String> {
        match event {
            Event::Begun(step) => Some(format!("{place}: {step}")),
            Event::Note(note) => Some(format!("{place}: note: {note}")),
            Event::Percent(step, percent) => {
                let last = self.0.entry(format!("{place}: {step}")).or_default();
                let tenth = percent / 10 * 10;
                let further = tenth > *last && tenth < 100;
                *last = tenth.max(*last);
                further.then(|| format!("{place}: {tenth} %"))
            }
            Event::Done(_) => None,
        }
    }
}

/// What is wanted and how; none when the input is wrong, which is then shown, all of it.
fn prepared(args: &CreateArgs, session: &Session, ui: &mut Ui) -> Option<(Vec<Want>, Settings)> {
    let cluster = &session.cluster;
    let wants = match &args.image.talos_version {
        Some(version) => by_flags(args, version, cluster, ui),
        None => by_nodes(args, cluster, ui),
    };
    let source = wants.as_ref().and_then(|wants| source(args, wants, ui));
    let usual = Settings::of_cluster(cluster, &session.token);
    let pace = session.settings().pace;
    let mut settings = Settings { source: source?, enable_import: args.enable_import, pace, ..usual };
    if let Some(storage) = &args.image_storage {
        settings.image_storage.clone_from(storage);
    }
    Some((wants?, settings))
}

fn by_flags(args: &CreateArgs, version: &TalosVersion, cluster: &Cluster, ui: &mut Ui) -> Option<Vec<Want>> {
    let usual = &cluster.nodes.first()?.vm;
    let (schematic_id, agent) = match (&args.image.schematic, &args.image.schematic_id) {
        (Some(file), _) => {
            let schematic = read_shown(file, args.image.extensions.near_miss(), ui)?;
            (schematic.id(), schematic.has_guest_agent())
        }
        (None, Some(id)) => (id.clone(), usual.qemu_agent.value),
        (None, None) => {
            let hint = "give --schematic FILE or --schematic-id ID beside it";
            ui.show_problems(&[problem(
                "--talos-version alone names no image".to_owned(),
                Some(hint.to_owned()),
                None,
            )]);
            return None;
        }
    };
    let image = image(version, Some(schematic_id), args.image.secureboot, ui)?;
    let storage = args.storage.clone().unwrap_or_else(|| usual.storage.value.clone());
    let named: Vec<Option<HostName>> = if args.host.is_empty() {
        let mut hosts: Vec<_> =
            cluster.nodes.iter().map(|node| node.vm.host.as_ref().map(|host| host.value.clone())).collect();
        hosts.sort();
        hosts.dedup();
        hosts
    } else {
        args.host.iter().cloned().map(Some).collect()
    };
    let pool = usual.pool.as_ref().map(|pool| pool.value.clone());
    let want =
        |host| Want { image: image.clone(), storage: storage.clone(), host, pool: pool.clone(), linked: false, agent };
    Some(named.into_iter().map(want).collect())
}

fn by_nodes(args: &CreateArgs, cluster: &Cluster, ui: &mut Ui) -> Option<Vec<Want>> {
    let mut wants = Want::of_cluster(cluster);
    if let Some(storage) = &args.storage {
        for want in &mut wants {
            want.storage.clone_from(storage);
        }
    }
    if !args.host.is_empty() {
        wants = wants
            .into_iter()
            .flat_map(|want| {
                let wanted = |host: &&HostName| want.host.as_ref().is_none_or(|own| own == *host);
                let hosts: Vec<HostName> = args.host.iter().filter(wanted).cloned().collect();
                hosts.into_iter().map(move |host| Want { host: Some(host), ..want.clone() })
            })
            .collect();
    }
    let hosts: Vec<&str> = args.host.iter().map(HostName::as_str).collect();
    if wants.is_empty() && !hosts.is_empty() {
        let message = format!("no node that says which image it needs goes to {}", hosts.join(" or "));
        let hint = "name an image with --talos-version and --schematic FILE to make a template there all the same";
        ui.show_problems(&[problem(message, Some(hint.to_owned()), Some(Location::Named("--host".to_owned())))]);
        return None;
    }
    if wants.is_empty() {
        let message = "no node says which image its template is made from".to_owned();
        let hint = "give the nodes `talos_version` and `schematic_id` instead of `talos_template`, or name an image with \
                    --talos-version and --schematic FILE";
        ui.show_problems(&[problem(message, Some(hint.to_owned()), None)]);
        return None;
    }
    let mut images: Vec<&Image> = Vec::new();
    for want in &wants {
        if !images.contains(&&want.image) {
            images.push(&want.image);
        }
    }
    let wrong: Vec<Problem> = images
        .into_iter()
        .filter_map(|image| Image::check_version(&image.talos_version).err())
        .map(|invalid| problem(said(&invalid), None, Some(Location::Named("talos_version".to_owned()))))
        .collect();
    ui.show_problems(&wrong);
    wrong.is_empty().then_some(wants)
}

fn source(args: &CreateArgs, wants: &[Want], ui: &mut Ui) -> Option<Source> {
    let SourceArgs { format, url, image: file, checksum } = &args.source;
    let first = &wants.first()?.image;
    let single = wants.iter().all(|want| want.image == *first);
    if (url.is_some() || file.is_some() || checksum.is_some()) && !single {
        let hint = "name one with --talos-version and --schematic-id, and run it once for each";
        let message = "the nodes need several images, and this is only one".to_owned();
        ui.show_problems(&[problem(message, Some(hint.to_owned()), None)]);
        return None;
    }
    let wrong = |message: String, flag: &str, ui: &mut Ui| {
        ui.show_problems(&[problem(message, None, Some(Location::Named(flag.to_owned())))]);
        None
    };
    match (url, file) {
        (Some(url), _) => match ImageUrl::given(url, first) {
            Ok(url) => Some(Source::Url { url, checksum: checksum.clone() }),
            Err(invalid) => wrong(said(&invalid), "--url", ui),
        },
        (None, Some(file)) => match LocalImage::read(file, first) {
            Ok(Ok(local)) => Some(Source::File(local)),
            Ok(Err(invalid)) => wrong(said(&invalid), "--image", ui),
            Err(error) => wrong(format!("{} cannot be read: {error}", file.display()), "--image", ui),
        },
        (None, None) => {
            Some(Source::Factory { factory: args.factory.factory.clone(), format: *format, checksum: checksum.clone() })
        }
    }
}

/// Every template that can be seen. What stands in the way of that is shown.
async fn listed(session: &Session, client: &Client<Way>, ui: &mut Ui) -> Result<Vec<Listed>, Ended> {
    session.asking(ui, inventory(client)).await
}

async fn list(session: &Session, client: &Client<Way>, global: &GlobalArgs, ui: &mut Ui) -> Result<Exit, Ended> {
    let listed = listed(session, client, ui).await?;
    match global.output {
        OutputFormat::Table => ui.show(&listed_table(&listed))?,
        OutputFormat::Json => ui.print(&pretty(&listed_json(&listed)))?,
        OutputFormat::Yaml => ui.print(&to_yaml(&listed_json(&listed)))?,
    }
    Ok(Exit::Done)
}

async fn show(
    args: &ShowArgs,
    session: &Session,
    client: &Client<Way>,
    global: &GlobalArgs,
    ui: &mut Ui,
) -> Result<Exit, Ended> {
    let all = listed(session, client, ui).await?;
    let named = |listed: &Listed| listed.vmid.to_string() == args.template || listed.name == args.template;
    let found: Vec<Listed> = all.into_iter().filter(named).collect();
    if found.is_empty() {
        let hint = "`pvetalos template list` shows those that there are";
        ui.show_failure(&format!("there is no template {}", args.template), hint);
        return Ok(Exit::Failed);
    }
    match global.output {
        OutputFormat::Table => {
            let texts: Vec<String> = found.iter().map(listed_text).collect();
            ui.show(&texts.join("\n"))?;
        }
        OutputFormat::Json => ui.print(&pretty(&listed_json(&found)))?,
        OutputFormat::Yaml => ui.print(&to_yaml(&listed_json(&found)))?,
    }
    Ok(Exit::Done)
}

async fn remove(args: &DeleteArgs, session: &Session, client: &Client<Way>, ui: &mut Ui) -> Result<Exit, Ended> {
    let all = listed(session, client, ui).await?;
    let (doomed, refused) = choose_doomed(&args.templates, &all);
    let problems: Vec<Problem> =
        refused.iter().map(|refused| told(&refused.trouble, Some(refused.name.clone()))).collect();
    ui.show_problems(&problems);
    if !refused.is_empty() {
        // Whoever mistook one name may have mistaken the others.
        ui.say("nothing is deleted");
        let unclear = refused.iter().any(|refused| refused.is_unclear);
        return Ok(if unclear { Exit::WrongInput } else { Exit::Failed });
    }
    for one in &doomed {
        ui.say(&format!("to be deleted with its disks:\n{}", listed_text(one.listed())));
    }
    if !args.yes {
        let word = doomed[0].listed().vmid.to_string();
        let all = if doomed.len() == 1 { "it".to_owned() } else { format!("all {}", doomed.len()) };
        consent(ui, &format!("Type {word} to delete {all}:"), &[&word]).await?;
    }
    let failed = delete_all(&doomed, client, ui).await;
    Ok(match failed {
        0 => Exit::Done,
        failed if failed == doomed.len() => Exit::Failed,
        _ => Exit::Partial,
    })
}

/// Deletes one after the other; how many could not be.
async fn delete_all(doomed: &[Doomed], client: &Client<Way>, ui: &mut Ui) -> usize {
    let mut failed = 0;
    for one in doomed {
        let Listed { vmid, host, name, .. } = one.listed();
        match delete(client, one).await {
            Ok(()) => ui.say(&format!("deleted {name} ({vmid}) on {host}")),
            Err(trouble) => {
                failed += 1;
                ui.show_problems(&[told(&trouble, Some(format!("{name} ({vmid}) on {host}")))]);
            }
        }
    }
    failed
}
