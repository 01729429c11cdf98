import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { FILE_FAULTS } from '../media/media-host.ts';
import type { Network } from '../network.ts';
import { writeAsContact } from '../to-clients/contact-messages.ts';
import {
  ABOUT_KINDS,
  FILE_TYPES,
  WRAPPINGS,
  WRITTEN_KINDS,
  type WrittenMessage,
} from '../to-clients/written-kinds.ts';
import { flag, oneOf, phone, phoneOrGroup, refuseField, text, wholeNumber } from './control-input.ts';
import { type ControlRoute, route } from './control-server.ts';

/** The longest text, in UTF-16 code units. A changed client may write more than the network's own clients allow. */
const LONGEST_TEXT = 400_000;
/** The longest content that a call may give, in characters of base64. */
const LONGEST_CONTENT = 500_000;
/** The largest file that a call may ask for, in bytes. */
const MOST_BYTES = 110 * 1024 * 1024;

/** The fields of a contact's message. */
export const MESSAGE = {
  phone,
  to: phoneOrGroup,
  kind: v.optional(oneOf(WRITTEN_KINDS), 'text'),
  text: v.optional(v.pipe(v.string('must be text'), v.maxLength(LONGEST_TEXT, 'is too long'))),
  /** The stanza that it quotes, reacts to, edits, takes back or votes on. */
  about: v.optional(text(64)),
  wrapped: v.optional(oneOf(WRAPPINGS), 'none'),
  /** The content of a file, base64. By default `fileBytes` random bytes. */
  file: v.optional(text(LONGEST_CONTENT)),
  fileBytes: v.optional(wholeNumber(1, MOST_BYTES), 1_000),
  fileType: v.optional(text(10_000)),
  fileName: v.optional(text(10_000)),
  addressing: v.optional(oneOf(['lid', 'pn', 'lid_only', 'pn_only']), 'lid'),
  wait: v.optional(flag, true),
  /** How the number gets the contact's token. */
  token: v.optional(oneOf(['notification', 'message', 'none']), 'notification'),
  /** The stanza comes without a ciphertext. */
  unavailable: v.optional(flag, false),
  /** Bytes that are sealed instead of the message, padding included, base64. */
  sealed: v.optional(text(LONGEST_CONTENT)),
};

/** The control calls that let a contact write, and that spoil the files that contacts sent. */
export function contactCallRoutes(network: Network): ControlRoute[] {
  return [
    route('POST /numbers/{phone}/messages', MESSAGE, async (input) => {
      const { phone: fromPhone, to, addressing, wait, token, unavailable } = input;
      const writtenMessage = writtenOf(input);
      if (addressing === 'lid_only') network.numbers.hide(fromPhone);
      const sealedBytes = input.sealed === undefined ? undefined : Buffer.from(input.sealed, 'base64');
      const message = {
        from: fromPhone,
        to,
        written: writtenMessage,
        addressing,
        wait,
        token,
        unavailable,
        sealed: sealedBytes,
      };
      const { delivered, messageId: id, path } = await writeAsContact(network, message);
      return { status: delivered ? 200 : 202, data: { id, delivered, path } };
    }),
    route('GET /files', {}, () => ({ data: { downloads: network.media.downloads } })),
    route('PUT /files', { path: text(200), fault: oneOf(FILE_FAULTS) }, ({ path, fault }) => {
      network.media.spoil(path, fault);
      return { data: { path, fault } };
    }),
  ];
}

/** A text must have words. A file needs none, and an empty reaction takes the reaction back. */
function writtenOf(input: v.InferOutput<v.ObjectSchema<typeof MESSAGE, undefined>>): WrittenMessage {
  const { kind, text = '', about = '', wrapped, file, fileBytes, fileType, fileName } = input;
  if (kind === 'text' && text === '') throw refuseField('text', 'must be text');
  if (ABOUT_KINDS.has(kind) && about === '') throw refuseField('about', 'must name a message');
  const random = FILE_TYPES.has(kind) ? randomBytes(fileBytes) : Buffer.alloc(0);
  const content = file === undefined ? random : Buffer.from(file, 'base64');
  const name = fileName ?? (kind === 'document' ? 'file.pdf' : '');
  const type = fileType ?? FILE_TYPES.get(kind) ?? '';
  return { kind, text, about, wrapped, file: { content, type, name } };
}
