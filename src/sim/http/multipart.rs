//! Uploads: `multipart/form-data`, taken apart as it arrives. Of the file only its size is kept, for the simulated
//! storage has no room for what is in it.

use crate::sim::disk_image;

/// A form with a file in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Upload {
    /// The parts before the file, and the file's name as `filename`.
    pub(super) params: Vec<(String, String)>,
    /// Bytes of the file.
    pub(super) size: u64,
    /// Bytes of the disk whose image the file is, if it says so.
    pub(super) virtual_size: Option<u64>,
}

/// The bytes are no such form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoForm;

/// No part but the file is longer.
const LONGEST_TEXT: usize = 64 * 1024;

/// Takes a form apart, whatever pieces it arrives in.
pub(super) struct Reader {
    /// `\r\n--boundary`. What is received is treated as if a line ended before it, because the first boundary stands at
    /// the very beginning.
    delimiter: Vec<u8>,
    received: Vec<u8>,
    state: State,
    upload: Upload,
    has_file: bool,
}

enum State {
    /// Before a boundary that begins a part; what comes before it does not count.
    Preamble,
    /// After a boundary: the end of its line, or `--` when it was the last.
    Boundary,
    Headers,
    Text {
        name: String,
        value: Vec<u8>,
    },
    File {
        start: Vec<u8>,
    },
    End,
}

