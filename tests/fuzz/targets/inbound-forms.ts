import assert from 'node:assert/strict';
import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import { HistoryFacts } from '../../../actors/sessions/worker-thread/connection/history-facts.ts';
import { readRetryReceipt } from '../../../actors/sessions/worker-thread/retries/retry-stanzas.ts';
import { readEnvelope } from '../../../actors/sessions/worker-thread/wire/inbound-message.ts';
import { readPhoneMessage } from '../../../actors/sessions/worker-thread/wire/phone-message.ts';
import { readContent, senderName } from '../../../actors/sessions/worker-thread/wire/read-content.ts';
import { isOptOut } from '../../../policy/opt-out.ts';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import type { Draw } from '../draw.ts';
import type { FuzzTarget } from '../fuzz-target.ts';

const OWN = ['33611111111@s.whatsapp.net', '111@lid'];
/** More than the longest text and all that may stand beside it, in characters. */
const MOST_TOLD = 100_000;

const CORPUS = readRepositoryFile('tests/fuzz/corpus/messages.json');
/** Messages as strangers' phones write them, encoded. */
const MESSAGES = (JSON.parse(CORPUS) as proto.IMessage[]).map((message) =>
  Buffer.from(proto.Message.encode(proto.Message.fromObject(message)).finish()),
);

const HISTORY = Buffer.from(
  proto.HistorySync.encode({
    syncType: proto.HistorySync.HistorySyncType.RECENT,
    conversations: [
      {
        id: '111@lid',
        pnJid: '33611111111@s.whatsapp.net',
        tcToken: Buffer.from('token'),
        tcTokenTimestamp: 1_700_000_000,
      },
      { id: '33622222222@s.whatsapp.net', lidJid: '222@lid', messages: [{}] },
    ],
    phoneNumberToLidMappings: [{ pnJid: '33633333333@s.whatsapp.net', lidJid: '333@lid' }],
  }).finish(),
);
/** Matches the errors with which a reader refuses a history. */
const NO_HISTORY = /cut short|too long|longer than its record|unknown type|too many fields/;

/**
 * A stranger's bytes as a message, and a phone's as a history. Nothing throws once they are a message, and the event is
 * bounded and is JSON. A history is read, or refused by name, alike in any pieces.
 */
export const inboundForms: FuzzTarget = {
  name: 'inbound',
  open: async () => ({
    async tryCase(draw, note) {
      const bytes = strangersBytes(draw);
      const stanza = strangersStanza(draw);
      const history = draw.isOneIn(4) ? bytes : draw.mutated(HISTORY, [HISTORY, ...MESSAGES]);
      note({ bytes: bytes.toString('base64'), history: history.toString('base64'), stanza });
      const pieces = historyFacts(history, () => 1 + draw.int(40));
      assert.deepEqual(
        pieces,
        historyFacts(history, () => history.length),
      );
      readRetryReceipt(stanza, OWN);
      const envelope = readEnvelope(stanza, OWN);
      if (envelope !== undefined) assert.ok(envelope.wireId.length <= 64);
      senderName(envelope?.name);
      let message: proto.IMessage;
      try {
        message = proto.Message.decode(bytes);
      } catch {
        // The client takes it for a message that it cannot read.
        return;
      }
      const { text, content } = readContent(message);
      if (text !== undefined) isOptOut(text);
      const told = JSON.stringify(content ?? null);
      assert.ok(told.length < MOST_TOLD, `${told.length} characters are told`);
      assert.deepEqual(JSON.parse(told), content ?? null);
      readPhoneMessage(stanza, message, { own: OWN, otherAddress: () => undefined });
    },
    close: async () => undefined,
  }),
};

/** Reads a history in pieces. Returns its facts, or why it was refused. */
function historyFacts(history: Buffer, pieceBytes: () => number) {
  const facts = new HistoryFacts();
  let refusal: string | undefined;
  try {
    for (let offset = 0, next = offset; offset < history.length; offset = next) {
      next = offset + pieceBytes();
      facts.push(history.subarray(offset, next));
    }
    facts.end();
  } catch (error) {
    refusal = String(error);
    assert.match(refusal, NO_HISTORY);
  }
  const { mappings, tokens } = facts;
  return { mappings, tokens, refusal };
}

/** The plaintext of a message, as a changed client may make it. */
export function strangersBytes(draw: Draw): Buffer {
  if (draw.isOneIn(40)) return nested(draw);
  if (draw.isOneIn(4)) return Buffer.concat(Array.from({ length: 1 + draw.int(5) }, () => field(draw, 0)));
  return draw.mutated(draw.pick(MESSAGES), MESSAGES);
}

