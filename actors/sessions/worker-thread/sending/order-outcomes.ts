import { EgressFailure } from '../../../outbound/egress-failure.ts';
import { AttachmentDirectoryUnusable } from '../../attachment-files.ts';
import { Unreadable } from '../../credential-cipher.ts';
import { NoAnswer } from '../../no-answer.ts';
import type { SendOutcome } from '../../session-events.ts';
import { MediaUnavailable } from '../attachments/media-fetch.ts';
import { isConnectionClosed, isRateSignal, isSocketFailure, readClientError } from '../shared/session-end.ts';
import { backoffOf } from '../wire/usync-errors.ts';
import type { Phase } from './pending-order.ts';

/** An order goes no further, though nothing failed: it was given up, or may not leave once more. */
export class OrderGivenUp extends Error {}

/** Returns the outcome of an order whose time is over. */
export function overdueOutcome(phase: Phase): SendOutcome {
  if (phase === 'transmitting') return { kind: 'unknown' };
  if (phase === 'ready') return { kind: 'not_sent' };
  if (phase === 'fetching') return { kind: 'media_unavailable', detail: 'the attachment took too long' };
  return { kind: 'unprepared' };
}

/** Returns the outcome of an order that failed in that phase. */
export function outcomeOf(phase: Phase, error: unknown): SendOutcome {
  if (isRateSignal(error)) return { kind: 'rate_limited', ...backoffOf(error) };
  if (phase === 'transmitting') return { kind: 'unknown' };
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
