use std::fmt::Write;

use crate::config::Explained;

/// Every value with its origin: `cores  8  ← cluster.yaml:31 proxmox_vm_worker_defaults`.
pub fn explanation(rows: &[Explained]) -> String {
    let names = rows.iter().map(|row| row.setting.len()).max().unwrap_or_default();
    // Few values are long; they must not push all the others' origins off the screen.
    let values =
        rows.iter().map(|row| row.value.chars().count()).filter(|width| *width <= 32).max().unwrap_or_default();
    let mut text = String::new();
    let mut about = "";
    for row in rows {
        if row.about != about {
            let gap = if about.is_empty() { "" } else { "\n" };
            about = &row.about;
            writeln!(text, "{gap}{about}").expect("writing to a string never fails");
        }
        let Explained { setting, value, origin, .. } = row;
        writeln!(text, "  {setting:<names$}  {value:<values$}  ← {origin}").expect("writing to a string never fails");
    }
    text
}
