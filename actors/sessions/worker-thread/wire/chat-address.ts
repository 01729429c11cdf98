/**
 * Returns the network's address of a recipient. `number` is in E.164 with plus, or it is a group id or the network's
 * own id of a person. Such an id is an address already.
 */
export function chatAddress(number: string): string {
  return isGroupAddress(number) || isLidAddress(number) ? number : `${number.slice(1)}@s.whatsapp.net`;
}

/** True if a recipient is a chat group. */
export function isGroupAddress(recipient: string): boolean {
  return recipient.endsWith('@g.us');
}

/** Returns the user part of an address, without device and server. */
export function userOf(address: string): string {
  return address.split('@')[0]?.split(':')[0] ?? '';
}

/** A provider runs the devices of some people. Their addresses name another server: that server, and the usual one. */
const SERVERS: ReadonlyMap<string, string> = new Map([
  ['hosted', 's.whatsapp.net'],
  ['hosted.lid', 'lid'],
]);

/** Returns an address under the server that a person is known by, also if a provider runs the person's device. */
export function plainAddress(address: string): string {
  const [user = '', server = ''] = address.split('@');
  return `${user}@${SERVERS.get(server) ?? server}`;
}

/** True if an address names a person by number, not by the network's own id. */
export function isNumberAddress(address: string): boolean {
  return address.endsWith('@s.whatsapp.net');
}

/** True if an address is the network's own id of a person (LID). */
export function isLidAddress(address: string): boolean {
  return address.endsWith('@lid');
}

/** The address of all statuses. */
export const STATUS_CHAT = 'status@broadcast';
