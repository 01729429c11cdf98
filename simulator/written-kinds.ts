/** What a contact may write, as the control API names it. */
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

/** One of them. */
export type WrittenKind = (typeof WRITTEN_KINDS)[number];

/** Kinds that bring a file, and what phones say that it is. */
export const FILE_TYPES: ReadonlyMap<WrittenKind, string> = new Map([
  ['image', 'image/jpeg'],
  ['video', 'video/mp4'],
  ['video_note', 'video/mp4'],
  ['document', 'application/pdf'],
  ['voice', 'audio/ogg; codecs=opus'],
  ['audio', 'audio/mp4'],
  ['sticker', 'image/webp'],
]);

/** Kinds that say what is to become of an earlier message. */
export const ABOUT_KINDS: ReadonlySet<WrittenKind> = new Set(['reaction', 'edit', 'revoke', 'vote']);

/** Envelopes in which phones put a message of a chat with a timer, and one that is shown once. */
export const WRAPPINGS = ['none', 'ephemeral', 'view_once'] as const;

/** What a contact writes. */
export interface Written {
  readonly kind: WrittenKind;
  /** The words, the caption, the emoji, or the name of the place or person. */
  readonly text: string;
  /** The stanza that it quotes, reacts to, edits, takes back or votes on; empty: none. */
  readonly about: string;
  readonly wrapped: (typeof WRAPPINGS)[number];
  readonly file: {
    readonly content: Uint8Array;
    /** As the sender's phone declares it, whatever it is. */
    readonly type: string;
    readonly name: string;
  };
}
