import { isIPv4 } from 'node:net';

/**
 * True if the host of a URL is written as loopback: `localhost`, `[::1]` or an address in 127.0.0.0/8. No name is
 * resolved.
 */
export function isLoopbackUrl(text: string | undefined): boolean {
  if (text === undefined || !URL.canParse(text)) return false;
  const { hostname } = new URL(text);
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
  );
}
