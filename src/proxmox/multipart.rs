use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::fs::File;
use tokio::io::{AsyncRead, ReadBuf};

use super::Upload;

/// How much of the file is in the memory at a time.
const PIECE: usize = 64 << 10;

/// A form with fields and then a file, read while it is sent.
///
/// Proxmox takes a form apart as it comes in and wants the file last (pve-http-server:
/// src/PVE/APIServer/AnyEvent.pm). It must know the length beforehand, too.
pub(super) struct Multipart {
    before: Option<Bytes>,
    file: File,
    /// Bytes of the file that are still to come.
    left: u64,
    after: Option<Bytes>,
}

impl Multipart {
    pub(super) fn new(upload: &Upload, boundary: &str) -> io::Result<Self> {
        let part = |head: String, value: &str| {
            format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}")
        };
        let params = upload.request.params.iter();
        let mut before: String =
            params.map(|(name, value)| part(format!("name=\"{name}\""), &format!("{value}\r\n"))).collect();
        let file =
            format!("name=\"filename\"; filename=\"{}\"\r\nContent-Type: application/octet-stream", upload.file_name);
        before.push_str(&part(file, ""));
        Ok(Self {
            before: Some(before.into()),
            file: File::from_std(std::fs::File::open(&upload.file)?),
            left: upload.length,
            after: Some(format!("\r\n--{boundary}--\r\n").into()),
        })
    }

    fn poll_file(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        let mut piece = vec![0; usize::try_from(self.left).unwrap_or(PIECE).min(PIECE)];
        let mut buffer = ReadBuf::new(&mut piece);
        std::task::ready!(Pin::new(&mut self.file).poll_read(context, &mut buffer))?;
        let read = buffer.filled().len();
        if read == 0 {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter meanwhile")));
        }
        piece.truncate(read);
        self.left -= read as u64;
        Poll::Ready(Ok(piece.into()))
    }
}

impl Body for Multipart {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = if let Some(before) = self.before.take() {
            Ok(before)
        } else if self.left > 0 {
            std::task::ready!(self.poll_file(context))
        } else if let Some(after) = self.after.take() {
            Ok(after)
        } else {
            return Poll::Ready(None);
        };
        Poll::Ready(Some(piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        let length = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len) as u64;
        SizeHint::with_exact(length(&self.before) + self.left + length(&self.after))
    }
}
