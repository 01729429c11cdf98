import type { RuntimeCommand } from '../behaviour.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import { type RuntimeFailure, unavailableFailure } from '../runtime-failure.ts';
import type { ActorSurroundings } from './actor-surroundings.ts';
import { type Envelope, type EnvelopeKind, type Mailbox, ownEnvelope } from './mailbox.ts';
import type { TurnCycle } from './turn-cycle.ts';

/** The actor whose turns are dispatched. */
export interface DispatchedActor {
  /** True if it is active, and waits neither for Redis nor for a restart. */
  readonly isReady: boolean;
  /** True if the reason for an envelope that the runtime itself put into the mailbox still exists. */
  isWanted(envelope: Envelope): boolean;
}

export interface DispatcherParts {
  /** The actor's address as text. */
  readonly name: string;
  readonly shard: OwnedShard;
  readonly mailbox: Mailbox;
  readonly cycle: TurnCycle;
}

/**
 * Decides which turn is next, one at a time. A command that finds no turn under way and an empty mailbox runs directly.
 * Otherwise the mailbox says which envelope is next.
 */
export class Dispatcher {
  readonly #name: string;
  readonly #shard: OwnedShard;
  readonly #mailbox: Mailbox;
  readonly #cycle: TurnCycle;
  readonly #surroundings: ActorSurroundings;
  readonly #actor: DispatchedActor;
  #isPumping = false;

  constructor(parts: DispatcherParts, surroundings: ActorSurroundings, actor: DispatchedActor) {
    this.#name = parts.name;
    this.#shard = parts.shard;
    this.#mailbox = parts.mailbox;
    this.#cycle = parts.cycle;
    this.#surroundings = surroundings;
    this.#actor = actor;
  }

  /** True if a turn is under way or waits in the mailbox. */
  get isAtWork(): boolean {
    return this.#cycle.isBusy || this.#mailbox.depth > 0;
  }

  /** Takes a command. If there is a refusal, or the mailbox is full, it rejects the caller instead. */
  offer(envelope: Envelope, refusal: RuntimeFailure | undefined): void {
    if (refusal === undefined && this.#decidesNow(envelope)) return;
    const { asker } = envelope;
    const failure = refusal ?? this.#mailbox.offer(envelope);
    if (asker !== undefined) this.#surroundings.commits.flushSoon();
    if (failure === undefined) this.pump();
    else if (asker !== undefined) asker.reject(failure);
    else this.#surroundings.log.warn({ actor: this.#name, code: failure.code }, 'a command was refused');
  }

  /**
   * Begins the turn of a command without the mailbox if no turn is under way and nothing waits, as for most commands.
   * The turn and its consequences are the same as for a command from the mailbox. Returns false if the command must go
   * into the mailbox.
   */
  #decidesNow(envelope: Envelope): boolean {
    if (!this.#isFree || this.#isPumping || !this.#mailbox.passes(envelope)) return false;
    if (!this.#surroundings.mayAct(this.#shard)) return false;
    this.#cycle.begin(envelope, envelope.queuedAtMs);
    // A turn without writes is already over, and may have put a command into the mailbox.
    if (!this.#cycle.isBusy) this.pump();
    return true;
  }

  /** True if a turn may begin. */
  get #isFree(): boolean {
    return this.#actor.isReady && !this.#cycle.isBusy;
  }

  /** Puts one of the runtime's own envelopes into the mailbox. The next `pump` handles it. */
  enqueue(kind: Exclude<EnvelopeKind, 'command'>, command?: RuntimeCommand): void {
    this.#mailbox.offer(ownEnvelope(kind, command, this.#surroundings.clock.monotonicMs()));
  }

  /** Runs turns until the mailbox is empty or a turn waits for Redis. */
  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#isFree) {
      if (!this.#surroundings.mayAct(this.#shard)) {
        this.refuseWaiting();
        break;
      }
      const nowMs = this.#surroundings.clock.monotonicMs();
      const envelope = this.#mailbox.take(nowMs);
      if (envelope === undefined) break;
      if (envelope.kind === 'command' || this.#actor.isWanted(envelope)) this.#cycle.begin(envelope, nowMs);
    }
    this.#isPumping = false;
    if (this.#shard.isDraining) this.#shard.onSettling?.();
  }

  /** Refuses callers that wait, since no turn may begin while the lease is not valid. */
  refuseWaiting(): void {
    this.#mailbox.refuseClients(unavailableFailure('the lease of this node has ended'));
  }
}
