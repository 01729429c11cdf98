import type { Engine, ShardRecord } from '../engine.ts';
import { changeNotice, learnNotice, type OwnershipView } from './ownership-view.ts';

const CHANGES_CHANNEL = '{runtime}:changes';

/**
 * Announces changes of ownership between nodes: those of one tick in one notice. A lost notice only costs time, since
 * each node reads the records itself every `claimEveryMs`.
 */
export class OwnershipNotices {
  readonly #engine: Engine;
  readonly #view: OwnershipView;
  readonly #afterTick: (callback: () => void) => void;
  readonly #announced = new Map<number, ShardRecord>();
  readonly #leavingIncarnation: () => string | undefined;

  constructor(
    view: OwnershipView,
    options: {
      readonly engine: Engine;
      readonly afterTick: (callback: () => void) => void;
      /** This node's incarnation while it is stopping or stands aside. Its notices of changes carry it. */
      readonly leavingIncarnation: () => string | undefined;
    },
  ) {
    this.#view = view;
    this.#engine = options.engine;
    this.#afterTick = options.afterTick;
    this.#leavingIncarnation = options.leavingIncarnation;
  }

  /** Adds the notices of all nodes to the view, and calls `heard` for each. */
  async listen(heard: () => void): Promise<void> {
    await this.#engine.subscribe(CHANGES_CHANNEL, (notice) => {
      learnNotice(this.#view, notice);
      heard();
    });
  }

  /** Notes a shard's new record. It is published to the other nodes at the end of the tick. */
  note(shard: number, record: ShardRecord): void {
    this.#view.learn(shard, record);
    if (this.#announced.size === 0) this.#afterTick(() => this.announce());
    this.#announced.set(shard, record);
  }

  /** Publishes the noted changes. A notice without changes makes the other nodes read the records. */
  announce(): void {
    const notice = changeNotice(this.#announced, this.#leavingIncarnation());
    this.#announced.clear();
    void Promise.allSettled([this.#engine.publish(CHANGES_CHANNEL, notice)]);
  }

  /** Asks the other nodes to read the records. Resolves when the request was published, or could not be. */
  async requestCheck(): Promise<void> {
    await Promise.allSettled([this.#engine.publish(CHANGES_CHANNEL, '')]);
  }
}
