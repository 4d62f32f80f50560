//! What the API tells about storages and the volumes on them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::call::{Context, Failure, Handled};
use super::download;
use super::factory::Behind;
use super::format::{parse_size, split_list};
use super::sha1;
use super::storage::{Kind, Storage, Volume, Wanted};
use super::world::World;

fn row(storage: &Storage, host: &str) -> Map<String, Value> {
    let mut row = Map::new();
    let content: Vec<&str> = storage.content.iter().map(String::as_str).collect();
    let usable = storage.enabled && storage.is_on(host);
    let (total, used) = if usable { (storage.capacity, storage.used(host)) } else { (0, 0) };
    row.insert("type".to_owned(), json!(storage.kind.name()));
    row.insert("content".to_owned(), json!(content.join(",")));
    row.insert("shared".to_owned(), json!(u8::from(storage.shared)));
    row.insert("enabled".to_owned(), json!(u8::from(usable)));
    row.insert("active".to_owned(), json!(u8::from(usable)));
    row.insert("total".to_owned(), json!(total));
    row.insert("used".to_owned(), json!(used));
    row.insert("avail".to_owned(), json!(total.saturating_sub(used)));
    row
}

fn sees(world: &World, user: &str, storage: &str) -> bool {
    let path = format!("/storage/{storage}");
    ["Datastore.Audit", "Datastore.AllocateSpace"].iter().any(|name| world.may(user, &path, name))
}

pub(crate) fn list(world: &mut World, context: &Context) -> Handled {
    let wanted: Vec<&str> = split_list(context.text("content")).collect();
    if let Some(storage) = context.get("storage")
        && !world.storages.contains_key(storage)
    {
        return Err(Failure::parameter("storage", "No such storage."));
    }
    let rows = world.storages.iter().filter_map(|(id, storage)| {
        let usable = storage.enabled && storage.is_on(&context.host);
        let fits = wanted.is_empty() || wanted.iter().any(|content| storage.content.contains(*content));
        let there = usable || (wanted.is_empty() && !context.flag("enabled"));
        let other = context.get("storage").is_some_and(|wanted| wanted != id);
        if !fits || !there || other || !sees(world, &context.user, id) {
            return None;
        }
        let mut row = row(storage, &context.host);
        row.insert("storage".to_owned(), json!(id));
        #[expect(clippy::cast_precision_loss, reason = "a fraction for display")]
        let fraction = storage.used(&context.host) as f64 / storage.capacity.max(1) as f64;
        row.insert("used_fraction".to_owned(), json!(fraction));
        if context.flag("format") {
            let formats: &[&str] = if storage.kind == Kind::Dir { &["raw", "qcow2", "vmdk"] } else { &["raw"] };
            row.insert("formats".to_owned(), json!({ "supported": formats, "default": "raw" }));
        }
        Some(Value::Object(row))
    });
    Ok(Value::Array(rows.collect()).into())
}

pub(crate) fn status(world: &mut World, context: &Context) -> Handled {
    match world.storages.get(context.text("storage")) {
        Some(storage) => Ok(Value::Object(row(storage, &context.host)).into()),
        None => Err(Failure::parameter("storage", "No such storage.")),
    }
}

fn volume_row(volid: &str, volume: &Volume) -> Value {
    let mut row = json!({ "volid": volid, "content": volume.content, "format": volume.format, "ctime": volume.ctime });
    if let Some(row) = row.as_object_mut() {
        if volume.content == "images" {
            row.insert("size".to_owned(), json!(volume.size));
            row.insert("used".to_owned(), json!(volume.used));
            row.insert("parent".to_owned(), json!(volume.parent));
            row.extend(volume.owner.map(|owner| ("vmid".to_owned(), json!(owner))));
        } else {
            // A file's size is that of the file, not of the disk in it.
            row.insert("size".to_owned(), json!(volume.used));
        }
    }
    Value::Object(row.as_object().cloned().unwrap_or_default())
}

