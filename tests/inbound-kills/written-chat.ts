import { createHash } from 'node:crypto';
import type { ContactMessageCall, SimulatorControl } from '../testbed/simulator-control.ts';

/** The expected event of one message: its kind, its text and the digest of its file. */
export type Told = readonly [kind: string, text: string | null, sha256: string | null];

/** Somebody who writes to a shop. */
export interface WrittenChat {
  readonly shopId: string;
  readonly from: string;
  /** The expected events of the messages so far, in order. */
  readonly written: readonly Told[];
  /** Writes one more message, also without a client, and some empty ones. */
  writeOne(): Promise<void>;
}

/** A message, and its expected event. */
interface Draft {
  readonly call: Omit<ContactMessageCall, 'to'>;
  readonly told: Told;
}

const PLACE = 'geo:47.3769,8.5417';
const NAMINGS = ['lid', 'pn', 'lid_only', 'pn_only'] as const;
const WRAPPINGS = ['none', 'none', 'ephemeral'] as const;
/** The share of messages that come with an empty one. */
const SILENT_SHARE = 0.1;

const card = (name: string): string =>
  `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;type=CELL;waid=33699999999:+33 6 99 99 99 99\nEND:VCARD`;

/** Returns a new file for each message, so that its digest identifies it. */
function file(label: string): { readonly file: string; readonly sha256: string } {
  const content = Buffer.from(`the file of ${label}`);
  return {
    file: content.toString('base64'),
    sha256: createHash('sha256').update(content).digest('hex'),
  };
}

const captioned =
  (kind: 'image' | 'video' | 'document') =>
  (text: string): Draft => {
    const { file: content, sha256 } = file(text);
    return { call: { kind, text, file: content }, told: [kind, text, sha256] };
  };

const wordless =
  (kind: 'video_note' | 'voice' | 'audio' | 'sticker', told = kind === 'video_note' ? 'video' : kind) =>
  (label: string): Draft => {
    const { file: content, sha256 } = file(label);
    return { call: { kind, file: content }, told: [told, null, sha256] };
  };

/** Every kind with an event. `about` is an earlier message of the same chat. */
const KINDS: readonly ((label: string, about: string) => Draft)[] = [
  (text) => ({ call: { text }, told: ['text', text, null] }),
  (text, about) => ({ call: { text, about }, told: ['text', text, null] }),
  captioned('image'),
  captioned('video'),
  captioned('document'),
  wordless('video_note'),
  wordless('voice'),
  wordless('audio'),
  wordless('sticker'),
  (text) => ({ call: { kind: 'location', text }, told: ['location', `${PLACE}\n${text}`, null] }),
  () => ({ call: { kind: 'live_location' }, told: ['location', PLACE, null] }),
  (text) => ({ call: { kind: 'contact', text }, told: ['contact', card(text), null] }),
  (text) => ({ call: { kind: 'contacts', text }, told: ['contact', `${card(text)}\n${card('B')}`, null] }),
  (text) => ({ call: { kind: 'poll', text }, told: ['other', null, null] }),
  (text, about) => ({ call: { kind: 'reaction', text, about }, told: ['reaction', text, null] }),
  (text, about) => ({ call: { kind: 'edit', text, about }, told: ['text', text, null] }),
];

/** Empty messages, which have no event. */
const SILENT: readonly ((about: string) => Omit<ContactMessageCall, 'to'>)[] = [
  (about) => ({ kind: 'revoke', about }),
  (about) => ({ kind: 'vote', about }),
  () => ({ kind: 'album' }),
];

/**
 * A chat whose messages are of every kind in turn, from any of the writer's addresses. The first names both
 * addresses, so that the person is one from then on.
 */
export function writtenChat(
  network: SimulatorControl,
  chat: { readonly shopId: string; readonly shopPhone: string; readonly from: string },
  random: () => number,
): WrittenChat {
  const { shopId, shopPhone, from } = chat;
  const written: Told[] = [];
  const firstKind = Math.floor(random() * KINDS.length);
  let about = '';
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  const write = (call: Omit<ContactMessageCall, 'to'>) => {
    const addressing = about === '' ? 'lid' : pick(NAMINGS);
    return network.write(from, { to: shopPhone, wait: false, addressing, ...call });
  };
  return {
    shopId,
    from,
    written,
    async writeOne() {
      const label = `${from} ${written.length}`;
      const make = KINDS[about === '' ? 0 : (firstKind + written.length) % KINDS.length];
      if (make === undefined) throw new Error('there is a kind for each message');
      const { call, told } = make(label, about);
      const isPlain = call.kind !== 'reaction' && call.kind !== 'edit';
      const { id } = await write({ ...call, wrapped: isPlain ? pick(WRAPPINGS) : 'none' });
      written.push(told);
      if (call.kind === undefined) about = id;
      if (random() < SILENT_SHARE) await write(pick(SILENT)(about));
    },
  };
}
