use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use super::interrupt::Interrupts;
use super::world::{load_world, not_kept, problem};
use crate::config::{NearMiss, Problem, parse_schematic};
use crate::schematic::Schematic;
use crate::sim::{Adjustments, FactoryServer, Fault, Simulation, SimulationOptions, Waits, WorldFile, parse_duration};
use crate::ui::{Ui, to_yaml};

/// Simulate a Proxmox cluster on this machine, with Talos in its VMs
///
/// Answers as the API of Proxmox VE does, to pvetalos and to any other client, until Ctrl-C. Every VM that is started
/// answers as Talos does, behind a SOCKS5 proxy. Nothing outside this machine is touched, and nobody outside it can
/// connect.
#[derive(Debug, clap::Args)]
pub(super) struct SimulateArgs {
    /// Where to listen: loopback only; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8006", value_parser = loopback)]
    listen: SocketAddr,
    /// The port of the SOCKS5 proxy through which the simulated nodes can be reached; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    talos_proxy_port: u16,
    /// The world to begin with [default: one host, built in]
    #[arg(long, value_name = "FILE")]
    world: Option<PathBuf>,
    /// Serve an Image Factory here as well, loopback only; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
    factory: Option<SocketAddr>,
    /// Keep the world in this file, and go on with it the next time
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Which Proxmox VE it is [default: what the world says]
    #[arg(long, value_name = "RELEASE")]
    pve: Option<Release>,
    /// Wait so long with every answer
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = parse_duration)]
    latency: Duration,
    /// How long a full clone of the largest template takes [default: what the world says]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    clone_time: Option<Duration>,
    /// Make the same MACs, ids and drawn faults again
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Draw so many faults and spread them over the first 200 requests
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1000))]
    draw_faults: u16,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| "an address and a port are needed, as in 127.0.0.1:8006")?;
    if !address.ip().is_loopback() {
        return Err("a simulated cluster guards nothing, so it listens on this machine only".to_owned());
    }
    Ok(address)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Release {
    /// Proxmox VE 8.4
    #[value(name = "8")]
    Eight,
    /// Proxmox VE 9.2
    #[value(name = "9")]
    Nine,
}

impl Release {
    fn version(self) -> &'static str {
        match self {
            Self::Eight => "8.4.21",
            Self::Nine => "9.2.11",
        }
    }
}

pub(super) async fn simulate(args: &SimulateArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let kept = args.keep.as_deref().filter(|path| path.exists());
    if let Some(kept) = kept {
        say_what_is_ignored(args, kept, ui);
    }
    let file = match load(args, kept) {
        Ok(file) => file,
        Err(problems) => {
            ui.show_problems(&problems);
            return Ok(Exit::WrongInput);
        }
    };
    match serve(args, global.output, file, ui).await? {
        Ok(()) => Ok(Exit::Done),
        Err(problem) => {
            ui.show_problems(&[problem]);
            Ok(Exit::Failed)
        }
    }
}

/// A kept world is a continuation, whatever a new one would begin with.
fn say_what_is_ignored(args: &SimulateArgs, kept: &Path, ui: &mut Ui) {
    let given = [("--world", args.world.is_some()), ("--seed", args.seed.is_some() && args.draw_faults == 0)];
    for (option, _) in given.into_iter().filter(|(_, given)| *given) {
        ui.say(&format!("{option} is ignored: {} holds a world that goes on", kept.display()));
    }
}

/// The kept world if there is one, else the world to begin with.
fn load(args: &SimulateArgs, kept: Option<&Path>) -> Result<WorldFile, Vec<Problem>> {
    let mut file = load_world(kept.or(args.world.as_deref()))?;
    file.adjust(&Adjustments {
        version: args.pve.map(|release| release.version().to_owned()),
        clone_time: args.clone_time,
        seed: args.seed.filter(|_| kept.is_none()),
    });
    file.faults.extend(Fault::schedule(args.seed.unwrap_or_default(), 200, args.draw_faults.into()));
    Ok(file)
}

/// Serves until Ctrl-C. The outer error is that of the output, the inner one that of the server.
async fn serve(
    args: &SimulateArgs,
    output: OutputFormat,
    file: WorldFile,
    ui: &mut Ui,
) -> io::Result<Result<(), Problem>> {
    let waits = Waits { latency: args.latency, ..Waits::default() };
    let options = SimulationOptions {
        listen: args.listen,
        gate_port: args.talos_proxy_port,
        waits,
        ..SimulationOptions::default()
    };
    let simulation = match Simulation::start(file, options).await {
        Ok(simulation) => simulation,
        Err(error) => return Ok(Err(problem(&error, error.hint().to_owned()))),
    };
    let (simulator, certificate) = (simulation.simulator().clone(), simulation.certificate().clone());
    let factory = match args.factory {
        Some(address) => match FactoryServer::bind(address, simulator.clone(), read_schematic_text).await {
            Ok(factory) => Some(factory),
            Err(error) => return Ok(Err(problem(&error, error.hint().to_owned()))),
        },
        None => None,
    };
    let keep = || {
        let Some(path) = args.keep.as_deref() else {
            return Ok(());
        };
        let kept = simulator.world(|world| WorldFile::keep(world, &certificate, path));
        kept.map_err(|error| not_kept(path, &error))
    };
    // A file that cannot be written is found out now and not after a day's work.
    if let Err(problem) = keep() {
        return Ok(Err(problem));
    }
    // Whoever reads the introduction may press Ctrl-C at once, so that it must be heard before.
    let mut interrupts = Interrupts::new()?;
    let introduction = simulation.introduction().with_factory(factory.as_ref().map(FactoryServer::address));
    ui.print(&match output {
        OutputFormat::Table => introduction.to_string(),
        OutputFormat::Json => introduction.to_json().to_string(),
        OutputFormat::Yaml => to_yaml(&introduction.to_json()),
    })?;
    match factory {
        Some(factory) => {
            // Whichever ends first ends both.
            tokio::select! {
                () = simulation.serve_until(interrupts.next()) => {}
                () = factory.run_until(std::future::pending()) => {}
            }
        }
        None => simulation.serve_until(interrupts.next()).await,
    }
    Ok(keep())
}

/// What the simulated factory makes of a schematic: what the real one would, as far as it can be told.
fn read_schematic_text(text: &str) -> Result<Schematic, String> {
    let (schematic, problems) = parse_schematic("schematic", text, NearMiss::Allow);
    schematic.ok_or_else(|| {
        let messages: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
        messages.join("; ")
    })
}
