/** The proxy through which all connections of a shop go: its egress. */
export interface EgressAddress {
  readonly kind: 'socks5' | 'http';
  /** A name, an IPv4 address, or an IPv6 address in brackets. */
  readonly host: string;
  readonly port: number;
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

/** The longest text of an address that is read, in characters. */
export const LONGEST_EGRESS = 1_000;

/** A user name and a password have 255 bytes at most (RFC 1929, section 2). */
const LONGEST_CREDENTIAL_BYTES = 255;

const FORM = /^(socks5|http):\/\/(?:([^:@/?#\s]+):([^:@/?#\s]+)@)?([^@/?#\\\s]+):(\d{1,5})\/?$/i;

/**
 * The expected form, for errors about a text that `readEgressAddress` refuses. Never repeats the text, which may
 * contain a password.
 */
export const EGRESS_FORM =
  'must be socks5://user:password@host:port or http://user:password@host:port, with user and password percent-encoded or left out together';

/** Reads the address of a proxy, or returns undefined if the text does not have the form `EGRESS_FORM`. */
export function readEgressAddress(text: string): EgressAddress | undefined {
  const [, kind = '', user, password, host = '', port = ''] = FORM.exec(text.slice(0, LONGEST_EGRESS)) ?? [];
  // The URL parser knows the valid hosts, and writes each in one way.
  const knownUrl = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  const number = Number(port);
  if (knownUrl === undefined || knownUrl.port !== '' || number < 1 || number > 65_535) return undefined;
  if (text.length > LONGEST_EGRESS) return undefined;
  const credentials = user === undefined || password === undefined ? null : credentialsOf(user, password);
  if (credentials === undefined) return undefined;
  return {
    kind: kind.toLowerCase() === 'http' ? 'http' : 'socks5',
    host: knownUrl.hostname,
    port: number,
    credentials,
  };
}

function credentialsOf(user: string, password: string): EgressAddress['credentials'] | undefined {
  const decodedCredentials = { user: decodedPart(user), password: decodedPart(password) };
  // HTTP ends the user name at the first colon (RFC 7617, section 2).
  if (
    decodedCredentials.user === undefined ||
    decodedCredentials.password === undefined ||
    decodedCredentials.user.includes(':')
  )
    return undefined;
  return { user: decodedCredentials.user, password: decodedCredentials.password };
}

function decodedPart(text: string): string | undefined {
  try {
    const decodedText = decodeURIComponent(text);
    const bytes = Buffer.byteLength(decodedText);
    const hasControls = /\p{Cc}/u.test(decodedText);
    return bytes > LONGEST_CREDENTIAL_BYTES || hasControls ? undefined : decodedText;
  } catch {
    return undefined;
  }
}

/** Returns the address with its password, as `readEgressAddress` reads it; one text for each address. */
export function egressText(address: EgressAddress): string {
  return writeAddress(address, ({ password }) => encodeURIComponent(password));
}

/** Returns the address as operators see it: with `***` for the password. */
export function shownEgress(address: EgressAddress): string {
  return writeAddress(address, () => '***');
}

type Credentials = NonNullable<EgressAddress['credentials']>;

function writeAddress(
  { kind, host, port, credentials }: EgressAddress,
  password: (credentials: Credentials) => string,
): string {
  const credentialsPart =
    credentials === null ? '' : `${encodeURIComponent(credentials.user)}:${password(credentials)}@`;
  return `${kind}://${credentialsPart}${host}:${port}`;
}
