import {
  type BinaryNode,
  encodeSignedDeviceIdentity,
  encodeWAMessage,
  type proto,
  transferDevice,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { Credentials } from '../keys/credentials.ts';
import type { DeviceSessions } from '../sending/device-sessions.ts';
import type { GroupDirectory } from '../sending/group-directory.ts';
import type { Outbox } from '../sending/outbox.ts';
import type { SentMessage, SentMessages } from '../sending/sent-messages.ts';
import { describeDefect } from '../shared/defect.ts';
import type { SessionContext } from '../shared/session-context.ts';
import { isGroupAddress, isLidAddress, isNumberAddress, STATUS_CHAT } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';
import { ResendBudget } from './resend-budget.ts';
import { type RetryReceipt, readRetryReceipt, retryStanza } from './retry-stanzas.ts';

/** The most replies to one device about one message within an hour (the client's `maxMsgRetryCount`). */
const MOST_ANSWERS = 5;
/** From this attempt on, a device's session is opened again, once an hour (whatsmeow `shouldRecreateSession`). */
const COUNT_FOR_NEW_SESSION = 2;
/** Attempts at a reply in all, and the first delay in milliseconds. Each further delay is longer by the first one. */
const MOST_TRIES = 4;
const FIRST_DELAY_MS = 5_000;
/** Delay before a message that waits for its acknowledgement is checked again, in milliseconds. */
const PENDING_MS = 250;

export interface RetryAnswersOptions {
  readonly context: SessionContext;
  readonly socket: WASocket;
  readonly credentials: Pick<Credentials, 'creds' | 'keys'>;
  readonly sentMessages: Pick<SentMessages, 'find'>;
  readonly groups: Pick<GroupDirectory, 'excludes' | 'metadata'>;
  readonly sessions: Pick<DeviceSessions, 'open'>;
  readonly outbox: Pick<Outbox, 'alone' | 'isPending'>;
  readonly ownAddresses: () => readonly string[];
}

/**
 * Replies to devices that could not read a message of this shop. Each reply is for the device that asked. The receipt
 * is acknowledged after it: if the session ends before, the device's receipt is delivered again at the next login.
 *
 * A reply that fails is retried for half a minute. Then the receipt is acknowledged, because a receipt without an
 * acknowledgement ends the stream. The client's own reply posts to the whole group again, without a limit.
 */
export class RetryAnswers {
  readonly #options: RetryAnswersOptions;
  readonly #budget: ResendBudget;

  constructor(options: RetryAnswersOptions) {
    this.#options = options;
    const { clock, timing } = options.context;
    this.#budget = new ResendBudget(clock, timing.resendEveryMs);
  }

  /** Takes a receipt of type `retry`. Never rejects. */
  async onReceipt(node: BinaryNode): Promise<void> {
    const { socket, ownAddresses, context } = this.#options;
    try {
      const receipt = readRetryReceipt(node, ownAddresses());
      if (receipt !== undefined) await this.#answer(receipt);
    } catch (error) {
      const fields = { wireId: node.attrs.id, ...describeDefect(error) };
      context.log(fields, 'a device that could not read a message was not answered');
    }
    const { id = '', from = '', participant, recipient } = node.attrs;
    const attrs = {
      id,
      to: from,
      class: 'receipt',
      type: 'retry',
      ...(participant === undefined ? {} : { participant }),
      ...(recipient === undefined ? {} : { recipient }),
    };
    // A closed socket sends nothing: the receipt is delivered again.
    await socket.sendNode({ tag: 'ack', attrs }).catch(() => undefined);
  }

  async #answer(receipt: RetryReceipt): Promise<void> {
    const { context, sentMessages, outbox } = this.#options;
    const counts = context.memory.retries;
    const { wireId, device } = receipt;
    // Its acknowledgement would be taken for that of the message itself.
    while (outbox.isPending(wireId)) await this.#wait(PENDING_MS);
    const sentMessage = await sentMessages.find(wireId);
    if (sentMessage === undefined || !(await this.#mayRead(receipt, sentMessage))) return;
    const name = `${wireId}:${device}`;
    const answeredCount = counts.get<number>(name) ?? 0;
    if (answeredCount >= MOST_ANSWERS || receipt.count > MOST_ANSWERS) return;
    counts.set(name, answeredCount + 1);
    const { chat } = sentMessage;
    // All devices of a person share one rate, by number and by LID.
    const waitMs = this.#budget.take(isNumberAddress(chat) ? await this.#lidOf(chat) : chat);
    if (waitMs === undefined) {
      // The next post brings the device the group's key again.
      await outbox.alone(() => this.#forgetSenderKey(receipt));
      return;
    }
    if (waitMs > 0) await this.#wait(waitMs);
    for (let tries = 1; ; tries += 1) {
      try {
        await outbox.alone(() => this.#send(receipt, sentMessage.chat, sentMessage.message));
        return;
      } catch (error) {
        if (tries === MOST_TRIES) throw error;
      }
      await this.#wait(tries * FIRST_DELAY_MS);
    }
  }

  /** True if the message was for that device: no other device may have its text. */
  async #mayRead(
    { from, device, isOwn }: RetryReceipt,
    { chat, audience }: Pick<SentMessage, 'chat' | 'audience'>,
  ): Promise<boolean> {
    if (isOwn) return true;
    const person = personOf(device);
    if (from === STATUS_CHAT) {
      if (chat !== STATUS_CHAT) return false;
      // 0.2.0 stored no audience.
      return audience === undefined || audience.includes(await this.#lidOf(person));
    }
    if (isGroupAddress(from)) {
      const number = await this.#numberOf(person);
      return chat === from && !this.#options.groups.excludes(from, [person, number]);
    }
    return person === chat || (await this.#numberOf(person)) === (await this.#numberOf(chat));
  }

  /** Returns the network's own id of the person if one is known, else the address unchanged. */
  async #lidOf(address: string): Promise<string> {
    if (isLidAddress(address)) return address;
    const lid = await this.#options.socket.signalRepository.lidMapping.getLIDForPN(address);
    return lid == null ? address : personOf(lid);
  }

  /** Returns the address by number if the network names it, else the address unchanged. */
  async #numberOf(address: string): Promise<string> {
    if (isNumberAddress(address)) return address;
    const number = await this.#options.socket.signalRepository.lidMapping.getPNForLID(address);
    return number == null ? address : personOf(number);
  }

  async #send(receipt: RetryReceipt, chat: string, message: proto.IMessage): Promise<void> {
    const { socket, credentials, groups } = this.#options;
    await this.#openSession(receipt);
    const data = encodeWAMessage(await this.#contentFor(receipt, chat, message));
    const sealedMessage = await socket.signalRepository.encryptMessage({ jid: receipt.device, data });
    const { account } = credentials.creds;
    if (account === undefined) throw new Error('the shop is not paired');
    await socket.sendNode(
      retryStanza({
        receipt,
        message,
        sealed: sealedMessage,
        deviceIdentity: encodeSignedDeviceIdentity(account, true),
        token:
          receipt.device === receipt.from && !receipt.isOwn ? await this.#tokenOf(receipt.from) : undefined,
        addressingMode: groups.metadata(receipt.from)?.addressingMode,
      }),
    );
  }

  /**
   * Opens a session that the device can read. The keys are those that it sent, or the network's if the stored session
   * does not work.
   */
  async #openSession({ device, count, keys, registrationId }: RetryReceipt): Promise<void> {
    const { context, socket, sessions } = this.#options;
    const { memory } = context;
    if (keys !== undefined) {
      // The library takes keys without a one-time key, though its types do not allow that.
      await socket.signalRepository.injectE2ESession({ jid: device, session: keys as never });
      await this.#takeInAgain(device);
      return;
    }
    const knownSession = await socket.signalRepository.getSessionInfo(device);
    const isOther = registrationId !== undefined && knownSession?.registrationId !== registrationId;
    const name = `new session:${device}`;
    const isOld = count >= COUNT_FOR_NEW_SESSION && memory.retries.get(name) === undefined;
    if (knownSession !== null && !isOther && !isOld) return;
    memory.retries.set(name, true);
    await sessions.open([device], true);
  }

  /**
   * Ends the time for which a device is left out because its keys are not known: it sent them. If they are broken, the
   * next message asks the network, unless an older session is open.
   */
  async #takeInAgain(device: string): Promise<void> {
    const { keyless } = this.#options.context.memory;
    const person = personOf(device);
    keyless.del(device);
    keyless.del(transferDevice(device, await this.#lidOf(person)));
    keyless.del(transferDevice(device, await this.#numberOf(person)));
  }

  /**
   * Returns the content that the device reads. In a group it carries the key of the messages that follow, on an own
   * device the recipient of the message.
   */
  async #contentFor(
    { device, isOwn }: RetryReceipt,
    chat: string,
    message: proto.IMessage,
  ): Promise<proto.IMessage> {
    const { signalRepository, user } = this.#options.socket;
    if (!isGroupAddress(chat) && chat !== STATUS_CHAT)
      return isOwn ? { deviceSentMessage: { destinationJid: chat, message } } : message;
    for (const meId of [user?.lid, user?.id]) {
      const place = { group: chat, meId: meId ?? device };
      if (meId === undefined || !(await signalRepository.hasSenderKey(place))) continue;
      const key = await signalRepository.getSenderKeyDistributionMessage(place);
      const senderKeyDistributionMessage = { groupId: chat, axolotlSenderKeyDistributionMessage: key };
      return { ...message, senderKeyDistributionMessage };
    }
    return message;
  }

  async #tokenOf(device: string): Promise<Uint8Array | undefined> {
    const name = await this.#lidOf(personOf(device));
    const { [name]: knownToken } = await this.#options.credentials.keys.get('tctoken', [name]);
    return knownToken === undefined || knownToken.token.length === 0 ? undefined : knownToken.token;
  }

  async #forgetSenderKey({ from, device }: RetryReceipt): Promise<void> {
    const { keys } = this.#options.credentials;
    const { [from]: knownDevices } = await keys.get('sender-key-memory', [from]);
    if (knownDevices?.[device] === undefined) return;
    const { [device]: _, ...otherDevices } = knownDevices;
    await keys.set({ 'sender-key-memory': { [from]: otherDevices } });
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#options.context.later(delayMs, resolve));
  }
}
