import { BLOCK_SIZES, BlockSlab, WORDS_PER_POINT } from './block-slab.ts';

/** Up to this limit a window keeps the exact time of each call (docs/contract.md, Windows). */
export const EXACT_LIMIT = 1000;

/** Above it, calls are gathered into this many sub-buckets of the window (docs/contract.md, Windows). */
const SUB_BUCKETS = 256;

/** How a window measures time: in ticks of a millisecond, or of a sub-bucket. */
export interface Resolution {
  readonly windowMs: number;
  readonly isExact: boolean;
}

/** Calls at one tick. */
export interface RatePoint {
  readonly tick: number;
  readonly count: number;
}

const wordRange = 2 ** 32;
const noBlock = 0xff;

/** The tick of a moment. */
export function tickOf(resolution: Resolution, timeMs: number): number {
  return resolution.isExact ? timeMs : Math.floor((timeMs * SUB_BUCKETS) / resolution.windowMs);
}

/** The last millisecond of a tick: as late as a call in it can have been. */
export function tickEndMs(resolution: Resolution, tick: number): number {
  return resolution.isExact ? tick : Math.ceil(((tick + 1) * resolution.windowMs) / SUB_BUCKETS) - 1;
}

/** Age in ticks at which a tick stops counting. A sub-bucket counts whole until its last call is a window old. */
function ticksCounted(resolution: Resolution): number {
  return resolution.isExact ? resolution.windowMs : SUB_BUCKETS + 1;
}

/**
 * Many sliding windows side by side, each a ring of points (tick, calls) in a block that grows and shrinks with what
 * it holds; a window in which nothing counts has no block. A window never holds more points than calls that count,
 * nor more than `EXACT_LIMIT` when exact or 257 when not: memory follows the limit, not the traffic. The caller sees
 * to it that ticks handed to one window never run backwards.
 */
export class RateWindows {
  readonly #slab = new BlockSlab();
  #capacity = 0;
  #baseTick = new Float64Array(0);
  #total = new Uint32Array(0);
  #block = new Uint32Array(0);
  #head = new Uint16Array(0);
  #length = new Uint16Array(0);
  #size = new Uint8Array(0);

  /** Memory in bytes, all windows together. */
  get bytes(): number {
    return this.#slab.bytes + this.#capacity * (8 + 4 + 4 + 2 + 2 + 1);
  }

  /** Makes sure that windows 0 to `count` - 1 exist; new ones are empty. */
  reserve(count: number): void {
    if (count <= this.#capacity) {
      return;
    }
    const before = this.#capacity;
    this.#capacity = Math.max(count, 2 * before, 48);
    const grow = <Words extends Float64Array | Uint32Array | Uint16Array | Uint8Array>(
      next: Words,
      words: Words,
    ): Words => {
      next.set(words);
      return next;
    };
    this.#baseTick = grow(new Float64Array(this.#capacity), this.#baseTick);
    this.#total = grow(new Uint32Array(this.#capacity), this.#total);
    this.#block = grow(new Uint32Array(this.#capacity), this.#block);
    this.#head = grow(new Uint16Array(this.#capacity), this.#head);
    this.#length = grow(new Uint16Array(this.#capacity), this.#length);
    this.#size = grow(new Uint8Array(this.#capacity), this.#size);
    this.#size.fill(noBlock, before);
  }

  /** Calls that counted when `expire` last looked. */
  total(window: number): number {
    return this.#total[window] as number;
  }

