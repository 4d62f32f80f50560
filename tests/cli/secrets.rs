use crate::harness::{GOOD, Run, Simulated, Workdir};
use crate::sops::FAKE_PATH;

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

/// Right nodes beside this cluster.yaml.
fn cluster(text: String) -> Workdir {
    Workdir::with_nodes(GOOD).file("cluster.yaml", text)
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
        // A lost line end, a flow mapping over several lines, a comment, a secret in the place of something else.
        cluster(format!("proxmox_api_token_id: root@pam!ciproxmox_api_token_secret: {secret_text}\n")),
        cluster(format!("{{\nnode_cidr: x, proxmox_api_token_secret: {secret_text}\n}}\n")),
        cluster(format!("proxmox_vm_defaults: {{cores: x, password: {secret_text}}}\n")),
        cluster(format!("proxmox_vm_defaults: {{cores: x, mine: {secret_text}}}\n")),
        cluster(format!("proxmox_node: \"\" # password: {secret_text}\n")),
        cluster(format!("proxmox_node: \"\" # {secret_text}\n")),
        cluster(format!("proxmox_api_url: root:{secret_text}@pve\n")),
        cluster(format!("\"root@pam!ci={secret_text}\": x\n")),
        cluster(format!("a: |\n  {secret_text}\n\tb: [\n")),
        Workdir::with_nodes(format!("{GOOD}proxmox: {{endpoint: \"root:{secret_text}@pve\"}}\n")),
        Workdir::with_nodes(format!("{GOOD}proxmox: {{endpoint: \"http://root:{secret_text}@pve\"}}\n")),
        Workdir::with_nodes(format!("{GOOD}proxmox: {{token_secret:\n   {secret_text}, nod: x}}\n")),
        Workdir::with_nodes(format!("{GOOD}proxmox: {{token_id: {secret_text}}}\n")),
        Workdir::with_nodes(format!("{GOOD}proxmox: {{token_secret:\n   {secret_text}, nod: [x}}\n")),
        Workdir::with_nodes(GOOD)
            .file("cluster.yaml", format!("{secret_text}\n"))
            .env("PVETALOS_CLUSTER_FILE", "cluster.yaml"),
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

/// The same for files that are or should be encrypted, with commands that decrypt them.
#[test]
fn a_secret_of_a_sops_file_is_never_printed() {
    let simulated = Simulated::three_hosts();
    let right = simulated.says("token_secret").to_owned();
    for secret_text in [SECRETS[0], SECRETS[1], &right] {
        let file = "infrastructure/secrets.sops.yaml";
        let encrypted = include_str!("../fixtures/sops/secrets.sops.yaml");
        let plain = format!("proxmox_api_token_id: root@pam!ci\nproxmox_api_token_secret: {secret_text}\n");
        let found = |text: &str| simulated.without_token(GOOD).file(file, text).env("PATH", FAKE_PATH);
        let prints = |output: String| found(encrypted).env("FAKE_SOPS", "opens").env("FAKE_OUTPUT", &output);
        let says = |words: String| found(encrypted).env("FAKE_SOPS", "talks").env("FAKE_OUTPUT", &words);
        let halves = |id: &str, secret: &str| serde_json::json!({"proxmox_api_token_id": id, "proxmox_api_token_secret": secret, "x": secret_text});
        let inputs = [
            // The right one gets as far as Proxmox. It takes seconds to refuse a wrong one, which stops here for want of an id.
            prints(
                halves(if secret_text == right { simulated.says("token_id") } else { "root" }, secret_text).to_string(),
            ),
            prints(halves(&format!("root@pam!ci={secret_text}"), secret_text).to_string()),
            prints(halves(secret_text, &format!("{secret_text} x")).to_string()),
            prints(halves("root@pam!ci", &format!("root@pam!ci={secret_text}")).to_string()),
            prints(serde_json::json!({"proxmox_api_token_id": [secret_text], "x": secret_text}).to_string()),
            prints(format!("{{\"proxmox_api_token_secret\": \"{secret_text}")),
            prints(secret_text.to_owned()),
            says(plain.clone()),
            says(format!("cannot use root@pam!ci={secret_text}")),
            says(format!("password={secret_text}\n{plain}")),
            found(&plain),
            found(&format!("{plain}sops: {{}}\n")).env("FAKE_SOPS", "talks").env("FAKE_OUTPUT", secret_text),
            found(&format!("{plain}sops: [\n")),
            found(secret_text),
            found(&format!("root@pam!ci={secret_text}: x\nsops: {{}}\n")),
        ];
        for workdir in &inputs {
            for args in [&["validate", "--explain"][..], &["doctor"], &["plan"], &["plan", "-o", "json"]] {
                for talk in [&[][..], &["-vvv"], &["-vvv", "--log-format", "json"]] {
                    let run = workdir.run([args, talk].concat());
                    assert!(!run.to_string().contains(&secret_text[..7]), "{run}");
                }
            }
        }
    }
}

#[test]
fn a_secret_typed_for_the_name_of_a_file_is_not_printed() {
    let token = format!("root@pam!ci={SECRET}");
    for flag in ["--token-file", "--nodes", "--cluster", "--settings", "--secrets"] {
        let run = Workdir::with_nodes(GOOD).run(["validate", "-vvv", flag, &token]);
        assert_eq!(run.exit, 2);
        assert_hidden(&run);
    }
}

#[test]
fn halves_of_two_tokens_are_not_put_together() {
    let file = format!("proxmox_api_token_id: bb@pam!file\nproxmox_api_token_secret: {SECRET}\n");
    let mixed = cluster(file.clone()).env("PROXMOX_TOKEN_ID", "aa@pam!env");
    let run = mixed.run(["validate"]);
    assert_hidden(&run);
    insta::assert_snapshot!(run);
    assert_eq!(cluster(file).env("PROXMOX_TOKEN_ID", "bb@pam!file").run(["validate"]).exit, 0);
    let both = Workdir::with_nodes(GOOD)
        .env("PROXMOX_TOKEN_ID", "aa@pam!env")
        .env("PROXMOX_VE_API_TOKEN", &format!("bb@pam!ve={SECRET}"));
    assert_eq!(both.run(["validate"]).exit, 2);
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
fn a_token_file_without_a_token_is_named() {
    let of =
        |text: &str| Workdir::with_nodes(GOOD).file("my-token", text).run(["validate", "--token-file", "my-token"]);
    let empty = of(" \n");
    assert_eq!(empty.exit, 2, "{empty}");
    assert!(empty.stderr.contains("the file is empty\n--> --token-file my-token"), "{empty}");
    let secret_alone = of(SECRET);
    assert_eq!(secret_alone.exit, 2, "{secret_alone}");
    assert!(secret_alone.stderr.contains("--> --token-file my-token"), "{secret_alone}");
    assert_hidden(&secret_alone);
    let twin = Workdir::with_nodes(GOOD).file("my-token", "\n").env("PROXMOX_TOKEN_SECRET_FILE", "my-token");
    let empty = twin.run(["validate"]);
    assert!(empty.stderr.contains("the file that PROXMOX_TOKEN_SECRET_FILE names is empty"), "{empty}");
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
