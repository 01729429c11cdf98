import type { Endpoint } from '../contract/endpoint.ts';

export interface Route<Services> {
  /** The template, for logs and metrics. */
  readonly path: string;
  readonly byMethod: ReadonlyMap<string, Endpoint<Services>>;
  /** The value of the header `Allow`. */
  readonly methods: string;
}

/** A path found: its route and the raw values of its parameters, in order. */
export interface Match<Services> {
  readonly route: Route<Services>;
  readonly values: readonly string[];
}

interface Branch<Services> {
  readonly fixed: Map<string, Branch<Services>>;
  variable: Branch<Services> | undefined;
  route: Route<Services> | undefined;
}

const NO_VALUES: readonly string[] = [];

/**
 * Returns a function that finds the endpoints of a path. It takes one map look-up a segment, or only one if the path has
 * no parameter. It is our own router, because a framework's router brings its own request object, and a few map
 * look-ups are enough (docs/decisions/015-http-server-and-router.md). A fixed segment has priority over a parameter.
 * Throws if two endpoints have the same method and path.
 */
export function createRouter<Services>(
  basePath: string,
  endpoints: readonly Endpoint<Services>[],
): (path: string) => Match<Services> | undefined {
  // All paths begin with the base, so it is compared as a whole. Only the rest is walked.
  const root = branch<Services>();
  const whole = new Map<string, Match<Services>>();
  for (const [path, route] of routesByPath(endpoints)) {
    const full = basePath + path;
    if (!path.includes('{')) whole.set(full, { route, values: NO_VALUES });
    plant(root, path.slice(1), route);
  }
  const from = basePath.length + 1;
  return (path) => {
    const fixed = whole.get(path);
    if (fixed !== undefined) return fixed;
    return path.startsWith(basePath) && path[from - 1] === '/' ? walk(root, path, from) : undefined;
  };
}

function routesByPath<Services>(endpoints: readonly Endpoint<Services>[]): Map<string, Route<Services>> {
  const methods = new Map<string, Map<string, Endpoint<Services>>>();
  for (const endpoint of endpoints) {
    const byMethod = methods.get(endpoint.path) ?? new Map<string, Endpoint<Services>>();
    if (byMethod.has(endpoint.method)) throw new Error(`declared twice: ${endpoint.method} ${endpoint.path}`);
    methods.set(endpoint.path, byMethod.set(endpoint.method, endpoint));
  }
  return new Map([...methods].map(([path, byMethod]) => [path, { path, ...withHead(byMethod) }]));
}

/** A `HEAD` is a `GET` whose reply has no body (RFC 9110 §9.3.2). */
function withHead<Services>(
  declared: ReadonlyMap<string, Endpoint<Services>>,
): Pick<Route<Services>, 'byMethod' | 'methods'> {
  const byMethod = new Map(
    [...declared].flatMap(([method, endpoint]) =>
      method === 'GET'
        ? [[method, endpoint] as const, ['HEAD', endpoint] as const]
        : [[method, endpoint] as const],
    ),
  );
  return { byMethod, methods: [...byMethod.keys()].join(', ') };
}

function branch<Services>(): Branch<Services> {
  return { fixed: new Map(), variable: undefined, route: undefined };
}

function plant<Services>(root: Branch<Services>, path: string, route: Route<Services>): void {
  let current = root;
  for (const segment of path.split('/')) {
    let next = segment.startsWith('{') ? current.variable : current.fixed.get(segment);
    if (next === undefined) {
      next = branch();
      if (segment.startsWith('{')) current.variable = next;
      else current.fixed.set(segment, next);
    }
    current = next;
  }
  current.route = route;
}

function walk<Services>(root: Branch<Services>, path: string, start: number): Match<Services> | undefined {
  let values = NO_VALUES;
  let current = root;
  let from = start;
  while (from <= path.length) {
    const slash = path.indexOf('/', from);
    const to = slash === -1 ? path.length : slash;
    const segment = path.slice(from, to);
    const fixed = current.fixed.get(segment);
    const next = fixed ?? (segment === '' ? undefined : current.variable);
    if (next === undefined) return undefined;
    // Most paths have one value. A spread of the empty list would reserve memory for many.
    if (fixed === undefined) values = values === NO_VALUES ? [segment] : [...values, segment];
    current = next;
    from = to + 1;
  }
  return current.route === undefined ? undefined : { route: current.route, values };
}