  /** Forgets the calls that no longer count at a tick, and gives memory back. */
  expire(window: number, resolution: Resolution, tick: number): void {
    let length = this.#length[window] as number;
    if (length === 0) {
      return;
    }
    const size = this.#size[window] as number;
    const block = this.#block[window] as number;
    const points = this.#slab.chunk(size, block);
    const offset = this.#slab.offset(size, block);
    const capacity = BLOCK_SIZES[size] as number;
    const goneUntil = tick - ticksCounted(resolution) - (this.#baseTick[window] as number);
    const lengthBefore = length;
    let head = this.#head[window] as number;
    let gone = 0;
    while (length > 0 && (points[offset + head * WORDS_PER_POINT] as number) <= goneUntil) {
      gone += points[offset + head * WORDS_PER_POINT + 1] as number;
      head = head + 1 === capacity ? 0 : head + 1;
      length -= 1;
    }
    if (length === lengthBefore) {
      return;
    }
    this.#total[window] = (this.#total[window] as number) - gone;
    this.#head[window] = head;
    this.#length[window] = length;
    if (length === 0) {
      this.clear(window);
    } else if (size > 0 && length <= capacity / 4) {
      this.#move(window, size - 1);
    }
  }

  /** Counts calls at a tick; one that lies behind the newest counts with the newest. */
  add(window: number, point: RatePoint): void {
    const length = this.#length[window] as number;
    this.#total[window] = (this.#total[window] as number) + point.count;
    if (length === 0) {
      this.#size[window] = 0;
      this.#block[window] = this.#slab.allocate(0);
      this.#baseTick[window] = point.tick;
      this.#push(window, 0, point.count);
      return;
    }
    let offsetTicks = point.tick - (this.#baseTick[window] as number);
    const newest = this.#wordAt(window, length - 1);
    const points = this.#points(window);
    if (offsetTicks <= (points[newest] as number)) {
      points[newest + 1] = (points[newest + 1] as number) + point.count;
      return;
    }
    const size = this.#size[window] as number;
    if (length === BLOCK_SIZES[size]) {
      this.#move(window, size + 1);
    }
    if (offsetTicks >= wordRange) {
      offsetTicks -= this.#rebase(window);
    }
    this.#push(window, offsetTicks, point.count);
  }

  /** The first moment at which `count` of the calls that count now have stopped counting. */
  reliefMs(window: number, resolution: Resolution, count: number): number {
    const points = this.#points(window);
    let index = 0;
    let gone = points[this.#wordAt(window, 0) + 1] as number;
    while (gone < count) {
      index += 1;
      gone += points[this.#wordAt(window, index) + 1] as number;
    }
    const tick = (this.#baseTick[window] as number) + (points[this.#wordAt(window, index)] as number);
    return tickEndMs(resolution, tick) + resolution.windowMs + (resolution.isExact ? 0 : 1);
  }

  /** What the window holds, oldest first. */
  points(window: number): RatePoint[] {
    const base = this.#baseTick[window] as number;
    return Array.from({ length: this.#length[window] as number }, (_, index) => {
      const word = this.#wordAt(window, index);
      const points = this.#points(window);
      return { tick: base + (points[word] as number), count: points[word + 1] as number };
    });
  }

  /** Empties the window. */
  clear(window: number): void {
    const size = this.#size[window] as number;
    if (size !== noBlock) {
      this.#slab.free(size, this.#block[window] as number);
    }
    this.#size[window] = noBlock;
    this.#total[window] = 0;
    this.#head[window] = 0;
    this.#length[window] = 0;
  }

  #points(window: number): Uint32Array {
    return this.#slab.chunk(this.#size[window] as number, this.#block[window] as number);
  }

  /** Where the point with this index, counted from the oldest, lies in its chunk. */
  #wordAt(window: number, index: number): number {
    const size = this.#size[window] as number;
    const capacity = BLOCK_SIZES[size] as number;
    const place = (this.#head[window] as number) + index;
    const wrapped = place < capacity ? place : place - capacity;
    return this.#slab.offset(size, this.#block[window] as number) + wrapped * WORDS_PER_POINT;
  }

  #push(window: number, offsetTicks: number, count: number): void {
    const word = this.#wordAt(window, this.#length[window] as number);
    const points = this.#points(window);
    points[word] = offsetTicks;
    points[word + 1] = count;
    this.#length[window] = (this.#length[window] as number) + 1;
  }

  /** Moves the points into a block of another size. */
  #move(window: number, size: number): void {
    const from = this.#points(window);
    const block = this.#slab.allocate(size);
    const to = this.#slab.chunk(size, block);
    const offset = this.#slab.offset(size, block);
    const length = this.#length[window] as number;
    for (let index = 0; index < length; index += 1) {
      const word = this.#wordAt(window, index);
      to[offset + index * WORDS_PER_POINT] = from[word] as number;
      to[offset + index * WORDS_PER_POINT + 1] = from[word + 1] as number;
    }
    this.#slab.free(this.#size[window] as number, this.#block[window] as number);
    this.#size[window] = size;
    this.#block[window] = block;
    this.#head[window] = 0;
  }

  /** Moves the base to the oldest point, since ticks are kept in 32 bits. Returns by how many ticks. */
  #rebase(window: number): number {
    const points = this.#points(window);
    const shift = points[this.#wordAt(window, 0)] as number;
    const length = this.#length[window] as number;
    for (let index = 0; index < length; index += 1) {
      const word = this.#wordAt(window, index);
      points[word] = (points[word] as number) - shift;
    }
    this.#baseTick[window] = (this.#baseTick[window] as number) + shift;
    return shift;
  }
}
