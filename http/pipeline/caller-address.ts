import ipaddr from 'ipaddr.js';
import { memoize } from '../../runtime/memoize.ts';

/** Callers call often, and reading an address costs more than authenticating a key. */
const REMEMBERED_ADDRESSES = 10_000;

/** Returns an address in its usual form. A v4 has dots, also if it came as v4 in v6. A v6 has its short form. */
export const ipText = memoize(REMEMBERED_ADDRESSES, (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address,
);

/** The bytes are a text here, one character each. */
const textOfBytes = memoize(REMEMBERED_ADDRESSES, (bytes: string): string =>
  ipaddr.process(ipaddr.fromByteArray([...Buffer.from(bytes, 'latin1')]).toString()).toString(),
);

/**
 * Returns the text of an address from the socket's 4 or 16 bytes. Empty if the caller has disconnected and there are no
 * bytes.
 */
export function addressOfBytes(bytes: ArrayBuffer): string {
  return bytes.byteLength === 0 ? '' : textOfBytes(Buffer.from(bytes).toString('latin1'));
}

/**
 * Returns a function that finds the caller behind trusted proxies. It reads `X-Forwarded-For` from the right. The first
 * address that is not a configured proxy is the caller. The header is ignored if the peer is no configured proxy.
 * Returns undefined if no proxy is configured.
 */
export function callerAddress(
  trustedProxies: readonly string[],
): ((peer: string, forwardedFor: string) => string) | undefined {
  if (trustedProxies.length === 0) return undefined;
  const ranges = trustedProxies.map((proxy) =>
    ipaddr.parseCIDR(proxy.includes('/') ? proxy : wholeRange(proxy)),
  );
  const isTrusted = (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false;
    const parsedAddress = ipaddr.process(address);
    return ranges.some(
      ([range, bits]) => parsedAddress.kind() === range.kind() && parsedAddress.match([range, bits] as never),
    );
  };
  return (peer, forwardedFor) => {
    if (forwardedFor === '' || !isTrusted(peer)) return peer;
    let caller = peer;
    for (const entry of forwardedFor.split(',').reverse()) {
      const address = withoutPort(entry.trim());
      if (!ipaddr.isValid(address)) return caller;
      caller = ipText(address);
      if (!isTrusted(caller)) return caller;
    }
    return caller;
  };
}

/** `203.0.113.9:4711` and `[2001:db8::1]:4711`, as some load balancers write them, and `[2001:db8::1]`. */
const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([\da-fA-F:.]+)\](?::\d{1,5})?)$/;

function withoutPort(entry: string): string {
  const [, v4, v6] = WITH_PORT.exec(entry) ?? [];
  return v4 ?? v6 ?? entry;
}

function wholeRange(address: string): string {
  return `${address}/${ipaddr.parse(address).kind() === 'ipv4' ? 32 : 128}`;
}
