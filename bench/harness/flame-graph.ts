/** The output of `node --cpu-prof`; times in microseconds of the monotonic clock. */
export interface CpuProfile {
  readonly startTime: number;
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The part of a profile that is looked at. */
export interface ProfileWindow {
  readonly fromUs: number;
  readonly toUs: number;
}

const IDLE = new Set(['(idle)', '(root)']);
const WIDTH = 1_600;
const ROW_HEIGHT = 17;
const NARROWEST_PX = 1;

/** Functions by their own share of the time that was not idle, most first. */
export function hottest(
  profile: CpuProfile,
  window: ProfileWindow,
): { readonly name: string; readonly percent: number }[] {
  const own = ownTimesUs(profile, window);
  const byName = new Map<string, number>();
  let totalUs = 0;
  for (const { id, callFrame } of profile.nodes) {
    const timeUs = own.get(id) ?? 0;
    if (IDLE.has(callFrame.functionName)) continue;
    totalUs += timeUs;
    byName.set(nameOf(callFrame), (byName.get(nameOf(callFrame)) ?? 0) + timeUs);
  }
  return [...byName]
    .map(([name, timeUs]) => ({ name, percent: (timeUs * 100) / totalUs }))
    .sort((left, right) => right.percent - left.percent);
}

/** Returns the self times by folder of the repository, library, or part of Node. */
export function byFolder(
  profile: CpuProfile,
  window: ProfileWindow,
): { readonly name: string; readonly percent: number }[] {
  const folders = new Map<string, number>();
  for (const { name, percent } of hottest(profile, window)) {
    const path = name.split(' ')[1] ?? '';
    const library = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
    const folder = library ?? /^(http|actors|policy|runtime|service)\//.exec(path)?.[1];
    const rest = name.startsWith('(garbage') ? 'garbage collection' : path === '' ? 'native code' : 'Node';
    folders.set(folder ?? rest, (folders.get(folder ?? rest) ?? 0) + percent);
  }
  return [...folders]
    .map(([name, percent]) => ({ name, percent }))
    .sort((left, right) => right.percent - left.percent);
}

/** Draws the profile as a flame graph. Width is time, and a caller is below its callees. Hover for names and shares. */
export function flameGraph(profile: CpuProfile, window: ProfileWindow): string {
  const own = ownTimesUs(profile, window);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const total = new Map<number, number>();
  const sum = (id: number): number => {
    const node = nodes.get(id);
    const isIdle = node?.callFrame.functionName === '(idle)';
    const children = (node?.children ?? []).reduce((all, child) => all + sum(child), 0);
    const timeUs = isIdle ? 0 : (own.get(id) ?? 0) + children;
    total.set(id, timeUs);
    return timeUs;
  };
  const root = profile.nodes[0]?.id ?? 0;
  const wholeUs = sum(root);
  const boxes: { x: number; depth: number; width: number; name: string; percent: number }[] = [];
  const place = (id: number, x: number, depth: number): void => {
    const timeUs = total.get(id) ?? 0;
    const width = (timeUs / wholeUs) * WIDTH;
    const node = nodes.get(id);
    if (width < NARROWEST_PX || node === undefined) return;
    boxes.push({ x, depth, width, name: nameOf(node.callFrame), percent: (timeUs * 100) / wholeUs });
    let childX = x;
    for (const child of node.children ?? []) {
      place(child, childX, depth + 1);
      childX += ((total.get(child) ?? 0) / wholeUs) * WIDTH;
    }
  };
  place(root, 0, 0);
  const height = (Math.max(0, ...boxes.map(({ depth }) => depth)) + 1) * ROW_HEIGHT;
  const drawn = boxes.map(({ x, depth, width, name, percent }) => {
    const top = height - (depth + 1) * ROW_HEIGHT;
    const words = escaped(name);
    const label = words.slice(0, Math.floor(width / 7));
    const hue = name.includes('node_modules') ? 210 : name.includes('node:') ? 140 : 30;
    return (
      `<g><title>${words}: ${percent.toFixed(2)} %</title><rect x="${x.toFixed(1)}" y="${top}" ` +
      `width="${width.toFixed(1)}" height="${ROW_HEIGHT - 1}" fill="hsl(${hue} 70% ${60 + (depth % 4) * 5}%)"/>` +
      `<text x="${(x + 2).toFixed(1)}" y="${top + 12}">${label.includes('&') && !label.endsWith(';') ? '' : label}</text></g>`
    );
  });
  const style = '<style>text{font:11px monospace;pointer-events:none}</style>';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}">${style}${drawn.join('')}</svg>\n`;
}

/** Microseconds each node was on top of the stack, in the window. */
function ownTimesUs(profile: CpuProfile, { fromUs, toUs }: ProfileWindow): Map<number, number> {
  const own = new Map<number, number>();
  let atUs = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const deltaUs = profile.timeDeltas[index] ?? 0;
    atUs += deltaUs;
    if (atUs >= fromUs && atUs <= toUs) own.set(id, (own.get(id) ?? 0) + deltaUs);
  }
  return own;
}

function nameOf(frame: CpuProfile['nodes'][number]['callFrame']): string {
  const file = frame.url.replace(/^.*\/bench\/dist\//, '').replace(/^.*\/node_modules\//, 'node_modules/');
  const name = frame.functionName === '' ? '(anonymous)' : frame.functionName;
  return file === '' ? name : `${name} ${file}:${frame.lineNumber + 1}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
