use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;
use tracing::level_filters::LevelFilter;

/// How the log is written to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// Starts the log. With JSON, what is otherwise said in sentences is part of it.
///
/// `verbosity` is the number of `-v`; a negative one asks for errors only.
pub fn start_log(format: LogFormat, verbosity: i8, color: bool) {
    let level = match (verbosity, format) {
        (..0, _) => LevelFilter::ERROR,
        (0, LogFormat::Text) => LevelFilter::WARN,
        (0 | 1, _) => LevelFilter::INFO,
        (2, _) => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(|| Around).with_ansi(color);
    // A log that cannot be written is no reason to panic.
    let log = log.log_internal_errors(false);
    // A second start happens only in tests, and the first one serves as well.
    let started = match format {
        LogFormat::Text => log.with_target(false).without_time().try_init(),
        LogFormat::Json => log.json().flatten_event(true).with_target(false).with_timer(UnixTime).try_init(),
    };
    drop(started);
}

/// The lines that are being redrawn, if any.
static DRAWN: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// From now on, whatever is logged stands above these lines.
pub(super) fn draw_around(bars: Option<MultiProgress>) {
    *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = bars;
}

/// Standard error, without breaking what is drawn there.
struct Around;

impl Write for Around {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let bars = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match bars {
            Some(bars) => bars.suspend(|| io::stderr().write(text)),
            None => io::stderr().write(text),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Seconds since 1970 with milliseconds: sortable, and no calendar needed.
struct UnixTime;

impl tracing_subscriber::fmt::time::FormatTime for UnixTime {
    fn format_time(&self, w: &mut tracing_subscriber::fmt::format::Writer<'_>) -> std::fmt::Result {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        write!(w, "{}.{:03}", since.as_secs(), since.subsec_millis())
    }
}
