import type { proto } from '@whiskeysockets/baileys';
import type { ArmedTimer } from '../../../../runtime/clock.ts';
import type { Slot } from '../../../../runtime/fair-slots.ts';
import type { SendOrder } from '../../session-host.ts';
import type { Preparation } from '../../worker-protocol.ts';
import { isGroupAddress, isLidAddress } from '../wire/chat-address.ts';

/**
 * The phase that an order is in. `relaying`: the client has it, and asks for keys. `ready`: it is sealed, and no
 * ciphertext was passed on. `transmitting`: it may reach the recipient; before this phase it cannot.
 */
export type Phase = 'preparing' | 'fetching' | 'uploading' | 'relaying' | 'ready' | 'transmitting';

/** The stanza of an order, as far as it is known. */
interface Stanza {
  /** The order's own id, or a new one if the stanza went to another address. */
  readonly wireId: string;
  /** The number that the network knows the recipient by. The number in the order until it was looked up. */
  readonly to: string;
  /** The address it is written to. Empty until the client gets the message. */
  readonly chat: string;
  readonly message: proto.IMessage | undefined;
  /** The recipients of a status. */
  readonly audience: readonly string[];
  /** See `session.prepared`. */
  readonly hasChat: boolean | undefined;
  /** The hash of the devices that a post in a group is for. */
  readonly devicesHash: string | undefined;
}

/** An order of the main thread without an outcome (`GivenOrder` there), while this thread carries it out. */
export class PendingOrder {
  readonly preparation: Preparation;
  /** True if its stanza left on an earlier connection, and may have arrived. */
  readonly isRepeat: boolean;
  readonly #ending = new AbortController();
  #phase: Phase;
  #stanza: Stanza;
  /** True once it is to be sent once more, for any reason. */
  #wasSentAgain = false;
  /** True if a ciphertext of the second stanza was passed on. */
  #isSealedAgain = false;
  /** True if the shop's actor forbids to send it once more. */
  #isWithheld = false;
  /** The actor's answer to the newest `prepared`: the message may leave, or never does. */
  #decide: ((isTransmitted: boolean) => void) | undefined;
  /** The worker's slot, or the tenant's for an attachment. A repeat has none, nor has an order that waits for one. */
  #slot: Slot | undefined;
  /** The deadline of the present phase: of preparing, then of the client, then of the network's acknowledgement. */
  #deadline: ArmedTimer | undefined;

  /** `lost` is the order's stanza if it left on an earlier connection. */
  constructor(preparation: Preparation, lost?: Pick<Stanza, 'wireId' | 'to' | 'chat' | 'message'>) {
    const { wireId, to } = preparation.order;
    this.preparation = preparation;
    this.isRepeat = lost !== undefined;
    this.#phase = lost === undefined ? 'preparing' : 'transmitting';
    const unknown = {
      chat: '',
      message: undefined,
      audience: [],
      hasChat: undefined,
      devicesHash: undefined,
    };
    this.#stanza = { wireId, to, ...unknown, ...lost };
  }

  /** Aborts when the order ends. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  get order(): SendOrder {
    return this.preparation.order;
  }

  get phase(): Phase {
    return this.#phase;
  }

  get stanza(): Stanza {
    return this.#stanza;
  }

  /** The network's own id of a 1:1 recipient, if known. */
  get lid(): string | undefined {
    const { chat } = this.#stanza;
    return isLidAddress(chat) ? chat : undefined;
  }

  /** True if it goes to a group. */
  get isPost(): boolean {
    return this.order.kind === 'message' && isGroupAddress(this.order.to);
  }

  get isToPerson(): boolean {
    return this.order.kind === 'message' && !this.isPost;
  }

  /** True if the next connection may send it again: it may have left, for the first time, and nothing forbids it. */
  get mayBeRepeated(): boolean {
    return this.#phase === 'transmitting' && !this.isRepeat && !this.#isWithheld;
  }

  /** True if it is sent once more, and the shop's actor forbids that. */
  get isStopped(): boolean {
    return this.#wasSentAgain && this.#isWithheld;
  }

  /** True if it is sent once more because it reached no one, and nothing of the second stanza can have left. */
  get hasReachedNoOne(): boolean {
    return this.#wasSentAgain && !this.isRepeat && !this.#isSealedAgain;
  }

  /** Keeps this slot until the order ends, or leaves the slot. */
  begin(slot: Slot): void {
    this.#slot = slot;
  }

  /** Gives the slot back, if it has one. */
  leaveSlot(): void {
    this.#slot?.giveBack();
    this.#slot = undefined;
  }

  /** Cancels the deadline, because the order waits for a slot. */
  clearDeadline(): void {
    this.#deadline?.cancel();
  }

  /** The network knows the recipient by this number. */
  knownAs(to: string): void {
    this.#stanza = { ...this.#stanza, to };
  }

  /** Its attachment is fetched, or uploaded, or no longer in work. */
  enter(phase: 'fetching' | 'uploading' | 'preparing'): void {
    this.#phase = phase;
  }

  /** The client gets the message for its chat. */
  relay(made: Pick<Stanza, 'chat' | 'message' | 'audience' | 'hasChat'>): void {
    this.#stanza = { ...this.#stanza, ...made };
    this.#phase = 'relaying';
  }

  /** Its stanza carries this hash. */
  addressTo(devicesHash: string | undefined): void {
    this.#stanza = { ...this.#stanza, devicesHash };
  }

  /** It is sealed. Resolves with true if the message may leave, and with false if it never does. */
  ready(): Promise<boolean> {
    this.#phase = 'ready';
    return this.decision();
  }

  /** Resolves with the answer of the shop's actor to the next `prepared`. False if the order ends. */
  decision(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#decide = resolve;
    });
  }

  /** The actor allows it to leave. Returns true if it was ready, and begins to wait for its acknowledgement. */
  transmit(): boolean {
    const wasReady = this.#phase === 'ready';
    if (wasReady) this.#phase = 'transmitting';
    this.#decide?.(true);
    return wasReady;
  }

  /** The actor forbids to send it once more. */
  withhold(): void {
    this.#isWithheld = true;
    if (this.#phase === 'transmitting') this.#decide?.(false);
  }

  /** It is to be sent once more. Returns false if it was before. */
  sendAgain(): boolean {
    const isFirst = !this.#wasSentAgain;
    this.#wasSentAgain = true;
    return isFirst;
  }

  /** A ciphertext of it is passed on. */
  passOn(): void {
    this.#isSealedAgain = this.#wasSentAgain;
  }

  /** Its stanza goes to another address of the recipient, under another id. */
  readdress(chat: string, wireId: string): void {
    this.#stanza = { ...this.#stanza, chat, wireId };
  }

  /** Sets the deadline of the present phase. */
  setDeadline(deadline: ArmedTimer): void {
    this.#deadline?.cancel();
    this.#deadline = deadline;
  }

  /** It has its outcome, or was given up. */
  end(): void {
    this.clearDeadline();
    this.#decide?.(false);
    this.leaveSlot();
    this.#ending.abort();
  }
}
