//! Reading and writing users, tokens, roles and access rules.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::access::{AccessControl, Rule, Token, User};
use super::call::{Context, Failure, Handled, Outcome};
use super::format::split_list;
use super::world::World;

pub(crate) fn permissions(world: &mut World, context: &Context) -> Handled {
    let user = match context.get("userid") {
        Some(other) if other != context.user => {
            world.require(&context.user, "/access", &["Sys.Audit"])?;
            other
        }
        _ => context.user.as_str(),
    };
    let row = |path: &str| -> Map<String, Value> {
        let privileges = world.privileges(user, path);
        privileges.into_iter().map(|(name, propagate)| (name, json!(u8::from(propagate)))).collect()
    };
    if let Some(path) = context.get("path") {
        return Ok(json!({ path: row(path) }).into());
    }
    let usual = ["/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms"];
    let pools = world.access.pools.values().flat_map(|pool| {
        let vms = pool.vms.iter().map(|id| format!("/vms/{id}"));
        vms.chain(pool.storages.iter().map(|id| format!("/storage/{id}")))
    });
    let paths: BTreeSet<String> = usual
        .iter()
        .map(|path| (*path).to_owned())
        .chain(world.access.rules.iter().map(|rule| rule.path.clone()))
        .chain(pools)
        .collect();
    let data: Map<String, Value> = paths
        .into_iter()
        .map(|path| (path.clone(), row(&path)))
        .filter(|(_, row)| !row.is_empty())
        .map(|(path, row)| (path, Value::Object(row)))
        .collect();
    Ok(Value::Object(data).into())
}

pub(crate) fn roles(world: &mut World, _: &Context) -> Handled {
    let predefined = AccessControl::PREDEFINED.iter().map(|name| ((*name).to_owned(), 1));
    let own = world.access.roles.keys().map(|name| (name.clone(), 0));
    let rows = predefined
        .chain(own)
        .map(|(name, special)| {
            let privileges: Vec<String> = world.role(&name).unwrap_or_default().into_iter().collect();
            json!({ "roleid": name, "privs": privileges.join(","), "special": special })
        })
        .collect();
    Ok(Value::Array(rows).into())
}

fn given_privileges(world: &World, context: &Context) -> Result<BTreeSet<String>, Failure> {
    let given = context.text("privs");
    if let Some(name) = world.unknown_privilege(split_list(given)) {
        return Err(Failure::parameter("privs", format!("invalid format - invalid privilege '{name}'\n")));
    }
    Ok(split_list(given).map(str::to_owned).collect())
}

pub(crate) fn create_role(world: &mut World, context: &Context) -> Handled {
    let name = context.text("roleid");
    let privileges = given_privileges(world, context)?;
    if AccessControl::keeps(name) {
        return Err(Failure::parameter(
            "roleid",
            "cannot use role ID starting with the (case-insensitive) 'PVE' namespace",
        ));
    }
    if world.role(name).is_some() {
        return Err(Failure::new(format!("create role failed: role '{name}' already exists")));
    }
    world.access.roles.insert(name.to_owned(), privileges);
    Ok(Outcome::null())
}

pub(crate) fn role(world: &mut World, context: &Context) -> Handled {
    let name = context.text("roleid");
    let privileges = world.role(name).ok_or_else(|| format!("role '{name}' does not exist"))?;
    let data: Map<String, Value> = privileges.into_iter().map(|name| (name, json!(1))).collect();
    Ok(Value::Object(data).into())
}

pub(crate) fn update_role(world: &mut World, context: &Context) -> Handled {
    let name = context.text("roleid");
    let privileges = given_privileges(world, context)?;
    if AccessControl::PREDEFINED.contains(&name) {
        return Err(Failure::new(format!("update role failed: auto-generated role '{name}' cannot be modified")));
    }
    let Some(role) = world.access.roles.get_mut(name) else {
        return Err(Failure::new(format!("update role failed: role '{name}' does not exist")));
    };
    if context.flag("append") {
        role.extend(privileges);
    } else {
        *role = privileges;
    }
    Ok(Outcome::null())
}

pub(crate) fn delete_role(world: &mut World, context: &Context) -> Handled {
    let name = context.text("roleid");
    if AccessControl::PREDEFINED.contains(&name) {
        return Err(Failure::new(format!("delete role failed: auto-generated role '{name}' cannot be deleted")));
    }
    if world.access.roles.remove(name).is_none() {
        return Err(Failure::new(format!("delete role failed: role '{name}' does not exist")));
    }
    world.access.rules.retain(|rule| rule.role != name);
    Ok(Outcome::null())
}

