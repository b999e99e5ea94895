//! Logos: is this a picture, whole, and nothing else beside it?
//!
//! What is checked
//! 1. PNG: every chunk with its checksum, their order, and the compressed lines, unpacked to exactly the size
//!    that the head tells.
//! 2. JPEG: every segment, one frame, a scan, and the end at the end of the file.
//! 3. WebP: every chunk within the file, and an image's head in it.
//!
//! Deliberately absent: the pixels of JPEG and WebP. What is shown is shown by a browser, as a picture of a
//! fixed type and in a sandbox.

use base::checksum::checksum;
use http::coding::{Coding, decode};

/// What kind of picture it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Portable Network Graphics.
    Png,
    /// What cameras make.
    Jpeg,
    /// Google's.
    WebP,
}

impl Kind {
    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::WebP => "image/webp",
        }
    }
}

/// What the head of a picture says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What kind it is.
    pub kind: Kind,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

/// What a file says to be; `None` where it is no picture of a kind that is taken.
pub fn look(bytes: &[u8]) -> Option<Picture> {
    let kind = match imagesize::image_type(bytes).ok()? {
        imagesize::ImageType::Png => Kind::Png,
        imagesize::ImageType::Jpeg => Kind::Jpeg,
        imagesize::ImageType::Webp => Kind::WebP,
        _ => return None,
    };
    let size = imagesize::blob_size(bytes).ok()?;
    let side = |pixels: usize| u32::try_from(pixels).ok();
    Some(Picture { kind, width: side(size.width)?, height: side(size.height)? })
}

/// Is it whole, and nothing behind it? Work and memory grow with the pixels that it tells, so bound these
/// first; call it on a worker.
pub fn is_whole(bytes: &[u8], picture: &Picture) -> bool {
    let whole = match picture.kind {
        Kind::Png => png(bytes, picture),
        Kind::Jpeg => jpeg(bytes, picture),
        Kind::WebP => webp(bytes),
    };
    whole.is_some()
}

/// Cuts `len` bytes off the front.
fn cut<'b>(rest: &mut &'b [u8], len: usize) -> Option<&'b [u8]> {
    let (front, behind) = rest.split_at_checked(len)?;
    *rest = behind;
    Some(front)
}

fn be32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.first_chunk().copied()?))
}

fn le32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.first_chunk().copied()?))
}

fn len(number: u32) -> Option<usize> {
    usize::try_from(number).ok()
}

/// The head of a PNG that is legal.
struct Head {
    bits: u64,
    interlaced: bool,
    /// It needs a palette, may have one, or must not.
    palette: Option<bool>,
}

fn head(data: &[u8], picture: &Picture) -> Option<Head> {
    let [.., depth, colour, compression, filter, interlace] = *data.first_chunk::<13>()?;
    let (samples, depths, palette): (u64, &[u8], _) = match colour {
        0 => (1, &[1, 2, 4, 8, 16], None),
        2 => (3, &[8, 16], Some(false)),
        3 => (1, &[1, 2, 4, 8], Some(true)),
        4 => (2, &[8, 16], None),
        6 => (4, &[8, 16], Some(false)),
        _ => return None,
    };
    let is_legal = data.len() == 13
        && (be32(data)?, be32(&data[4..])?) == (picture.width, picture.height)
        && depths.contains(&depth)
        && (compression, filter) == (0, 0)
        && interlace <= 1;
    is_legal.then_some(Head {
        bits: samples * u64::from(depth),
        interlaced: interlace == 1,
        palette,
    })
}

