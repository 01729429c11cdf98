import type { WASocket } from '@whiskeysockets/baileys';
import type { Egress } from '../../../outbound/egress.ts';
import type { ContactTokens } from '../keys/contact-tokens.ts';
import type { Credentials } from '../keys/credentials.ts';
import type { ChatTimers } from '../shared/chat-timers.ts';
import type { SessionContext } from '../shared/session-context.ts';
import type { DeviceSessions } from './device-sessions.ts';
import type { GroupDirectory } from './group-directory.ts';
import type { PendingOrder } from './pending-order.ts';
import type { ReaddressedIds } from './readdressed-ids.ts';
import type { SentMessages } from './sent-messages.ts';

export interface OutboxOptions {
  readonly context: SessionContext;
  readonly socket: WASocket;
  readonly groups: GroupDirectory;
  readonly sentMessages: SentMessages;
  readonly sessions: Pick<DeviceSessions, 'open' | 'reach'>;
  readonly readdressedIds: Pick<ReaddressedIds, 'set'>;
  readonly chatTimers: Pick<ChatTimers, 'of'>;
  readonly credentials: Pick<Credentials, 'creds' | 'keys' | 'carry'>;
  readonly tokens: Pick<ContactTokens, 'has'>;
  /** The way to the attachments. If undefined, the node's own address. */
  readonly egress: Egress | undefined;
  /** An acknowledgement or a reply is missing: check if the network still receives. */
  readonly onUnanswered: () => void;
  /** True if a recipient's device reported the order's stanza, so the network has it. */
  readonly isReceived: (pendingOrder: Pick<PendingOrder, 'order' | 'stanza'>) => boolean;
}
