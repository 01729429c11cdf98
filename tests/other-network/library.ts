/** Types for the used part of the other project's library. None of its code is part of this repository. */

/** A stanza of the network, decoded. */
export interface Stanza {
  readonly tag: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly content?: readonly Stanza[] | Uint8Array | string;
}

/** One connection of a client. */
export interface Pipeline {
  sendStanza(stanza: Stanza): Promise<void>;
  /** Null before the handshake ended. */
  readonly clientPayload: { readonly kind: 'registration' | 'login' } | null;
}

interface Message {
  readonly conversation?: string | null;
  readonly extendedTextMessage?: { readonly text?: string | null } | null;
  /** A message from another device of the same number. */
  readonly deviceSentMessage?: { readonly message?: Message | null } | null;
}

interface ReadMessage {
  readonly message: Message;
  readonly stanza: Stanza;
}

/** The fields that a phone takes from the code that it scans. */
export interface PairingKeys {
  readonly advSecretKey: Uint8Array;
  readonly identityPublicKey: Uint8Array;
}

/** A person's phone with its Signal sessions. */
export interface Peer {
  readonly jid: string;
  sendConversation(text: string, options?: { readonly id?: string }): Promise<void>;
  /** Forgets its sessions, as a phone that was set up again. */
  rotateForRetry(): Promise<void>;
  /** Asks for a message again, with its new keys. */
  sendRetryReceipt(messageId: string): Promise<void>;
  expectMessage(options: { readonly timeoutMs: number }): Promise<ReadMessage>;
  expectGroupMessage(
    group: string,
    options: { readonly timeoutMs: number; readonly senderJid: string },
  ): Promise<ReadMessage>;
}

/** Null leaves a question to the server's own answers. */
export type Answer = (iq: Stanza) => Stanza | null;

export interface FakeServer {
  readonly url: string;
  readonly noiseRootCa: { readonly publicKey: Uint8Array };
  onPipeline(listener: (pipeline: Pipeline) => void): () => void;
  onAuthenticatedPipeline(listener: (pipeline: Pipeline) => void): () => void;
  onCapturedStanza(listener: (stanza: Stanza) => void): () => void;
  registerIqHandler(matcher: { readonly xmlns?: string }, answer: Answer): () => void;
  createFakePeer(
    options: { readonly jid: string; readonly displayName?: string },
    line: Pipeline,
  ): Promise<Peer>;
  runPairing(
    pipeline: Pipeline,
    device: { readonly deviceJid: string; readonly deviceLid: string },
    keys: () => Promise<PairingKeys>,
  ): Promise<void>;
  stop(): Promise<void>;
}

export interface Library {
  readonly FakeWaServer: { start(): Promise<FakeServer> };
}
