use std::fmt::Write;

use comfy_table::{Table, presets};
use serde_json::{Value, json};

use super::json::FORMAT_VERSION;
use crate::model::DiskSize;
use crate::schematic::{FactoryUrl, Image};
use crate::template::{Dependents, Ensured, Listed, ListedState, Outcome};

/// What became of every template that was wanted.
pub fn ensured_table(ensured: &Ensured) -> String {
    let mut table = table(["TEMPLATE", "HOST", "VMID", "STORAGE", "STATE"]);
    for Outcome { place, result } in &ensured.outcomes {
        let hosts: Vec<&str> = place.hosts.iter().map(crate::model::HostName::as_str).collect();
        let (host, vmid, state) = match result {
            Ok(ready) => {
                let state = if ready.made { "made" } else { "there already" };
                (ready.host.to_string(), ready.vmid.to_string(), state)
            }
            Err(_) => (hosts.join(","), "-".to_owned(), "failed"),
        };
        table.add_row([place.image.template_name(), host, vmid, place.storage.to_string(), state.to_owned()]);
    }
    lines(&table)
}

pub fn ensured_json(ensured: &Ensured) -> Value {
    let entry = |Outcome { place, result }: &Outcome| {
        let mut entry = json!({
            "name": place.image.template_name(),
            "image": place.image,
            "storage": place.storage,
            "for_hosts": place.hosts,
        });
        match result {
            Ok(ready) => {
                entry["host"] = json!(ready.host);
                entry["vmid"] = json!(ready.vmid.get());
                entry["made"] = json!(ready.made);
            }
            Err(troubles) => entry["problems"] = json!(troubles),
        }
        entry
    };
    let templates: Vec<Value> = ensured.outcomes.iter().map(entry).collect();
    json!({ "format_version": FORMAT_VERSION, "templates": templates, "problems": ensured.troubles })
}

/// All templates at a glance.
pub fn listed_table(all: &[Listed]) -> String {
    if all.is_empty() {
        return "no templates\n".to_owned();
    }
    let mut table = table(["HOST", "VMID", "NAME", "TALOS", "SCHEMATIC", "STORAGE", "DISK", "LINKED CLONES", "STATE"]);
    for listed in all {
        let talos = listed.mark.as_ref().map_or("-".to_owned(), |mark| {
            let secureboot = if mark.secureboot { " secureboot" } else { "" };
            format!("{}{secureboot}", mark.talos_version)
        });
        table.add_row([
            listed.host.to_string(),
            listed.vmid.to_string(),
            listed.name.clone(),
            talos,
            listed.mark.as_ref().map_or("-", |mark| mark.schematic_id.short()).to_owned(),
            listed.storage.as_ref().map_or("-".to_owned(), ToString::to_string),
            size(listed),
            clones(listed, "not visible"),
            state(listed).to_owned(),
        ]);
    }
    lines(&table)
}

/// Everything about one template.
pub fn listed_text(listed: &Listed) -> String {
    let mut text = format!("{} ({}) on {}\n", listed.name, listed.vmid, listed.host);
    let mut fact = |name: &str, value: &str| {
        writeln!(text, "  {name:<14} {value}").expect("writing to a string never fails");
    };
    fact("state", state(listed));
    if let Some(mark) = &listed.mark {
        fact("talos", &mark.talos_version.to_string());
        fact("schematic", mark.schematic_id.as_str());
        fact("secure boot", if mark.secureboot { "yes" } else { "no" });
        fact("installer", &Image::from(mark).installer(&FactoryUrl::default()));
    }
    if let Some(record) = &listed.record {
        fact("made from", &record.image);
        fact("image size", &format!("{} MiB", record.bytes.div_ceil(1 << 20)));
    }
    fact("storage", &listed.storage.as_ref().map_or("-".to_owned(), ToString::to_string));
    fact("disk", &size(listed));
    fact("linked clones", &clones(listed, "not visible on LVM-thin, and deleting the template does not harm them"));
    text
}

pub fn listed_json(all: &[Listed]) -> Value {
    let entry = |listed: &Listed| {
        let dependents = match &listed.dependents {
            Dependents::Vms(vms) => json!(vms.iter().map(|vm| vm.get()).collect::<Vec<_>>()),
            Dependents::NotVisible | Dependents::Unknown(_) => Value::Null,
        };
        json!({
            "host": listed.host,
            "vmid": listed.vmid.get(),
            "name": listed.name,
            "state": match listed.state {
                ListedState::Template => "template",
                ListedState::Unfinished => "unfinished",
            },
            "made_here": listed.record.is_some(),
            "image": listed.mark.as_ref().map(|mark| json!(Image::from(mark))),
            "made_from": listed.record.as_ref().map(|record| record.image.to_string()),
            "image_bytes": listed.record.as_ref().map(|record| record.bytes),
            "storage": listed.storage,
            "disk_bytes": listed.disk_bytes,
            "linked_clones": dependents,
        })
    };
    json!({ "format_version": FORMAT_VERSION, "templates": all.iter().map(entry).collect::<Vec<_>>() })
}

fn size(listed: &Listed) -> String {
    let size = listed.disk_bytes.and_then(|bytes| bytes.to_string().parse::<DiskSize>().ok());
    size.map_or("-".to_owned(), |size| size.to_string())
}

fn clones(listed: &Listed, not_visible: &str) -> String {
    match &listed.dependents {
        Dependents::Vms(vms) if vms.is_empty() => "none".to_owned(),
        Dependents::Vms(vms) => vms.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        Dependents::NotVisible => not_visible.to_owned(),
        Dependents::Unknown(why) => format!("unknown: {why}"),
    }
}

fn state(listed: &Listed) -> &'static str {
    match (listed.state, &listed.record, &listed.mark) {
        (ListedState::Unfinished, ..) => "unfinished",
        (ListedState::Template, Some(_), _) => "made by pvetalos",
        (ListedState::Template, None, Some(_)) => "marked by hand",
        (ListedState::Template, None, None) => "not marked",
    }
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table
}

/// The preset leaves a space before every line and pads after it.
fn lines(table: &Table) -> String {
    let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
    lines.join("\n") + "\n"
}
