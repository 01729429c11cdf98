/** The eleven permissions a key may hold (docs/contract.md, Authentication). */
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
] as const;

/** One of the eleven. */
export type Permission = (typeof PERMISSIONS)[number];
