/** Something that happened and that operators watch: never a text, a key or a QR. */
export interface OperatorEvent {
  readonly type: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly data: Record<string, unknown>;
}

/** Where events come from. */
export interface EventFeed {
  /** Calls back for every event from now on, until the returned function is called. */
  subscribe(listener: (event: OperatorEvent) => void): () => void;
}
