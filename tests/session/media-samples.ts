import { crc32, deflateSync } from 'node:zlib';

/** Returns a PNG of one grey colour. Its rows match its head, or are left out. */
export function png(width: number, height: number, hasRows = true): Buffer {
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  const rows = deflateSync(Buffer.alloc(hasRows ? (width + 1) * height : 1, 0));
  const parts = [pngChunk('IHDR', head), pngChunk('IDAT', rows), pngChunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), content, uint32(crc32(content))]);
}

function uint32(value: number): Buffer {
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
