import type { proto } from '@whiskeysockets/baileys';
import type { ArmedTimer } from '../../../../runtime/clock.ts';
import { EgressFailure } from '../../../outbound/egress-failure.ts';
import { AttachmentDirectoryUnusable } from '../../attachment-files.ts';
import { Unreadable } from '../../credential-cipher.ts';
import { NoAnswer } from '../../no-answer.ts';
import type { SendOutcome } from '../../session-events.ts';
import type { SendOrder } from '../../session-host.ts';
import type { PrepareOrder } from '../../worker-protocol.ts';
import { type FetchedMedia, MediaUnavailable } from '../attachments/media-fetch.ts';
import { isConnectionClosed, isRateSignal, isSocketFailure, readClientError } from '../shared/session-end.ts';
import { backoffOf } from '../wire/usync-errors.ts';
import { OrderGivenUp } from './order-given-up.ts';

/**
 * The phase that an order is in. `relaying`: the client has it, and asks for keys. `ready`: it is sealed, and no
 * ciphertext was passed on. `transmitting`: it may reach the recipient; before this phase it cannot.
 */
export type Phase = 'preparing' | 'fetching' | 'uploading' | 'relaying' | 'ready' | 'transmitting';

/** An order without an outcome. */
export interface PendingOrder {
  readonly prepareOrder: PrepareOrder;
  readonly order: SendOrder;
  /** The stanza's id: the order's, or a new one if it went to another address. */
  wireId: string;
  /** True if it reached no one and was put on the wire once more. */
  wasSentAgain: boolean;
  /** True if its stanza left on an earlier connection, and may have arrived. */
  readonly isRepeat: boolean;
  /** True if the shop's actor forbids to send it once more. */
  isWithheld: boolean;
  phase: Phase;
  /**
   * The number that the network knows the recipient by, once it was looked up. Before that, the number in the order.
   */
  to: string;
  message: proto.IMessage | undefined;
  /** The address it is written to, once that is known. */
  chat: string;
  /** The recipients of a status. */
  audience: readonly string[];
  /** The network's own id of a 1:1 recipient, if known. */
  lid: string | undefined;
  /** True if a restricted number may write to them. Undefined if it does not go to a person. */
  hasChat: boolean | undefined;
  /** The hash of the devices that a post in a group is for. */
  devicesHash: string | undefined;
  /** The actor's answer to the newest `prepared`: the message may leave, or never does. */
  decide: ((isTransmitted: boolean) => void) | undefined;
  /** True if the client is done with it. Only the acknowledgement is missing. */
  isRelayed: boolean;
  /** Present if the order has an attachment. */
  readonly cancel: AbortController | undefined;
  /** The deadline of the present phase: of preparing, then of the client, then of the network's acknowledgement. */
  deadline: ArmedTimer;
  /** The deadline of the client's work on an order that is settled already. */
  deadlineOfClient: ArmedTimer | undefined;
  media: FetchedMedia | undefined;
  /** Gives back its tenant's slot for an attachment. */
  release: () => void;
}

/** Returns an order as it begins, without its deadline. */
export function beginningOf(prepareOrder: PrepareOrder): Omit<PendingOrder, 'deadline'> {
  const { order } = prepareOrder;
  return {
    prepareOrder,
    order,
    wireId: order.wireId,
    wasSentAgain: false,
    isRepeat: false,
    isWithheld: false,
    phase: 'preparing',
    to: order.to,
    message: undefined,
    chat: '',
    audience: [],
    lid: undefined,
    hasChat: undefined,
    devicesHash: undefined,
    decide: undefined,
    isRelayed: false,
    cancel: order.mediaUrl === undefined ? undefined : new AbortController(),
    deadlineOfClient: undefined,
    media: undefined,
    release: () => undefined,
  };
}

/** Returns the outcome of an order whose time is over. */
export function overdueOutcome(phase: Phase): SendOutcome {
  if (phase === 'transmitting') return { kind: 'unknown' };
  if (phase === 'ready') return { kind: 'not_sent' };
  if (phase === 'fetching') return { kind: 'media_unavailable', detail: 'the attachment took too long' };
  return { kind: 'unprepared' };
}

/** Returns the outcome of an order that failed. */
export function outcomeOf(pendingOrder: PendingOrder, error: unknown): SendOutcome {
  if (isRateSignal(error)) return { kind: 'rate_limited', ...backoffOf(error) };
  if (pendingOrder.phase === 'transmitting') return { kind: 'unknown' };
  // It waits for the proxy, as it does for a lost session.
  if (error instanceof EgressFailure) return { kind: 'not_sent' };
  // Nothing is wrong with the attachment. It is retried when the directory may have space.
  if (error instanceof AttachmentDirectoryUnusable) return { kind: 'unprepared' };
  if (error instanceof MediaUnavailable) return { kind: 'media_unavailable', detail: error.message };
  // A closing socket proves nothing about the message.
  if (isConnectionClosed(error)) return { kind: 'not_sent' };
  // An upload that fails is the network's: nothing is wrong with the attachment either. `fail` logs a defect.
  return { kind: 'unprepared' };
}

/** The errors of ours that give a reason. */
const REASONS = [
  OrderGivenUp,
  NoAnswer,
  EgressFailure,
  AttachmentDirectoryUnusable,
  MediaUnavailable,
  Unreadable,
];

/** True for an error that gives no reason: it is none of ours, of the client's, of the system's or of a socket. */
export function isDefect(error: unknown): boolean {
  if (REASONS.some((reason) => error instanceof reason)) return false;
  if (readClientError(error).statusCode !== undefined) return false;
  return !isRateSignal(error) && !isSocketFailure(error);
}
