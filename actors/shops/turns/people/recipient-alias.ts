/**
 * The network decides which number is a person's. A caller writes a number in one of its forms. The look-up before the
 * first send returns the number that the network knows. From then on that number stands for the recipient: counts and
 * waiting messages move to it, and the shop remembers the alias. The record of a message keeps `to` as it was written.
 */
import { exceedsRecipientLimits } from '../../../../policy/evaluate-message.ts';
import { isSameRecipient, recipientKey } from '../../../../policy/number-forms.ts';
import { isPhoneNumber } from '../../../../policy/recipient.ts';
import { type MaybePromise, mapMaybePromise } from '../../../../runtime/maybe-promise.ts';
import type { SessionEventOf } from '../../../sessions/session-events.ts';
import { aliasField } from '../../records/alias-field.ts';
import type { Writer } from '../../records/writer.ts';
import { addressee, isPreparing, type QueuedMessage, type ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';

type RecipientKnown = SessionEventOf<'session.recipient_known'>;

/** The number that the network reported before for the looked-up recipient, if another. */
interface AliasFacts {
  readonly alias?: string;
}

/** Reads the number that the network reported before for the recipient of the current message. */
export function readAlias(
  { shard, keys, currentMessage }: ShopState,
  { messageId }: RecipientKnown,
  { store }: FactSources,
): MaybePromise<AliasFacts> {
  if (currentMessage?.messageId !== messageId) return {};
  const found = store.lookUp(shard, [['HGET', keys.aliases, currentMessage.to]]);
  return mapMaybePromise(found, ([alias]) => (typeof alias === 'string' ? { alias } : {}));
}

/** Stores the number by which the network knows the recipient of the message in progress. */
export function learnRecipient(
  builder: TurnBuilder,
  { messageId, number }: RecipientKnown,
  { alias }: AliasFacts,
): void {
  const { currentMessage } = builder.state;
  if (!isPreparing(builder.state, messageId) || currentMessage === undefined) return;
  const { to } = currentMessage;
  if (!isPhoneNumber(to)) return;
  if (number === (alias ?? to)) builder.change({ currentMessage: knownAs(currentMessage, number) });
  else rememberAlias(builder, to, number);
}

/**
 * Stores `number` as the number by which the network knows `recipient`, which is a number or the network's own id of a
 * person. Counts and messages of `recipient` move to it. If both are equal, the former alias is removed.
 */
export function rememberAlias(builder: TurnBuilder, recipient: string, number: string): void {
  const { keys, ledger } = builder.state;
  // Counts are stored by the key of the number, so the alias is stored under it as well.
  const writtenFields = [...new Set([recipient, aliasField(recipientKey(recipient))])];
  if (number === recipient) {
    builder.write(['HDEL', keys.aliases, ...writtenFields]);
  } else {
    builder.write(['HSET', keys.aliases, ...writtenFields.flatMap((form) => [form, number])]);
    const mergedLedger = ledger.with([]);
    mergedLedger.mergeRecipient(recipientKey(recipient), recipientKey(number));
    builder.change({ ledger: mergedLedger });
  }
  renameRecipients(builder, new Map([[recipient, number]]));
}

/** Puts the waiting messages and the one in progress under numbers that became known, by `to` of the message. */
export function renameRecipients(builder: TurnBuilder, numberOf: ReadonlyMap<string, string>): void {
  const { queue, currentMessage } = builder.state;
  const withAlias = (message: QueuedMessage): QueuedMessage => {
    const number = numberOf.get(message.to);
    return number === undefined ? message : knownAs(message, number);
  };
  builder.change({
    queue: queue.map(withAlias),
    ...(currentMessage === undefined ? {} : { currentMessage: withAlias(currentMessage) }),
  });
}

function knownAs(message: QueuedMessage, number: string): QueuedMessage {
  const { alias: _, ...messageWithoutAlias } = message;
  return number === message.to ? messageWithoutAlias : { ...messageWithoutAlias, alias: number };
}

/** True if the message in progress goes to the person who wrote under this address, in any form of a number. */
export function isCurrentFor(
  { currentMessage }: Pick<ShopState, 'currentMessage'>,
  writtenBy: string,
): boolean {
  return currentMessage !== undefined && isSameRecipient(addressee(currentMessage), writtenBy);
}

/** True if a message to the network's own id of a person waits, is in progress, or counts. */
export function isSentTo(
  { currentMessage, queue, ledger }: Pick<ShopState, 'currentMessage' | 'queue' | 'ledger'>,
  lid: string,
  nowMs: number,
): boolean {
  if (currentMessage?.to === lid || queue.some(({ to }) => to === lid)) return true;
  return ledger.messageTimesMs({ recipient: recipientKey(lid), nowMs }).length > 0;
}

/** True if the recipient's limits forbid the message in progress, now that the recipient is known. */
export function isOverRecipientLimits(state: ShopState, writer: Writer | undefined, nowMs: number): boolean {
  const { currentMessage, queue, ledger } = state;
  if (currentMessage === undefined) return false;
  const recipient = addressee(currentMessage);
  if (!isPhoneNumber(recipient)) return false;
  // Taken once: every check before the wire compares the whole queue.
  const key = recipientKey(recipient);
  const waitingMessages = queue.filter((message) => {
    const otherAddress = addressee(message);
    return isPhoneNumber(otherAddress) && recipientKey(otherAddress) === key;
  }).length;
  return exceedsRecipientLimits(ledger, {
    recipient,
    waiting: waitingMessages,
    lastInboundAtMs: writer?.lastInboundAtMs ?? null,
    nowMs,
  });
}
