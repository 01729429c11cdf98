import { API_BASE_PATH } from '../../actors/base-path.ts';
import {
  done,
  type FailureCode,
  failed,
  mapOutcome,
  type Outcome,
  renamedFailure,
} from '../../actors/failure.ts';
import { EVENT_TYPES } from '../../actors/tenants/stored-events/tenant-event.ts';
import type { Caller } from '../../actors/tenants/tenant-operations.ts';
import type { WebhookOutcome } from '../../actors/webhooks/webhook-operations.ts';
import { CREATED_WEBHOOK, SHOWN_WEBHOOK, WEBHOOK_CALLS, whatToReplay } from '../bodies/webhook-requests.ts';
import { reply } from '../contract/endpoint.ts';
import { headerLines } from '../contract/exchange.ts';
import { apiEndpoint } from './services.ts';

type EventType = (typeof EVENT_TYPES)[number];

/** The type of inbound messages. */
const INBOUND: EventType = 'message.received';
const OTHERS = EVENT_TYPES.filter((type) => type !== INBOUND);
const REFUSED = `Only a key with inbound.read may say where ${INBOUND} is sent.`;

/**
 * Returns the types that a key may have sent to an address. Without `inbound.read`, null becomes every type except
 * inbound messages, and naming that type is refused.
 */
function typesFor(
  { permissions }: Pick<Caller, 'permissions'>,
  types: readonly EventType[] | null,
): Outcome<readonly EventType[] | null, 'FORBIDDEN_PERMISSION'> {
  if (permissions.has('inbound.read')) return done(types);
  if (types?.includes(INBOUND)) return failed('FORBIDDEN_PERMISSION', { message: REFUSED });
  return done(types ?? OTHERS);
}

/** True if a key may move a webhook with these types to another address. */
function mayMove({ permissions }: Pick<Caller, 'permissions'>, types: readonly string[] | null): boolean {
  return permissions.has('inbound.read') || (types !== null && !types.includes(INBOUND));
}

/** Asks for the webhook of a path. Names it in the error if it does not exist, or is another tenant's. */
async function findWebhook<Value, Code extends FailureCode = never>(
  { caller, params }: { readonly caller: Caller; readonly params: { readonly webhookId: string } },
  ask: (tenantId: string, webhookId: string) => Promise<WebhookOutcome<Value, Code>>,
): Promise<Outcome<Value, 'WEBHOOK_NOT_FOUND' | Code>> {
  const outcome = await ask(caller.tenantId, params.webhookId);
  return renamedFailure(outcome, { from: 'NOT_FOUND', to: 'WEBHOOK_NOT_FOUND' });
}

/** A tenant that was erased meanwhile has no webhooks and no keys. */
const OF_ERASED = { from: 'NOT_FOUND', to: 'API_KEY_INVALID' } as const;

export const listWebhooks = apiEndpoint({
  ...WEBHOOK_CALLS.list,
  path: '/webhooks',
  summary: 'List the webhooks and their state',
  description: 'All of them on one page, including those that operators made. Secrets are left out.',
  permission: 'webhooks.read',
  async handle({ caller, services }) {
    const list = await services.webhooks.list(caller.tenantId);
    return mapOutcome(renamedFailure(list, OF_ERASED), (items) => ({ items, nextCursor: null }));
  },
});

export const createWebhook = apiEndpoint({
  ...WEBHOOK_CALLS.create,
  path: '/webhooks',
  summary: 'Send events to an address from now on. Its secret is shown only here',
  description:
    'An account has at most 20 webhooks, including those that operators made. One more is refused with `WEBHOOK_LIMIT_REACHED`. For a key without `inbound.read`, `types: null` means all types except `message.received`. If such a key names that type, the call is refused with `FORBIDDEN_PERMISSION`.',
  permission: 'webhooks.write',
  replies: {
    201: { ...CREATED_WEBHOOK, headers: { Location: 'The webhook.' } },
  },
  errors: ['WEBHOOK_LIMIT_REACHED', 'FORBIDDEN_PERMISSION'],
  async handle({ caller, body, services }) {
    const { url, shops } = body;
    const types = typesFor(caller, body.types);
    if (!types.ok) return types;
    const draft = { url, types: types.value, shops };
    const creation = await services.webhooks.create(caller.tenantId, draft, 'tenant');
    const creationReply = renamedFailure(creation, OF_ERASED);
    if (!creationReply.ok) return creationReply;
    return reply(
      201,
      creationReply.value,
      headerLines({ Location: `${API_BASE_PATH}/webhooks/${creationReply.value.id}` }),
    );
  },
});

