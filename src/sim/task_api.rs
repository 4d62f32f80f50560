//! What the API tells about tasks.

use serde_json::{Map, Value, json};

use super::call::{Context, Failure, Handled, Outcome};
use super::format::split_list;
use super::task::Task;
use super::worker::Event;
use super::world::World;

/// Whether the text has the form of a UPID.
fn is_upid(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let hex = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
    };
    match parts.as_slice() {
        ["UPID", node, pid, pstart, start, kind, _, user, ""] => {
            !node.is_empty()
                && hex(pid, 8..=8)
                && hex(pstart, 8..=9)
                && hex(start, 8..=8)
                && !kind.is_empty()
                && !user.is_empty()
        }
        _ => false,
    }
}

/// The task, if the caller may see it; the log's file is looked for on the host that the path names.
fn find<'w>(world: &'w World, context: &Context, privilege: &str) -> Result<Option<(u64, &'w Task)>, Failure> {
    let upid = context.text("upid");
    if !is_upid(upid) {
        return Err(Failure::parameter("upid", "unable to parse worker upid"));
    }
    let owner = upid.split(':').nth(7).unwrap_or_default();
    // The token that made it, or the user behind the token.
    let own = owner == context.user || owner.split('!').next() == Some(context.user.as_str());
    if !own {
        world.require(&context.user, &format!("/nodes/{}", context.host), &[privilege])?;
    }
    Ok(world.tasks.find(upid).filter(|(_, task)| task.host == context.host))
}

pub(crate) fn status(world: &mut World, context: &Context) -> Handled {
    let Some((_, task)) = find(world, context, "Sys.Audit")? else {
        return Err(Failure::parameter("upid", "no such task"));
    };
    let (user, token) = task.owner();
    let mut row = json!({
        "upid": task.upid(),
        "node": task.host,
        "pid": task.pid,
        "pstart": task.pstart,
        "starttime": task.started,
        "type": task.kind,
        "id": task.about,
        "user": user,
        "status": if task.exit.is_some() { "stopped" } else { "running" },
    });
    if let Some(row) = row.as_object_mut() {
        row.extend(token.map(|token| ("tokenid".to_owned(), json!(token))));
        row.extend(task.exit.as_ref().map(|exit| ("exitstatus".to_owned(), json!(exit))));
    }
    Ok(row.into())
}

pub(crate) fn log(world: &mut World, context: &Context) -> Handled {
    let Some((_, task)) = find(world, context, "Sys.Audit")? else {
        let line = json!({ "n": 1, "t": "unable to open file - No such file or directory" });
        // Before Proxmox VE 9 the line came without a list around it.
        let data = if world.release.major() < 9 { line } else { json!([line]) };
        return Ok(Outcome { total: Some(1), ..data.into() });
    };
    let lines = task.lines(world.now);
    let start: usize = context.number("start").unwrap_or(0);
    let limit: usize = context.number("limit").unwrap_or(50);
    let limit = if limit == 0 { usize::MAX } else { limit };
    let rows: Vec<Value> = lines
        .iter()
        .enumerate()
        .skip(start)
        .take(limit)
        .map(|(index, text)| json!({ "n": index + 1, "t": text }))
        .collect();
    if lines.is_empty() {
        return Ok(Outcome::list(vec![json!({ "n": 1, "t": "no content" })], 0));
    }
    Ok(Outcome::list(rows, lines.len()))
}

pub(crate) fn index(_: &mut World, _: &Context) -> Handled {
    Ok(json!([{ "name": "log" }, { "name": "status" }]).into())
}

pub(crate) fn stop(world: &mut World, context: &Context) -> Handled {
    let Some((_, task)) = find(world, context, "Sys.Modify")? else {
        return Err(Failure::parameter("upid", "no such task"));
    };
    if task.exit.is_some() {
        return Ok(Outcome::null());
    }
    let worker = task.worker;
    world.resume(worker, Some(Event::Interrupted));
    // The server looks once a second whether the process is gone.
    Ok(Outcome { delay: 1000, ..Outcome::null() })
}

