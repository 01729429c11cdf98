import * as v from 'valibot';

const MOST_CHARACTERS = 2048;

const PORT = '(?:6553[0-5]|655[0-2]\\d|65[0-4]\\d{2}|6[0-4]\\d{3}|[0-5]?\\d{0,4})';
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`;
const IPV6 = '\\[[0-9A-Fa-f:.]{2,45}\\]';
/** A name whose last label begins with no digit; with one, `URL` would read the name as an IPv4 address. */
const NAME = '(?:[A-Za-z0-9_-]+\\.)*[A-Za-z_-][A-Za-z0-9_-]*\\.?';
/** Characters of a path, a query or a fragment (RFC 3986, section 3.3 to 3.5). */
const PART = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*";

/**
 * The form of an http or https URI (RFC 3986) without user and password, because our fetches never send those. The API
 * document publishes the pattern, so it uses no lookahead.
 */
const HTTP_URI = new RegExp(
  `^[Hh][Tt][Tt][Pp][Ss]?://(?:${IPV4}|${IPV6}|${NAME})(?::${PORT})?(?:[/?]${PART})?(?:#${PART})?$`,
);

/** The address of an attachment: at http or https, at most 2048 characters. */
export const mediaUri = v.pipe(
  v.string(),
  v.check(
    // The parser knows more than the pattern: the valid IPv6 addresses and `xn--` labels.
    (value) => value.length <= MOST_CHARACTERS && HTTP_URI.test(value) && URL.canParse(value),
    'must be an absolute URI at http or https of at most 2048 characters',
  ),
  v.description(
    'An http or https address without user and password. Percent-encode everything except visible ASCII. An IPv6 address must be valid, and so must a label that begins with `xn--`.',
  ),
  v.metadata({
    format: 'uri',
    pattern: HTTP_URI.source,
    maxLength: MOST_CHARACTERS,
    examples: ['https://example.com/menu.jpg'],
  }),
);
