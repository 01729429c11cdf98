import { failed, type Outcome } from '../../actors/failure.ts';
import { EVENT_TYPES } from '../../actors/tenants/tenant-event.ts';
import type { Caller } from '../../actors/tenants/tenant-operations.ts';

type EventType = (typeof EVENT_TYPES)[number];

/** The type of inbound messages. */
const INBOUND: EventType = 'message.received';
const OTHERS = EVENT_TYPES.filter((type) => type !== INBOUND);
const REFUSED = `Only a key with inbound.read may say where ${INBOUND} is sent.`;

/**
 * Returns the types that a key may have sent to an address. Without `inbound.read`, null becomes every type except
 * inbound messages, and naming that type is refused.
 */
export function typesFor(
  { permissions }: Pick<Caller, 'permissions'>,
  types: readonly EventType[] | null,
): Outcome<readonly EventType[] | null> {
  if (permissions.has('inbound.read')) return { ok: true, value: types };
  if (types?.includes(INBOUND)) return failed('FORBIDDEN_PERMISSION', { message: REFUSED });
  return { ok: true, value: types ?? OTHERS };
}

/** Refuses a key that may not move a webhook with these types to another address. */
export function mayMove(caller: Pick<Caller, 'permissions'>, types: readonly string[] | null): Outcome<true> {
  const includesInbound = types === null || types.includes(INBOUND);
  if (!includesInbound || caller.permissions.has('inbound.read')) return { ok: true, value: true };
  return failed('FORBIDDEN_PERMISSION', { message: REFUSED });
}
