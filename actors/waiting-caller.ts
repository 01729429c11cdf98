/** A caller that waits for an actor's answer, and may disconnect meanwhile. */
export interface WaitingCaller {
  readonly isGone: boolean;
  /** Calls back once, when the caller disconnects; at once if it has. The returned function cancels that. */
  onGone(callback: () => void): () => void;
}
