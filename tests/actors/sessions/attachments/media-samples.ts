import { crc32, deflateSync } from 'node:zlib';

/** Returns a PNG of one grey colour. Its rows match its head, or are left out. */
export function png(width: number, height: number, hasRows = true): Buffer {
  const rows = deflateSync(Buffer.alloc(hasRows ? (width + 1) * height : 1, 0));
  return pngOf(pngHead(width, height), pngChunk('IDAT', rows));
}

/** The steps of the seven passes of an interlaced PNG, by column and row (PNG, section 8.2). */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Returns a black PNG with 16 bits a pixel, interlaced. */
export function interlacedPng(width: number, height: number): Buffer {
  const sizes = PASSES.map(([left, top, columns, rows]) => {
    const pixels = Math.ceil((width - left) / columns);
    return Math.ceil((height - top) / rows) * (1 + pixels * 2);
  });
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return pngOf(
    pngHead(width, height, { depth: 16, interlace: 1 }),
    pngChunk('IDAT', deflateSync(Buffer.alloc(bytes))),
  );
}

/** Returns an animated PNG with a frame of each of these greys. */
export function animatedPng(width: number, height: number, greys: readonly number[]): Buffer {
  const parts = greys.flatMap((grey, index) => {
    const row = Buffer.from([0, ...Array<number>(width).fill(grey)]);
    const pixels = deflateSync(Buffer.concat(Array<Buffer>(height).fill(row)));
    const sequence = index === 0 ? 0 : index * 2 - 1;
    const control = [sequence, width, height, 0, 0].map(uint32);
    const frame = pngChunk('fcTL', Buffer.concat([...control, Buffer.from([0, 1, 0, 1, 0, 0])]));
    const later = (): Buffer => pngChunk('fdAT', Buffer.concat([uint32(sequence + 1), pixels]));
    return [frame, index === 0 ? pngChunk('IDAT', pixels) : later()];
  });
  const animation = pngChunk('acTL', Buffer.concat([uint32(greys.length), uint32(0)]));
  return pngOf(pngHead(width, height), animation, ...parts);
}

function pngHead(width: number, height: number, { depth = 8, interlace = 0 } = {}): Buffer {
  const size = [width, height].map(uint32);
  return pngChunk('IHDR', Buffer.concat([...size, Buffer.from([depth, 0, 0, 0, interlace])]));
}

const pngOf = (...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts, pngChunk('IEND', Buffer.alloc(0))]);

/** Returns a PNG of 8 × 8 pixels with so many compressed texts, each of this size once it is read. */
export function pngOfTexts(count: number, bytes: number): Buffer {
  const packed = deflateSync(Buffer.alloc(bytes, 'a'));
  const text = pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), packed]));
  const rows = pngChunk('IDAT', deflateSync(Buffer.alloc(72)));
  return pngOf(pngHead(8, 8), ...Array<Buffer>(count).fill(text), rows);
}

/** Returns a PNG of 8 × 8 pixels whose rows are in this number of chunks. */
export function pngOfChunks(count: number): Buffer {
  const emptyBytes = pngChunk('IDAT', Buffer.alloc(0));
  const rows = pngChunk('IDAT', deflateSync(Buffer.alloc(72)));
  return pngOf(pngHead(8, 8), rows, ...Array<Buffer>(count - 1).fill(emptyBytes));
}

/** The number of bits of a coefficient that a JPEG can add one after the other, each in a scan of its own. */
const BITS = 14;
/** The most blocks that one code skips in a scan: 2¹⁴ + 2¹⁴ − 1. */
const MOST_SKIPPED = 32_767;

/** Returns a valid progressive JPEG, grey and square, with this number of scans, at most 883. */
export function jpegOfScans(count: number, side = 8): Buffer {
  const blocks = Math.ceil(side / 8) ** 2;
  // Each Huffman table has one code, the bit 0. It means no difference, or to skip as many blocks as the 14 bits behind
  // it say. Ones fill the last byte.
  const table = (id: number, symbol: string): string => `ffc40014${hex(id)}01${'00'.repeat(15)}${symbol}`;
  const scan = (coefficient: number, bits: number, content: string): string =>
    `ffda0008010100${hex(coefficient)}${hex(coefficient)}${hex(bits)}${content}`;
  const skips = bytesOf(`0${'1'.repeat(BITS)}`.repeat(Math.ceil(blocks / MOST_SKIPPED)));
  const scans = Array.from({ length: count - 1 }, (_, index) => {
    const bit = BITS - 1 - (index % BITS);
    const bitBefore = bit === BITS - 1 ? 0 : bit + 1;
    return scan(1 + Math.floor(index / BITS), bitBefore * 16 + bit, skips);
  });
  const quantization = `ffdb004300${'01'.repeat(64)}`;
  const size = hex(side).padStart(4, '0');
  const frame = `ffc2000b08${size}${size}01011100`;
  const first = scan(0, 0, bytesOf('0'.repeat(blocks)));
  const parts = ['ffd8', quantization, frame, table(0, '00'), table(16, 'e0'), first, ...scans, 'ffd9'];
  return Buffer.from(parts.join(''), 'hex');
}

/** The bits in whole bytes, as hex. A byte of ones has a zero behind it, so that it is no marker. */
function bytesOf(bits: string): string {
  const bytes = bits.match(/.{1,8}/g) ?? [];
  return bytes.map((byte) => hex(Number.parseInt(byte.padEnd(8, '1'), 2)).replace('ff', 'ff00')).join('');
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

function pngChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), content, uint32(crc32(content))]);
}

/** A number of four bytes, the highest first. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A box of an MP4. */
export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const inside = Buffer.concat(content);
  return Buffer.concat([uint32(inside.length + 8), Buffer.from(type, 'latin1'), inside]);
}

/** Returns a box that declares this number of bytes, by 64 bits. */
export function boxOfSize(type: string, size: bigint, content: Buffer): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(size);
  return Buffer.concat([uint32(1), Buffer.from(type, 'latin1'), bytes, content]);
}

export const FILE_TYPE = box('ftyp', Buffer.from('isom\0\0\0\0isomavc1', 'latin1'));

/** The `moov` of a film of one track. */
export function movie(film: {
  readonly width: number;
  readonly height: number;
  /** In thousandths of a second. */
  readonly length: number;
  readonly codec?: string;
  readonly isTurned?: boolean;
}): Buffer {
  const movieHeader = Buffer.alloc(100);
  movieHeader.writeUInt32BE(1_000, 12);
  movieHeader.writeUInt32BE(film.length, 16);
  const header = Buffer.alloc(84);
  header.writeInt32BE(film.isTurned ? 0 : 0x1_00_00, 40);
  header.writeInt32BE(film.isTurned ? 0x1_00_00 : 0, 44);
  header.writeUInt16BE(film.width, 76);
  header.writeUInt16BE(film.height, 80);
  const sample = box(film.codec ?? 'avc1', Buffer.alloc(78));
  const samples = box('stsd', uint32(0), uint32(1), sample);
  const media = box('mdia', box('minf', box('stbl', samples)));
  return box('moov', box('mvhd', movieHeader), box('trak', box('tkhd', header), media));
}