pub(crate) fn content(world: &mut World, context: &Context) -> Handled {
    let (id, host) = (context.text("storage"), context.host.as_str());
    let storage = world.storage_on(host, id)?;
    let allocates = world.may(&context.user, &format!("/storage/{id}"), "Datastore.Allocate");
    let audits = world.may(&context.user, &format!("/storage/{id}"), "Datastore.Audit");
    let rows = storage.on(host).filter(|(_, volume)| {
        let wanted = context.get("content").is_none_or(|content| content == volume.content);
        // Files that belong to no VM are listed whatever VM is asked for.
        let owned = context.number::<u32>("vmid").is_none_or(|owner| volume.owner.is_none_or(|own| own == owner));
        let visible = volume.content != "images"
            || allocates
            || volume
                .owner
                .is_some_and(|owner| audits && world.may(&context.user, &format!("/vms/{owner}"), "VM.Config.Disk"));
        wanted && owned && visible && storage.content.contains(&volume.content)
    });
    let rows = rows.map(|(name, volume)| volume_row(&format!("{id}:{name}"), volume)).collect();
    Ok(Value::Array(rows).into())
}

/// The volume id that a path names: with its storage or without.
fn volid(context: &Context) -> String {
    let volume = context.text("volume");
    if volume.contains(':') { volume.to_owned() } else { format!("{}:{volume}", context.text("storage")) }
}

pub(crate) fn volume(world: &mut World, context: &Context) -> Handled {
    let volid = volid(context);
    let (storage_id, name) = volid.split_once(':').unwrap_or((&volid, ""));
    let storage = world.storage_on(&context.host, storage_id)?;
    let path = format!("/storage/{storage_id}");
    world.require_any(&context.user, &path, &["Datastore.Audit", "Datastore.AllocateSpace", "Datastore.Allocate"])?;
    let Some(volume) = storage.volume(&context.host, name) else {
        return Err(Failure::new(format!("volume_size_info on '{volid}' failed - no format")));
    };
    let path = storage.file_path(name);
    Ok(json!({ "path": path, "size": volume.size, "used": volume.used, "format": volume.format }).into())
}

pub(crate) fn delete_volume(world: &mut World, context: &Context) -> Handled {
    let volid = volid(context);
    let storage = volid.split_once(':').map_or("", |(storage, _)| storage).to_owned();
    world.require(&context.user, &format!("/storage/{storage}"), &["Datastore.Allocate"])?;
    world.storage_on(&context.host, &storage)?;
    let owner = world.volume(&context.host, &volid).and_then(|volume| volume.owner);
    download::remove(world, context, volid, owner)
}

pub(crate) fn allocate(world: &mut World, context: &Context) -> Handled {
    let (storage, file) = (context.text("storage"), context.text("filename"));
    let size = context.text("size");
    // Without a unit the number is KiB.
    let bytes = if size.ends_with(['M', 'G']) { parse_size(size) } else { parse_size(&format!("{size}K")) };
    let id = context.number("vmid").unwrap_or_default();
    let (name, extension) = match file.rsplit_once('.') {
        Some((name, extension @ ("raw" | "qcow2" | "vmdk"))) => (name, Some(extension)),
        _ => (file, None),
    };
    let wanted = Wanted {
        storage,
        id,
        format: context.get("format").or(extension),
        bytes: bytes.unwrap_or_default(),
        name: Some(name),
        written: 0,
    };
    let host = context.host.clone();
    let made = world.allocate(&host, wanted)?;
    Ok(json!(made.volid).into())
}

