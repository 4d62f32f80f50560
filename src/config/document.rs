//! Any other YAML file of ours, read into any type that serde knows.
//!
//! nodes.yaml and its like have readers of their own, which find every mistake at once. Files that only this program's
//! developers and testers write, such as the simulator's worlds, get the first mistake with its place.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::gather::{read_file, source};
use super::problem::{Place, Problem, Problems};
use super::source::{Source, Span};
use super::yaml::{Content, Entry, Yaml, parse};

/// Reads a file; JSON is YAML too.
pub fn read_document<T: DeserializeOwned>(path: &Path) -> Result<T, Vec<Problem>> {
    match read_file(path) {
        Ok(text) => understand(&Arc::new(source(path, text))),
        Err(failure) => Err(vec![failure.problem(path)]),
    }
}

/// Reads a text that is known by `name` in messages.
pub fn parse_document<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Vec<Problem>> {
    understand(&Arc::new(Source::new(name, text.to_owned())))
}

fn understand<T: DeserializeOwned>(source: &Arc<Source>) -> Result<T, Vec<Problem>> {
    let mut problems = Problems::default();
    problems.add_source(Arc::clone(source));
    let tree = parse(source, &mut problems);
    if let Some(tree) = tree.filter(|_| !problems.has_errors()) {
        match T::deserialize(Value(&tree)) {
            Ok(document) => return Ok(document),
            Err(Mistake { message, span }) => {
                let span = span.unwrap_or(tree.span);
                let place = Place::Part { source: Arc::clone(source), span, label: "here".to_owned() };
                problems.report(Problem::error(message).at(place));
            }
        }
    }
    Err(problems.into_sorted())
}

/// The first mistake, and the innermost value around it.
#[derive(Debug)]
struct Mistake {
    message: String,
    span: Option<Span>,
}

impl Mistake {
    fn at(self, span: &Span) -> Self {
        Self { span: self.span.or_else(|| Some(span.clone())), ..self }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }
}

/// A value of the tree. Its scalars are text until the type that is asked for says what they are.
#[derive(Clone, Copy)]
struct Value<'y>(&'y Yaml);

impl Value<'_> {
    /// The value as `T`, when it looks like one and does not stand in quotes.
    fn scalar<T: FromStr>(self) -> Option<T> {
        match &self.0.content {
            Content::Scalar { text, plain: true } => text.parse().ok(),
            _ => None,
        }
    }

    /// The same for a number as a computer writes it: `0101` and `+1` are texts.
    fn number<T: FromStr + ToString>(self) -> Option<T> {
        let number: T = self.scalar()?;
        matches!(&self.0.content, Content::Scalar { text, .. } if *text == number.to_string()).then_some(number)
    }

    fn give<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.0.content {
            Content::Null => visitor.visit_unit(),
            Content::Scalar { text, .. } => visitor.visit_str(text),
            Content::List(items) => visitor.visit_seq(Items(items.iter())),
            Content::Map(entries) => visitor.visit_map(Entries { entries: entries.iter(), value: None }),
        }
    }
}

/// Asks for a number, and lets the visitor complain in its own words when there is none.
macro_rules! numbers {
    ($($method:ident $visit:ident $number:ty;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
            match self.scalar::<$number>() {
                Some(number) => visitor.$visit(number),
                None => self.give(visitor),
            }
            .map_err(|mistake| mistake.at(&self.0.span))
        })*
    };
}

impl<'de> de::Deserializer<'de> for Value<'_> {
    type Error = Mistake;

    /// Where no type is asked for, whole numbers and `true` and `false` count as what they look like.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        if let Some(number) = self.number::<u64>() {
            visitor.visit_u64(number)
        } else if let Some(number) = self.number::<i64>() {
            visitor.visit_i64(number)
        } else if let Some(flag) = self.scalar::<bool>() {
            visitor.visit_bool(flag)
        } else {
            self.give(visitor)
        }
        .map_err(|mistake| mistake.at(&self.0.span))
    }

    numbers! {
        deserialize_bool visit_bool bool;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_u128 visit_u128 u128;
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_i128 visit_i128 i128;
        deserialize_f32 visit_f32 f32;
        deserialize_f64 visit_f64 f64;
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.give(visitor).map_err(|mistake| mistake.at(&self.0.span))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0.content {
            Content::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    /// A word, or a mapping of one word to what belongs to it.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match &self.0.content {
            Content::Scalar { text, .. } => visitor.visit_enum(text.as_str().into_deserializer()),
            Content::Map(entries) if entries.len() == 1 => visitor.visit_enum(Variant(&entries[0])),
            _ => {
                Err(de::Error::custom(format_args!("{} cannot stand here: a single word is needed", self.0.describe())))
            }
        }
        .map_err(|mistake: Mistake| mistake.at(&self.0.span))
    }

    forward_to_deserialize_any! {
        char bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'y>(std::slice::Iter<'y, Yaml>);

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mistake> {
        self.0.next().map(|item| seed.deserialize(Value(item)).map_err(|mistake| mistake.at(&item.span))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'y> {
    entries: std::slice::Iter<'y, Entry>,
    value: Option<&'y Yaml>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mistake> {
        let Some(entry) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(&entry.value);
        let key =
            Yaml { content: Content::Scalar { text: entry.key.clone(), plain: true }, span: entry.key_span.clone() };
        seed.deserialize(Key(&key)).map(Some).map_err(|mistake| mistake.at(&entry.key_span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        let value = self.value.take().ok_or_else(|| de::Error::custom("a value without a key"))?;
        seed.deserialize(Value(value)).map_err(|mistake| mistake.at(&value.span))
    }
}

/// A key is a text wherever a text will do, and a number only where one is asked for.
struct Key<'y>(&'y Yaml);

impl<'de> de::Deserializer<'de> for Key<'_> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        Value(self.0).give(visitor)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        Value(self.0).deserialize_u8(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        Value(self.0).deserialize_u16(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        Value(self.0).deserialize_u32(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        Value(self.0).deserialize_u64(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        Value(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// A variant that has something with it.
struct Variant<'y>(&'y Entry);

