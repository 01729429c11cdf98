import {
  assertNodeErrorFree,
  type BinaryNode,
  jidNormalizedUser,
  USyncQuery,
  type USyncQueryResultList,
  USyncUser,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { SendOutcome } from '../../session-events.ts';
import type { SendOrder } from '../../session-host.ts';
import { describeDefect } from '../shared/defect.ts';
import { isRateSignal, queryErrorCode } from '../shared/session-end.ts';
import { chatAddress, isGroupAddress, isLidAddress, isNumberAddress, userOf } from '../wire/chat-address.ts';
import { isDefect } from './order-outcomes.ts';
import type { OutboxOptions } from './outbox-options.ts';

/** The number by which the network knows a person, or the outcome of a message that does not continue. */
type RecipientAnswer = string | SendOutcome;

/** A cached reply: the number by which the network knows the person, or false if it knows no such person. */
type KnownAs = string | false;

/** Looks the recipient of an order up, and the chat with them if the order needs one. Rejects on a rate signal. */
export async function recipientOf(
  options: Pick<OutboxOptions, 'context' | 'socket' | 'tokens'>,
  order: Pick<SendOrder, 'to' | 'needsChat' | 'messageId'>,
): Promise<RecipientAnswer> {
  const answer = await lookUpRecipient(options, order);
  if (typeof answer !== 'string' || !order.needsChat) return answer;
  const chat = await chatOf(options.socket, answer);
  return (await options.tokens.has(chat)) ? answer : { kind: 'no_chat' };
}

/**
 * Looks up whether a number is on the network, and by which number it is known there. Older accounts of some countries
 * have another form than the dialled one. Both results are cached, also for later sessions, because bulk look-ups get
 * numbers banned (docs/chat-client.md, Sending).
 *
 * Only a row with `out` means that the number is not there. Without a reply the message waits. A row that is neither
 * `in` nor `out` counts as an attempt. Rejects on a rate signal.
 */
async function lookUpRecipient(
  { context, socket }: Pick<OutboxOptions, 'context' | 'socket'>,
  { to, messageId }: Pick<SendOrder, 'to' | 'messageId'>,
): Promise<RecipientAnswer> {
  const { timing } = context;
  const { numbers } = context.environment;
  // A recipient known by the network's own id has written to the shop.
  if (isLidAddress(to)) return to;
  const knownAs = numbers.get<KnownAs>(to);
  if (knownAs === false) return { kind: 'not_on_network' };
  // A number that no longer exists is forgotten under the form it was written to.
  if (knownAs !== undefined && numbers.get<KnownAs>(knownAs) !== undefined) return knownAs;
  try {
    const answer = await socket.executeUSyncQuery(questionAbout(to));
    if (answer === undefined) return { kind: 'not_sent' };
    const row = answer.list.find(({ contact }) => contact === 'in' || contact === 'out');
    if (row === undefined) return { kind: 'unprepared' };
    if (row.contact === 'out') {
      numbers.set(to, false satisfies KnownAs, timing.missingNumberMs);
      return { kind: 'not_on_network' };
    }
    const number = isNumberAddress(row.id) ? `+${userOf(row.id)}` : to;
    await keepLid(socket, row);
    for (const form of new Set([to, number])) numbers.set<KnownAs>(form, number, timing.knownNumberMs);
    return number;
  } catch (error) {
    if (isRateSignal(error)) throw error;
    if (isDefect(error)) {
      const fields = { messageId, ...describeDefect(error) };
      context.log(fields, 'a look-up of a recipient failed by a defect', 'error');
    }
    return { kind: queryErrorCode(error) === undefined ? 'not_sent' : 'unprepared' };
  }
}

/** A number's LID may change. An account that continues with the former one can be suspended (`renewLid`). */
async function keepLid({ signalRepository }: WASocket, { id, lid }: USyncQueryResultList): Promise<void> {
  if (typeof lid !== 'string' || !isLidAddress(lid) || !isNumberAddress(id)) return;
  await signalRepository.lidMapping.storeLIDPNMappings([{ pn: id, lid }]);
}

/**
 * Sends the client's own query (`onWhatsApp`), with a result that keeps the network's value: `in` or `out`. The client
 * makes a flag of it, and leaves out every row that is not `in`.
 */
function questionAbout(recipient: string): USyncQuery {
  const query = new USyncQuery().withUser(new USyncUser().withPhone(recipient)).withLIDProtocol();
  query.protocols.push(new ContactType());
  return query;
}

class ContactType {
  readonly name = 'contact';

  getQueryElement(): BinaryNode {
    return { tag: 'contact', attrs: {} };
  }

  getUserElement({ phone }: USyncUser): BinaryNode {
    return { tag: 'contact', attrs: {}, ...(phone === undefined ? {} : { content: phone }) };
  }

  /** Throws `Boom` when the row is an error. */
  parser(row: BinaryNode): string | null {
    assertNodeErrorFree(row);
    return row.attrs.type ?? null;
  }
}

/** Returns the address of a chat: a group's own, a person's id on the network if it is known, else the number. */
export async function chatOf(socket: WASocket, recipient: string): Promise<string> {
  const byNumber = chatAddress(recipient);
  if (isGroupAddress(recipient) || isLidAddress(recipient)) return byNumber;
  const lid = await socket.signalRepository.lidMapping.getLIDForPN(byNumber);
  return lid === null ? byNumber : jidNormalizedUser(lid);
}

/**
 * Shows composing in the chat with a person. Resolves with the chat's address. Undefined if it could not be shown; the
 * message is sent all the same. Rejects on a rate signal.
 */
export async function showComposing(socket: WASocket, recipient: string): Promise<string | undefined> {
  try {
    const chat = await chatOf(socket, recipient);
    await socket.sendPresenceUpdate('composing', chat);
    return chat;
  } catch (error) {
    if (isRateSignal(error)) throw error;
    return undefined;
  }
}
