/** The permissions that a key may have (docs/contract.md, Authentication). */
export const PERMISSIONS = [
  'shops.read',
  'shops.write',
  'msgapp.read',
  'msgapp.connect',
  'messages.send',
  'messages.read',
  'statuses.post',
  'contacts.read',
  'contacts.write',
  'groups.read',
  'inbound.read',
  'webhooks.read',
  'webhooks.write',
] as const;

export type Permission = (typeof PERMISSIONS)[number];
