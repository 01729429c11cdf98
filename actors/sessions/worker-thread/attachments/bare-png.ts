/**
 * The chunks that the pixels need, and `eXIf`, which has the orientation. The rest may inflate to a thousand times its
 * size.
 */
const KEPT = new Set(['IHDR', 'PLTE', 'tRNS', 'eXIf', 'IDAT', 'IEND']);
const SIGNATURE_BYTES = 8;
/** The length, the type and the checksum of a chunk. */
const FRAME_BYTES = 12;
/** A longer `eXIf` is left out. A JPEG cannot have a longer one either. */
const MOST_EXIF_BYTES = 65_535;
/** An image of 16 MiB has fewer: libraries write chunks of 8 KiB. Looking at more would delay the thread. */
const MOST_CHUNKS = 20_000;

/**
 * Returns a PNG without the chunks that a thumbnail does not need, such as compressed texts and colour profiles.
 * Undefined if it has too many chunks.
 */
export function barePng(png: Buffer): Buffer | undefined {
  const parts = [png.subarray(0, SIGNATURE_BYTES)];
  let offset = SIGNATURE_BYTES;
  for (let chunksSeen = 0; offset + FRAME_BYTES <= png.length; chunksSeen += 1) {
    if (chunksSeen === MOST_CHUNKS) return undefined;
    const size = png.readUInt32BE(offset);
    const type = png.toString('latin1', offset + 4, offset + 8);
    const end = offset + FRAME_BYTES + size;
    if (KEPT.has(type) && (type !== 'eXIf' || size <= MOST_EXIF_BYTES)) parts.push(png.subarray(offset, end));
    offset = end;
  }
  return Buffer.concat(parts);
}