fn png(bytes: &[u8], picture: &Picture) -> Option<()> {
    let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let (mut known, mut lines, mut has_palette, mut lines_over) = (None, Vec::new(), false, false);
    loop {
        let size = len(be32(cut(&mut rest, 4)?)?)?;
        let checked = rest.get(..size.checked_add(4)?)?;
        let (kind, data) = (cut(&mut rest, 4)?, cut(&mut rest, size)?);
        if checksum(checked) != be32(cut(&mut rest, 4)?)? {
            return None;
        }
        lines_over |= !lines.is_empty() && kind != b"IDAT";
        match (kind, &known) {
            (b"IHDR", None) => known = Some(head(data, picture)?),
            (_, None) | (b"IHDR", Some(_)) => return None,
            (b"PLTE", Some(head)) => {
                let fits = data.len() % 3 == 0 && (3..=768).contains(&data.len());
                if has_palette || !lines.is_empty() || !fits || head.palette.is_none() {
                    return None;
                }
                has_palette = true;
            }
            (b"IDAT", Some(_)) if lines_over => return None,
            (b"IDAT", Some(_)) => lines.extend_from_slice(data),
            (b"IEND", Some(head)) => {
                let is_end = data.is_empty() && rest.is_empty();
                let has_colours = head.palette != Some(true) || has_palette;
                return (is_end && has_colours && are_lines(&lines, head, picture)).then_some(());
            }
            // What every reader must understand, and we do not.
            _ if !kind.iter().all(u8::is_ascii_alphabetic) || kind[0].is_ascii_uppercase() => {
                return None;
            }
            _ => {}
        }
    }
}

/// The seven passes of an interlaced picture: first column and line, steps across and down.
const PASSES: [(u64, u64, u64, u64); 7] = [
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
];

/// Do these bytes unpack to exactly the lines of the picture, each with a filter that there is?
fn are_lines(packed: &[u8], head: &Head, picture: &Picture) -> bool {
    let (width, height) = (u64::from(picture.width), u64::from(picture.height));
    let passes: &[_] = if head.interlaced { &PASSES } else { &[(0, 0, 1, 1)] };
    // Bytes of a line with its filter, and lines.
    let areas: Vec<(usize, usize)> = passes
        .iter()
        .map(|(x, y, across, down)| {
            (width.saturating_sub(*x).div_ceil(*across), height.saturating_sub(*y).div_ceil(*down))
        })
        .filter(|(columns, lines)| *columns > 0 && *lines > 0)
        .filter_map(|(columns, lines)| {
            let line = usize::try_from((columns * head.bits).div_ceil(8) + 1).ok()?;
            Some((line, usize::try_from(lines).ok()?))
        })
        .collect();
    let total = areas.iter().map(|(line, lines)| line * lines).sum();
    let Ok(plain) = decode(Coding::Deflate, packed, total) else { return false };
    let mut rest = plain.as_slice();
    plain.len() == total
        && areas.iter().all(|(line, lines)| {
            let area = cut(&mut rest, line * lines).unwrap_or_default();
            area.chunks_exact(*line).all(|line| line[0] <= 4)
        })
}

fn jpeg(bytes: &[u8], picture: &Picture) -> Option<()> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    let (mut has_frame, mut has_scan) = (false, false);
    loop {
        if cut(&mut rest, 1)? != b"\xff" {
            return None;
        }
        let filled = rest.iter().position(|byte| *byte != 0xff)?;
        cut(&mut rest, filled)?;
        let marker = cut(&mut rest, 1)?[0];
        match marker {
            0xd9 => return (has_scan && rest.is_empty()).then_some(()),
            0xc0..=0xfe if !(0xd0..=0xd8).contains(&marker) => {}
            _ => return None,
        }
        let size = usize::from(u16::from_be_bytes(rest.first_chunk().copied()?));
        let data = cut(&mut rest, size)?.get(2..)?;
        match marker {
            0xc4 | 0xc8 | 0xcc => {}
            0xc0..=0xcf => {
                let [_, h1, h2, w1, w2, parts] = *data.first_chunk()?;
                let sides = [u16::from_be_bytes([w1, w2]), u16::from_be_bytes([h1, h2])];
                let mut sides = sides.map(u32::from);
                let mut told = [picture.width, picture.height];
                // A picture that lies on its side may be told as it stands.
                sides.sort_unstable();
                told.sort_unstable();
                let fits = (1..=4).contains(&parts) && data.len() == 6 + 3 * usize::from(parts);
                if has_frame || !fits || sides != told {
                    return None;
                }
                has_frame = true;
            }
            0xda if !has_frame => return None,
            0xda => {
                has_scan = true;
                // Until the next marker that is neither an escaped byte nor a restart.
                let mut at = 0;
                loop {
                    at += rest.get(at..)?.iter().position(|byte| *byte == 0xff)?;
                    match rest.get(at + 1)? {
                        0x00 | 0xd0..=0xd7 => at += 2,
                        0xff => at += 1,
                        _ => break,
                    }
                }
                if at == 0 {
                    return None;
                }
                cut(&mut rest, at)?;
            }
            _ => {}
        }
    }
}

