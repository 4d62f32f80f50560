//! Our process dies at any request, before or after it was carried out, and is run again.

use std::time::Duration;

use pvetalos::sim::Fault;

use crate::lab::{Lab, ready, settings, want};

#[tokio::test(start_paused = true)]
async fn killed_at_every_request_and_run_again_there_is_one_template_and_nothing_left_over() {
    let mut cases = 0;
    for pause in [Duration::ZERO, Duration::from_mins(1)] {
        for carried_out in [false, true] {
            for number in 1.. {
                let lab = Lab::fresh();
                let fault = Fault::kill_client().at(number);
                lab.simulator.inject(if carried_out { fault.carried_out() } else { fault });
                let (wants, settings) = ([want("local-lvm")], settings());
                tokio::select! {
                    biased;
                    () = lab.simulator.client_killed() => lab.simulator.revive_client(),
                    ended = lab.run(&wants, &settings) => {
                        assert_eq!(ready(&ended), ([9000].into(), true));
                        break;
                    }
                }
                cases += 1;
                tokio::time::sleep(pause).await;
                let about = format!("killed at request {number}, carried out: {carried_out}, {pause:?} later");
                let (templates, _) = ready(&lab.run(&wants, &settings).await);
                assert_eq!(templates.len(), 1, "{about}");
                let (whole, others) = lab.vms();
                assert_eq!((whole.len(), others.len()), (1, 0), "{about}");
                assert_eq!(lab.images().len(), 1, "{about}");
                lab.assert_tidy(&about);
            }
        }
    }
    println!("{cases} cases");
    assert!(cases > 100, "{cases}");
}

#[tokio::test(start_paused = true)]
async fn killed_with_three_hosts_at_work_and_run_again_every_host_has_one() {
    let mut cases = 0;
    for (storage, expected) in [("local-lvm", 3), ("shared", 1)] {
        for carried_out in [false, true] {
            // Not every one: three hosts make three times as many requests.
            for number in (1..).step_by(11) {
                let lab = Lab::of(crate::create::three_hosts());
                let fault = Fault::kill_client().at(number);
                lab.simulator.inject(if carried_out { fault.carried_out() } else { fault });
                let (wants, settings) = ([want(storage)], settings());
                tokio::select! {
                    biased;
                    () = lab.simulator.client_killed() => lab.simulator.revive_client(),
                    _ = lab.run(&wants, &settings) => break,
                }
                cases += 1;
                let about = format!("{storage}, killed at request {number}, carried out: {carried_out}");
                assert_eq!(ready(&lab.run(&wants, &settings).await).0.len(), expected, "{about}");
                assert_eq!(lab.vms().0.len(), expected, "{about}");
                assert_eq!(lab.images().len(), expected, "{about}");
                lab.assert_tidy(&about);
            }
        }
    }
    println!("{cases} cases");
}

#[tokio::test(start_paused = true)]
async fn two_runs_at_the_same_time_make_one_template() {
    for delay in (0..40).map(|tenths| Duration::from_millis(tenths * 100)) {
        let lab = Lab::fresh();
        let (wants, settings) = ([want("local-lvm")], settings());
        let late = async {
            tokio::time::sleep(delay).await;
            lab.run(&wants, &settings).await
        };
        let (first, second) = tokio::join!(lab.run(&wants, &settings), late);
        // One of them may have been in the other's way; then it says so, and the next run is content.
        let last = lab.run(&wants, &settings).await;
        let (templates, made) = ready(&last);
        assert_eq!((templates.len(), made), (1, false), "{delay:?}: {first:?} {second:?}");
        assert_eq!(lab.vms().1, Vec::<u32>::new(), "{delay:?}");
        lab.assert_tidy(&format!("{delay:?}"));
    }
}