fn list_row(task: &Task) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("upid".to_owned(), json!(task.upid()));
    row.insert("node".to_owned(), json!(task.host));
    row.insert("pid".to_owned(), json!(task.pid));
    row.insert("pstart".to_owned(), json!(task.pstart));
    row.insert("starttime".to_owned(), json!(task.started));
    row.insert("type".to_owned(), json!(task.kind));
    row.insert("id".to_owned(), json!(task.about));
    let Some(exit) = &task.exit else {
        row.insert("user".to_owned(), json!(task.user));
        row.insert("status".to_owned(), json!("RUNNING"));
        row.insert("saved".to_owned(), json!("0"));
        return row;
    };
    let (user, token) = task.owner();
    row.insert("user".to_owned(), json!(user));
    row.extend(token.map(|token| ("tokenid".to_owned(), json!(token))));
    row.insert("endtime".to_owned(), json!(task.ended));
    row.insert("status".to_owned(), json!(exit));
    row
}

fn outcome(exit: &str) -> &'static str {
    match exit {
        "OK" => "ok",
        text if text.starts_with("WARNINGS: ") => "warning",
        "unexpected status" => "unknown",
        _ => "error",
    }
}

pub(crate) fn list(world: &mut World, context: &Context) -> Handled {
    let all = world.may(&context.user, &format!("/nodes/{}", context.host), "Sys.Audit");
    let source = context.get("source").unwrap_or("archive");
    let wanted: Vec<&str> = split_list(context.text("statusfilter")).collect();
    let fits = |task: &&Task| {
        let own = task.user == context.user || task.owner().0 == context.user;
        let in_source = match source {
            "active" => task.exit.is_none(),
            "archive" => task.exit.is_some(),
            _ => true,
        };
        let exit = task.exit.as_deref().unwrap_or("OK");
        task.host == context.host
            && (all || own)
            && in_source
            && context.get("vmid").is_none_or(|id| id == task.about)
            && context.get("typefilter").is_none_or(|kind| kind == task.kind)
            && context.get("userfilter").is_none_or(|user| task.user.contains(user))
            && (!context.flag("errors") || !matches!(outcome(exit), "ok" | "warning"))
            && (wanted.is_empty() || wanted.contains(&outcome(exit)))
            && context.number::<u64>("since").is_none_or(|since| task.started >= since)
            && context.number::<u64>("until").is_none_or(|until| task.started <= until)
    };
    // Running ones first, then the newest.
    let mut found: Vec<(u64, &Task)> = world.tasks.all.iter().map(|(number, task)| (*number, task)).collect();
    found.retain(|(_, task)| fits(task));
    found.sort_by_key(|(number, task)| (task.exit.is_some(), std::cmp::Reverse((task.ended, *number))));
    let total = found.len();
    let start = context.number("start").unwrap_or(0);
    let limit = context.number("limit").unwrap_or(50);
    let limit = if limit == 0 { usize::MAX } else { limit };
    let rows: Vec<Value> =
        found.into_iter().skip(start).take(limit).map(|(_, task)| Value::Object(list_row(task))).collect();
    if rows.is_empty() && total == 0 {
        return Ok(Value::Array(rows).into());
    }
    Ok(Outcome::list(rows, total))
}

pub(crate) fn cluster_tasks(world: &mut World, context: &Context) -> Handled {
    let all = world.may(&context.user, "/", "Sys.Audit");
    // The token's name is cut off before the comparison, so a token never sees its own.
    let mut found: Vec<&Task> = world.tasks.all.values().filter(|task| all || task.owner().0 == context.user).collect();
    found.reverse();
    let rows = found
        .into_iter()
        .take(25)
        .enumerate()
        .map(|(index, task)| {
            let mut row = list_row(task);
            row.remove("pid");
            row.remove("pstart");
            if task.exit.is_some() {
                // The newest comes fresh from the worker, the others were read from a file.
                row.insert("saved".to_owned(), if index == 0 { json!(1) } else { json!("1") });
            }
            Value::Object(row)
        })
        .collect();
    Ok(Value::Array(rows).into())
}
