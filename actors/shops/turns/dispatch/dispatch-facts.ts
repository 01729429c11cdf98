import { recipientKey } from '../../../../policy/number-forms.ts';
import { isPhoneNumber } from '../../../../policy/recipient.ts';
import type { MaybePromise } from '../../../../runtime/maybe-promise.ts';
import { hashFields, type Store } from '../../../../runtime/store.ts';
import type { QuotedMessage } from '../../../sessions/session-host.ts';
import { activePhones } from '../../../tenants/contact-record.ts';
import { isLapsed, readWriter } from '../../reading/recipient-facts.ts';
import { readCarried } from '../../records/carried-message.ts';
import { readInboundRecords } from '../../records/inbound-records.ts';
import { readMessages } from '../../records/message-days.ts';
import type { MessageBody } from '../../records/message-record.ts';
import { decodeWriters, laterWriter, type Writer } from '../../records/writer.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';
import { isSentTo } from '../people/recipient-alias.ts';

/** The facts that are checked again just before the wire. */
export interface DispatchFacts {
  readonly body: MessageBody | undefined;
  /** True if its origin took back this carried message, because the recipient opted out of it. */
  readonly isWithdrawn?: boolean;
  readonly writer: Writer | undefined;
  /** The network's own id of the recipient, if the shop has data under it from a time without a number. */
  readonly lidToLink?: string | undefined;
  /**
   * True if it was accepted for a declaration that is no longer valid, and the recipient has become a stranger since.
   */
  readonly hasLapsed?: boolean;
  /** The recipients of a status: customers, writers and active declarations, without those who opted out. */
  readonly audience: readonly string[];
  /** For a status: the network's own ids (LID) of people without a known number who opted out. */
  readonly optedOutIds?: readonly string[];
  /** The quoted message, if it still exists. */
  readonly quoted?: QuotedMessage | undefined;
}

/** The facts about a message in progress. Absent if another message is in progress by now. */
export interface FactsInProgress {
  readonly dispatch?: DispatchFacts;
}

/**
 * Reads the facts for the checks before the wire in one round trip. A second one follows for a declaration, a quoted
 * message, an alias or a status. The recipient is that of the message in progress. Facts that the actor still has from
 * the check before are not read again, so the last check usually reads nothing from Redis.
 */
export async function readDispatch(
  state: ShopState,
  { messageId, lid }: { readonly messageId: string; readonly lid?: string },
  sources: FactSources,
): Promise<FactsInProgress> {
  const { store, nowMs } = sources;
  const { shard, keys, currentMessage } = state;
  if (currentMessage?.messageId !== messageId) return {};
  const { to, alias } = currentMessage;
  const byLid = lid === undefined ? [] : [lid];
  const isCarried = currentMessage.carriedFor !== undefined;
  const [[message], { writer, storedUnder }, [lidAlias]] = await Promise.all([
    isCarried ? readCarried(shard, [messageId], store) : readOwn(state, messageId, store),
    readWriter(state, { to, more: alias === undefined ? byLid : [alias, ...byLid] }, store),
    lid === undefined ? [] : store.lookUp(shard, [['HGET', keys.aliases, lid]]),
  ]);
  const body = message?.body;
  if (body?.kind === 'status')
    return { dispatch: { body, writer: undefined, ...(await readAudience(state, store, nowMs)) } };
  const isWithdrawn = message !== undefined && 'isWithdrawn' in message && message.isWithdrawn;
  const hasLapsed = body !== undefined && (await isLapsed(body, store, nowMs));
  const quoted = body?.reply && (await readQuoted(shard, body.reply.inboundId, sources));
  const hasDataByLid =
    lid !== undefined &&
    (lidAlias === lid || storedUnder.includes(lid) || (lidAlias == null && isSentTo(state, lid, nowMs)));
  const lidToLink = hasDataByLid ? lid : undefined;
  return { dispatch: { body, writer, isWithdrawn, hasLapsed, audience: [], quoted, lidToLink } };
}

/** If the quoted message's record was erased meanwhile, the reply has no quote. */
async function readQuoted(
  shard: number,
  inboundId: string,
  sources: FactSources,
): Promise<QuotedMessage | undefined> {
  const [record] = await readInboundRecords(shard, [inboundId], sources);
  return record && { wireId: record.record.wireId, text: record.record.text ?? '' };
}

function readOwn(
  { shard, currentBody }: ShopState,
  messageId: string,
  store: Store,
): MaybePromise<readonly ({ readonly body: MessageBody } | undefined)[]> {
  return currentBody?.id === messageId ? [{ body: currentBody }] : readMessages(shard, [messageId], store);
}

async function readAudience(
  { keys, people }: ShopState,
  store: Store,
  nowMs: number,
): Promise<Required<Pick<DispatchFacts, 'audience' | 'optedOutIds'>>> {
  const [customers, contacts, writers, aliases] = await store.read([
    ['SMEMBERS', people.customers],
    ['HVALS', people.contacts],
    ['HGETALL', keys.writers],
    ['HGETALL', keys.aliases],
  ]);
  const knownAs = hashFields(aliases);
  const audience = new Map<number, string>();
  // A number from the network is the person's; one that a tenant wrote may be its other form.
  const add = (phone: string): void => {
    const knownPhone = knownAs.get(phone) ?? phone;
    audience.set(recipientKey(knownPhone), knownPhone);
  };
  for (const phone of customers) add(phone);
  for (const phone of activePhones(contacts, nowMs)) add(phone);
  const optedOutIds: string[] = [];
  const writerByKey = new Map<number, Writer | undefined>();
  for (const [address, writer] of decodeWriters(writers)) {
    const phone = knownAs.get(address) ?? address;
    // No status goes to a person without a known number. The session may know that they are one of the audience.
    if (!isPhoneNumber(phone)) {
      if (writer.optedOut) optedOutIds.push(address);
      continue;
    }
    add(phone);
    const key = recipientKey(phone);
    writerByKey.set(key, laterWriter(writerByKey.get(key), writer));
  }
  for (const [key, writer] of writerByKey) if (writer?.optedOut) audience.delete(key);
  return { audience: [...audience.values()], optedOutIds };
}
