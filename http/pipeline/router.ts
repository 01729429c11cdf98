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
 * Returns a function that finds the endpoints of a path. It takes one map look-up a segment, or only one if the path
 * has no parameter. It is our own router, because a framework's router brings its own request object, and a few map
 * look-ups are enough (docs/decisions/015-http-server-and-router.md). A fixed segment has priority over a parameter.
 * Throws if two endpoints have the same method and path.
 */
export function makeRouter<Services>(
  basePath: string,
  endpoints: readonly Endpoint<Services>[],
): (path: string) => Match<Services> | undefined {
  // All paths begin with the base, so it is compared as a whole. Only the rest is walked.
  const root = branch<Services>();
  const wholePaths = new Map<string, Match<Services>>();
  for (const [path, route] of routesByPath(endpoints)) {
    const fullPath = basePath + path;
    if (!path.includes('{')) wholePaths.set(fullPath, { route, values: NO_VALUES });
    plant(root, path.slice(1), route);
  }
  const start = basePath.length + 1;
  return (path) => {
    const fixedMatch = wholePaths.get(path);
    if (fixedMatch !== undefined) return fixedMatch;
    return path.startsWith(basePath) && path[start - 1] === '/' ? walk(root, path, start) : undefined;
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

/** Returns the methods with `HEAD`, which is a `GET` whose reply has no body (RFC 9110 §9.3.2). */
function withHead<Services>(
  declaredMethods: ReadonlyMap<string, Endpoint<Services>>,
): Pick<Route<Services>, 'byMethod' | 'methods'> {
  const byMethod = new Map(
    [...declaredMethods].flatMap(([method, endpoint]) =>
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
  let currentBranch = root;
  for (const segment of path.split('/')) {
    let next = segment.startsWith('{') ? currentBranch.variable : currentBranch.fixed.get(segment);
    if (next === undefined) {
      next = branch();
      if (segment.startsWith('{')) currentBranch.variable = next;
      else currentBranch.fixed.set(segment, next);
    }
    currentBranch = next;
  }
  currentBranch.route = route;
}

function walk<Services>(root: Branch<Services>, path: string, start: number): Match<Services> | undefined {
  let values = NO_VALUES;
  let currentBranch = root;
  let segmentStart = start;
  while (segmentStart <= path.length) {
    const slash = path.indexOf('/', segmentStart);
    const end = slash === -1 ? path.length : slash;
    const segment = path.slice(segmentStart, end);
    const fixedMatch = currentBranch.fixed.get(segment);
    const next = fixedMatch ?? (segment === '' ? undefined : currentBranch.variable);
    if (next === undefined) return undefined;
    // Most paths have one value. A list made by spreading an empty one would reserve memory for more values.
    if (fixedMatch === undefined) values = values === NO_VALUES ? [segment] : [...values, segment];
    currentBranch = next;
    segmentStart = end + 1;
  }
  return currentBranch.route === undefined ? undefined : { route: currentBranch.route, values };
}
