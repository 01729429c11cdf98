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

let stack: ServiceStack;
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
  const text = await answer.text();
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
    assert.ok(severity === 'page' || severity === 'warn', name);
    assert.ok(summary.length > 20 && runbook.length > 40, `${name} needs a summary and a runbook line`);
  }
});
