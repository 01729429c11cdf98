import { type FileHandle, open } from 'node:fs/promises';

/** The facts in the header of an MP4. Undefined means that the header lacks the fact. */
export interface VideoFacts {
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** How long it plays, in whole seconds. */
  readonly seconds: number | undefined;
}

/** The content of a box, by its offset in the file, in bytes. */
interface Box {
  readonly type: string;
  readonly from: number;
  readonly to: number;
}

/** Most boxes read in a file. An ordinary one has about forty before the needed ones. */
const MOST_BOXES = 400;
/** Read of one box at most: the largest that is read whole, a track's header of version 1, has 96. */
const MOST_BYTES = 128;
/** The offset of the type of the first sample entry in `stsd`: after version, flags, count and its own size. */
const ENTRY_TYPE = 12;
const H264 = new Set(['avc1', 'avc3']);

/**
 * Reads the header of an MP4 (ISO/IEC 14496-12), at either end of the file, by small bounded reads. Resolves with
 * undefined if no track is H.264, or if the boxes contradict each other.
 */
export async function readMp4Head(path: string): Promise<VideoFacts | undefined> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return await new Mp4Head(file).facts({ type: 'file', from: 0, to: size });
  } finally {
    await file.close();
  }
}

/** One reading, with a budget of boxes. */
class Mp4Head {
  readonly #file: FileHandle;
  #boxesLeft = MOST_BOXES;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async facts(file: Box): Promise<VideoFacts | undefined> {
    const movie = await this.#inside(file, 'moov');
    if (movie === undefined) return undefined;
    for await (const track of this.#boxesOf(movie)) {
      if (track.type !== 'trak' || !(await this.#isH264(track))) continue;
      const [header, movieHeader] = [await this.#inside(track, 'tkhd'), await this.#inside(movie, 'mvhd')];
      return {
        ...sizeIn(header && (await this.#read(header))),
        seconds: secondsIn(movieHeader && (await this.#read(movieHeader))),
      };
    }
    return undefined;
  }

  async #isH264(track: Box): Promise<boolean> {
    const samples = await this.#inside(track, 'mdia', 'minf', 'stbl', 'stsd');
    const bytes = samples && (await this.#read(samples));
    return bytes !== undefined && H264.has(bytes.toString('latin1', ENTRY_TYPE, ENTRY_TYPE + 4));
  }

  async #inside(box: Box, ...path: readonly string[]): Promise<Box | undefined> {
    let currentBox: Box | undefined = box;
    for (const type of path) currentBox = currentBox && (await this.#first(currentBox, type));
    return currentBox;
  }

  async #first(parent: Box, type: string): Promise<Box | undefined> {
    for await (const box of this.#boxesOf(parent)) if (box.type === type) return box;
    return undefined;
  }

  /** The boxes in a box, up to the first that cannot be. */
  async *#boxesOf(parent: Box): AsyncGenerator<Box> {
    let { from } = parent;
    while (from < parent.to && this.#boxesLeft > 0) {
      this.#boxesLeft -= 1;
      const box = boxAt(from, await this.#read({ ...parent, from }), parent.to);
      if (box === undefined) return;
      yield box;
      from = box.to;
    }
  }

  async #read({ from, to }: Box): Promise<Buffer> {
    const bytes = Buffer.alloc(Math.min(to - from, MOST_BYTES));
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, from);
    return bytes.subarray(0, bytesRead);
  }
}

/** A size of 1 means that 64 bits after the type have the size. A size of 0 means the rest of the file. */
function boxAt(start: number, head: Buffer, end: number): Box | undefined {
  if (head.length < 8) return undefined;
  const shortSize = head.readUInt32BE(0);
  if (shortSize === 1 && head.length < 16) return undefined;
  const size = shortSize === 1 ? Number(head.readBigUInt64BE(8)) : shortSize === 0 ? end - start : shortSize;
  const headSize = shortSize === 1 ? 16 : 8;
  if (size < headSize || start + size > end) return undefined;
  return { type: head.toString('latin1', 4, 8), from: start + headSize, to: start + size };
}

/** Width and height as shown: a phone held upright writes a turn of 90 degrees into the matrix. */
function sizeIn(header: Buffer | undefined): Pick<VideoFacts, 'width' | 'height'> {
  const matrix = header?.[0] === 1 ? 52 : 40;
  if (header === undefined || header.length < matrix + 44) return { width: undefined, height: undefined };
  // Fixed point, 16.16.
  const width = header.readUInt16BE(matrix + 36) || undefined;
  const height = header.readUInt16BE(matrix + 40) || undefined;
  const isTurned = header.readInt32BE(matrix) === 0 && header.readInt32BE(matrix + 4) !== 0;
  return isTurned ? { width: height, height: width } : { width, height };
}

function secondsIn(header: Buffer | undefined): number | undefined {
  const isLong = header?.[0] === 1;
  const scaleAt = isLong ? 20 : 12;
  if (header === undefined || header.length < scaleAt + 12) return undefined;
  const scale = header.readUInt32BE(scaleAt);
  const units = isLong ? Number(header.readBigUInt64BE(scaleAt + 4)) : header.readUInt32BE(scaleAt + 4);
  // All ones mean "not known".
  const isKnown = scale > 0 && units > 0 && units < (isLong ? Number.MAX_SAFE_INTEGER : 0xff_ff_ff_ff);
  const seconds = Math.max(1, Math.round(units / scale));
  return isKnown && seconds < 0xff_ff_ff_ff ? seconds : undefined;
}
