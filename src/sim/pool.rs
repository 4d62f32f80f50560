//! Pools: names for sets of VMs and storages, on which rights can be given.

use serde_json::{Value, json};

use super::access::Pool;
use super::call::{Context, Failure, Handled, Outcome};
use super::format::split_list;
use super::resources;
use super::world::World;

fn row(world: &World, context: &Context, name: &str, pool: &Pool) -> Value {
    let wanted = |kind: &str| context.get("type").is_none_or(|wanted| wanted == kind);
    let vms =
        pool.vms.iter().filter(|_| wanted("qemu")).filter_map(|id| resources::guest_row(world, *id)).map(|mut row| {
            // A member's row has neither tags, nor lock, nor the pool itself.
            for key in ["tags", "lock", "pool"] {
                row.remove(key);
            }
            Value::Object(row)
        });
    let storages = pool.storages.iter().filter(|_| wanted("storage")).flat_map(|id| {
        world.hosts.keys().filter_map(move |host| resources::storage_row(world, host, id)).map(Value::Object)
    });
    let members: Vec<Value> = vms.chain(storages).collect();
    let mut row = json!({ "members": members });
    if let Some(row) = row.as_object_mut() {
        row.insert("poolid".to_owned(), json!(name));
        row.extend(pool.comment.as_ref().map(|comment| ("comment".to_owned(), json!(comment))));
    }
    row
}

fn find<'w>(world: &'w World, name: &str) -> Result<&'w Pool, Failure> {
    world.access.pools.get(name).ok_or_else(|| Failure::new(format!("pool '{name}' does not exist")))
}

pub(crate) fn list(world: &mut World, context: &Context) -> Handled {
    if let Some(name) = context.get("poolid") {
        world.require(&context.user, &format!("/pool/{name}"), &["Pool.Audit"])?;
        let pool = find(world, name)?;
        return Ok(json!([row(world, context, name, pool)]).into());
    }
    let rows = world
        .access
        .pools
        .iter()
        .filter(|(name, _)| world.may(&context.user, &format!("/pool/{name}"), "Pool.Audit"))
        .map(|(name, pool)| match &pool.comment {
            Some(comment) => json!({ "poolid": name, "comment": comment }),
            None => json!({ "poolid": name }),
        })
        .collect();
    Ok(Value::Array(rows).into())
}

pub(crate) fn one(world: &mut World, context: &Context) -> Handled {
    let name = context.text("poolid");
    let pool = find(world, name)?;
    Ok(row(world, context, name, pool).into())
}

pub(crate) fn create(world: &mut World, context: &Context) -> Handled {
    let name = context.text("poolid");
    if world.access.pools.contains_key(name) {
        return Err(Failure::new(format!("create pool failed: pool '{name}' already exists")));
    }
    if let Some((parent, _)) = name.rsplit_once('/')
        && !world.access.pools.contains_key(parent)
    {
        let text = format!("create pool failed: parent '{parent}' of pool '{name}' does not exist");
        return Err(Failure::new(text));
    }
    let pool = Pool { comment: context.get("comment").map(str::to_owned), ..Pool::default() };
    world.access.pools.insert(name.to_owned(), pool);
    Ok(Outcome::null())
}

pub(crate) fn update(world: &mut World, context: &Context) -> Handled {
    let name = context.text("poolid");
    if !world.access.pools.contains_key(name) {
        return Err(Failure::new(format!("update pools failed: pool '{name}' does not exist")));
    }
    let delete = context.flag("delete");
    for id in split_list(context.text("vms")).filter_map(|id| id.parse::<u32>().ok()) {
        world.require(&context.user, &format!("/vms/{id}"), &["VM.Allocate"])?;
        let holder = world.access.pools.iter().find(|(_, pool)| pool.vms.contains(&id)).map(|(name, _)| name.clone());
        match holder {
            Some(holder) if holder == name && !delete => {
                return Err(Failure::new(format!("update pools failed: VM {id} is already a pool member")));
            }
            Some(holder) if holder != name && !delete && !context.flag("allow-move") => {
                let text = format!("VM {id} belongs already to pool '{holder}' and 'allow-move' is not set");
                return Err(Failure::new(format!("update pools failed: {text}")));
            }
            holder if delete && holder.as_deref() != Some(name) => {
                return Err(Failure::new(format!("update pools failed: VM {id} is not a pool member")));
            }
            _ => {}
        }
        for pool in world.access.pools.values_mut() {
            pool.vms.remove(&id);
        }
        if let (false, Some(pool)) = (delete, world.access.pools.get_mut(name)) {
            pool.vms.insert(id);
        }
    }
    for id in split_list(context.text("storage")) {
        world.require(&context.user, &format!("/storage/{id}"), &["Datastore.Allocate"])?;
        let Some(pool) = world.access.pools.get_mut(name) else {
            continue;
        };
        let changed = if delete { pool.storages.remove(id) } else { pool.storages.insert(id.to_owned()) };
        if !changed {
            let state = if delete { "not a" } else { "already a" };
            return Err(Failure::new(format!("update pools failed: storage '{id}' is {state} pool member")));
        }
    }
    if let (Some(comment), Some(pool)) = (context.get("comment"), world.access.pools.get_mut(name)) {
        pool.comment = Some(comment.to_owned());
    }
    Ok(Outcome::null())
}

pub(crate) fn delete(world: &mut World, context: &Context) -> Handled {
    let name = context.text("poolid");
    let Some(pool) = world.access.pools.get(name) else {
        return Err(Failure::new(format!("delete pool failed: pool '{name}' does not exist")));
    };
    let member = pool
        .vms
        .first()
        .map(|id| format!("VM {id}"))
        .or_else(|| pool.storages.first().map(|id| format!("storage '{id}'")));
    if let Some(member) = member {
        return Err(Failure::new(format!("delete pool failed: pool '{name}' is not empty (contains {member})")));
    }
    world.access.pools.remove(name);
    let path = format!("/pool/{name}");
    world.access.rules.retain(|rule| rule.path != path);
    Ok(Outcome::null())
}
