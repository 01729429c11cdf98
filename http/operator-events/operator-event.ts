import type { ActorEvent } from '../../actors/actor-event-feed.ts';

/** The state of another node that this one asks for events. */
interface NodeEvent {
  readonly type: 'node';
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly data: { readonly nodeId: string; readonly standing: 'silent' | 'heard' | 'gone' };
}

/** Events that were left out, from `nodeId` or, without one, since the reader's last connection. */
interface MissedEvent {
  readonly type: 'missed';
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly data: { readonly nodeId?: string; readonly count: number };
}

/** An event that operators watch. It never contains a text, a key or a QR. */
export type OperatorEvent = ActorEvent | NodeEvent | MissedEvent;

export interface OperatorEventFeed {
  /** Calls back for every event from now on, until the returned function is called. */
  subscribe(listener: (event: OperatorEvent) => void): () => void;
}
