use std::ffi::OsString;
use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::Parser;

use super::args::{Arguments, Command};
use super::exit::Exit;
use super::{
    access, completions, destroy, doctor, init, man, output, plan, provision, schema, schematic, simulate, status,
    template, validate, wait,
};
use crate::ui::{LogFormat, Talk, Ui, start_log};

/// Runs one command of the program.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version come this way too. Nothing can be done when even that cannot be printed.
            drop(error.print());
            return if error.use_stderr() { Exit::WrongInput } else { Exit::Done };
        }
    };
    let global = &arguments.global;
    let color = match ColorChoice::from(global.color) {
        ColorChoice::Auto => AutoStream::choice(&io::stderr()),
        explicit => explicit,
    };
    let verbosity = if global.quiet { -1 } else { i8::try_from(global.verbose).unwrap_or(i8::MAX) };
    start_log(global.log_format, verbosity, color != ColorChoice::Never);
    let talk = match (global.log_format, global.quiet) {
        (LogFormat::Json, _) => Talk::Json,
        (LogFormat::Text, true) => Talk::Quiet,
        (LogFormat::Text, false) => Talk::Text,
    };
    let mut ui = Ui::new(global.color.into(), talk);
    if global.verbose > 0 {
        ui = ui.without_drawings();
    }
    let result = match &arguments.command {
        Command::Provision(args) => run(provision::provision(args, global, &mut ui)),
        Command::Plan(args) => run(plan::plan(args, global, &mut ui)),
        Command::Status(args) => run(status::status(args, global, &mut ui)),
        Command::Destroy(args) => run(destroy::destroy(args, global, &mut ui)),
        Command::Validate(args) => validate::validate(args, global, &mut ui),
        Command::Doctor(args) => run(doctor::doctor(args, global, &mut ui)),
        Command::Access(args) => access::access(args, global, &mut ui),
        Command::Template(args) => run(template::template(args, global, &mut ui)),
        Command::Schematic(args) => run(schematic::schematic(args, global, &mut ui)),
        Command::Wait(args) => run(wait::wait(args, global, &mut ui)),
        Command::Output(args) => run(output::output(args, global, &mut ui)),
        Command::Simulate(args) => run(simulate::simulate(args, global, &mut ui)),
        Command::Init(args) => init::init(args, global, &mut ui),
        Command::Schema(args) => schema::schema(args, global, &mut ui),
        Command::Completions(args) => completions::completions(args, &mut ui),
        Command::Man(args) => man::man(args, &mut ui),
    };
    match result {
        Ok(exit) => exit,
        Err(error) => {
            ui.warn(&format!("the output cannot be written: {error}"));
            Exit::Failed
        }
    }
}

/// One thread is enough for a program that waits for others most of the time.
fn run(command: impl Future<Output = io::Result<Exit>>) -> io::Result<Exit> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(command)
}
