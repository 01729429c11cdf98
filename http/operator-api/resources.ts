/** Resources as operators see them (docs/contract.md, The operators' API). */
import * as v from 'valibot';
import { message } from '../../actors/reply-schemas/message-schemas.ts';

export const tenantExample = {
  id: '66b1f0a2c3d4e5f607182906',
  name: 'Rue Haute Ltd',
  plan: 'growth',
  active: true,
  owner: { name: 'Ada', notificationNumber: '+41791234567' },
  settings: {},
  poolFallback: false,
  platform: false,
  inbound: 'none',
  createdAt: '2027-01-31T12:00:00.000Z',
};

export const supervisedTenantExample = { ...tenantExample, actor: { status: 'active', restarts: 0 } };

export const keyExample = {
  id: '66b1f0a2c3d4e5f607182905',
  name: 'order notifications',
  permissions: ['messages.send', 'messages.read'],
  expiresAt: null,
  ipAllowlist: ['203.0.113.0/24'],
  limits: { minute: 60, hour: 1_000, day: 10_000 },
  createdAt: '2027-01-31T12:00:00.000Z',
  rotatedAt: null,
  revokedAt: null,
};

export const deletingExample = {
  id: '66b1f0a2c3d4e5f607182906',
  deleted: false,
  shopsLeft: 12,
  peopleLeft: 0,
};

export const deletedExample = { id: '66b1f0a2c3d4e5f607182906', deleted: true };

/** The fields of a message that operators see: its state and the call that made it, never its text, media or key. */
export const MESSAGE_FIELDS = [
  ...(['id', 'kind', 'to', 'status', 'reason', 'via', 'createdAt', 'updatedAt', 'sentAt'] as const),
  ...(['requestId', 'deliveredAt', 'readAt', 'deliveredCount', 'readCount'] as const),
] as const;

export const messageWithoutContent = v.pick(message, MESSAGE_FIELDS);

/** Returns the named fields. Those that are undefined are left out. */
export function pickFields<Shown extends object, const Name extends keyof Shown>(
  fields: Shown,
  names: readonly Name[],
): Pick<Shown, Name> {
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  ) as Pick<Shown, Name>;
}
