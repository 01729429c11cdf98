/**
 * The dashboard, the rules and docs/metrics.md name only metrics that a node has, and docs/metrics.md names all of
 * them. `npm run test:alerts` evaluates the rules.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { type MemoryStack, startMemoryStack } from '../e2e/stack/memory-stack.ts';
import { sentText, untilConnected } from '../e2e/stack/shop-steps.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

const read = (name: string): string => readRepositoryFile(`deploy/monitoring/${name}`);

const dashboard = v.parse(
  v.object({
    uid: v.string(),
    templating: v.object({
      list: v.array(
        v.object({ name: v.string(), query: v.union([v.string(), v.object({ query: v.string() })]) }),
      ),
    }),
    panels: v.array(
      v.object({
        id: v.number(),
        type: v.picklist(['row', 'timeseries', 'stat']),
        title: v.string(),
        gridPos: v.object({ h: v.number(), w: v.number(), x: v.number(), y: v.number() }),
        targets: v.optional(
          v.array(v.object({ expr: v.string(), legendFormat: v.string(), refId: v.string() })),
          [],
        ),
      }),
    ),
  }),
  JSON.parse(read('grafana-dashboard.json')),
);

/** Returns the rules that begin with this word, one by one. It relies on the form of this file's lines. */
const rulesOf = (kind: 'alert' | 'record') =>
  read('alert-rules.yaml')
    .split(/^ {6}- (?=alert: |record: )/m)
    .filter((block) => block.startsWith(`${kind}: `))
    .map((text) => {
      const block = text.slice(kind.length + 2);
      const line = (name: string): string => new RegExp(`^ +${name}: (.+)$`, 'm').exec(block)?.[1] ?? '';
      return {
        name: block.slice(0, block.indexOf('\n')),
        expr: line('expr'),
        severity: /severity: (\w+)/.exec(block)?.[1],
        summary: line('summary'),
        runbook: line('runbook'),
      };
    });

const rules = rulesOf('alert');
const records = rulesOf('record');
/** Ratios that rules keep for other rules. */
const recorded: ReadonlySet<string> = new Set(records.map(({ name }) => name));

/** Returns the names of metrics in an expression: the words that are no function, label, keyword or number. */
function metricsIn(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/by \([^)]*\)/g, '')
    .replaceAll('$__rate_interval', '5m');
  return [...bare.matchAll(/\b[a-z_:][\w:]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => name.includes('_') && !recorded.has(name));
}

/** One line of `/metrics`. */
interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

function seriesIn(text: string): Series[] {
  return [...text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', labels = '']) => ({
    name,
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
    ),
  }));
}

/**
 * Returns the labels that an expression selects series by, if no series of the metric has the label or the value. With
 * `=` and `=~` the label has the value that is missing.
 */
function strangersIn(expr: string): string[] {
  const picks = [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, name = '', inner = '']) =>
    [...inner.matchAll(/(\w+)(=~|!=|!~|=)"([^"]*)"/g)].map(([, label = '', how, value = '']) => ({
      name,
      label,
      wanted: how === '=' || how === '=~' ? value.split('|') : [],
    })),
  );
  return picks
    .filter(({ name, label }) => name !== 'up' && !SCRAPED.has(label))
    .flatMap(({ name, label, wanted }) => {
      const values = new Set(
        series.filter((series) => series.name === name).map(({ labels }) => labels[label]),
      );
      if (values.size === 0 || values.has(undefined)) return [`${name}{${label}}`];
      return wanted.filter((value) => !values.has(value)).map((value) => `${name}{${label}="${value}"}`);
    });
}

/** Returns the labels that an expression sums by, if none of its metrics has them. */
function lostIn(expr: string): string[] {
  const names = new Set(metricsIn(expr));
  const known = new Set(
    series.filter(({ name }) => names.has(name)).flatMap(({ labels }) => Object.keys(labels)),
  );
  const summedBy = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '));
  return summedBy.filter((label) => !SCRAPED.has(label) && !known.has(label));
}

/** Labels that Prometheus adds to what it scrapes. */
const SCRAPED: ReadonlySet<string> = new Set(['job', 'instance']);

