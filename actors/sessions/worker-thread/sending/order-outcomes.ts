import { EgressFailure } from '../../../outbound/egress-failure.ts';
import { AttachmentDirectoryUnusable } from '../../attachment-files.ts';
import { Unreadable } from '../../credential-cipher.ts';
import { NoAnswer } from '../../no-answer.ts';
import type { SendOutcome } from '../../session-events.ts';
import { MediaUnavailable } from '../attachments/media-fetch.ts';
import { isConnectionClosed, isRateSignal, isSocketFailure, readClientError } from '../shared/session-end.ts';
import { backoffOf } from '../wire/usync-errors.ts';
import type { Phase } from './pending-order.ts';

/** An order goes no further, though nothing failed: it was given up, or may not leave again. */
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
  // The message waits for the proxy, as it waits for a lost session.
  if (error instanceof EgressFailure) return { kind: 'not_sent' };
  // Nothing is wrong with the attachment. It is retried when the directory may have space.
  if (error instanceof AttachmentDirectoryUnusable) return { kind: 'unprepared' };
  if (error instanceof MediaUnavailable) return { kind: 'media_unavailable', detail: error.message };
  // A closing socket proves nothing about the message.
  if (isConnectionClosed(error)) return { kind: 'not_sent' };
  // If an upload fails, the cause is the network and not the attachment. `fail` logs the error if it is a defect.
  return { kind: 'unprepared' };
}

/** Our own classes of errors, whose messages give a reason. */
const REASONS = [
  OrderGivenUp,
  NoAnswer,
  EgressFailure,
  AttachmentDirectoryUnusable,
  MediaUnavailable,
  Unreadable,
];

/** True for an error whose cause is unknown: neither our code, the client, the system nor a socket reports it so. */
export function isDefect(error: unknown): boolean {
  if (REASONS.some((reason) => error instanceof reason)) return false;
  if (readClientError(error).statusCode !== undefined) return false;
  return !isRateSignal(error) && !isSocketFailure(error);
}
