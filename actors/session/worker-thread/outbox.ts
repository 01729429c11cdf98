import {
  type AnyMessageContent,
  DisconnectReason,
  generateWAMessage,
  type proto,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { ArmedTimer, Clock } from '../../../runtime/clock.ts';
import type { SendOrder, SendOutcome } from '../session-host.ts';
import type { SessionTiming } from '../session-timing.ts';
import { chatAddress, isGroupId } from './chat-address.ts';
import type { GroupDirectory } from './group-directory.ts';
import { type FetchedMedia, fetchMedia, MediaUnavailable } from './media-fetch.ts';
import { chatOf } from './recipients.ts';
import type { SentMessages } from './sent-messages.ts';
import { isRateSignal, readClientError } from './session-end.ts';
import type { MediaEnvironment } from './session-environment.ts';
import { quietLogger } from './silent-logger.ts';

const STATUS_CHAT = 'status@broadcast';
/** The ack error that is a rate signal. */
const RATE_ACK = '429';

/**
 * Where an order stands. `sealed`: a ciphertext of it may exist, so it may reach somebody; before that nothing can.
 */
type Phase = 'preparing' | 'fetching' | 'relaying' | 'sealed';

interface Pending {
  readonly order: SendOrder;
  phase: Phase;
  /** The client is done with it; only the acknowledgement is missing. */
  relayed: boolean;
  readonly cancel: AbortController;
  /** For preparing first, then for the network's acknowledgement. */
  deadline: ArmedTimer;
  media: FetchedMedia | undefined;
  /** Gives back its tenant's slot for an attachment. */
  release: () => void;
}

/** The parts and callbacks of a session that an outbox uses. */
export interface OutboxOptions {
  readonly socket: WASocket;
  readonly clock: Clock;
  readonly timing: SessionTiming;
  readonly tenantId: string;
  readonly media: MediaEnvironment;
  readonly groups: GroupDirectory;
  readonly sent: SentMessages;
  readonly report: (messageId: string, outcome: SendOutcome) => void;
  readonly relayed: (messageId: string) => void;
  /** The client hangs in a send: the socket must end, or every later send waits behind it. */
  readonly stalled: (detail: string) => void;
  /** A recipient turned out to have no device: what is known of the number holds no more. */
  readonly forget: (to: string) => void;
  /** An acknowledgement or an answer is missing: is anybody listening? */
  readonly unanswered: () => void;
}

/**
 * The orders of one session on their way to the wire. `sendMessage` of the client resolves when bytes reached the
 * socket, so an order counts as sent on the network's own `ack` alone. Errors are read from that same node too: the
 * client's `messages.update`, and what it merges into an upsert, are only its later echoes.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #pending = new Map<string, Pending>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  send(order: SendOrder): void {
    const { mediaMs, uploadMs } = this.#options.timing;
    const preparingMs = order.mediaUrl === undefined ? order.deadlineMs : mediaMs + uploadMs;
    const pending: Pending = {
      order,
      phase: 'preparing',
      relayed: false,
      cancel: new AbortController(),
      deadline: this.#options.clock.after(preparingMs, () => this.#overdue(pending)),
      media: undefined,
      release: () => undefined,
    };
    this.#pending.set(order.wireId, pending);
    void this.#run(pending);
  }

  /** Gives up an order that the client was not given yet: from then on it cannot be held back. */
  recall(messageId: string): void {
    for (const pending of this.#pending.values()) {
      const isHeld = pending.phase === 'preparing' || pending.phase === 'fetching';
      if (pending.order.messageId === messageId && isHeld) this.#settle(pending, { kind: 'not_sent' });
    }
  }

  /** Gives back the orders whose attachments are in work, as a try that was none of theirs. */
  attachmentsFailed(): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.phase === 'fetching') this.#settle(pending, { kind: 'unprepared' });
    }
  }

  /** A ciphertext is about to be made. It may be of a message sent again; then this is only too careful. */
  sealing(): void {
    for (const pending of this.#pending.values()) {
      if (pending.phase !== 'relaying') continue;
      pending.phase = 'sealed';
      this.#options.relayed(pending.order.messageId);
    }
  }

  /** The network's answer to a stanza. */
  acknowledged(attributes: { readonly [name: string]: string | undefined }): void {
    const pending = this.#pending.get(attributes.id ?? '');
    // Acknowledged without a ciphertext: a stanza that addressed nobody.
    if (pending === undefined || pending.phase !== 'sealed') return;
    const { error } = attributes;
    if (error === undefined) this.#settle(pending, { kind: 'acknowledged' });
    else
      this.#settle(pending, error === RATE_ACK ? { kind: 'rate_limited' } : { kind: 'refused', code: error });
  }

  /** The socket is gone. */
  lost(): void {
    for (const pending of [...this.#pending.values()]) {
      this.#settle(pending, pending.phase === 'sealed' ? { kind: 'unknown' } : { kind: 'not_sent' });
    }
  }

  async #run(pending: Pending): Promise<void> {
    try {
      await this.#relay(pending);
    } catch (error) {
      this.#settle(pending, outcomeOf(pending, error));
    }
  }

  async #relay(pending: Pending): Promise<void> {
    const { order } = pending;
    const { socket } = this.#options;
    const chat = order.kind === 'status' ? STATUS_CHAT : await chatOf(socket, order.to);
    const message = await this.#prepare(pending, chat);
    const audience = (order.audience ?? []).map(chatAddress);
    if (message === undefined || !(await this.#isAddressable(order, chat, audience))) {
      this.#settle(pending, { kind: 'unprepared' });
      return;
    }
    if (!this.#isInHand(pending)) return;
    // Not awaited: writes keep their order, so it stands before the first ratchet step of this message does. One that
    // fails closes the sealed store, which tells it as the session's end.
    this.#options.sent.remember(order.wireId, message).catch(() => undefined);
    pending.phase = 'relaying';
    pending.deadline.cancel();
    pending.deadline = this.#options.clock.after(order.deadlineMs, () => this.#overdue(pending));
    await socket.relayMessage(chat, message, {
      messageId: order.wireId,
      ...(order.kind === 'status' ? { statusJidList: audience } : {}),
    });
    pending.relayed = true;
    // It resolved and nobody was addressed, though the devices were known a moment ago.
    if (pending.phase === 'relaying') this.#settle(pending, { kind: 'unknown' });
  }

  /** The devices are asked for first: without their list the client would relay an empty stanza and call it sent. */
  async #isAddressable(order: SendOrder, chat: string, audience: string[]): Promise<boolean> {
    const { socket, groups, forget, unanswered } = this.#options;
    const addresses =
      order.kind === 'status' ? audience : isGroupId(chat) ? await groups.participants(chat) : [chat];
    const devices = await socket.getUSyncDevices(addresses, true, false);
    if (devices.length > 0) return true;
    // It may have left since it was asked about, and the next try asks again; or there was no answer at all.
    forget(order.to);
    unanswered();
    return false;
  }

  async #prepare(pending: Pending, chat: string): Promise<proto.IMessage | undefined> {
    const { order } = pending;
    const { socket, timing } = this.#options;
    const media = await this.#fetch(pending);
    pending.media = media;
    try {
      const { message } = await generateWAMessage(chat, contentOf(order, media), {
        logger: quietLogger,
        userJid: socket.user?.id ?? '',
        messageId: order.wireId,
        upload: socket.waUploadToServer,
        mediaUploadTimeoutMs: timing.uploadMs,
      });
      pending.phase = 'preparing';
      return message ?? undefined;
    } finally {
      await media?.discard();
      pending.release();
    }
  }

  async #fetch(pending: Pending): Promise<FetchedMedia | undefined> {
    const { mediaUrl, mediaType } = pending.order;
    const { media, tenantId, timing } = this.#options;
    if (mediaUrl === undefined) return undefined;
    pending.release = await media.slots.take(tenantId, pending.cancel.signal);
    pending.phase = 'fetching';
    return fetchMedia({
      url: mediaUrl,
      mediaType: mediaType ?? 'image',
      timeoutMs: timing.mediaMs,
      guard: media.guard,
      resolve: media.resolve,
      signal: pending.cancel.signal,
    });
  }

  /** An order that was given up may be given again under the same wire id: then the first try has no say any more. */
  #isInHand(pending: Pending): boolean {
    return this.#pending.get(pending.order.wireId) === pending;
  }

  #overdue(pending: Pending): void {
    const isStuck = pending.phase === 'relaying' || (pending.phase === 'sealed' && !pending.relayed);
    if (isStuck) {
      // Before its session ends over it: this message is why.
      this.#settle(pending, overdueOutcome(pending.phase));
      this.#options.stalled('a send did not come to an end in time');
      return;
    }
    if (pending.phase === 'sealed') this.#options.unanswered();
    this.#settle(pending, overdueOutcome(pending.phase));
  }

  #settle(pending: Pending, outcome: SendOutcome): void {
    if (!this.#isInHand(pending)) return;
    this.#pending.delete(pending.order.wireId);
    pending.deadline.cancel();
    pending.cancel.abort();
    pending.release();
    // Not left to the client: one that cannot write its copy of the file never comes back.
    void pending.media?.discard();
    this.#options.report(pending.order.messageId, outcome);
  }
}

