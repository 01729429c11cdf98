import type { Random } from '../random.ts';

/** The names under which this process is and was a node: each start, and each return after a lost lease, has a new one. */
export class Incarnations {
  readonly #nodeId: string;
  readonly #random: Random;
  readonly #taken = new Set<string>();
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
    return `${this.#nodeId}:${Math.floor(this.#random() * 2 ** 48).toString(36)}`;
  }

  take(name: string): void {
    this.#taken.add(name);
    this.#current = name;
  }

  /** Whether this process has or had the name. */
  includes(name: string | undefined): boolean {
    return name !== undefined && this.#taken.has(name);
  }
}
