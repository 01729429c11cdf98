/**
 * Collects the events of all nodes for the watchers at this node. While there is a watcher, the node polls each other
 * node four times a second for events since the last reply. It asks a silent node once a second. It stops half a minute
 * after the last watcher left. Each node has one poll in flight, and a reply is bounded, so a node that hangs or is
 * flooded delays no other. A node that does not answer gives an event `node` with the `standing` `silent`, later
 * `heard` or `gone`. Events that a reply leaves out give an event `missed` with a `count`.
 */
import * as v from 'valibot';
import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
import { askNode, type OtherNodes } from '../owner/ask-all-nodes.ts';
import { EventLog } from './event-log.ts';
import type { OperatorEvent, OperatorEventFeed } from './operator-event.ts';

const ASK_EVERY_MS = 250;
/** A node that did not answer is asked less often. */
const ASK_SILENT_EVERY_MS = 1_000;
/** How often new nodes are looked for, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** Polling continues for this long after the last watcher left, because it may only have lost its connection. */
const LINGER_MS = 30_000;
/** Most events of one answer. Further ones are counted as missed. */
const ANSWERED_EVENTS = 250;

/** The answer of a node. Events of other builds may have other fields. */
const eventsAnswer = v.object({
  events: v.array(v.custom<OperatorEvent>(isEvent)),
  missed: v.number(),
  /** The position to ask from next. */
  next: v.string(),
});

function isEvent(value: unknown): boolean {
  return v.is(v.object({ type: v.string(), at: v.string(), data: v.looseObject({}) }), value);
}

export interface FleetEventsOptions {
  readonly feed: OperatorEventFeed;
  readonly forwarder: OtherNodes;
  readonly clock: Clock;
  /** Identifies this node's log: letters and digits. */
  readonly epoch: string;
}

/** This node's events and, while there is a watcher, those of the others. */
export class FleetEvents implements OperatorEventFeed {
  readonly #options: FleetEventsOptions;
  readonly #log: EventLog;
  readonly #endLog: () => void;
  readonly #listeners = new Set<(event: OperatorEvent) => void>();
  /** Nodes that are being asked. */
  readonly #polledNodes = new Set<string>();
  readonly #silent = new Set<string>();
  #watchers = 0;
  #linger: ArmedTimer | undefined;
  /** The number of times that watching began or ended. Loops of an older number end. */
  #round = 0;
  #isFollowing = false;

  constructor(options: FleetEventsOptions) {
    this.#options = options;
    this.#log = new EventLog(options.epoch);
    this.#endLog = options.feed.subscribe((event) => {
      this.#log.append(event);
      this.#publish(event);
    });
  }

  subscribe(listener: (event: OperatorEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Begins to watch, for a reader that knows the events before `sinceMs`. The returned function ends it. */
  watch(sinceMs: number): () => void {
    this.#watchers += 1;
    this.#linger?.cancel();
    if (!this.#isFollowing) {
      this.#isFollowing = true;
      this.#round += 1;
      this.#look(this.#round, sinceMs);
    }
    return () => {
      this.#watchers -= 1;
      if (this.#watchers === 0) this.#linger = this.#options.clock.after(LINGER_MS, () => this.#end());
    };
  }

  /** Nodes that do not answer at the moment. */
  silentNodes(): readonly string[] {
    return [...this.#silent];
  }

  /** Returns the reply to another node. `cursor` is the position in the last reply, or an id of any log. */
  answer(cursor: string): string {
    const { events, missed } = this.#log.after(cursor, ANSWERED_EVENTS);
    const next = this.#log.end(this.#options.clock.wallMs());
    return JSON.stringify({ events: events.map(({ event }) => event), missed, next } satisfies v.InferOutput<
      typeof eventsAnswer
    >);
  }

  /** Ends all polling. */
  close(): void {
    this.#endLog();
    this.#end();
    this.#listeners.clear();
  }

  #end(): void {
    this.#linger?.cancel();
    this.#isFollowing = false;
    this.#round += 1;
    this.#polledNodes.clear();
    this.#silent.clear();
  }

  /** Begins to poll nodes that it does not poll yet, and later looks for new ones. */
  #look(round: number, sinceMs: number): void {
    if (round !== this.#round) return;
    const { forwarder, clock } = this.#options;
    for (const nodeId of forwarder.otherNodes()) {
      if (this.#polledNodes.has(nodeId)) continue;
      this.#polledNodes.add(nodeId);
      void this.#ask(nodeId, round, `elsewhere-0-${sinceMs.toString(36)}`);
    }
    const lookedMs = clock.wallMs();
    clock.after(LOOK_EVERY_MS, () => this.#look(round, lookedMs));
  }

  async #ask(nodeId: string, round: number, cursor: string): Promise<void> {
    const { forwarder, clock } = this.#options;
    let next = cursor;
    try {
      const request = { kind: 'events', since: cursor } as const;
      const answer = await askNode(forwarder, { nodeId, request, schema: eventsAnswer });
      if (round !== this.#round) return;
      next = answer.next;
      if (this.#silent.delete(nodeId)) this.#publishNode(nodeId, 'heard');
      for (const event of answer.events) this.#publish(event);
      if (answer.missed > 0)
        this.#publish({ type: 'missed', at: this.#now(), data: { nodeId, count: answer.missed } });
    } catch {
      if (round !== this.#round) return;
      if (!this.#silent.has(nodeId)) {
        this.#silent.add(nodeId);
        this.#publishNode(nodeId, 'silent');
      }
    }
    if (!forwarder.otherNodes().includes(nodeId)) {
      this.#polledNodes.delete(nodeId);
      if (this.#silent.delete(nodeId)) this.#publishNode(nodeId, 'gone');
      return;
    }
    clock.after(this.#silent.has(nodeId) ? ASK_SILENT_EVERY_MS : ASK_EVERY_MS, () => {
      if (round === this.#round) void this.#ask(nodeId, round, next);
    });
  }

  #publishNode(nodeId: string, standing: 'silent' | 'heard' | 'gone'): void {
    this.#publish({ type: 'node', at: this.#now(), data: { nodeId, standing } });
  }

  #now(): string {
    return new Date(this.#options.clock.wallMs()).toISOString();
  }

  #publish(event: OperatorEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
