import type { EgressAddress } from './egress-address.ts';

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

/** Where the network keeps files, and the way there. */
export interface FileHosts {
  /** With their ports. */
  readonly hosts: readonly string[];
  /** The shop's proxy, which makes all its connections; absent: they leave from the node's own address. */
  readonly egress?: EgressAddress;
}

/** An attachment that can be fetched: where it is, and what its message says of it. */
export interface InboundDownload extends FileHosts, Pick<InboundMedia, 'type' | 'fileName' | 'sha256'> {
  readonly file: InboundFile;
}

/** The largest attachment that is fetched, in bytes. */
export const LARGEST_INBOUND_FILE = 100 * 1024 * 1024;

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
