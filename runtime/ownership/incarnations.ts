import type { Random } from '../random.ts';

/**
 * The names that this process has, had or requested as a node. Each start, and each return after a lost lease, has a
 * new one. A requested name may be its name in Redis although no reply came.
 */
export class Incarnations {
  readonly #nodeId: string;
  readonly #random: Random;
  readonly #asked = new Set<string>();
  #current = '';

  constructor(nodeId: string, random: Random) {
    this.#nodeId = nodeId;
    this.#random = random;
  }

  /** The current name; empty before the first. */
  get current(): string {
    return this.#current;
  }

  /** Returns a name that no process had. It becomes the current name once it is taken. */
  next(): string {
    const name = `${this.#nodeId}:${Math.floor(this.#random() * 2 ** 48).toString(36)}`;
    this.#asked.add(name);
    return name;
  }

  take(name: string): void {
    this.#current = name;
  }

  /** True if this process has, had or requested the name. */
  includes(name: string | undefined): boolean {
    return name !== undefined && this.#asked.has(name);
  }
}
