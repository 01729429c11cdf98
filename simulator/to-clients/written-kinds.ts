/** The kinds of message that a contact may write, by their names in the control API. */
export const WRITTEN_KINDS = [
  'text',
  'image',
  'video',
  'video_note',
  'document',
  'voice',
  'audio',
  'location',
  'live_location',
  'contact',
  'contacts',
  'sticker',
  'reaction',
  'edit',
  'revoke',
  'poll',
  'vote',
  'album',
] as const;

/** One of these kinds. */
export type WrittenKind = (typeof WRITTEN_KINDS)[number];

/** The kinds that bring a file, and the type that phones declare. */
export const FILE_TYPES: ReadonlyMap<WrittenKind, string> = new Map([
  ['image', 'image/jpeg'],
  ['video', 'video/mp4'],
  ['video_note', 'video/mp4'],
  ['document', 'application/pdf'],
  ['voice', 'audio/ogg; codecs=opus'],
  ['audio', 'audio/mp4'],
  ['sticker', 'image/webp'],
]);

/** The kinds that change an earlier message. */
export const ABOUT_KINDS: ReadonlySet<WrittenKind> = new Set(['reaction', 'edit', 'revoke', 'vote']);

/** The envelopes of a message in a chat with a timer, and of one that is shown once. */
export const WRAPPINGS = ['none', 'ephemeral', 'view_once'] as const;

/** A message that a contact writes. */
export interface WrittenMessage {
  readonly kind: WrittenKind;
  /** The words, the caption, the emoji, or the name of the place or person. */
  readonly text: string;
  /** The stanza that it quotes, reacts to, edits, takes back or votes on; empty: none. */
  readonly about: string;
  readonly wrapped: (typeof WRAPPINGS)[number];
  readonly file: {
    readonly content: Uint8Array;
    /** The type that the sender's phone declares. It need not be right. */
    readonly type: string;
    readonly name: string;
  };
}