impl Reader {
    /// For a `Content-Type`; `None` when it is not that of a form with parts.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        let (kind, parameters) = content_type.split_once(';')?;
        if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
            return None;
        }
        let boundary = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("boundary="))?;
        let boundary = boundary.trim_matches('"');
        if boundary.is_empty() || boundary.len() > 200 {
            return None;
        }
        Some(Self {
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            received: b"\r\n".to_vec(),
            state: State::Preamble,
            upload: Upload::default(),
            has_file: false,
        })
    }

    pub(super) fn push(&mut self, piece: &[u8]) -> Result<(), NoForm> {
        self.received.extend_from_slice(piece);
        while self.step()? {}
        Ok(())
    }

    /// The form, once all of it was pushed.
    pub(super) fn finish(self) -> Result<Upload, NoForm> {
        if matches!(self.state, State::End) && self.has_file { Ok(self.upload) } else { Err(NoForm) }
    }

    /// Makes of the received bytes what can be made of them; false when more are needed.
    fn step(&mut self) -> Result<bool, NoForm> {
        match &mut self.state {
            State::Preamble | State::Text { .. } | State::File { .. } => self.step_content(),
            State::Boundary => {
                let Some(two) = self.received.get(..2) else { return Ok(false) };
                self.state = match two {
                    b"\r\n" => State::Headers,
                    b"--" => State::End,
                    _ => return Err(NoForm),
                };
                self.received.drain(..2);
                Ok(true)
            }
            State::Headers => {
                let Some(end) = find(&self.received, b"\r\n\r\n") else {
                    return if self.received.len() > LONGEST_TEXT { Err(NoForm) } else { Ok(false) };
                };
                let headers = String::from_utf8_lossy(&self.received[..end]).into_owned();
                self.received.drain(..end + 4);
                self.state = self.part(&headers)?;
                Ok(true)
            }
            State::End => {
                self.received.clear();
                Ok(false)
            }
        }
    }

    fn step_content(&mut self) -> Result<bool, NoForm> {
        let found = find(&self.received, &self.delimiter);
        // A delimiter may have begun at the very end.
        let sure = found.unwrap_or(self.received.len().saturating_sub(self.delimiter.len() - 1));
        let content: Vec<u8> = self.received.drain(..sure).collect();
        match &mut self.state {
            State::Text { value, .. } => {
                value.extend_from_slice(&content);
                if value.len() > LONGEST_TEXT {
                    return Err(NoForm);
                }
            }
            State::File { start } => {
                self.upload.size += content.len() as u64;
                let missing = disk_image::HEADER.saturating_sub(start.len()).min(content.len());
                start.extend_from_slice(&content[..missing]);
            }
            _ => {}
        }
        if found.is_none() {
            return Ok(false);
        }
        self.received.drain(..self.delimiter.len());
        match std::mem::replace(&mut self.state, State::Boundary) {
            State::Text { name, value } => {
                self.upload.params.push((name, String::from_utf8_lossy(&value).into_owned()));
            }
            State::File { start } => self.upload.virtual_size = disk_image::virtual_size(&start),
            _ => {}
        }
        Ok(true)
    }

    /// What a part is, by its headers.
    fn part(&mut self, headers: &str) -> Result<State, NoForm> {
        let disposition = headers
            .split("\r\n")
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.eq_ignore_ascii_case("content-disposition"))
            .map(|(_, value)| value)
            .ok_or(NoForm)?;
        let value_of = |key: &str| {
            disposition.split(';').find_map(|parameter| {
                let (name, value) = parameter.trim().split_once('=')?;
                (name == key).then(|| value.trim_matches('"').to_owned())
            })
        };
        let name = value_of("name").ok_or(NoForm)?;
        match value_of("filename") {
            Some(_) if self.has_file => Err(NoForm),
            Some(file) => {
                self.has_file = true;
                self.upload.params.push(("filename".to_owned(), file));
                Ok(State::File { start: Vec::new() })
            }
            None => Ok(State::Text { name, value: Vec::new() }),
        }
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=----x";

    fn form(file: &[u8]) -> Vec<u8> {
        let mut form = b"------x\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\nimport\r\n------x\r\n\
            Content-Disposition: form-data; name=\"filename\"; filename=\"talos.qcow2\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n"
            .to_vec();
        form.extend_from_slice(file);
        form.extend_from_slice(b"\r\n------x--\r\n");
        form
    }

    fn read(pieces: &[&[u8]]) -> Result<Upload, NoForm> {
        let mut reader = Reader::of(TYPE).expect("the type of a form");
        pieces.iter().try_for_each(|piece| reader.push(piece))?;
        reader.finish()
    }

    fn expected(size: u64, virtual_size: Option<u64>) -> Upload {
        let params = [("content", "import"), ("filename", "talos.qcow2")];
        Upload { params: params.map(|(key, value)| (key.to_owned(), value.to_owned())).into(), size, virtual_size }
    }

    #[test]
    fn an_upload_has_parameters_and_a_size() {
        assert_eq!(read(&[&form(b"some bytes\r\n--of it")]), Ok(expected(19, None)));
        assert_eq!(read(&[&form(b"")]), Ok(expected(0, None)));
    }

    #[test]
    fn an_image_tells_the_size_of_its_disk() {
        let mut image = b"QFI\xfb\0\0\0\x03".to_vec();
        image.extend_from_slice(&[0; 16]);
        image.extend_from_slice(&(1_u64 << 30).to_be_bytes());
        image.extend_from_slice(&[0; 500]);
        assert_eq!(read(&[&form(&image)]), Ok(expected(532, Some(1 << 30))));
    }

    #[test]
    fn what_is_no_such_form_is_refused() {
        for wrong in [
            b"".as_slice(),
            b"------x--",
            b"------x\r\n\r\nno name\r\n------x--",
            b"------y\r\n\r\n",
            &form(b"unfinished")[..150],
        ] {
            assert_eq!(read(&[wrong]), Err(NoForm), "{}", String::from_utf8_lossy(wrong));
        }
        for content_type in ["text/plain", "multipart/form-data", "multipart/form-data; boundary="] {
            assert!(Reader::of(content_type).is_none());
        }
    }

    proptest! {
        #[test]
        fn it_does_not_matter_in_which_pieces_a_form_arrives(
            file in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'-'), Just(b'\r'), Just(b'\n')], 0..200),
            at in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let form = form(&file);
            let whole = read(&[&form]);
            let mut cuts: Vec<usize> = at.iter().map(|index| index.index(form.len())).collect();
            cuts.extend([0, form.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &form[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), whole);
        }
    }
}
