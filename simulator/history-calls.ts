import { proto } from '@whiskeysockets/baileys';
import { FieldReader } from './control-input.ts';
import { sendFatHistory, sendOwn } from './history.ts';
import type { Network } from './network.ts';

/** Contacts in one history at most, so that a call stays short. */
const MOST_CONTACTS = 50_000;

/** The longest message of the protocol, in characters of base64: what fits into the body of a call. */
const LONGEST_MESSAGE = 1_000_000;

/** The phone sends its clients a history with so many contacts. */
export async function tellHistory(
  network: Network,
  { phone, body }: { phone: string; body: Readonly<Record<string, unknown>> },
): Promise<{ mappings: number; tokens: number }> {
  const fields = new FieldReader(body);
  const mappings = fields.whole('mappings', { least: 0, most: MOST_CONTACTS });
  const tokens = fields.whole('tokens', { least: 0, most: mappings, fallback: 0 });
  fields.check();
  await sendFatHistory(network, { phone, mappings, tokens });
  return { mappings, tokens };
}

/** The phone sends its clients any message of the protocol, as its owner may with a changed client. */
export async function tellOwn(
  network: Network,
  { phone, body }: { phone: string; body: Readonly<Record<string, unknown>> },
): Promise<{ count: number }> {
  const fields = new FieldReader(body);
  const encoded = fields.text('message', { most: LONGEST_MESSAGE });
  fields.check();
  const companions = network.companions.of(phone);
  const message = proto.Message.decode(Buffer.from(encoded, 'base64'));
  for (const companion of companions) await sendOwn(network, companion, message);
  return { count: companions.length };
}
