use super::options::NET;
use super::property::Parsed;

/// A network card in the form in which Proxmox stores it: the model with the MAC, then the options by name.
pub(crate) fn print(card: &Parsed) -> String {
    let model = card.get("model").map_or("", String::as_str);
    let first = match card.get("macaddr") {
        Some(mac) => format!("{model}={mac}"),
        None => model.to_owned(),
    };
    let options = card.iter().filter(|(key, _)| !matches!(key.as_str(), "model" | "macaddr"));
    let parts: Vec<String> =
        std::iter::once(first).chain(options.map(|(key, value)| format!("{key}={value}"))).collect();
    parts.join(",")
}

/// The cards of a configuration in the order of their numbers.
pub(crate) fn cards(config: &std::collections::BTreeMap<String, String>) -> Vec<(u16, Parsed)> {
    let mut cards: Vec<(u16, Parsed)> =
        config.iter().filter_map(|(key, value)| Some((index(key)?, NET.parse(value).ok()?))).collect();
    cards.sort_by_key(|(index, _)| *index);
    cards
}

/// The number of a card's key.
pub(crate) fn index(key: &str) -> Option<u16> {
    key.strip_prefix("net").and_then(|number| number.parse().ok()).filter(|number| *number < 32)
}
