import { encodeWAMessage, type proto } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import { ControlFailure } from '../control/control-failure.ts';
import { type Companion, numberOf } from '../linking/companions.ts';
import type { Network } from '../network.ts';
import { addressOf, authorAttributes } from '../numbers.ts';
import { STATUS_ADDRESS } from '../socket/addresses.ts';
import { node } from '../socket/stanzas.ts';
import { sealFor } from './contact-messages.ts';
import type { Delivery } from './deliveries.ts';

/** Stanzas that are not a message from one person to another. */
export const ARRIVING_KINDS = ['status', 'status_message', 'newsletter', 'appdata'] as const;

export type ArrivingKind = (typeof ARRIVING_KINDS)[number];

/** A channel that every simulated number follows. */
const NEWSLETTER = '120363400000000001@newsletter';

/** The parts of a delivery except the companion and the id. */
type Body = Pick<Delivery, 'tag' | 'attrs' | 'envelopes' | 'children' | 'source'>;

/**
 * Delivers stanzas of one kind to all companions of a number, and returns their ids. A status comes in a stanza with
 * its own tag or as a message, with or without the key to read it. `appdata` is a class that a client may not know.
 */
export async function arrive(
  network: Network,
  options: { phone: string; kind: ArrivingKind; from: string; readable: boolean; count: number },
): Promise<string[]> {
  const companions = network.companions.of(options.phone);
  if (companions.length === 0)
    throw new ControlFailure(409, 'NO_COMPANION', 'No client is linked that could receive this stanza.');
  const ids: string[] = [];
  const bodies = new Map<Companion, Body>();
  for (let index = 0; index < options.count; index += 1) {
    const messageId = network.newId();
    ids.push(messageId);
    for (const companion of companions) {
      // Content that no client can read is sealed once, because that takes long.
      const knownBody = options.readable ? undefined : bodies.get(companion);
      const body = knownBody ?? (await bodyOf(network, companion, options));
      bodies.set(companion, body);
      network.deliveries.add({ companionId: companion.id, messageId, ...body });
    }
  }
  return ids;
}

function bodyOf(
  network: Network,
  companion: Companion,
  { kind, from, readable }: { kind: ArrivingKind; from: string; readable: boolean },
): Body | Promise<Body> {
  const t = stanzaTime(network.clock);
  const noSource = { envelopes: [], source: { kind: 'nobody' } } as const;
  switch (kind) {
    case 'newsletter': {
      const plaintext = node('plaintext', {}, encodeWAMessage({ conversation: 'News' }));
      return {
        ...noSource,
        attrs: { from: NEWSLETTER, type: 'text', server_id: '100', t },
        children: [plaintext],
      };
    }
    case 'appdata':
      return { ...noSource, tag: 'appdata', attrs: { from: addressOf(numberOf(companion), 'pn'), t } };
    case 'status':
      return statusOf(network, companion, { tag: 'status', from, readable });
    case 'status_message':
      return statusOf(network, companion, { tag: 'message', from, readable });
  }
}

/** Returns a contact's status for one companion. An unreadable one lacks its author's key. */
async function statusOf(
  network: Network,
  companion: Companion,
  { tag, from, readable }: { tag: string; from: string; readable: boolean },
): Promise<Body> {
  const author = network.numbers.of(from);
  const handset = network.handsets.handsetOf(from);
  const text: proto.IMessage = { extendedTextMessage: { text: 'A status' } };
  const { envelope, keyMessage } = await handset.encryptGroup(STATUS_ADDRESS, addressOf(author, 'pn'), text);
  const key = readable ? [await sealFor(network, handset, companion, keyMessage)] : [];
  return {
    tag,
    attrs: {
      from: STATUS_ADDRESS,
      type: 'text',
      t: stanzaTime(network.clock),
      ...authorAttributes(author, 'lid'),
    },
    envelopes: [...key, envelope],
    source: { kind: 'nobody' },
  };
}

/** Returns the stanzas that a number's clients have yet to answer. */
export function pendingAnswers(network: Network, phone: string): PendingAnswers {
  const companions = network.companions.of(phone);
  return {
    waiting: companions.flatMap(({ id }) =>
      network.deliveries.waitingFor(id).map(({ messageId, tag, blocking }) => ({
        id: messageId,
        class: tag ?? 'message',
        blocking: blocking === true,
      })),
    ),
    unacknowledged: network.connections
      .ofAll(companions)
      .flatMap(({ owed }) =>
        owed.list().map(({ tag, attrs }) => ({ id: attrs.id ?? '', class: tag, type: attrs.type ?? null })),
      ),
  };
}

/** Stanzas without an answer. */
export interface PendingAnswers {
  /** Stanzas that are delivered again at the next login. A `blocking` one withholds all others. */
  readonly waiting: readonly { readonly id: string; readonly class: string; readonly blocking: boolean }[];
  /** Stanzas that were sent and not acknowledged. The stream ends when one is 50 minutes old. */
  readonly unacknowledged: readonly {
    readonly id: string;
    readonly class: string;
    readonly type: string | null;
  }[];
}