fn webp(bytes: &[u8]) -> Option<()> {
    let mut rest = bytes.strip_prefix(b"RIFF")?;
    if len(le32(cut(&mut rest, 4)?)?)? != rest.len() {
        return None;
    }
    (chunks(rest.strip_prefix(b"WEBP")?, 0)? > 0).then_some(())
}

/// Counts the images among the chunks of `rest`, which are whole; `None` where they are not.
fn chunks(mut rest: &[u8], depth: u8) -> Option<usize> {
    let mut images = 0;
    while !rest.is_empty() {
        let kind = cut(&mut rest, 4)?;
        let size = len(le32(cut(&mut rest, 4)?)?)?;
        let data = cut(&mut rest, size)?;
        if size % 2 == 1 && cut(&mut rest, 1)? != b"\0" {
            return None;
        }
        match kind {
            b"VP8 " => images += usize::from(is_lossy(data)?),
            b"VP8L" => images += usize::from(is_lossless(data)?),
            b"VP8X" if data.len() != 10 => return None,
            b"ANMF" if depth == 0 => images += chunks(data.get(16..)?, 1)?,
            _ => {}
        }
    }
    Some(images)
}

/// A key frame that is shown, whose first part lies within it (RFC 6386, section 9.1).
fn is_lossy(data: &[u8]) -> Option<bool> {
    let tag = u32::from_le_bytes([*data.first()?, *data.get(1)?, *data.get(2)?, 0]);
    let is_shown = tag & 1 == 0 && tag >> 4 & 1 == 1;
    let first = len(tag >> 5)?;
    let is_key = data.get(3..6)? == b"\x9d\x01\x2a";
    (is_shown && is_key && first > 0 && first <= data.len().checked_sub(10)?).then_some(true)
}

/// The signature, version 0, and something behind the head.
fn is_lossless(data: &[u8]) -> Option<bool> {
    let head: [u8; 5] = data.first_chunk().copied()?;
    (head[0] == 0x2f && head[4] >> 5 == 0 && data.len() > 5).then_some(true)
}

