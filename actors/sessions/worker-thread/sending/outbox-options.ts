import type { WASocket } from '@whiskeysockets/baileys';
import type { Clock } from '../../../../runtime/clock.ts';
import type { SendOutcome } from '../../session-events.ts';
import type { SessionTiming } from '../../session-timing.ts';
import type { PrepareOrder, SessionReport } from '../../worker-protocol.ts';
import type { MediaFetchOptions } from '../attachments/media-fetch.ts';
import type { ContactTokens } from '../keys/contact-tokens.ts';
import type { Credentials } from '../keys/credentials.ts';
import type { ChatTimers } from '../shared/chat-timers.ts';
import type { ExpiringCache } from '../shared/expiring-cache.ts';
import type { MediaEnvironment, ShopMemory } from '../shared/session-environment.ts';
import type { DeviceSessions } from './device-sessions.ts';
import type { GroupDirectory } from './group-directory.ts';
import type { ReaddressedIds } from './readdressed-ids.ts';
import type { SentMessages } from './sent-messages.ts';

/** The parts of a session that an outbox shares with others. */
export type OutboxParts = Pick<
  OutboxOptions,
  | 'socket'
  | 'groups'
  | 'sentMessages'
  | 'tokens'
  | 'credentials'
  | 'sessions'
  | 'memory'
  | 'readdressedIds'
  | 'chatTimers'
>;

export interface OutboxOptions {
  readonly socket: WASocket;
  readonly clock: Clock;
  readonly timing: SessionTiming;
  readonly tenantId: string;
  readonly media: MediaEnvironment & Pick<MediaFetchOptions, 'egress'>;
  readonly groups: GroupDirectory;
  readonly sentMessages: SentMessages;
  readonly sessions: Pick<DeviceSessions, 'open' | 'reach'>;
  readonly memory: Pick<ShopMemory, 'devices' | 'lidless' | 'otherDevices' | 'retries' | 'unacknowledged'>;
  readonly readdressedIds: Pick<ReaddressedIds, 'set'>;
  readonly chatTimers: Pick<ChatTimers, 'of'>;
  readonly credentials: Pick<Credentials, 'creds' | 'keys' | 'carry'>;
  readonly tokens: Pick<ContactTokens, 'has'>;
  /** Remembers for each number if it is on the network. */
  readonly numbers: ExpiringCache;
  readonly report: (order: PrepareOrder, outcome: SendOutcome) => void;
  /** The network knows the recipient by another number than the order's. */
  readonly recipientKnown: (messageId: string, number: string) => void;
  /**
   * Only the frame is missing, which `transmit` sends. These changes are to be stored before. It comes again, without
   * changes, before a message is sent once more.
   */
  readonly onPrepared: (
    message: Omit<Extract<SessionReport, { kind: 'prepared' }>, 'kind' | 'shopId' | 'generation'>,
  ) => void;
  /** The client hangs in a send: the socket must end, or every later send waits behind it. */
  readonly stalled: (detail: string) => void;
  readonly logError: (fields: Record<string, unknown>, message: string) => void;
  /** An acknowledgement or a reply is missing: check if the network still receives. */
  readonly onUnanswered: () => void;
}
