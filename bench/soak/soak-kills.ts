import { setTimeout as delay } from 'node:timers/promises';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { LiveNode } from '../harness/live-node.ts';
import type { LiveSide } from '../harness/live-side.ts';

const LOOK_MS = 1_000;
const SHARDS = 128;
const WITHIN_MS = 3 * MINUTE_MS;
const ALL_SESSIONS = { limit: 10_000 };

/** Kills of one node, one at a time. */
export class SoakKills {
  readonly #side: LiveSide;
  readonly #node: LiveNode;
  readonly #count: number;
  #running: Promise<void> | undefined;
  /** How long each kill kept a session away, at most, in milliseconds. */
  readonly backMs: number[] = [];
  /** Kills after which not everything came back in time, and why. */
  readonly failures: string[] = [];
  /** Starts of the node after its first. */
  lives = 0;

  constructor(side: LiveSide, node: LiveNode, sessions: number) {
    this.#side = side;
    this.#node = node;
    this.#count = sessions;
  }

  /** True from a kill until the node is started and has its part of the sessions again. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Begins a kill. */
  begin(): void {
    this.#running = this.#kill()
      .catch((error: Error) => void this.failures.push(error.message))
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when no kill is in progress. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #kill(): Promise<void> {
    const startedMs = performance.now();
    await this.#node.end('SIGKILL');
    try {
      await until('all sessions are at the other node', () => this.#areAllConnected());
      this.backMs.push(performance.now() - startedMs);
    } finally {
      await this.#node.start();
      this.lives += 1;
    }
    await untilSpread(this.#side);
    await until('all sessions are back', () => this.#areAllConnected());
  }

  async #areAllConnected(): Promise<boolean> {
    const { items } = await this.#side.network.sessions(ALL_SESSIONS);
    return items.filter(({ connected }) => connected).length >= this.#count;
  }
}

/** Waits until the nodes have all shards, and none has two more than another. */
export async function untilSpread({ nodes, adminPort, adminToken }: LiveSide): Promise<void> {
  await until('the shards are spread', async () => {
    const response = await fetch(`http://127.0.0.1:${adminPort}/admin/v1/nodes`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    const { data } = (await response.json()) as {
      readonly data: { readonly items: readonly { readonly nodeId: string; readonly shards: number }[] };
    };
    const counts = nodes.map(({ id }) => data.items.find(({ nodeId }) => nodeId === id)?.shards ?? 0);
    const total = counts.reduce((sum, count) => sum + count, 0);
    return total === SHARDS && Math.max(...counts) - Math.min(...counts) <= 1;
  });
}

async function until(title: string, isReached: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + WITHIN_MS;
  // The first look comes later: the network notices a killed node a moment after its end.
  do {
    if (performance.now() > untilMs) throw new Error(`not in time: ${title}`);
    await delay(LOOK_MS);
  } while (!(await isReached()));
}
