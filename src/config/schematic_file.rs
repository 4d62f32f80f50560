//! A schematic file: the same that the Image Factory takes, read so that every mistake is found before it is sent.

use std::path::Path;
use std::sync::Arc;

use super::gather::{read_file, source};
use super::problem::{Problem, Problems, Severity};
use super::reader::{Fields, Reader};
use super::source::Source;
use super::yaml::{Content, Yaml, parse};
use crate::model::{Quoted, SchematicId, Text};
use crate::schematic::{
    Bootloader, EnrollKeys, Extension, MetaValue, OptionValue, Overlay, PlainKind, Schematic, extension, plain_kind,
};

/// What to make of an extension whose name is nearly a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearMiss {
    /// It is a mistake.
    Refuse,
    /// It is meant; the factory will tell.
    Allow,
}

/// Reads a file. What is doubtful comes back beside the schematic, and alone what is wrong.
pub fn read_schematic(path: &Path, near_miss: NearMiss) -> (Option<Schematic>, Vec<Problem>) {
    match read_file(path) {
        Ok(text) => understand(&Arc::new(source(path, text)), near_miss),
        Err(failure) => (None, vec![failure.problem(path)]),
    }
}

/// Reads a text that is known by `name` in messages.
pub fn parse_schematic(name: &str, text: &str, near_miss: NearMiss) -> (Option<Schematic>, Vec<Problem>) {
    understand(&Arc::new(Source::new(name, text.to_owned())), near_miss)
}

fn understand(source: &Arc<Source>, near_miss: NearMiss) -> (Option<Schematic>, Vec<Problem>) {
    let mut problems = Problems::default();
    problems.add_source(Arc::clone(source));
    let tree = parse(source, &mut problems);
    let schematic = tree.and_then(|tree| {
        let mut file = File { reader: Reader { source, problems: &mut problems }, near_miss };
        file.schematic(&tree)
    });
    let schematic = schematic.filter(|_| !problems.has_errors());
    (schematic, problems.into_sorted())
}

/// The id of a schematic that stands in another file, or why it cannot be told.
pub(super) fn schematic_id(yaml: &Yaml, source: &Arc<Source>) -> Result<SchematicId, String> {
    let mut problems = Problems::default();
    let mut file = File { reader: Reader { source, problems: &mut problems }, near_miss: NearMiss::Allow };
    let schematic = file.schematic(yaml);
    let mistakes = problems.into_sorted().into_iter().filter(|problem| problem.severity == Severity::Error);
    match (schematic, mistakes.map(|problem| problem.message).next()) {
        (Some(schematic), None) => Ok(schematic.id()),
        (_, mistake) => Err(mistake.unwrap_or_default()),
    }
}

struct File<'a> {
    reader: Reader<'a>,
    near_miss: NearMiss,
}

const TOP: [&str; 3] = ["owner", "overlay", "customization"];
const OVERLAY: [&str; 3] = ["image", "name", "options"];
const CUSTOMIZATION: [&str; 7] = [
    "embeddedMachineConfiguration",
    "extraKernelArgs",
    "meta",
    "systemExtensions",
    "bootloader",
    "secureboot",
    "diskImage",
];
const SECUREBOOT: [&str; 2] = ["enrollKeys", "includeWellKnownCertificates"];

