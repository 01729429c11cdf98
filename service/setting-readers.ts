/** The readers of each kind of setting from text. A message names the expected value, not the value found. */

import { Resolver } from 'node:dns';
import * as v from 'valibot';
import { isAddressRange } from '../actors/address-range.ts';
import { parseRedisAddress } from '../runtime/redis-address.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Returns the reader of a TCP port. 0 lets the system pick one, which tests use. */
export const port = (standard: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,5}$/, 'a port from 0 to 65535; 0 lets the system pick'),
      v.transform(Number),
      v.maxValue(65_535, 'a port from 0 to 65535; 0 lets the system pick'),
    ),
    standard,
  );

/** The least and the greatest whole number that is accepted. */
interface Bounds {
  /** Default: 1. */
  readonly least?: number;
  readonly most: number;
}

/** Returns the reader of a whole number. */
export const wholeNumber = ({ least = 1, most }: Bounds) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, `a whole number from ${least} to ${most}`),
    v.transform(Number),
    v.minValue(least, `a whole number from ${least} to ${most}`),
    v.maxValue(most, `a whole number from ${least} to ${most}`),
  );

/** Returns the reader of a whole number with a default. */
export const count = (standard: string, bounds: Bounds) => v.optional(wholeNumber(bounds), standard);

/** The address to listen on. Loopback by default, so that nothing is exposed by accident. */
export const host = v.optional(
  v.pipe(v.string(), v.regex(/^[a-zA-Z0-9.:_-]{1,253}$/, 'a host name or an IP address to listen on')),
  '127.0.0.1',
);

/** The address of the chat network. */
export const webSocketUrl = v.pipe(
  v.string(),
  v.check((text) => /^wss?:$/.test(parseUrl(text)?.protocol ?? ''), 'a ws:// or wss:// URL'),
);

const TRACE_SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;

/** A sampler of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/. */
export const traceSampler = v.optional(
  v.picklist(
    [...TRACE_SAMPLERS, ...TRACE_SAMPLERS.map((name) => `parentbased_${name}` as const)],
    `one of ${TRACE_SAMPLERS.join(', ')}, each also as parentbased_…`,
  ),
  'parentbased_always_on',
);

/** A share from 0 to 1. */
export const traceShare = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/, 'a number from 0 to 1'),
    v.transform(Number),
  ),
  '1',
);

/** The public address of the API, without a slash at its end. */
export const publicUrl = v.pipe(
  v.string(),
  v.check((text) => /^https?:$/.test(parseUrl(text)?.protocol ?? ''), 'an http:// or https:// URL'),
  v.transform((text) => text.replace(/\/+$/, '')),
);

/** The page on which a person finishes the setup of a shop (docs/contract.md, Shop). */
export const setupUrlTemplate = v.optional(
  v.pipe(
    v.string(),
    v.check(
      (text) => text.includes('{shopId}') && !/\{(?!PUBLIC_URL\}|shopId\})/.test(text),
      'a URL with {shopId} in it; {PUBLIC_URL} is the only other name it may hold',
    ),
  ),
  '{PUBLIC_URL}/shops/{shopId}/edit',
);

/** The random pause between two sends of a shop, in milliseconds. */
export const gap = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^\d{1,7}-\d{1,7}$/, 'two numbers of milliseconds, as in 6000-20000'),
    v.transform((text) => {
      const [minMs = 0, maxMs = 0] = text.split('-').map(Number);
      return { minMs, maxMs };
    }),
    v.check(({ minMs, maxMs }) => minMs <= maxMs, 'the shorter gap first, as in 6000-20000'),
  ),
  '6000-20000',
);

/** Keys for credentials at rest: the first seals, all of them open, so that keys can be rotated. */
export const credentialsKeys = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((key) => decodeKey(key.trim()))),
  v.check(
    (keys) => keys.every((key) => key !== undefined),
    '32 bytes in base64 (openssl rand -base64 32); several, separated by commas, while keys rotate',
  ),
  v.transform((keys) => keys.filter((key) => key !== undefined)),
);

/** The root of a simulated network's certificates. */
export const noiseRootKey = v.pipe(
  v.string(),
  v.transform(decodeKey),
  v.check((key) => key !== undefined, '32 bytes in base64 or hex, as GET /root-key of the simulator tells'),
);

/** The version that the chat client reports, or `latest`: the one that the network's page names. */
export const clientVersion = v.pipe(
  v.string(),
  v.regex(
    /^(?:latest|\d{1,9}\.\d{1,9}\.\d{1,10})$/,
    'latest, or three numbers with dots between them, as in 2.3000.1035194821',
  ),
  v.transform((text): readonly [number, number, number] | 'latest' => {
    if (text === 'latest') return text;
    const [major = 0, minor = 0, patch = 0] = text.split('.').map(Number);
    return [major, minor, patch];
  }),
);

/** The address of Redis, as the runtime reads it. */
export const redisUrl = v.pipe(
  v.string(),
  v.check(
    (text) => succeeds(() => parseRedisAddress(text)),
    'redis://, rediss://, unix:///path or the path of a socket; redis:// URLs separated by commas for a cluster',
  ),
);

/** IP addresses and CIDR ranges. */
export const addressRanges = v.pipe(
  v.string(),
  v.transform((text): readonly string[] => text.split(',').map((part) => part.trim())),
  v.check((parts) => parts.every(isAddressRange), 'IP addresses or CIDR ranges separated by commas'),
);

/** Name servers by their addresses. */
export const nameServers = v.pipe(
  v.string(),
  v.transform((text): readonly string[] => text.split(',').map((part) => part.trim())),
  v.check(
    (parts) => succeeds(() => new Resolver().setServers(parts)),
    'IP addresses separated by commas, each with a port where it is not 53',
  ),
);

/** One of the levels pino knows. */
export const logLevel = v.optional(v.picklist(LOG_LEVELS, `one of ${LOG_LEVELS.join(', ')}`), 'info');

/** The id of a node. */
export const nodeId = v.pipe(
  v.string(),
  v.regex(/^[\w.-]{1,64}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
);

/** Any text that fits on a line. */
export const lineOfText = v.pipe(
  v.string(),
  v.regex(/^[^\p{Cc}]{1,200}$/u, 'one line of at most 200 characters'),
);

/** Returns the URL, or undefined if the text is none. */
function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function decodeKey(text: string): Buffer | undefined {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  const isWhole = /^[0-9a-f]{64}$/i.test(text) || /^[A-Za-z0-9+/_-]{43}=?$/.test(text);
  return isWhole && key.length === 32 ? key : undefined;
}

function succeeds(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}