pub(crate) fn users(world: &mut World, context: &Context) -> Handled {
    let all = ["User.Modify", "Sys.Audit"].iter().any(|name| world.may(&context.user, "/access/groups", name));
    let rows = world
        .access
        .users
        .iter()
        .filter(|(name, _)| all || context.user.split('!').next() == Some(name.as_str()))
        .map(|(name, user)| {
            let realm = name.rsplit_once('@').map_or("pam", |(_, realm)| realm);
            json!({ "userid": name, "enable": u8::from(user.enabled), "expire": user.expire, "realm-type": realm })
        })
        .collect();
    Ok(Value::Array(rows).into())
}

pub(crate) fn create_user(world: &mut World, context: &Context) -> Handled {
    let name = context.text("userid");
    if world.access.users.contains_key(name) {
        return Err(Failure::new(format!("create user failed: user '{name}' already exists")));
    }
    let user = User {
        enabled: context.get("enable").is_none_or(|value| value == "1"),
        expire: context.number("expire").unwrap_or(0),
        comment: context.get("comment").map(str::to_owned),
        ..User::default()
    };
    world.access.users.insert(name.to_owned(), user);
    Ok(Outcome::null())
}

fn find_user<'w>(world: &'w World, context: &Context) -> Result<&'w User, Failure> {
    let name = context.text("userid");
    world.access.users.get(name).ok_or_else(|| Failure::new(format!("no such user ('{name}')")))
}

pub(crate) fn user(world: &mut World, context: &Context) -> Handled {
    let user = find_user(world, context)?;
    let tokens: Map<String, Value> =
        user.tokens.iter().map(|(name, token)| (name.clone(), token_info(token))).collect();
    Ok(json!({ "enable": u8::from(user.enabled), "expire": user.expire, "groups": [], "tokens": tokens }).into())
}

pub(crate) fn delete_user(world: &mut World, context: &Context) -> Handled {
    let name = context.text("userid");
    if world.access.users.remove(name).is_none() {
        return Err(Failure::new(format!("delete user failed: user '{name}' does not exist")));
    }
    world.access.rules.retain(|rule| rule.who != name && rule.who.split('!').next() != Some(name));
    Ok(Outcome::null())
}

fn token_info(token: &Token) -> Value {
    let mut info = json!({ "privsep": u8::from(token.privsep), "expire": token.expire });
    if let (Some(comment), Some(info)) = (&token.comment, info.as_object_mut()) {
        info.insert("comment".to_owned(), json!(comment));
    }
    info
}

pub(crate) fn tokens(world: &mut World, context: &Context) -> Handled {
    let user = find_user(world, context)?;
    let rows = user
        .tokens
        .iter()
        .map(|(name, token)| {
            let mut row = token_info(token);
            if let Some(row) = row.as_object_mut() {
                row.insert("tokenid".to_owned(), json!(name));
            }
            row
        })
        .collect();
    Ok(Value::Array(rows).into())
}

fn no_token(context: &Context) -> Failure {
    Failure::new(format!("no such token '{}' for user '{}'", context.text("tokenid"), context.text("userid")))
}

pub(crate) fn token(world: &mut World, context: &Context) -> Handled {
    let user = find_user(world, context)?;
    user.tokens.get(context.text("tokenid")).map(|token| token_info(token).into()).ok_or_else(|| no_token(context))
}

pub(crate) fn create_token(world: &mut World, context: &Context) -> Handled {
    let (user, name) = (context.text("userid"), context.text("tokenid"));
    if find_user(world, context)?.tokens.contains_key(name) {
        return Err(Failure::parameter("tokenid", "Token already exists."));
    }
    let token = Token {
        secret: world.random.uuid(),
        privsep: context.get("privsep").is_none_or(|value| value == "1"),
        expire: context.number("expire").unwrap_or(0),
        comment: context.get("comment").map(str::to_owned),
    };
    let secret = token.secret.clone();
    let mut info = Map::new();
    // A value that was given comes back as the text that it was.
    info.insert("privsep".to_owned(), context.get("privsep").map_or_else(|| json!(1), |value| json!(value)));
    for key in ["expire", "comment"] {
        info.extend(context.get(key).map(|value| (key.to_owned(), json!(value))));
    }
    if let Some(user) = world.access.users.get_mut(user) {
        user.tokens.insert(name.to_owned(), token);
    }
    Ok(json!({ "full-tokenid": format!("{user}!{name}"), "value": secret, "info": info }).into())
}

