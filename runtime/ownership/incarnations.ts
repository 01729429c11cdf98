import type { Random } from '../random.ts';

/**
 * The names under which this process is, was or asked to be a node. Each start, and each return after a lost lease, has
 * a new one. A requested name may be its name in Redis although no answer came.
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

  /** The name that holds now; empty before the first. */
  get current(): string {
    return this.#current;
  }

  /** A name that no process had. It holds once it is taken. */
  next(): string {
    const name = `${this.#nodeId}:${Math.floor(this.#random() * 2 ** 48).toString(36)}`;
    this.#asked.add(name);
    return name;
  }

  take(name: string): void {
    this.#current = name;
  }

  /** Whether this process has, had or asked for the name. */
  includes(name: string | undefined): boolean {
    return name !== undefined && this.#asked.has(name);
  }
}