export const readWebhook = apiEndpoint({
  name: 'readWebhook',
  method: 'GET',
  path: '/webhooks/{webhookId}',
  tag: 'Webhooks',
  summary: 'Read a webhook and its state',
  permission: 'webhooks.read',
  replies: { 200: SHOWN_WEBHOOK },
  errors: ['WEBHOOK_NOT_FOUND'],
  handle: (request) => findWebhook(request, request.services.webhooks.read),
});

export const changeWebhook = apiEndpoint({
  ...WEBHOOK_CALLS.change,
  path: '/webhooks/{webhookId}',
  permission: 'webhooks.write',
  errors: ['WEBHOOK_NOT_FOUND', 'CONFLICT', 'FORBIDDEN_PERMISSION'],
  async handle(request) {
    const { caller, body, services } = request;
    const types = body.types === undefined ? undefined : typesFor(caller, body.types);
    if (types?.ok === false) return types;
    const changeRequest = types === undefined ? body : { ...body, types: types.value };
    if (body.url !== undefined) {
      const presentWebhook = await findWebhook(request, services.webhooks.read);
      if (!presentWebhook.ok) return presentWebhook;
      if (!mayMove(caller, presentWebhook.value.types))
        return failed('FORBIDDEN_PERMISSION', { message: REFUSED });
    }
    return findWebhook(request, (...ids) => services.webhooks.change(...ids, changeRequest, 'tenant'));
  },
});

export const deleteWebhook = apiEndpoint({
  ...WEBHOOK_CALLS.remove,
  path: '/webhooks/{webhookId}',
  summary: 'Erase a webhook; nothing more is sent to it',
  permission: 'webhooks.write',
  errors: ['WEBHOOK_NOT_FOUND'],
  handle: (request) => findWebhook(request, request.services.webhooks.remove),
});

export const rotateWebhookSecret = apiEndpoint({
  ...WEBHOOK_CALLS.rotateSecret,
  path: '/webhooks/{webhookId}/rotate-secret',
  permission: 'webhooks.write',
  errors: ['WEBHOOK_NOT_FOUND'],
  handle: (request) => findWebhook(request, request.services.webhooks.rotateSecret),
});

export const testWebhook = apiEndpoint({
  ...WEBHOOK_CALLS.test,
  path: '/webhooks/{webhookId}/test',
  permission: 'webhooks.write',
  errors: ['WEBHOOK_NOT_FOUND'],
  handle: (request) => findWebhook(request, request.services.webhooks.test),
});

export const listWebhookAttempts = apiEndpoint({
  ...WEBHOOK_CALLS.attempts,
  path: '/webhooks/{webhookId}/attempts',
  description: 'At least 2,000 attempts are kept, for all webhooks of the account together.',
  permission: 'webhooks.read',
  errors: ['WEBHOOK_NOT_FOUND'],
  handle: (request) =>
    findWebhook(request, (...ids) => request.services.webhooks.attempts(...ids, request.query.limit)),
});

export const replayWebhook = apiEndpoint({
  ...WEBHOOK_CALLS.replay,
  path: '/webhooks/{webhookId}/replay',
  permission: 'webhooks.write',
  errors: ['WEBHOOK_NOT_FOUND', 'CONFLICT'],
  handle: (request) =>
    findWebhook(request, (...ids) => request.services.webhooks.replay(...ids, whatToReplay(request.body))),
});