impl File<'_> {
    fn schematic(&mut self, tree: &Yaml) -> Option<Schematic> {
        let mut schematic = Schematic::default();
        // An empty file is plain Talos, as it is to the factory.
        let mut fields = Fields::of(tree, "a schematic", Some("schematic"), &mut self.reader)?;
        schematic.owner = self.text(&mut fields, "owner");
        schematic.overlay = self.overlay(&mut fields);
        if let Some(mut customization) = fields.section("customization", "customization", &mut self.reader) {
            self.customization(&mut customization, &mut schematic);
        }
        fields.refuse_unknown("a schematic", &TOP, &mut self.reader);
        Some(schematic)
    }

    fn overlay(&mut self, fields: &mut Fields<'_>) -> Option<Overlay> {
        let entry = fields.entry(&["overlay"], &mut self.reader)?;
        let mut fields = Fields::of(&entry.value, "`overlay`", Some("overlay"), &mut self.reader)?;
        let (image, name) = (self.text(&mut fields, "image"), self.text(&mut fields, "name"));
        let options = fields.entry(&["options"], &mut self.reader).map(|entry| self.option(&entry.value));
        fields.refuse_unknown("`overlay`", &OVERLAY, &mut self.reader);
        let options = match options.flatten() {
            Some(OptionValue::Map(options)) => options,
            Some(OptionValue::Null) | None => Vec::new(),
            Some(_) => {
                let place = self.reader.place(&entry.key_span, "`options` in here");
                self.reader.report(Problem::error("`options` is a mapping of keys to values").at(place));
                Vec::new()
            }
        };
        match (image.is_empty(), name.is_empty()) {
            (true, true) if options.is_empty() => None,
            (false, false) => Some(Overlay { image, name, options }),
            _ => {
                let place = self.reader.place(&entry.key_span, "incomplete");
                let problem = Problem::error("an overlay has both an `image` and a `name`").at(place);
                self.reader.report(problem.hint("a VM needs no overlay: delete it"));
                None
            }
        }
    }

    fn customization(&mut self, fields: &mut Fields<'_>, schematic: &mut Schematic) {
        schematic.embedded_machine_configuration = self.machine_configuration(fields);
        schematic.extra_kernel_args = self.texts(fields, "extraKernelArgs").into_iter().map(|(_, text)| text).collect();
        schematic.meta = self.meta(fields);
        if let Some(mut extensions) = fields.section("systemExtensions", "systemExtensions", &mut self.reader) {
            let names = self.texts(&mut extensions, "officialExtensions");
            for (yaml, name) in &names {
                self.check_extension(yaml, name);
            }
            schematic.official_extensions = names.into_iter().map(|(_, name)| name).collect();
            extensions.refuse_unknown("`systemExtensions`", &["officialExtensions"], &mut self.reader);
        }
        schematic.bootloader = self.word::<Bootloader>(fields, "bootloader");
        if let Some(mut secureboot) = fields.section("secureboot", "secureboot", &mut self.reader) {
            schematic.enroll_keys = self.word::<EnrollKeys>(&mut secureboot, "enrollKeys");
            schematic.include_well_known_certificates = self.flag(&mut secureboot, "includeWellKnownCertificates");
            secureboot.refuse_unknown("`secureboot`", &SECUREBOOT, &mut self.reader);
        }
        if let Some(mut disk_image) = fields.section("diskImage", "diskImage", &mut self.reader) {
            let entry = disk_image.entry(&["sectorSize"], &mut self.reader);
            schematic.sector_size = entry.and_then(|entry| self.number(&entry.value, u64::MAX)).unwrap_or(0);
            disk_image.refuse_unknown("`diskImage`", &["sectorSize"], &mut self.reader);
        }
        fields.refuse_unknown("`customization`", &CUSTOMIZATION, &mut self.reader);
    }

    fn machine_configuration(&mut self, fields: &mut Fields<'_>) -> String {
        let Some(entry) = fields.entry(&["embeddedMachineConfiguration"], &mut self.reader) else {
            return String::new();
        };
        let text = self.text_of(&entry.value);
        if !text.is_empty() {
            let place = self.reader.place(&entry.key_span, "everybody can read this");
            let problem =
                Problem::warning("whoever reaches a node in maintenance mode can read its schematic").at(place);
            self.reader.report(problem.hint("keep secrets out of it; Talos knows it from 1.12 on"));
        }
        text
    }

    /// The text of a key; an absent one is empty, as it is to the factory.
    fn text(&mut self, fields: &mut Fields<'_>, key: &str) -> String {
        let entry = fields.entry(&[key], &mut self.reader);
        entry.map(|entry| self.text_of(&entry.value)).unwrap_or_default()
    }

    fn text_of(&mut self, yaml: &Yaml) -> String {
        match &yaml.content {
            Content::Null => String::new(),
            _ => self.reader.text(yaml, "a text is needed").unwrap_or_default().to_owned(),
        }
    }

    /// The texts of a list, each with where it stands.
    fn texts<'y>(&mut self, fields: &mut Fields<'y>, key: &str) -> Vec<(&'y Yaml, String)> {
        let items = self.items(fields, key);
        items.iter().map(|item| (item, self.text_of(item))).collect()
    }

    fn items<'y>(&mut self, fields: &mut Fields<'y>, key: &str) -> &'y [Yaml] {
        match fields.entry(&[key], &mut self.reader).map(|entry| &entry.value) {
            None | Some(Yaml { content: Content::Null, .. }) => &[],
            Some(Yaml { content: Content::List(items), .. }) => items,
            Some(yaml) => {
                self.reader.wrong_kind(yaml, format_args!("`{key}` is a list"));
                &[]
            }
        }
    }

    fn meta(&mut self, fields: &mut Fields<'_>) -> Vec<MetaValue> {
        let items = self.items(fields, "meta");
        items.iter().filter_map(|item| self.meta_value(item)).collect()
    }

    fn meta_value(&mut self, yaml: &Yaml) -> Option<MetaValue> {
        let mut fields = Fields::of(yaml, "an entry of `meta`", None, &mut self.reader)?;
        let entry = fields.entry(&["key"], &mut self.reader);
        let key = entry.map(|entry| self.number(&entry.value, u64::from(u8::MAX)));
        if key.is_none() {
            let place = self.reader.place(&yaml.span, "no `key`");
            self.reader.report(Problem::error("an entry of `meta` has a `key` from 0 to 255").at(place));
        }
        let value = self.text(&mut fields, "value");
        fields.refuse_unknown("an entry of `meta`", &["key", "value"], &mut self.reader);
        Some(MetaValue { key: u8::try_from(key??).ok()?, value })
    }

    fn word<T: Text>(&mut self, fields: &mut Fields<'_>, key: &str) -> Option<T> {
        let entry = fields.entry(&[key], &mut self.reader)?;
        match entry.value.content {
            Content::Null => None,
            _ => self.reader.parse(&entry.value, T::WHAT, str::parse),
        }
    }

    fn flag(&mut self, fields: &mut Fields<'_>, key: &str) -> bool {
        let Some(entry) = fields.entry(&[key], &mut self.reader) else {
            return false;
        };
        match &entry.value.content {
            Content::Null => false,
            Content::Scalar { text, plain: true } if plain_kind(text) == PlainKind::Bool => {
                text.eq_ignore_ascii_case("true")
            }
            _ => {
                let place = self.reader.place(&entry.value.span, "neither `true` nor `false`");
                self.reader.report(Problem::error(format!("`{key}` is `true` or `false`")).at(place));
                false
            }
        }
    }

    fn number(&mut self, yaml: &Yaml, most: u64) -> Option<u64> {
        let number = match &yaml.content {
            Content::Scalar { text, plain: true } => integer(text).and_then(|number| u64::try_from(number).ok()),
            _ => None,
        };
        if let Some(number) = number.filter(|number| *number <= most) {
            return Some(number);
        }
        let range = if most == u64::MAX { String::new() } else { format!(" from 0 to {most}") };
        let place = self.reader.place(&yaml.span, "no such number");
        self.reader.report(Problem::error(format!("a whole number{range} is needed")).at(place));
        None
    }

    fn check_extension(&mut self, yaml: &Yaml, name: &str) {
        let quoted = Quoted::new(name);
        match extension(name) {
            Extension::Known => {}
            Extension::Renamed(new) => {
                let place = self.reader.place(&yaml.span, "an old name");
                let problem = Problem::warning(format!("the extension {quoted} is now called `{new}`")).at(place);
                self.reader.report(problem.hint("both work; the id of the schematic changes with the name"));
            }
            Extension::Misspelt(known) if self.near_miss == NearMiss::Refuse => {
                let place = self.reader.place(&yaml.span, "no such extension");
                let problem = Problem::error(format!("there is no extension {quoted}")).at(place);
                let hint = format!("did you mean `{known}`? If it is right as it is, take --any-extension");
                self.reader.report(problem.hint(hint));
            }
            Extension::Misspelt(_) | Extension::Unknown => {
                let place = self.reader.place(&yaml.span, "not known here");
                let problem =
                    Problem::warning(format!("the extension {quoted} is not known to this program")).at(place);
                let hint = "if there is no such extension, the factory will say so only when it builds an image";
                self.reader.report(problem.hint(hint));
            }
        }
    }

    /// A value among the options of an overlay, as the factory understands it.
    fn option(&mut self, yaml: &Yaml) -> Option<OptionValue> {
        Some(match &yaml.content {
            Content::Null => OptionValue::Null,
            Content::List(items) => OptionValue::List(items.iter().filter_map(|item| self.option(item)).collect()),
            Content::Map(entries) => OptionValue::Map(
                entries.iter().filter_map(|entry| Some((entry.key.clone(), self.option(&entry.value)?))).collect(),
            ),
            Content::Scalar { text, plain: false } => OptionValue::Text(text.clone()),
            Content::Scalar { text, plain: true } => match plain_kind(text) {
                PlainKind::Null => OptionValue::Null,
                PlainKind::Bool => OptionValue::Bool(text.eq_ignore_ascii_case("true")),
                PlainKind::Integer => OptionValue::Integer(integer(text)?),
                PlainKind::Text | PlainKind::OtherParsersMistakeIt => OptionValue::Text(text.clone()),
                PlainKind::Float | PlainKind::Timestamp => {
                    let place = self.reader.place(&yaml.span, "neither a text nor a whole number");
                    let problem =
                        Problem::error("how the factory writes this value cannot be told without it").at(place);
                    self.reader.report(problem.hint("put it in quotes if a text is meant"));
                    return None;
                }
            },
        })
    }
}