#[cfg(test)]
pub(crate) mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let size = u32::try_from(data.len()).expect("small").to_be_bytes();
        let checked = [kind, data].concat();
        [&size[..], &checked, &checksum(&checked).to_be_bytes()].concat()
    }

    /// A zlib stream that packs nothing.
    fn stored(data: &[u8]) -> Vec<u8> {
        let mut out = vec![0x78, 0x01];
        let blocks: Vec<&[u8]> = data.chunks(65_535).collect();
        for (at, block) in blocks.iter().enumerate() {
            let size = u16::try_from(block.len()).expect("cut above");
            out.push(u8::from(at + 1 == blocks.len()));
            out.extend_from_slice(&size.to_le_bytes());
            out.extend_from_slice(&(!size).to_le_bytes());
            out.extend_from_slice(block);
        }
        let (mut a, mut b) = (1_u32, 0_u32);
        for byte in data {
            a = (a + u32::from(*byte)) % 65_521;
            b = (b + a) % 65_521;
        }
        out.extend_from_slice(&(b << 16 | a).to_be_bytes());
        out
    }

    fn of(width: u32, height: u32, interlace: u8, lines: &[u8]) -> Vec<u8> {
        let head =
            [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, interlace]].concat();
        [
            &b"\x89PNG\r\n\x1a\n"[..],
            &chunk(b"IHDR", &head),
            &chunk(b"tEXt", b"Title\0x"),
            &chunk(b"IDAT", &stored(lines)),
            &chunk(b"IEND", b""),
        ]
        .concat()
    }

    /// A black picture of grey lines.
    pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
        let count = usize::try_from((width + 1) * height).expect("small");
        of(width, height, 0, &vec![0; count])
    }

    fn is_good(bytes: &[u8]) -> bool {
        look(bytes).is_some_and(|picture| is_whole(bytes, &picture))
    }

    /// A head of 33 bytes with anything behind it was a logo.
    #[test]
    fn a_png_is_whole_or_refused() {
        let good = png(16, 9);
        assert!(is_good(&good));
        for cut in 0..good.len() {
            assert!(!is_good(&good[..cut]), "cut at {cut}");
        }
        for at in 8..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(!is_good(&bad), "a changed byte at {at}");
        }
        assert!(!is_good(&[&good[..], b"<script>"].concat()), "something behind it");
        assert!(!is_good(&[&good[..33], b"<script>alert(1)</script>"].concat()));
        let lines = vec![0; 17 * 9];
        assert!(is_good(&of(16, 9, 0, &lines)));
        assert!(!is_good(&of(16, 9, 0, &lines[1..])), "a byte is missing");
        assert!(!is_good(&of(16, 9, 0, &[&lines[..], &[0]].concat())), "a byte too many");
        assert!(!is_good(&of(16, 9, 0, &[&[5], &lines[1..]].concat())), "no such filter");
        assert!(!is_good(&of(16, 9, 2, &lines)), "no such interlacing");
        // 3x2, interlaced: a pixel, a pixel, a line of one, two lines of one and a line of three.
        assert!(is_good(&of(1, 1, 1, &[0; 2])));
        assert!(is_good(&of(3, 2, 1, &[0; 2 + 2 + 2 + 4])));
        assert!(!is_good(&of(3, 2, 1, &[0; 2 + 2 + 2 + 3])));
    }

    /// One pixel each: of Chromium, without its colour profile, and of libwebp.
    const JPEG: &str = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRT\
                        c4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2Nj\
                        Y2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAABAAEDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xA\
                        AUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAABAX/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oA\
                        DAMBAAIRAxEAPwCSAFXn/9k=";
    const ALPHA: &str = "UklGRlQAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAIAAAAAf1ZQOCAsAAAAkAEAnQEqAQABAALATCWgAnS6AAOYAP7uQx/ubHOLcFf/bQ//Wh/+tD/pQAA=";
    const WEBP: &str = "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=";
    const LOSSLESS: &str = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==";

    fn bytes(text: &str) -> Vec<u8> {
        STANDARD.decode(text).expect("written here")
    }

    #[test]
    fn a_jpeg_ends_where_it_says() {
        let whole = bytes(JPEG);
        assert!(is_good(&whole));
        for cut in 0..whole.len() {
            assert!(!is_good(&whole[..cut]), "cut at {cut}");
        }
        assert!(!is_good(&[&whole[..], b"<script>"].concat()));
        let scan = whole.windows(2).position(|two| two == b"\xff\xda").expect("a scan");
        assert!(!is_good(&[&whole[..scan], b"\xff\xd9"].concat()), "nothing is drawn");
    }

    #[test]
    fn a_webp_is_as_long_as_it_says() {
        for text in [WEBP, LOSSLESS, ALPHA] {
            let whole = bytes(text);
            assert!(is_good(&whole), "{text}");
            for cut in 0..whole.len() {
                assert!(!is_good(&whole[..cut]), "{text} cut at {cut}");
            }
            assert!(!is_good(&[&whole[..], b"<script>"].concat()));
        }
        let mut stub = b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x0f\0\0".to_vec();
        assert!(!is_good(&stub), "no image in it");
        stub.extend_from_slice(b"<script>");
        assert!(!is_good(&stub));
    }
}