pub(crate) fn query_url(world: &mut World, context: &Context) -> Handled {
    let url = context.text("url");
    let size = match world.behind(url) {
        Behind::File { size, .. } => size,
        Behind::Refusal(status) => return Err(Failure::new(format!("invalid server response: '{status}'"))),
        Behind::Nobody => {
            let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
            let host = rest.split(['/', '?']).next().unwrap_or(rest);
            let port = if host.contains(':') {
                ""
            } else if url.starts_with("https") {
                ":443"
            } else {
                ":80"
            };
            let text = format!("500 Can't connect to {host}{port} (Name or service not known)");
            return Err(Failure::new(format!("invalid server response: '{text}'")));
        }
    };
    let name = url.split('?').next().and_then(|url| url.rsplit('/').next()).unwrap_or_default();
    Ok(json!({ "filename": name, "size": size, "mimetype": "application/octet-stream" }).into())
}

fn config_row(world: &World, id: &str, storage: &Storage) -> Value {
    let content: Vec<&str> = storage.content.iter().map(String::as_str).collect();
    let all: Vec<String> = world.storages.iter().map(|(id, storage)| format!("{id} {:?}", storage.content)).collect();
    let mut row = json!({
        "storage": id,
        "type": storage.kind.name(),
        "content": content.join(","),
        "digest": sha1::hex(&all.join("\n")),
    });
    if let Some(row) = row.as_object_mut() {
        match storage.kind {
            Kind::Dir => {
                row.insert("path".to_owned(), json!(storage.path));
            }
            Kind::LvmThin => {
                row.insert("vgname".to_owned(), json!(storage.path));
                row.insert("thinpool".to_owned(), json!("data"));
            }
            Kind::ZfsPool => {
                row.insert("pool".to_owned(), json!(storage.path));
                row.insert("sparse".to_owned(), json!(1));
            }
        }
        if storage.shared {
            row.insert("shared".to_owned(), json!(1));
        }
        if !storage.enabled {
            row.insert("disable".to_owned(), json!(1));
        }
        if let Some(hosts) = &storage.hosts {
            let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
            row.insert("nodes".to_owned(), json!(hosts.join(",")));
        }
    }
    row
}

pub(crate) fn configs(world: &mut World, context: &Context) -> Handled {
    let rows = world
        .storages
        .iter()
        .filter(|(id, storage)| {
            sees(world, &context.user, id) && context.get("type").is_none_or(|kind| kind == storage.kind.name())
        })
        .map(|(id, storage)| config_row(world, id, storage))
        .collect();
    Ok(Value::Array(rows).into())
}

pub(crate) fn config(world: &mut World, context: &Context) -> Handled {
    let id = context.text("storage");
    match world.storages.get(id) {
        Some(storage) => Ok(config_row(world, id, storage).into()),
        None => Err(Failure::new(format!("storage '{id}' does not exist"))),
    }
}

pub(crate) fn update_config(world: &mut World, context: &Context) -> Handled {
    let id = context.text("storage");
    let Some(storage) = world.storages.get_mut(id) else {
        return Err(Failure::new(format!("update storage failed: storage '{id}' does not exist")));
    };
    if let Some(content) = context.get("content") {
        let given: BTreeSet<String> = split_list(content).map(str::to_owned).collect();
        let allowed: &[&str] = match storage.kind {
            Kind::Dir => &["images", "rootdir", "vztmpl", "iso", "backup", "snippets", "import", "none"],
            Kind::LvmThin | Kind::ZfsPool => &["images", "rootdir", "none"],
        };
        if let Some(wrong) = given.iter().find(|content| !allowed.contains(&content.as_str())) {
            let text = format!("update storage failed: storage does not support content type '{wrong}'");
            return Err(Failure::new(text));
        }
        storage.content = given;
    }
    if context.get("disable").is_some() {
        storage.enabled = !context.flag("disable");
    }
    if let Some(hosts) = context.get("nodes") {
        storage.hosts = Some(split_list(hosts).map(str::to_owned).collect());
    }
    for key in split_list(context.text("delete")) {
        match key {
            "disable" => storage.enabled = true,
            "nodes" => storage.hosts = None,
            _ => {}
        }
    }
    let kind = storage.kind.name();
    Ok(json!({ "storage": id, "type": kind }).into())
}