/// A whole number in any of the ways that YAML writes one.
fn integer(word: &str) -> Option<i128> {
    if plain_kind(word) != PlainKind::Integer {
        return None;
    }
    let word = word.replace('_', "").to_ascii_lowercase();
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word.strip_prefix('+').unwrap_or(&word)),
    };
    let (digits, base) = match digits.as_bytes() {
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', b'o', ..] => (&digits[2..], 8),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    i128::from_str_radix(digits, base).ok().map(|number| sign * number)
}

#[cfg(test)]
mod tests {
    use super::super::problem::Place;
    use super::*;

    fn read(text: &str) -> (Option<Schematic>, Vec<Problem>) {
        parse_schematic("schematic.yaml", text, NearMiss::Refuse)
    }

    #[test]
    fn a_file_in_any_spelling_is_the_same_schematic() {
        const ID: &str = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
        for text in [
            "customization:\n  systemExtensions:\n    officialExtensions: [siderolabs/qemu-guest-agent]\n",
            "# mine\ncustomization:\n    systemExtensions:\n        officialExtensions:\n            - 'siderolabs/qemu-guest-agent'\n    extraKernelArgs: []\n    bootloader: none\n",
            r#"{"customization": {"systemExtensions": {"officialExtensions": ["siderolabs/qemu-guest-agent"]}}}"#,
        ] {
            let (schematic, problems) = read(text);
            assert_eq!(schematic.unwrap_or_else(|| panic!("{problems:?}")).id().as_str(), ID);
            assert!(problems.is_empty(), "{problems:?}");
        }
        for text in ["", "customization:\n", "customization: {}\n"] {
            assert_eq!(read(text).0, Some(Schematic::default()), "{text}");
        }
    }

