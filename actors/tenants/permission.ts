/** The ten permissions a key may hold (docs/contract.md, Authentication). */
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
] as const;

/** One of the ten. */
export type Permission = (typeof PERMISSIONS)[number];
