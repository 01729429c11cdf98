import type { Address } from '../../../runtime/address.ts';
import type { Span, Tracing } from '../../../runtime/tracing.ts';
import { isFinal, type MessageStatus } from '../../message-status.ts';
import type { ShopEffect } from '../protocol/shop-effect.ts';

type Perform = (effect: ShopEffect, address: Address) => void;

/**
 * Most sends that wait for their end at a time; a shop has one in progress. Beyond this number the oldest send gets no
 * span.
 */
const MOST_SENDS = 10_000;

/** One message on its way to the network. */
interface TracedSend {
  readonly send: Span;
  /** Absent before the order to transmit. */
  acknowledgement?: Span;
}

/**
 * Carries out effects as `perform` does, and makes spans of each attempt to send a message. `send` runs from the
 * order to the session to the end. `acknowledgement`, inside it, starts with the order to transmit. A message that is
 * transmitted again gets another one, and the former ends. All belong to the call that made the message, even if
 * another node or an earlier process handled it.
 */
export function tracedEffects(perform: Perform, tracing: Tracing | undefined): Perform {
  if (tracing === undefined) return perform;
  const note = sendSpans(tracing);
  return (effect, address) => {
    note(effect);
    perform(effect, address);
  };
}

function sendSpans(tracing: Tracing): (effect: ShopEffect) => void {
  const sends = new Map<string, TracedSend>();

  function end(messageId: string, outcome: MessageStatus | 'recalled'): void {
    const tracedSend = sends.get(messageId);
    if (tracedSend === undefined) return;
    sends.delete(messageId);
    const spanEnd = { attributes: { 'message.outcome': outcome }, hasFailed: outcome === 'failed' };
    tracedSend.acknowledgement?.end(spanEnd);
    tracedSend.send.end(spanEnd);
  }

  function begin({ messageId, kind }: { messageId: string; kind: string }, parent: string | undefined): void {
    end(messageId, 'recalled');
    const [oldestId] = sends.size < MOST_SENDS ? [] : sends.keys();
    if (oldestId !== undefined) sends.delete(oldestId);
    const attributes = { 'message.id': messageId, 'message.kind': kind };
    sends.set(messageId, { send: tracing.start('send', { parent, kind: 'client', attributes }) });
  }

  return (effect) => {
    if (effect.type === 'prepare') {
      begin(effect.order, effect.traceparent);
    } else if (effect.type === 'recall') {
      end(effect.messageId, 'recalled');
    } else if (effect.type === 'transmit') {
      const tracedSend = sends.get(effect.messageId);
      if (tracedSend === undefined) return;
      const { traceparent } = tracedSend.send;
      tracedSend.acknowledgement?.end();
      tracedSend.acknowledgement = tracing.start('acknowledgement', { parent: traceparent, kind: 'client' });
    } else if (effect.type === 'announce_message') {
      if (effect.status === 'queued' || isFinal(effect.status)) end(effect.messageId, effect.status);
    } else if (effect.type === 'note_end' && effect.answer.kind === 'ended') {
      end(effect.messageId, effect.answer.fate.status);
    }
  };
}
