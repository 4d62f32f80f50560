use std::process::ExitCode;

fn main() -> ExitCode {
    pvetalos::cli::main(std::env::args_os()).into()
}