    #[test]
    fn every_field_is_read() {
        let text = "\
owner: me
overlay: {image: siderolabs/sbc, name: x, options: {a: 0x10, b: [true, ~, on, '7']}}
customization:
  embeddedMachineConfiguration: |
    version: v1alpha1
  extraKernelArgs: [net.ifnames=0, 123]
  meta: [{key: 0xa, value: foo}]
  systemExtensions: {officialExtensions: [siderolabs/gvisor]}
  bootloader: sd-boot
  secureboot: {enrollKeys: off, includeWellKnownCertificates: true}
  diskImage: {sectorSize: 4096}
";
        let (schematic, problems) = read(text);
        let schematic = schematic.unwrap_or_else(|| panic!("{problems:?}"));
        let options = [
            ("a".to_owned(), OptionValue::Integer(16)),
            (
                "b".to_owned(),
                OptionValue::List(vec![
                    OptionValue::Bool(true),
                    OptionValue::Null,
                    OptionValue::Text("on".to_owned()),
                    OptionValue::Text("7".to_owned()),
                ]),
            ),
        ];
        let expected = Schematic {
            owner: "me".to_owned(),
            overlay: Some(Overlay {
                image: "siderolabs/sbc".to_owned(),
                name: "x".to_owned(),
                options: options.into(),
            }),
            embedded_machine_configuration: "version: v1alpha1\n".to_owned(),
            extra_kernel_args: vec!["net.ifnames=0".to_owned(), "123".to_owned()],
            meta: vec![MetaValue { key: 10, value: "foo".to_owned() }],
            official_extensions: vec!["siderolabs/gvisor".to_owned()],
            bootloader: Some(Bootloader::SdBoot),
            enroll_keys: Some(EnrollKeys::Off),
            include_well_known_certificates: true,
            sector_size: 4096,
        };
        assert_eq!(schematic, expected);
        assert!(problems.iter().all(|problem| problem.severity == Severity::Warning));
        // What the factory keeps is read as what was sent.
        assert_eq!(read(&schematic.canonical()).0, Some(expected));
    }

