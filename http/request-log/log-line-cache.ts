/** Caller, operation and status: the parts of a request that repeat from call to call. */
export interface RequestKind {
  readonly tenantId: string | undefined;
  readonly keyId: string | undefined;
  readonly method: string;
  /** The template; `unmatched` where no route was found. */
  readonly route: string;
  readonly status: number;
}

/** A kind as the two logs write it, up to the latency. */
export interface LogLineParts {
  /** Within the log line of a process. */
  readonly line: string;
  /** Within an entry of the request log. */
  readonly packed: string;
}

interface KnownWords extends LogLineParts, RequestKind {}

/** How many kinds are remembered, about 500 bytes each. */
const REMEMBERED_KINDS = 20_000;

/**
 * Caches the parts of a log line for each kind of request. To build a line from all its parts each time costs the hot
 * path more than all its look-ups.
 */
export function logLineCache(): (kind: RequestKind) => LogLineParts {
  const byCaller = new Map<string, KnownWords[]>();
  let remembered = 0;

  return (kind) => {
    const { tenantId, keyId, method, route, status } = kind;
    // A key belongs to one tenant, so either id says who it is.
    const caller = keyId ?? tenantId ?? '';
    const known = byCaller.get(caller);
    for (const words of known ?? []) {
      if (words.route === route && words.status === status && words.method === method) return words;
    }
    if (remembered >= REMEMBERED_KINDS) {
      byCaller.clear();
      remembered = 0;
    }
    const words = {
      tenantId,
      keyId,
      method,
      route,
      status,
      line: lineWords(kind),
      packed: packedWords(kind),
    };
    const all = byCaller.get(caller);
    if (all === undefined) byCaller.set(caller, [words]);
    else all.push(words);
    remembered += 1;
    return words;
  };
}

// Joined: a text put together of pieces stays in pieces, and every line of its kind is copied from all of them.
function lineWords({ tenantId, keyId, method, route, status }: RequestKind): string {
  const tenant = tenantId === undefined ? '' : `"tenantId":"${tenantId}",`;
  const key = keyId === undefined ? '' : `"keyId":"${keyId}",`;
  return [
    `",${tenant}${key}"method":"`,
    method,
    '","route":"',
    route,
    '","status":',
    status,
    ',"latencyMs":',
  ].join('');
}

function packedWords({ keyId = '', method, route, status }: RequestKind): string {
  return ['","', keyId, '","', method, '","', route, '",', status, ','].join('');
}
