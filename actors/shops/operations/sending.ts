import { isPerson } from '../../../policy/recipient.ts';
import type { Actors } from '../../../runtime/actors.ts';
import { refusedWith, type SendCode } from '../../failure.ts';
import { committedTenant, settingsOf } from '../../tenants/committed-tenant.ts';
import type { TenantState } from '../../tenants/tenant-state.ts';
import type { IdempotentReply } from '../idempotent-reply.ts';
import type { PoolClient } from '../pool-link/pool-client.ts';
import type { CommandOf } from '../protocol/shop-commands.ts';
import type {
  AcceptedReply,
  MessageDraft,
  ShopOperations,
  ShopOutcome,
  ShopReference,
} from '../shop-operations.ts';
import { askShop } from './ask-shop.ts';

export interface SendingOptions {
  readonly actors: Pick<Actors, 'ask' | 'state'>;
  readonly poolClient: Pick<PoolClient, 'find'>;
  /**
   * Asks the shop's session for its groups, or for one of them, once it is open. Settles after the session's report, or
   * after a timeout.
   */
  readonly askGroups: (shop: ShopReference, groupId?: string) => Promise<void>;
}

/** Makes the operation that sends a message. */
export function sendOperation(options: SendingOptions): ShopOperations['send'] {
  const { actors } = options;
  const sendFor = (shop: ShopReference, draft: MessageDraft, tenant: TenantState | undefined) => {
    const settings = settingsOf(tenant);
    // A reply quotes a message to this shop's number, and a batch sends only when its own shop can.
    const isOwn = draft.reply !== undefined || draft.batch !== undefined;
    const mayGoByPool = !isOwn && (tenant?.record.poolFallback ?? false);
    const command = { type: 'send', draft, settings, pool: mayGoByPool ? 'ask' : undefined } as const;
    // A send to a number that may not use the pool needs only one request.
    const isDirect = !mayGoByPool && isPerson(draft.to);
    return isDirect ? askShop(actors, shop, command) : sendWithHelp(shop, command, options);
  };
  return (shop, draft) => {
    const tenant = committedTenant(actors, shop.tenantId);
    return tenant instanceof Promise
      ? tenant.then((foundTenant) => sendFor(shop, draft, foundTenant))
      : sendFor(shop, draft, tenant);
  };
}

/** Sends. If the shop knows no such group, or its session is away, asks for the group or the pool, and sends again. */
async function sendWithHelp(
  shop: ShopReference,
  command: CommandOf<'send'>,
  { actors, poolClient, askGroups }: SendingOptions,
): Promise<ShopOutcome<IdempotentReply<AcceptedReply>, SendCode>> {
  const reply = await askShop(actors, shop, command);
  if (!('ask' in reply)) return reply;
  if (reply.ask === 'group') {
    await askGroups(shop, reply.groupId);
    return await askShop(actors, shop, { ...command, groupAsked: true });
  }
  const carrier = await poolClient.find(reply.offer);
  if (carrier === undefined) return refusedWith(reply.failure);
  return await askShop(actors, shop, { ...command, pool: carrier });
}
