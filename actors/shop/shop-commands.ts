import type { TenantSettings } from '../../policy/tenant-settings.ts';
import type { RuntimeCommand } from '../../runtime/behaviour.ts';
import type { SendOrder, SessionEvent } from '../session/session-host.ts';
import type { ChannelStateName } from './channel-machine.ts';
import type { PacingStateName } from './pacing-machine.ts';
import type { MessageDraft, StatusDraft } from './shop-operations.ts';
import type { QueuedMessage } from './shop-state.ts';

/** What a shop's actor is asked or told. */
export type ShopCommand =
  | { readonly type: 'send'; readonly draft: MessageDraft; readonly settings: TenantSettings }
  | { readonly type: 'post_status'; readonly draft: StatusDraft; readonly settings: TenantSettings }
  | { readonly type: 'connect' }
  | { readonly type: 'disconnect' }
  /** The operator's pause of the queue, and its end. */
  | { readonly type: 'hold' }
  | { readonly type: 'release' }
  | SessionEvent
  | RuntimeCommand;

/** What a shop's turn asks to be done once its commit holds. */
export type ShopEffect =
  | { readonly type: 'open'; readonly generation: number }
  | { readonly type: 'close' }
  | { readonly type: 'erase' }
  | { readonly type: 'check'; readonly message: QueuedMessage }
  | { readonly type: 'compose'; readonly message: QueuedMessage; readonly generation: number }
  | { readonly type: 'send'; readonly order: SendOrder }
  | { readonly type: 'confirm'; readonly token: string }
  | { readonly type: 'refresh_groups' }
  /** The number the owner is notified at was learned; the tenant's actor keeps it when it has none. */
  | { readonly type: 'owner_number'; readonly phone: string }
  | { readonly type: 'announce_channel'; readonly state: ChannelStateName }
  /** The queue stands still, or goes on: a rate signal's pause or an operator's hand. */
  | { readonly type: 'announce_pacing'; readonly state: PacingStateName; readonly heldByOperator: boolean }
  | {
      readonly type: 'announce_message';
      readonly messageId: string;
      readonly status: string;
      readonly reason: string | null;
    };
