/** What somebody may write, as tenants are told. */
export const INBOUND_KINDS = [
  'text',
  'image',
  'video',
  'document',
  'voice',
  'audio',
  'location',
  'contact',
  'sticker',
  'reaction',
  'other',
] as const;

/** One of them. */
export type InboundKind = (typeof INBOUND_KINDS)[number];

/** Where the network keeps an attachment, and what it takes to open it. Byte values are in base64. */
export interface InboundFile {
  readonly directPath: string;
  readonly key: string;
  /** The digest of the file as the network keeps it, encrypted. */
  readonly encryptedSha256: string;
  /** What the key of the file is derived for. */
  readonly purpose: 'image' | 'video' | 'audio' | 'document';
}

/** What a message says of its attachment. */
export interface InboundMedia {
  /** Its content type. */
  readonly type: string | null;
  /** Bytes. */
  readonly size: number | null;
  readonly fileName: string | null;
  /** Of the file in the clear, in hexadecimal digits. */
  readonly sha256: string | null;
  /** Null: the message does not say enough to fetch it. */
  readonly file: InboundFile | null;
}

/** An inbound message beside its text for the policy, for a tenant who is told of it. */
export interface InboundContent {
  readonly kind: InboundKind;
  /** Of a reaction its emoji, empty where it was taken back; of a place a `geo:` URI; of a contact its vCard. */
  readonly text: string | null;
  /** As the sender calls themselves. */
  readonly name: string | null;
  /** The network's own id of the sender (ending in `@lid`), where it told one. */
  readonly lid: string | null;
  /** The network's id of the stanza that it quotes or reacts to. */
  readonly quotes: string | null;
  readonly media: InboundMedia | null;
}
