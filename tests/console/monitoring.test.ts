/** The dashboard and the alert rules speak of metrics that a node really has. `promtool check rules` reads the rules by hand. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { type ServiceStack, startServiceStack } from '../e2e/service-stack.ts';
import { connectShop, sendText, untilEnded } from '../e2e/shop-steps.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../../http/monitoring/${name}`, import.meta.url), 'utf8');

const dashboard = v.parse(
  v.object({
    uid: v.string(),
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

/** The rules one by one, as far as the lines of this file's form tell. */
const rules = read('alert-rules.yaml')
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((block) => {
    const line = (name: string): string => new RegExp(`^ +${name}: (.+)$`, 'm').exec(block)?.[1] ?? '';
    return {
      name: block.slice(0, block.indexOf('\n')),
      expr: line('expr'),
      severity: /severity: (\w+)/.exec(block)?.[1],
      summary: line('summary'),
      runbook: line('runbook'),
    };
  });

/** Names of metrics in an expression: words that are no function, label, keyword or number. */
function metricsIn(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/by \([^)]*\)/g, '');
  return [...bare.matchAll(/\b[a-z_:][\w:]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => name.includes('_'));
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

/** Labels that an expression picks by, and no series of the metric has: with the value where it picks a certain one. */
function strangersIn(expr: string): string[] {
  const picks = [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, name = '', inner = '']) =>
    [...inner.matchAll(/(\w+)(=~|!=|!~|=)"([^"]*)"/g)].map(([, label = '', how, value = '']) => ({
      name,
      label,
      wanted: how === '=' || how === '=~' ? value.split('|') : [],
    })),
  );
  return picks
    .filter(({ name }) => name !== 'up')
    .flatMap(({ name, label, wanted }) => {
      const values = new Set(series.filter((one) => one.name === name).map(({ labels }) => labels[label]));
      if (values.size === 0 || values.has(undefined)) return [`${name}{${label}}`];
      return wanted.filter((value) => !values.has(value)).map((value) => `${name}{${label}="${value}"}`);
    });
}

/** Labels that an expression sums by, and none of its metrics has. */
function lostIn(expr: string): string[] {
  const names = new Set(metricsIn(expr));
  const known = new Set(
    series.filter(({ name }) => names.has(name)).flatMap(({ labels }) => Object.keys(labels)),
  );
  const summedBy = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '));
  return summedBy.filter((label) => label !== 'instance' && !known.has(label));
}

let stack: ServiceStack;
let text: string;
let series: readonly Series[];
let exposed: ReadonlySet<string>;
before(async () => {
  stack = await startServiceStack();
  await connectShop(stack, stack.shopId, '+33611110001');
  const sent = await sendText(stack, stack.shopId, { to: '+33622220001', text: 'Hello' });
  await untilEnded(stack, String(sent.data.id));
  await stack.admin.post(`/actors/${stack.tenantId}/${stack.shopId}/pause`, {});
  await stack.api.get('/shops/nobody-knows-this-shop');
  const answer = await fetch(`${stack.adminUrl()}/metrics`, {
    headers: { authorization: `Bearer ${stack.adminToken}` },
  });
  text = await answer.text();
  series = seriesIn(text);
  // A counter with labels has no value before the first thing is counted, but it has its type.
  exposed = new Set([...text.matchAll(/^(?:# TYPE )?([a-z_]\w*)[{ ]/gm)].map(([, name]) => name ?? ''));
  assert.match(text, /^messages_settled_total\{status="sent",reason=""\} 1$/m);
  assert.match(text, /^http_refusals_total\{code="SHOP_NOT_FOUND"\} 1$/m);
  assert.match(text, /^queue_pauses_total\{cause="operator"\} 1$/m);
});
after(() => stack?.stop());

test('every panel asks for metrics that a node exposes', () => {
  const exprs = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  assert.ok(exprs.length > 30);
  for (const expr of exprs) {
    const known = metricsIn(expr.replaceAll('$__rate_interval', '5m'));
    assert.deepEqual(
      known.filter((name) => !exposed.has(name)),
      [],
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

test('every alert asks for metrics that a node exposes, and says what to do', () => {
  assert.ok(rules.length >= 15);
  assert.equal(new Set(rules.map(({ name }) => name)).size, rules.length);
  for (const { name, expr, severity, summary, runbook } of rules) {
    const known = metricsIn(expr);
    assert.ok(known.length > 0 || expr.startsWith('up{'), name);
    assert.deepEqual(
      known.filter((metric) => !exposed.has(metric)),
      [],
      name,
    );
    assert.deepEqual([...strangersIn(expr), ...lostIn(expr)], [], name);
    assert.ok(severity === 'page' || severity === 'warn', name);
    assert.ok(summary.length > 20 && runbook.length > 40, `${name} needs a summary and a runbook line`);
  }
});

test('what a node exposes is named and shaped as Prometheus wants it', () => {
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
  }));
  const own = types.filter(({ name }) => !/^(nodejs|process)_/.test(name));
  assert.ok(own.length > 30);
  const names = new Set(series.map(({ name }) => name));
  for (const { name, type } of own) {
    assert.match(text, new RegExp(`^# HELP ${name} \\S`, 'm'));
    assert.equal(name.endsWith('_total'), type === 'counter', name);
    assert.doesNotMatch(name, /_(ms|milliseconds|bucket|sum|count)$/);
    if (type !== 'histogram') continue;
    for (const part of ['bucket', 'sum', 'count']) assert.ok(names.has(`${name}_${part}`), `${name}_${part}`);
  }
});