/** Returns the metrics and labels of an expression that no node has. */
function unknownIn(expr: string): string[] {
  return [...metricsIn(expr).filter((name) => !exposed.has(name)), ...strangersIn(expr), ...lostIn(expr)];
}

/** Labels of metrics that have a series only while libuv has a request, or after a garbage collection. */
const LABELS_AT_TIMES: ReadonlyMap<string, string> = new Map([
  ['nodejs_active_requests', 'type'],
  ['nodejs_gc_duration_seconds', 'kind'],
]);

/** Returns the names of a metric's labels in their order, or `no series` if the metric has none and is not known. */
function labelsOf(name: string, type: string | undefined): string {
  const sample = type === 'histogram' ? `${name}_count` : name;
  const first = series.find((one) => one.name === sample);
  if (first === undefined) return LABELS_AT_TIMES.get(name) ?? 'no series';
  return Object.keys(first.labels).join(', ');
}

let stack: MemoryStack;
let text: string;
let series: readonly Series[];
let exposed: ReadonlySet<string>;

before(async () => {
  stack = await startMemoryStack({ paired: true });
  const { api, admin, adminToken, tenantId, shopId } = stack;
  await api.post(`/shops/${shopId}/channels/msgapp/connect`);
  await untilConnected(stack, shopId);
  await sentText(stack, shopId, { to: '+33622220001', text: 'Hello' });
  await admin.post(`/actors/${tenantId}/${shopId}/pause`, {});
  await api.get('/shops/nobody-knows-this-shop');
  const reply = await fetch(new URL('/metrics', stack.adminUrl()), {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  text = await reply.text();
  series = seriesIn(text);
  // A counter with labels has no value before the first thing is counted, but it has its type.
  exposed = new Set([...text.matchAll(/^(?:# TYPE )?([a-z_]\w*)[{ ]/gm)].map(([, name]) => name ?? ''));
  assert.match(text, /^msgapi_messages_settled_total\{status="sent",reason=""\} 1$/m);
  assert.match(text, /^msgapi_http_refusals_total\{code="SHOP_NOT_FOUND"\} 1$/m);
  assert.match(text, /^msgapi_build_info\{version="\d+\.\d+\.\d+",revision="unknown"\} 1$/m);
  assert.match(text, /^msgapi_queue_pauses_total\{cause="operator"\} 1$/m);
});
after(() => stack?.stop());

test('every panel asks for metrics that a node exposes', () => {
  const exprs = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  assert.ok(exprs.length > 30);
  for (const expr of exprs) {
    assert.deepEqual(
      metricsIn(expr).filter((name) => !exposed.has(name)),
      [],
      expr,
    );
    for (const [, inner = ''] of expr.matchAll(/\{([^}]*)\}/g))
      assert.ok(inner.startsWith('job=~"$job",instance=~"$instance"'), `${expr} asks for every job's nodes`);
    assert.equal(
      expr.match(/\{/g)?.length,
      metricsIn(`${expr} up_`.replaceAll(/\bup\{/g, 'up_{')).length - 1,
      expr,
    );
    assert.deepEqual([...strangersIn(expr), ...lostIn(expr)], [], expr);
  }
});

test('panels have ids of their own and do not lie on each other', () => {
  const { panels } = dashboard;
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const one of panels) {
    assert.ok(one.gridPos.x + one.gridPos.w <= 24);
    for (const other of panels) {
      if (one === other) continue;
      const apart =
        one.gridPos.x + one.gridPos.w <= other.gridPos.x ||
        other.gridPos.x + other.gridPos.w <= one.gridPos.x ||
        one.gridPos.y + one.gridPos.h <= other.gridPos.y ||
        other.gridPos.y + other.gridPos.h <= one.gridPos.y;
      assert.ok(apart, `${one.title} lies on ${other.title}`);
    }
  }
});

test('the dashboard lets one choose among the jobs and instances of nodes', () => {
  assert.deepEqual(
    dashboard.templating.list.map(({ name, query }) => [
      name,
      typeof query === 'string' ? query : query.query,
    ]),
    [
      ['datasource', 'prometheus'],
      ['job', 'label_values(msgapi_build_info, job)'],
      ['instance', 'label_values(msgapi_build_info{job=~"$job"}, instance)'],
    ],
  );
});

test('every alert asks for metrics that a node exposes, and names the action', () => {
  assert.ok(rules.length >= 15);
  assert.equal(new Set(rules.map(({ name }) => name)).size, rules.length);
  for (const { name, expr, severity, summary, runbook } of rules) {
    const known = metricsIn(expr);
    assert.ok(
      known.length > 0 || expr.startsWith('up{') || [...recorded].some((one) => expr.includes(one)),
      name,
    );
    assert.deepEqual(unknownIn(expr), [], name);
    assert.ok(severity === 'page' || severity === 'warn', name);
    assert.ok(summary.length > 20 && runbook.length > 40, `${name} needs a summary and a runbook line`);
  }
});

test('every ratio that is kept is of metrics that a node exposes, and is used', () => {
  assert.ok(records.length > 5);
  for (const { name, expr } of records) {
    assert.ok(metricsIn(expr).length >= 2, name);
    assert.deepEqual(unknownIn(expr), [], name);
    assert.ok(
      rules.some((rule) => rule.expr.includes(name)),
      `${name} is used nowhere`,
    );
  }
});

test('docs/metrics.md lists every metric of a node with its type, labels and help, and no other', () => {
  const page = readRepositoryFile('docs/metrics.md');
  const listed = [
    ...page.matchAll(/^- `((?:msgapi|nodejs|process)_\w+)` \((\w+)(?:; (.*?))?\): (.*)$/gm),
  ].map(([, name, type, labels = '', help]) => ({ name, type, labels: labels.replaceAll('`', ''), help }));
  const own = [...text.matchAll(/^# HELP (\w+) (.+)\n# TYPE \w+ (\w+)$/gm)].map(
    ([, name = '', help, type]) => ({
      name,
      type,
      labels: labelsOf(name, type),
      help,
    }),
  );
  assert.ok(own.length > 70);
  const rows = (metrics: readonly object[]) =>
    new Set(metrics.map((metric) => Object.values(metric).join(' | ')));
  const [onPage, atNode] = [rows(listed), rows(own)];
  assert.deepEqual(
    {
      missing: [...atNode].filter((row) => !onPage.has(row)),
      stale: [...onPage].filter((row) => !atNode.has(row)),
    },
    { missing: [], stale: [] },
  );
  assert.equal(listed.length, own.length);
  const names = listed.map(({ name = '' }) => name);
  assert.deepEqual(names, names.toSorted(), 'the rows are sorted by name');
});

test('compose.yaml mounts files that are there, and Prometheus scrapes under the job that the rules ask for', () => {
  const compose = readRepositoryFile('compose.yaml');
  const mounted = [...compose.matchAll(/^ +- (\.\/[^:]+):/gm)].map(([, path = '']) => path);
  assert.ok(mounted.length >= 7);
  for (const path of mounted) assert.ok(existsSync(join(root, path)), path);
  const [, job = ''] = /job_name: (\S+)/.exec(read('prometheus.yaml')) ?? [];
  assert.match(read('alert-rules.yaml'), new RegExp(`up\\{job="${job}"\\}`));
});

test('the metrics of a node are named and shaped as Prometheus wants it', () => {
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
  }));
  const own = types.filter(({ name }) => !/^(nodejs|process)_/.test(name));
  assert.ok(own.length > 30);
  const names = new Set(series.map(({ name }) => name));
  for (const { name, type } of own) {
    assert.match(text, new RegExp(`^# HELP ${name} \\S`, 'm'));
    assert.match(name, /^msgapi_/, 'one prefix tells our own metrics from those of other programs');
    assert.equal(name.endsWith('_total'), type === 'counter', name);
    assert.doesNotMatch(name, /_(ms|milliseconds|bucket|sum|count)$/);
    if (type !== 'histogram') continue;
    for (const part of ['bucket', 'sum', 'count']) assert.ok(names.has(`${name}_${part}`), `${name}_${part}`);
  }
});
