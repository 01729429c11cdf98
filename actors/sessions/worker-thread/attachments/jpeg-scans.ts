const MARKER = 0xff;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;

/**
 * Returns the number of scans of a JPEG, at most `most` and one: each is a pass over all pixels. Data after the image
 * does not count (ITU-T T.81, annex B).
 */
export function scansOf(jpeg: Buffer, most: number): number {
  let scans = 0;
  let at = 2;
  while (scans <= most && at + 4 <= jpeg.length && jpeg[at] === MARKER) {
    const marker = jpeg[at + 1] ?? 0;
    if (marker === END_OF_IMAGE) break;
    const isFill = marker === MARKER;
    at += isFill ? 1 : 2 + jpeg.readUInt16BE(at + 2);
    if (marker !== START_OF_SCAN) continue;
    scans += 1;
    at = endOfData(jpeg, at);
  }
  return scans;
}

/** Returns the place of the next marker after compressed data, in which 0 or a restart follows the marker's byte. */
function endOfData(jpeg: Buffer, start: number): number {
  let at = jpeg.indexOf(MARKER, start);
  while (at >= 0 && isData(jpeg[at + 1] ?? 0)) at = jpeg.indexOf(MARKER, at + 2);
  return at < 0 ? jpeg.length : at;
}

const isData = (byte: number): boolean => byte === 0 || (byte >= 0xd0 && byte <= 0xd7);
