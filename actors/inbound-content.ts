import type { EgressAddress } from './egress-address.ts';

/** The kinds of messages from people, as tenants read them. */
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

export type InboundKind = (typeof INBOUND_KINDS)[number];

/** The URL at which the network stores an attachment, and the key that decrypts it. Byte values are in base64. */
export interface InboundFile {
  readonly directPath: string;
  readonly key: string;
  /** The digest of the file as the network keeps it, encrypted. */
  readonly encryptedSha256: string;
  /** The purpose for which the file's key is derived. */
  readonly purpose: 'image' | 'video' | 'audio' | 'document';
}

/** The attachment as its message describes it. */
export interface InboundMedia {
  /** Its content type. */
  readonly type: string | null;
  /** Bytes. */
  readonly size: number | null;
  readonly fileName: string | null;
  /** SHA-256 of the decrypted file, in hexadecimal digits. */
  readonly sha256: string | null;
  /** Null if the message has too little data to fetch the file. */
  readonly file: InboundFile | null;
}

/** The network's file servers, and the egress to reach them. */
export interface FileHosts {
  /** With their ports. */
  readonly hosts: readonly string[];
  /** The shop's proxy, which makes all its connections. If absent, they use the node's own address. */
  readonly egress?: EgressAddress;
}

/** An attachment that can be fetched: its location, and its description from the message. */
export interface InboundDownload extends FileHosts, Pick<InboundMedia, 'type' | 'fileName' | 'sha256'> {
  readonly file: InboundFile;
}

/** The largest attachment that is fetched, in bytes. */
export const LARGEST_INBOUND_FILE = 100 * 1024 * 1024;

/** An inbound message, in addition to its text for the policy, for a tenant that receives inbound events. */
export interface InboundContent {
  readonly kind: InboundKind;
  /** For a reaction its emoji, empty if it was removed; for a location a `geo:` URI; for a contact its vCard. */
  readonly text: string | null;
  /** The name that the sender chose. */
  readonly name: string | null;
  /** The network's id of the stanza that it quotes or reacts to. */
  readonly quotes: string | null;
  readonly media: InboundMedia | null;
}