    #[test]
    fn every_mistake_is_found_at_once() {
        let text = "\
customisation: {}
overlay: {name: x}
customization:
  extraKernelArg: [a]
  extraKernelArgs: net.ifnames=0
  meta: [{key: 256, value: x}, {value: y}]
  systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agnt, qemu-guest-agent, siderolabs/something-else]}
  bootloader: lilo
  secureboot: {enrollKeys: never, includeWellKnownCertificates: 1}
  diskImage: {sectorSize: big}
";
        let (schematic, problems) = read(text);
        assert_eq!(schematic, None);
        let lines: Vec<String> = problems
            .iter()
            .map(|problem| {
                let Some(Place::Part { source, span, .. }) = problem.places.first() else { panic!("{problem:?}") };
                format!("{}: {}", source.position(span).0, problem.message)
            })
            .collect();
        let expected = "\
1: a schematic has no key `customisation`
2: an overlay has both an `image` and a `name`
4: `customization` has no key `extraKernelArg`
5: a single value cannot stand here: `extraKernelArgs` is a list
6: a whole number from 0 to 255 is needed
6: an entry of `meta` has a `key` from 0 to 255
7: there is no extension `siderolabs/qemu-guest-agnt`
7: there is no extension `qemu-guest-agent`
8: `lilo` is not a boot loader: `none`, `dual-boot`, `sd-boot` or `grub`
9: `never` is not a time to enrol keys: `off`, `manual`, `if-safe` or `force`
9: `includeWellKnownCertificates` is `true` or `false`
10: a whole number is needed
7: the extension `siderolabs/something-else` is not known to this program";
        assert_eq!(lines.join("\n"), expected);
        let hint = |part: &str| {
            problems.iter().find(|problem| problem.message.contains(part)).and_then(|problem| problem.hint.clone())
        };
        assert_eq!(hint("customisation").as_deref(), Some("did you mean `customization`?"));
        assert!(hint("agnt").is_some_and(|hint| hint.starts_with("did you mean `siderolabs/qemu-guest-agent`?")));
        let (_, allowed) = parse_schematic(
            "x",
            "customization: {systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agnt]}}",
            NearMiss::Allow,
        );
        assert!(allowed.iter().all(|problem| problem.severity == Severity::Warning));
    }
}