/** A message within a message, some thousand times. */
function nested(draw: Draw): Buffer {
  let bytes: Buffer = draw.pick(MESSAGES);
  // In the order of the network's form: an edit, a message that vanishes, one that is shown once, and one with a
  // caption.
  const wraps = [
    [12, 14],
    [40, 1],
    [37, 1],
    [53, 1],
    [58, 1],
  ] as const;
  const depth = draw.pick([5, 50, 500, 3_000]);
  const [outer, inner] = draw.pick(wraps);
  for (let level = 0; level < depth; level += 1) bytes = wrapped(outer, wrapped(inner, bytes));
  return bytes;
}

function wrapped(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** A field of any number and form, with fields within it. */
function field(draw: Draw, depth: number): Buffer {
  const number = draw.isOneIn(3) ? 1 + draw.int(120) : 1 + draw.int(12);
  switch (draw.int(depth > 6 ? 4 : 8)) {
    case 0:
      return Buffer.concat([varint(number * 8), varint(draw.pick([0, 1, 127, 2 ** 31, 2 ** 40]))]);
    case 1:
      return Buffer.concat([varint(number * 8 + 5), draw.bytes(4)]);
    case 2:
      return Buffer.concat([varint(number * 8 + 1), draw.bytes(8)]);
    case 3:
      return wrapped(number, draw.isOneIn(2) ? draw.bytes(draw.int(80)) : Buffer.from(String(draw.odd())));
    default:
      return wrapped(
        number,
        Buffer.concat(Array.from({ length: draw.int(4) }, () => field(draw, depth + 1))),
      );
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

/** A stanza whose names, ids and children a stranger makes up. */
export function strangersStanza(draw: Draw): BinaryNode {
  const word = () =>
    draw.isOneIn(4) ? String(draw.odd()).slice(0, 300) : draw.mutatedText('3EB0C767D26A1D1F');
  const address = () =>
    draw.pick(['33622222222@s.whatsapp.net', '33622222222:7@s.whatsapp.net', '222@lid', word()]);
  const attrs: Record<string, string> = {
    id: word(),
    from: address(),
    t: draw.pick(['1', '', 'x', '99999999999999']),
  };
  if (draw.isOneIn(2)) attrs.type = draw.pick(['retry', 'text', 'media', 'read', 'enc_rekey_retry', word()]);
  if (draw.isOneIn(2)) attrs.notify = word();
  for (const name of [
    'participant',
    'recipient',
    'sender_pn',
    'sender_lid',
    'category',
    'edit',
    'count',
    'offline',
  ])
    if (draw.isOneIn(9)) attrs[name] = draw.isOneIn(2) ? address() : word();
  return {
    tag: draw.pick(['message', 'receipt', 'receipt', 'message', 'chatstate', 'call']),
    attrs,
    content: children(draw),
  };
}

function children(draw: Draw): BinaryNode[] {
  const retry: BinaryNode = {
    tag: 'retry',
    attrs: { id: 'A', count: draw.pick(['1', '5', '-1', 'x', '']), t: '1', v: '1' },
  };
  const keys: BinaryNode = {
    tag: 'keys',
    attrs: {},
    content: ['type', 'identity', 'key', 'skey', 'device-identity'].flatMap((tag) =>
      draw.isOneIn(4) ? [] : [{ tag, attrs: {}, content: keyContent(draw, tag) }],
    ),
  };
  const sealedNode: BinaryNode = {
    tag: 'enc',
    attrs: { v: '2', type: draw.pick(['msg', 'pkmsg', 'skmsg', 'frskmsg', '']) },
    content: draw.bytes(draw.int(120)),
  };
  const nodes: BinaryNode[] = [
    ...[retry, keys, sealedNode],
    { tag: 'registration', attrs: {}, content: draw.bytes(draw.int(6)) },
    { tag: 'list', attrs: {}, content: [{ tag: 'item', attrs: { id: 'B' } }] },
    { tag: 'unavailable', attrs: { type: 'view_once' } },
    { tag: 'composing', attrs: {} },
    { tag: 'offer', attrs: { 'call-id': 'C', 'call-creator': '33622222222@s.whatsapp.net' } },
  ];
  return nodes.filter(() => draw.isOneIn(2));
}

function keyContent(draw: Draw, tag: string): BinaryNode[] | Buffer {
  if (tag === 'type') return Buffer.from([5]);
  if (tag === 'identity' || tag === 'device-identity') return draw.bytes(draw.pick([0, 31, 32, 33]));
  return [
    { tag: 'id', attrs: {}, content: draw.bytes(draw.pick([0, 2, 3])) },
    { tag: 'value', attrs: {}, content: draw.bytes(draw.pick([0, 31, 32, 33])) },
    { tag: 'signature', attrs: {}, content: draw.bytes(draw.pick([0, 63, 64])) },
  ];
}
