const MARKER = 0xff;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
/** Frames of the kinds that phones and browsers open: baseline, extended and progressive, by Huffman codes. */
const ORDINARY_FRAMES = new Set([0xc0, 0xc1, 0xc2]);
/** Markers among those of frames that begin none: tables of codes. */
const TABLES = new Set([0xc4, 0xc8, 0xcc]);
/** A photo of 16 MiB has fewer of these bytes: one in 256 of its compressed bytes, and a few in each scan. */
const MOST_MARKER_BYTES = 200_000;

/**
 * True if a JPEG may take too long to decode. There are three reasons:
 * - It has more than `mostScans` scans. Each scan is a pass over all pixels.
 * - It is arithmetic-coded. Such a scan may take long with hardly any bytes.
 * - It has more bytes 0xff than this function reads in a reasonable time.
 *
 * Bytes before a marker are skipped, as decoders skip them. Data after the image does not count (ITU-T T.81, annex B).
 */
export function hasManyScans(jpeg: Buffer, mostScans: number): boolean {
  let scans = 0;
  let offset = 2;
  for (let bytesSeen = 0; bytesSeen < MOST_MARKER_BYTES; bytesSeen += 1) {
    offset = jpeg.indexOf(MARKER, offset);
    if (offset < 0 || offset + 4 > jpeg.length) return false;
    const marker = jpeg[offset + 1] ?? 0;
    if (marker === END_OF_IMAGE) return false;
    if (marker === START_OF_SCAN) scans += 1;
    if (scans > mostScans || isUnusual(marker)) return true;
    if (marker === MARKER) offset += 1;
    else offset += isAlone(marker) ? 2 : 2 + jpeg.readUInt16BE(offset + 2);
  }
  return true;
}

/** True if no segment follows: a byte of compressed data, a restart, or TEM. */
const isAlone = (marker: number): boolean => marker <= 1 || (marker >= 0xd0 && marker <= 0xd7);

const isUnusual = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && !ORDINARY_FRAMES.has(marker) && !TABLES.has(marker);