pub(crate) fn update_token(world: &mut World, context: &Context) -> Handled {
    find_user(world, context)?;
    let secret = world.random.uuid();
    let token = world
        .access
        .users
        .get_mut(context.text("userid"))
        .and_then(|user| user.tokens.get_mut(context.text("tokenid")))
        .ok_or_else(|| no_token(context))?;
    if context.get("privsep").is_some() {
        token.privsep = context.flag("privsep");
    }
    token.expire = context.number("expire").unwrap_or(token.expire);
    if let Some(comment) = context.get("comment") {
        token.comment = Some(comment.to_owned());
    }
    let mut data = token_info(token);
    if context.flag("regenerate")
        && let Some(data) = data.as_object_mut()
    {
        token.secret.clone_from(&secret);
        data.insert("value".to_owned(), json!(secret));
    }
    Ok(data.into())
}

pub(crate) fn delete_token(world: &mut World, context: &Context) -> Handled {
    find_user(world, context)?;
    let (user, name) = (context.text("userid"), context.text("tokenid"));
    let gone = world.access.users.get_mut(user).and_then(|user| user.tokens.remove(name));
    let full = format!("{user}!{name}");
    world.access.rules.retain(|rule| rule.who != full);
    if gone.is_some() { Ok(Outcome::null()) } else { Err(no_token(context)) }
}

pub(crate) fn acl(world: &mut World, context: &Context) -> Handled {
    let all = world.may(&context.user, "/access", "Sys.Audit");
    let rows = world
        .access
        .rules
        .iter()
        .filter(|rule| all || world.may(&context.user, &rule.path, "Permissions.Modify"))
        .map(|rule| {
            json!({
                "path": rule.path,
                "type": if rule.who.contains('!') { "token" } else { "user" },
                "ugid": rule.who,
                "roleid": rule.role,
                "propagate": u8::from(rule.propagate),
            })
        })
        .collect();
    Ok(Value::Array(rows).into())
}

/// The paths that access rules may have (`PVE/AccessControl.pm: check_path`).
fn is_acl_path(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let vm = |id: &str| id.len() >= 3 && id.bytes().all(|b| b.is_ascii_digit());
    match parts.as_slice() {
        _ if path == "/" => true,
        _ if !path.starts_with('/') || parts.iter().any(|part| part.is_empty()) => false,
        ["access" | "vms" | "nodes" | "pool" | "sdn" | "storage" | "mapping"] | ["nodes" | "storage", _] => true,
        ["vms", id] => vm(id),
        ["pool", rest @ ..] | ["sdn", "zones" | "vnets" | "controllers" | "dns" | "ipams" | "fabrics", rest @ ..] => {
            rest.len() <= 3
        }
        ["access", "groups" | "realm" | "users", rest @ ..]
        | ["mapping", "dir" | "pci" | "usb" | "hwrng" | "notifications", rest @ ..] => rest.len() <= 1,
        _ => false,
    }
}

pub(crate) fn update_acl(world: &mut World, context: &Context) -> Handled {
    let path = context.text("path");
    let path = if path == "/" { path } else { path.trim_end_matches('/') };
    let who: Vec<String> = ["users", "tokens", "groups"]
        .iter()
        .flat_map(|name| split_list(context.text(name)))
        .map(str::to_owned)
        .collect();
    if who.is_empty() {
        return Err(Failure::parameters(
            ["users", "groups", "tokens"]
                .map(|name| (name.to_owned(), "either 'users', 'groups' or 'tokens' required.".to_owned()))
                .into(),
        ));
    }
    if !is_acl_path(path) {
        return Err(Failure::parameter("path", format!("invalid ACL path '{path}'")));
    }
    for role in split_list(context.text("roles")) {
        if world.role(role).is_none() {
            return Err(Failure::new(format!("ACL update failed: role '{role}' does not exist")));
        }
        for who in &who {
            let known = match who.split_once('!') {
                Some((user, token)) => world.access.users.get(user).is_some_and(|user| user.tokens.contains_key(token)),
                None => world.access.users.contains_key(who),
            };
            if !known {
                let kind = if who.contains('!') { "token" } else { "user" };
                return Err(Failure::new(format!("ACL update failed: no such {kind} '{who}'")));
            }
            world.access.rules.retain(|rule| !(rule.path == path && rule.who == *who && rule.role == role));
            if !context.flag("delete") {
                let propagate = context.get("propagate").is_none_or(|value| value == "1");
                world.access.rules.push(Rule {
                    path: path.to_owned(),
                    who: who.clone(),
                    role: role.to_owned(),
                    propagate,
                });
            }
        }
    }
    Ok(Outcome::null())
}
