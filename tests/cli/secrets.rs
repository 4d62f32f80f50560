use crate::harness::{GOOD, Run, Workdir};

/// Proxmox makes UUIDs; people type what they like.
const SECRETS: [&str; 2] = ["5ec4e7aa-1111-2222-3333-444444444444", "hunter2-5ec4e7aa"];
const SECRET: &str = SECRETS[0];

#[track_caller]
fn assert_hidden(run: &Run) {
    assert!(!run.to_string().contains("5ec4e7aa"), "{run}");
}

/// Every way in which a secret can be given or misplaced, and every way of asking about it.
#[test]
fn a_secret_is_never_printed() {
    SECRETS.into_iter().for_each(never_printed);
}

#[track_caller]
fn never_printed(secret_text: &str) {
    let id = "PROXMOX_TOKEN_ID";
    let secret = "PROXMOX_TOKEN_SECRET";
    let inputs = [
        Workdir::with_nodes(GOOD).env(id, "root@pam!ci").env(secret, secret_text),
        Workdir::with_nodes(GOOD).env(id, &format!("root@pam!ci={secret_text}")),
        Workdir::with_nodes(GOOD).env(secret, &format!("root@pam!ci={secret_text}")),
        Workdir::with_nodes(GOOD).env(secret, &format!("{secret_text} x")),
        Workdir::with_nodes(GOOD).env("PROXMOX_VE_API_TOKEN", &format!("root@pam!ci={secret_text}")),
        Workdir::with_nodes(GOOD).env("PROXMOX_VE_API_TOKEN", secret_text),
        Workdir::with_nodes(GOOD).env("PROXMOX_ENDPOINT", &format!("https://root:{secret_text}@pve")),
        Workdir::with_nodes(GOOD).file("secret", secret_text).env("PROXMOX_TOKEN_SECRET_FILE", "secret"),
        Workdir::with_nodes(GOOD)
            .file("secret", format!("{secret_text} {secret_text}"))
            .env("PROXMOX_TOKEN_SECRET_FILE", "secret"),
        Workdir::with_nodes(GOOD).file("cluster.yaml", format!("proxmox_api_token_secret: {secret_text}\n")),
        Workdir::with_nodes(GOOD).file("cluster.yaml", format!("proxmox_api_token_secret: [{secret_text}]\n")),
        Workdir::with_nodes(GOOD).file("cluster.yaml", format!("proxmox_api_token_secret: '{secret_text}\nx: y\n")),
        Workdir::with_nodes(GOOD).file("cluster.yaml", format!("proxmox_api_token_id: root@pam!ci={secret_text}\n")),
        Workdir::with_nodes(GOOD).file("cluster.yaml", format!("proxmox_api_token: root@pam!ci={secret_text}\n")),
        Workdir::with_nodes(GOOD).file("cluster.yaml", format!("proxmox_api_token: {secret_text}\n")),
        Workdir::with_nodes(GOOD)
            .file("cluster.yaml", format!("cloudflare: {secret_text}\ncloudflare: {secret_text}\n")),
        Workdir::with_nodes(GOOD).file("cluster.yaml", format!("proxmox_api_url: https://root:{secret_text}@pve\n")),
        Workdir::with_nodes(format!("{GOOD}proxmox_api_token_secret: {secret_text}\n")),
        Workdir::with_nodes(format!("{GOOD}proxmox: {{token_secret: {secret_text}, nod: x}}\n")),
        Workdir::with_nodes(format!("{GOOD}proxmox: {{token_id: 'root@pam!ci={secret_text}'}}\n")),
        Workdir::with_nodes(format!("{GOOD}password: {secret_text}\n")),
        Workdir::with_nodes(GOOD).file("pvetalos.yaml", format!("api_token: {secret_text}\n")),
        Workdir::with_nodes(GOOD).file("pvetalos.yaml", format!("proxmox:\n  secret: |\n    {secret_text}\n\tx")),
    ];
    for workdir in &inputs {
        for args in [&["validate"][..], &["validate", "--explain"], &["validate", "-o", "json", "--explain"]] {
            assert_hidden(&workdir.run(args));
            assert_hidden(&workdir.run([args, &["-vvv"]].concat()));
            assert_hidden(&workdir.run([args, &["-vvv", "--log-format", "json"]].concat()));
        }
    }
}

#[test]
fn a_token_file_holds_both_halves() {
    let workdir =
        Workdir::with_nodes(GOOD).file("token", format!("root@pam!ci={SECRET}\n")).env("PROXMOX_TOKEN_ID", "a@pam!bb");
    let run = workdir.run(["validate", "--explain", "--token-file", "token"]);
    assert_hidden(&run);
    assert!(run.stdout.contains("root@pam!ci"), "{run}");
    assert!(run.stdout.contains("token_secret"), "{run}");
}

#[test]
fn a_variable_and_its_file_twin_exclude_each_other() {
    let workdir = Workdir::with_nodes(GOOD)
        .file("secret", SECRET)
        .env("PROXMOX_TOKEN_SECRET", SECRET)
        .env("PROXMOX_TOKEN_SECRET_FILE", "secret");
    let run = workdir.run(["validate"]);
    assert_hidden(&run);
    insta::assert_snapshot!(run);
}