function overdueOutcome(phase: Phase): SendOutcome {
  if (phase === 'sealed') return { kind: 'unknown' };
  if (phase === 'fetching') return { kind: 'media_unavailable', detail: 'the attachment took too long' };
  return { kind: 'unprepared' };
}

/** What the client rejects its questions with when the socket closes: 428. */
const CONNECTION_CLOSED: number = DisconnectReason.connectionClosed;

function outcomeOf(pending: Pending, error: unknown): SendOutcome {
  if (isRateSignal(error)) return { kind: 'rate_limited' };
  if (pending.phase === 'sealed') return { kind: 'unknown' };
  if (error instanceof MediaUnavailable) return { kind: 'media_unavailable', detail: error.message };
  // Where to upload to is a question too: a socket that is closing says nothing about the attachment.
  if (readClientError(error).statusCode === CONNECTION_CLOSED) return { kind: 'not_sent' };
  if (pending.phase === 'fetching') return { kind: 'media_unavailable', detail: 'the upload failed' };
  return { kind: 'unprepared' };
}

/**
 * The client's form of what is to be sent. An empty thumbnail keeps it from starting image and video tools of
 * its own.
 */
function contentOf(order: SendOrder, media: FetchedMedia | undefined): AnyMessageContent {
  if (media === undefined) return { text: order.text ?? '' };
  const source = { url: media.path };
  const caption = order.text === undefined ? {} : { caption: order.text };
  const mimetype = media.contentType;
  switch (order.mediaType ?? 'image') {
    case 'image':
      return { image: source, mimetype, jpegThumbnail: '', ...caption };
    case 'video':
      return { video: source, mimetype, jpegThumbnail: '', ...caption };
    case 'document':
      return { document: source, mimetype, fileName: media.fileName, ...caption };
  }
}
