/**
 * An opt-out counts from the commit of its turn. A person sends it to this shop, or to a pool shop that wrote to them
 * for this one.
 */

import { isPhoneNumber } from '../../../../policy/recipient.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { afterMessage, type Writer } from '../../records/writer.ts';
import { pacingState } from '../../state/shop-state.ts';
import { stepPacing } from '../builder/step-machines.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { isCurrentFor } from '../people/recipient-alias.ts';
import { keepWriter, linkLid } from '../people/stored-writer.ts';
import { askAboutPooled } from '../pool/message-at-pool.ts';
import type { SenderFacts } from './inbound-facts.ts';

/** A person answered the pool with an opt-out, which counts for this shop, the one written for. */
export function onOptOutAtPool(
  builder: TurnBuilder,
  command: CommandOf<'pool.opt_out'>,
  { sender }: { readonly sender: SenderFacts },
): void {
  if (sender.lidToLink !== undefined) linkLid(builder, sender.lidToLink, sender);
  const writer = afterMessage(sender.writer, { ...command, optedOut: true }, builder.nowMs);
  if (writer !== undefined) storeWriterAndOptOut(builder, sender, writer);
}

/** Stores a sender's last message. If they opted out or in by it, publishes that and stops what an opt-out forbids. */
export function storeWriterAndOptOut(builder: TurnBuilder, sender: SenderFacts, writer: Writer): void {
  const { writtenBy } = sender;
  const hadOptedOut = sender.writer?.optedOut ?? false;
  keepWriter(builder, sender, writer);
  if (writer.optedOut !== hadOptedOut) {
    // A person named by the network's own id (LID) has no known number.
    const phone = isPhoneNumber(writtenBy) ? writtenBy : null;
    builder.publish(writer.optedOut ? 'recipient.opted_out' : 'recipient.opted_in', { phone });
  }
  if (writer.optedOut) applyOptOut(builder, writtenBy, hadOptedOut);
}

/**
 * Stops at once what an opt-out forbids: this shop's messages at the pool, and the message in progress to that person.
 * A status that is being sealed for them is put back, to be sealed for the others. `hadOptedOut` says whether they had
 * opted out before.
 */
function applyOptOut(builder: TurnBuilder, writtenBy: string, hadOptedOut: boolean): void {
  askAboutPooled(builder);
  const { state } = builder;
  const { currentMessage } = state;
  if (pacingState(state) === 'sending' && currentMessage !== undefined) {
    const isFor = isCurrentFor(state, writtenBy) || currentMessage.kind === 'status';
    if (isFor) builder.perform({ type: 'do_not_repeat', messageId: currentMessage.messageId });
  }
  if (pacingState(state) !== 'preparing') return;
  if (isCurrentFor(state, writtenBy)) {
    stepPacing(builder, { type: 'blocked', reason: 'RECIPIENT_OPTED_OUT' });
  } else if (state.currentMessage?.kind === 'status' && !hadOptedOut) {
    stepPacing(builder, { type: 'taken_back', gapUntilMs: builder.waitEnds().gapUntilMs });
  }
}
