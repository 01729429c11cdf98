import { randomBytes } from 'node:crypto';
import { lidOf, numberOf } from './directory.ts';
import type { Stanza } from './library.ts';
import { SERVER } from './stanzas.ts';

const now = (): string => String(Math.floor(Date.now() / 1_000));
const newId = (): string => `3EB0${randomBytes(9).toString('hex').toUpperCase()}`;
const unreadable = (): Stanza => ({ tag: 'enc', attrs: { v: '2', type: 'skmsg' }, content: randomBytes(96) });

/** Returns a contact's status that is unreadable, with its own tag or as a message. */
export function status(phone: string, tag: 'status' | 'message'): Stanza {
  const attrs = {
    from: 'status@broadcast',
    id: newId(),
    type: 'text',
    t: now(),
    participant: lidOf(phone),
    participant_pn: numberOf(phone),
    addressing_mode: 'lid',
  };
  return { tag, attrs, content: [unreadable()] };
}

/** A post of a channel. */
export function newsletter(): Stanza {
  const attrs = {
    from: '120363400000000001@newsletter',
    id: newId(),
    type: 'text',
    t: now(),
    server_id: '100',
  };
  // The text in the network's form: field 1, `conversation`.
  const plaintext = { tag: 'plaintext', attrs: {}, content: Buffer.from('\n\u0004News') };
  return { tag: 'message', attrs, content: [plaintext] };
}

/** A stanza of a class that no client knows. */
export function unknownClass(tag: string): Stanza {
  return { tag, attrs: { from: SERVER, id: newId(), t: now() } };
}

/** The server restricts new chats until then, or lifts that (WhiskeySockets/Baileys, pull request 2442). */
export function restriction(endsAt: number | undefined): Stanza {
  const told =
    endsAt === undefined
      ? { is_active: false, time_enforcement_ends: '0', enforcement_type: 'DEFAULT' }
      : {
          is_active: true,
          time_enforcement_ends: String(endsAt),
          enforcement_type: 'RESTRICT_ALL_COMPANIONS',
        };
  const data = { xwa2_notify_account_reachout_timelock: told };
  const update = {
    tag: 'update',
    attrs: { op_name: 'NotificationUserReachoutTimelockUpdate' },
    content: Buffer.from(JSON.stringify({ data })),
  };
  return {
    tag: 'notification',
    attrs: { type: 'mex', from: SERVER, id: newId(), t: now() },
    content: [update],
  };
}