impl<'de, 'y> de::EnumAccess<'de> for Variant<'y> {
    type Error = Mistake;
    type Variant = Value<'y>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Value<'y>), Mistake> {
        let word: StrDeserializer<'_, Mistake> = self.0.key.as_str().into_deserializer();
        let variant = seed.deserialize(word).map_err(|mistake| mistake.at(&self.0.key_span))?;
        Ok((variant, Value(&self.0.value)))
    }
}

impl<'de> de::VariantAccess<'de> for Value<'_> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        match self.0.content {
            Content::Null => Ok(()),
            _ => Err(Mistake { message: "nothing belongs to this word".to_owned(), span: Some(self.0.span.clone()) }),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mistake> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mistake> {
        de::Deserializer::deserialize_any(self, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Mistake> {
        de::Deserializer::deserialize_any(self, visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Example {
        name: String,
        #[serde(default)]
        size: Option<u64>,
        #[serde(default)]
        on: bool,
        #[serde(default)]
        by_number: BTreeMap<u32, Kind>,
        #[serde(default)]
        any: serde_json::Value,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Plain,
        Sized(u8),
        Full { text: String },
    }

    #[test]
    fn a_document_becomes_what_is_asked_for() {
        let text = "name: 0101\nsize: 12\non: true\nby_number: {7: plain, 8: {sized: 3}, 9: {full: {text: no}}}\n\
                    any: [1, -1, x, true, 0101, 9.2, '7', {4: ~}]\n";
        let example: Example = parse_document("test.yaml", text).expect("the text is valid");
        let by_number = [(7, Kind::Plain), (8, Kind::Sized(3)), (9, Kind::Full { text: "no".to_owned() })];
        assert_eq!(
            example,
            Example {
                name: "0101".to_owned(),
                size: Some(12),
                on: true,
                by_number: by_number.into(),
                any: serde_json::json!([1, -1, "x", true, "0101", "9.2", "7", {"4": null}]),
            }
        );
    }

    #[test]
    fn json_is_yaml_too() {
        let example: Example = parse_document("test.json", r#"{"name": "a", "size": null}"#).expect("it is valid");
        assert_eq!((example.name.as_str(), example.size), ("a", None));
    }

    /// The message, and what it points at.
    fn mistake(text: &str) -> (String, String) {
        let problems = parse_document::<Example>("test.yaml", text).expect_err("the text is wrong");
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        let Some(Place::Part { source, span, .. }) = problem.places.first() else { panic!("{problem:?}") };
        let excerpt = source.excerpt(span);
        (problem.message.clone(), format!("{}: {}", excerpt.line, &excerpt.text[excerpt.marked]))
    }

    #[test]
    fn a_mistake_is_shown_where_it_stands() {
        #[track_caller]
        fn case(text: &str, message: &str, place: &str) {
            let (actual, at) = mistake(text);
            assert!(actual.contains(message), "{actual}");
            assert_eq!(at, place);
        }
        case("name: a\nsize: big\n", "invalid type: string \"big\", expected u64", "2: big");
        case("name: a\nsise: 1\n", "unknown field `sise`", "2: sise");
        case("size: 1\n", "missing field `name`", "1: size: 1");
        case("name: [a]\n", "invalid type: sequence, expected a string", "1: [a]");
        case("name: a\nby_number: {x: plain}\n", "invalid type: string \"x\"", "2: x");
        case("name: a\nby_number: {7: fancy}\n", "unknown variant `fancy`", "2: fancy");
        case("name: a\nby_number: {7: {plain: 1}}\n", "nothing belongs to this word", "2: 1");
        case("name: a\nname: b\n", "the key `name` is given twice", "2: name");
    }
}
