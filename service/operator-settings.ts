import * as v from 'valibot';
import { isLoopbackUrl } from '../actors/outbound/loopback-url.ts';
import { OPERATOR_ROLES, type OperatorToken } from '../http/contract/operator-role.ts';
import { host } from './setting-readers.ts';

/** 16 random characters of the 94 printable ones are more than 100 bits. */
const LONG_TOKEN = /^[\x21-\x7e]{16,512}$/;

const adminToken = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{8,512}$/, 'at least 8 printable ASCII characters without a space'),
);

const metricsToken = v.pipe(
  v.string(),
  v.regex(LONG_TOKEN, 'at least 16 printable ASCII characters without a space'),
);

/** `ada:admin:…,ben:read:…`. A token holds no comma. */
const namedTokens = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map(parseNamedToken)),
  v.check(
    (tokens) => tokens.every((token) => token !== undefined),
    `name:role:token, several separated by commas; a role is ${OPERATOR_ROLES.join(', ')}, a token at least 16 printable ASCII characters`,
  ),
  v.transform((tokens) => tokens.filter((token) => token !== undefined)),
);

/**
 * The tokens of the operators' listener: `ADMIN_TOKEN`, `ADMIN_TOKENS`, `METRICS_TOKEN`. `ADMIN_TOKEN` may be as short
 * as 8 characters if the listener is on this machine alone. Otherwise every token has at least 16.
 */
export const operatorsSchema = v.pipe(
  v.object({
    ADMIN_HOST: host,
    ADMIN_TOKEN: v.optional(adminToken),
    ADMIN_TOKENS: v.optional(namedTokens),
    METRICS_TOKEN: v.optional(metricsToken),
  }),
  v.forward(
    v.partialCheck(
      [['ADMIN_HOST'], ['ADMIN_TOKEN']],
      ({ ADMIN_HOST, ADMIN_TOKEN }) =>
        ADMIN_TOKEN === undefined || LONG_TOKEN.test(ADMIN_TOKEN) || isLoopbackHost(ADMIN_HOST),
      'at least 16 characters, unless ADMIN_HOST is an address of this machine alone',
    ),
    ['ADMIN_TOKEN'],
  ),
  v.forward(
    v.partialCheck(
      [['ADMIN_TOKEN'], ['ADMIN_TOKENS'], ['METRICS_TOKEN']],
      (text) => areDistinct(operatorTokens(text)),
      'a name and a token of its own for each; ADMIN_TOKEN has the name admin, METRICS_TOKEN the name metrics',
    ),
    ['ADMIN_TOKENS'],
  ),
);

/** Like `operatorsSchema`, with at least one admin: the service makes no token by itself, unlike `bin/dev`. */
export const requiredOperatorsSchema = v.pipe(
  operatorsSchema,
  v.forward(
    v.partialCheck(
      [['ADMIN_TOKEN'], ['ADMIN_TOKENS']],
      (text) => operatorTokens(text).some(({ role }) => role === 'admin'),
      'at least 8 printable ASCII characters without a space, or an admin among ADMIN_TOKENS',
    ),
    ['ADMIN_TOKEN'],
  ),
);

/** Returns the tokens of all operators, and of the program that reads the metrics. */
export function operatorTokens(settings: {
  readonly ADMIN_TOKEN?: string | undefined;
  readonly ADMIN_TOKENS?: readonly OperatorToken[] | undefined;
  readonly METRICS_TOKEN?: string | undefined;
}): readonly OperatorToken[] {
  const { ADMIN_TOKEN, ADMIN_TOKENS = [], METRICS_TOKEN } = settings;
  return [
    ...(ADMIN_TOKEN === undefined ? [] : [{ name: 'admin', role: 'admin', token: ADMIN_TOKEN } as const]),
    ...ADMIN_TOKENS,
    ...(METRICS_TOKEN === undefined
      ? []
      : [{ name: 'metrics', role: 'metrics', token: METRICS_TOKEN } as const]),
  ];
}

function parseNamedToken(text: string): OperatorToken | undefined {
  const [, name, givenRole, token] = /^([\w.@-]{1,64}):(\w+):(.*)$/.exec(text.trim()) ?? [];
  const role = OPERATOR_ROLES.find((knownRole) => knownRole === givenRole);
  if (name === undefined || role === undefined || token === undefined) return undefined;
  return LONG_TOKEN.test(token) ? { name, role, token } : undefined;
}

function areDistinct(tokens: readonly OperatorToken[]): boolean {
  const names = new Set(tokens.map(({ name }) => name));
  const values = new Set(tokens.map(({ token }) => token));
  return names.size === tokens.length && values.size === tokens.length;
}

/** True if the host is this machine. Also true for an invalid host, which is reported as a problem of `ADMIN_HOST`. */
function isLoopbackHost(name: string): boolean {
  const url = `http://${name.includes(':') ? `[${name}]` : name}`;
  return !URL.canParse(url) || isLoopbackUrl(url);
}
