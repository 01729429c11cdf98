import { isGroupId } from '../../../../policy/recipient.ts';
import type { SessionEventOf, StanzaReceipt } from '../../../sessions/session-events.ts';
import { messageLookup, receiptsWrite } from '../../records/message-days.ts';
import type { MessageReceipts } from '../../records/message-receipts.ts';
import { decodeMessage, type StoredMessage } from '../../records/message-record.ts';
import {
  decodeSent,
  isFromRecipient,
  memberWrite,
  type SentStanza,
  sentReads,
} from '../../records/sent-index.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';

type ReceiptKind = StanzaReceipt['kind'];

/** The facts that a receipt proves: a read message was also delivered. */
const PROVEN: { readonly [K in ReceiptKind]: readonly ReceiptKind[] } = {
  delivered: ['delivered'],
  read: ['delivered', 'read'],
};

/** A receipt for a stanza of the shop, from a possible sender, with its message. */
interface KnownReceipt {
  readonly receipt: StanzaReceipt;
  readonly sent: SentStanza;
  /** The kinds that are counted already for this member of a group. */
  readonly counted: readonly ReceiptKind[];
  readonly message: StoredMessage;
}

/** The receipts that belong to messages of the shop. */
interface ReceiptFacts {
  readonly known: readonly KnownReceipt[];
}

/** Finds the messages of receipts. Skips receipts that are forged, of another shop or too old. */
export async function readReceipts(
  state: ShopState,
  { receipts }: SessionEventOf<'session.receipts'>,
  { store, nowMs }: Pick<FactSources, 'store' | 'nowMs'>,
): Promise<ReceiptFacts> {
  const fields = [...new Set(receipts.flatMap((receipt) => [receipt.wireId, ...membersOf(receipt)]))];
  const days = await store.read(sentReads(state.keys, fields, nowMs));
  const findValue = (field: string): string | null | undefined => {
    const index = fields.indexOf(field);
    return days.map((day) => day[index]).find((value) => value != null);
  };
  const knownReceipts = receipts.flatMap((receipt) => {
    const sentStanza = decodeSent(findValue(receipt.wireId), nowMs);
    if (sentStanza === undefined || !isFromRecipient(sentStanza, receipt)) return [];
    return [
      {
        receipt,
        sent: sentStanza,
        counted: PROVEN[receipt.kind].filter((kind) => findValue(memberOf(receipt, kind)) != null),
      },
    ];
  });
  const ids = [...new Set(knownReceipts.map(({ sent }) => sent.messageId))];
  if (ids.length === 0) return { known: [] };
  const answers = await store.read(ids.map((id) => messageLookup(state.shard, id)));
  const messages = new Map(ids.map((id, index) => [id, decodeMessage(id, answers[index] ?? [])]));
  const known = knownReceipts.flatMap((knownReceipt) => {
    const message = messages.get(knownReceipt.sent.messageId);
    return message === undefined ? [] : [{ ...knownReceipt, message }];
  });
  return { known };
}

/** Returns the field that marks a member of a group as counted. A person needs none. */
function memberOf({ wireId, from }: StanzaReceipt, kind: ReceiptKind): string {
  return `${wireId} ${kind} ${from}`;
}

function membersOf(receipt: StanzaReceipt): string[] {
  return receipt.group === undefined ? [] : PROVEN[receipt.kind].map((kind) => memberOf(receipt, kind));
}

/**
 * Stores receipts in the records of messages, and never changes their status. The first delivery or read sets its time,
 * which never moves. A read message counts as delivered.
 */
export function onReceipts(
  builder: TurnBuilder,
  { token }: SessionEventOf<'session.receipts'>,
  { known }: ReceiptFacts,
): void {
  const records = new Map<string, MessageReceipts>();
  const countedMembers = new Set<string>();
  for (const knownReceipt of known) {
    const { receipt, sent, counted: countedBefore, message } = knownReceipt;
    const { messageId } = sent;
    const isGroup = isGroupId(sent.to);
    const earlierReceipts = records.get(messageId) ?? message.receipts;
    let after = earlierReceipts;
    for (const kind of PROVEN[receipt.kind]) {
      const member = memberOf(receipt, kind);
      const isCounted = isGroup
        ? countedBefore.includes(kind) || countedMembers.has(member)
        : after[kind] > 0;
      if (isCounted) continue;
      countedMembers.add(member);
      if (isGroup) builder.write(memberWrite(builder.state.keys, member, sent));
      after = withReceipt(builder, kind, after, knownReceipt);
    }
    if (after !== earlierReceipts) records.set(messageId, after);
  }
  for (const [messageId, receipts] of records)
    builder.write(receiptsWrite(builder.state.shard, messageId, receipts));
  if (records.size > 0 && builder.state.undelivered !== undefined) builder.change({ undelivered: undefined });
  builder.perform({ type: 'confirm', token });
}

function withReceipt(
  builder: TurnBuilder,
  kind: ReceiptKind,
  receipts: MessageReceipts,
  { receipt, message, sent }: KnownReceipt,
): MessageReceipts {
  const newReceipts = { ...receipts, [kind]: receipts[kind] + 1 };
  const field = kind === 'read' ? 'readAtMs' : 'deliveredAtMs';
  if (receipts[field] !== null) return newReceipts;
  const sentAtMs = message.state.sentAtMs ?? sent.atMs;
  // The network's clock is another one.
  const atMs = Math.min(builder.nowMs, Math.max(receipt.atMs, sentAtMs, receipts.deliveredAtMs ?? 0));
  builder.publishMessage(`message.${kind}`, sent.messageId);
  builder.perform({ type: 'count_receipt', kind, afterMs: atMs - sentAtMs });
  return { ...newReceipts, [field]: atMs };
}
