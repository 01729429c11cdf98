/** Points that blocks of each size hold. 257 is what a window of sub-buckets needs, 1,000 what an exact one may. */
export const BLOCK_SIZES = [4, 8, 16, 32, 64, 128, 257, 512, 1000] as const;

/** 32-bit words of a point. */
export const WORDS_PER_POINT = 2;

/** About how many words a chunk has: 64 KiB, which hold many blocks and cost little when few are used. */
const chunkWords = 16_384;

const noBlock = 0xffff_ffff;

interface Chunk {
  readonly words: Uint32Array;
  /** Blocks handed out at least once; the ones behind them were never touched. */
  used: number;
  /** First of the freed blocks; each holds the number of the next in its first word. */
  freed: number;
  /** Blocks in use now. */
  live: number;
}

interface BlocksOfSize {
  readonly words: number;
  readonly blocksPerChunk: number;
  /** Chunks by number. The number of a chunk that was given back is used again. */
  readonly chunks: (Chunk | undefined)[];
  /** Numbers of chunks that have a free block, and of chunks that were given back. */
  readonly roomy: Set<number>;
}

/**
 * Blocks of memory in a few sizes, cut from chunks that are shared by all windows, so that a window costs no object
 * of its own. A freed block is used again for the next window of its size, and a chunk without a block in use is
 * given back.
 */
export class BlockSlab {
  readonly #sizes: readonly BlocksOfSize[] = BLOCK_SIZES.map((points) => {
    const words = points * WORDS_PER_POINT;
    return { words, blocksPerChunk: Math.floor(chunkWords / words), chunks: [], roomy: new Set() };
  });

  /** Memory of all chunks in bytes. */
  get bytes(): number {
    return this.#sizes.reduce(
      (total, { chunks }) => chunks.reduce((sum, chunk) => sum + (chunk?.words.byteLength ?? 0), total),
      0,
    );
  }

  /** A block of this size, with arbitrary contents. */
  allocate(size: number): number {
    const blocks = this.#of(size);
    const [number = blocks.chunks.length] = blocks.roomy;
    const words = blocks.words * blocks.blocksPerChunk;
    const chunk = blocks.chunks[number] ?? {
      words: new Uint32Array(words),
      used: 0,
      freed: noBlock,
      live: 0,
    };
    blocks.chunks[number] = chunk;
    const block = chunk.freed === noBlock ? chunk.used : chunk.freed;
    if (block === chunk.used) {
      chunk.used += 1;
    } else {
      chunk.freed = chunk.words[block * blocks.words] as number;
    }
    chunk.live += 1;
    if (chunk.live === blocks.blocksPerChunk) {
      blocks.roomy.delete(number);
    } else {
      blocks.roomy.add(number);
    }
    return number * blocks.blocksPerChunk + block;
  }

  /** Gives a block back. */
  free(size: number, block: number): void {
    const blocks = this.#of(size);
    const number = Math.floor(block / blocks.blocksPerChunk);
    const chunk = blocks.chunks[number] as Chunk;
    const place = block % blocks.blocksPerChunk;
    chunk.words[place * blocks.words] = chunk.freed;
    chunk.freed = place;
    chunk.live -= 1;
    blocks.roomy.add(number);
    if (chunk.live === 0) {
      blocks.chunks[number] = undefined;
    }
  }

  /** The words of the chunk in which a block lies. */
  chunk(size: number, block: number): Uint32Array {
    const blocks = this.#of(size);
    return (blocks.chunks[Math.floor(block / blocks.blocksPerChunk)] as Chunk).words;
  }

  /** The first word of a block in its chunk. */
  offset(size: number, block: number): number {
    const blocks = this.#of(size);
    return (block % blocks.blocksPerChunk) * blocks.words;
  }

  #of(size: number): BlocksOfSize {
    return this.#sizes[size] as BlocksOfSize;
  }
}
