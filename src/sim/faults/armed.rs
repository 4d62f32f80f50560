//! The faults that lie in wait, and which of them strikes a request.

use std::time::Duration;

use super::malformed::Malformed;
use super::spec::{Effect, Fault, Times};
use crate::proxmox::request::Request;
use crate::sim::WorldFault;
use crate::sim::random::Random;

/// Faults in the order in which they were injected. The first that fits a request strikes; the others keep waiting.
#[derive(Clone, Debug, Default)]
pub(in crate::sim) struct Faults(Vec<Armed>);

#[derive(Clone, Debug)]
struct Armed {
    fault: Fault,
    let_through: u64,
    struck: u64,
}

impl Faults {
    pub(in crate::sim) fn inject(&mut self, fault: Fault) {
        self.0.push(Armed { fault, let_through: 0, struck: 0 });
    }

    /// What befalls `request`, the `number`-th of all.
    pub(in crate::sim) fn strike(&mut self, number: u64, request: &Request) -> Option<Effect> {
        self.0.iter_mut().find_map(|armed| armed.strike(number, request))
    }
}

impl Armed {
    fn strike(&mut self, number: u64, request: &Request) -> Option<Effect> {
        let Fault { at, of, after, times, effect } = &self.fault;
        let spent = matches!(times, Times::Limited(times) if self.struck >= *times);
        let fits = at.is_none_or(|at| at == number) && of.as_ref().is_none_or(|pattern| pattern.matches(request));
        if spent || !fits {
            return None;
        }
        if self.let_through < *after {
            self.let_through += 1;
            return None;
        }
        self.struck += 1;
        Some(effect.clone())
    }
}

impl Fault {
    /// `count` faults spread over the first `requests` requests: the same for the same seed, so a schedule that
    /// breaks something is reported by its number and replayed by it.
    ///
    /// Every drawn fault is one that a client can outlive; killing the client is left to the test that runs it again.
    pub fn schedule(seed: u64, requests: u64, count: usize) -> Vec<Self> {
        let mut random = Random::new(seed);
        (0..count).map(|_| Self::new(draw(&mut random)).at(1 + below(&mut random, requests))).collect()
    }
}

fn draw(random: &mut Random) -> Effect {
    let answer = |status, text: &str, carried_out| Effect::Answer { status, text: text.to_owned(), carried_out };
    let task_fails = |kind: &str, percent, text: &str| {
        let (kind, text) = (kind.to_owned(), text.to_owned());
        Effect::InWorld(WorldFault::TaskFails { kind, percent, text })
    };
    match below(random, 15) {
        0 | 1 => Effect::LoseAnswer,
        2 | 3 => Effect::NeverArrives,
        4 => Effect::Reset { carried_out: below(random, 2) == 0 },
        5 => Effect::Delay(Duration::from_millis(below(random, 45_000))),
        6 => answer(595, "Connection refused", false),
        7 => answer(596, "Connection timed out", below(random, 2) == 0),
        8 => answer(599, "Too many redirections", below(random, 2) == 0),
        9 => answer(500, "got no worker upid - start worker failed", false),
        10 => answer(500, "can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout", false),
        11 => task_fails("qmclone", percent(random), "clone failed: copy failed: Input/output error"),
        12 => task_fails("qmstart", percent(random), "start failed: QEMU exited with code 1"),
        13 => Effect::InWorld(WorldFault::StaleResources { seconds: below(random, 120) }),
        _ => Effect::Malformed(match below(random, 3) {
            0 => Malformed::Truncated,
            1 => Malformed::Html,
            _ => Malformed::WrongType,
        }),
    }
}

fn percent(random: &mut Random) -> u8 {
    u8::try_from(below(random, 100)).unwrap_or(0)
}

/// A number below `end`; 0 when `end` is 0.
fn below(random: &mut Random, end: u64) -> u64 {
    random.next().checked_rem(end).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxmox::request::Method;

    fn get(path: &str) -> Request {
        Request { method: Method::Get, path: path.to_owned(), params: Vec::new() }
    }

    /// Which of ten requests for the version are struck.
    fn struck(fault: Fault) -> Vec<u64> {
        let mut faults = Faults::default();
        faults.inject(fault);
        (1..=10).filter(|number| faults.strike(*number, &get("/version")).is_some()).collect()
    }

    #[test]
    fn a_fault_strikes_as_often_as_it_says() {
        assert_eq!(struck(Fault::lose_answer()), [1]);
        assert_eq!(struck(Fault::lose_answer().times(3)), [1, 2, 3]);
        assert_eq!(struck(Fault::lose_answer().after(2).times(2)), [3, 4]);
        assert_eq!(struck(Fault::lose_answer().always()).len(), 10);
        assert_eq!(struck(Fault::lose_answer().at(7)), [7]);
        assert_eq!(struck(Fault::lose_answer().of(Method::Get, "/nodes")), [] as [u64; 0]);
    }

    #[test]
    fn a_spent_fault_makes_room_for_the_next() {
        let mut faults = Faults::default();
        faults.inject(Fault::lose_answer());
        faults.inject(Fault::reset());
        assert_eq!(faults.strike(1, &get("/version")), Some(Effect::LoseAnswer));
        assert_eq!(faults.strike(2, &get("/version")), Some(Effect::Reset { carried_out: false }));
        assert_eq!(faults.strike(3, &get("/version")), None);
    }

    #[test]
    fn a_schedule_is_its_seed() {
        assert_eq!(Fault::schedule(3, 50, 8), Fault::schedule(3, 50, 8));
        assert_ne!(Fault::schedule(3, 50, 8), Fault::schedule(4, 50, 8));
        assert!(Fault::schedule(3, 50, 8).iter().all(|fault| fault.at.is_some_and(|at| (1..=50).contains(&at))));
    }
}
