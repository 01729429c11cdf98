import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type RealService, startRealService } from '../../http/real-service.ts';
import { ADMIN_TOKEN } from '../../http/service-fixture.ts';
import type { TestTenant } from '../../http/target.ts';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import type { Draw } from '../draw.ts';
import type { FuzzTarget, OpenTarget } from '../fuzz-target.ts';

/** Server errors that a caller may get: busy, and an unknown version of HTTP. */
const TOLD = ['503', '505'];
/**
 * How long an answer may take before the connection is given up: an unfinished request is not answered. Milliseconds.
 */
const ANSWER_MS = 2_000;
/** Cases before each whole request that must be answered. */
const CASES_BETWEEN_LOOKS = 50;

const HEADS = readRepositoryFile('tests/fuzz/corpus/heads.txt')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.replaceAll('\\r\\n', '\r\n'));

/** Requests as bytes on both listeners: no 500, and whole requests are answered between them. */
export const heads: FuzzTarget = {
  name: 'heads',
  async open() {
    const service = await startRealService();
    const tenant = await service.tenant({ plan: 'scale' });
    const shopId = await service.shop(tenant);
    return openHeads(service, { tenant, shopId });
  },
};

function openHeads(
  service: RealService,
  { tenant, shopId }: { tenant: TestTenant; shopId: string },
): OpenTarget {
  const ports = [service.apiUrl, service.adminUrl].map((url) => Number(new URL(url).port));
  const corpus = HEADS.map((head) =>
    Buffer.from(
      head.replace('KEY', tenant.key).replace('TOKEN', ADMIN_TOKEN).replace('SHOP', shopId),
      'latin1',
    ),
  );
  let cases = 0;
  const look = async (): Promise<void> => {
    const operators = await service.operator('GET', '/tenants?limit=1');
    assert.equal(operators.status, 200, operators.text);
    const caller = await service.api.call('GET', '/shops', { key: tenant.key });
    // The tenant's own requests may have used up its windows, or an operator's have ended it.
    assert.ok([200, 401, 403, 429].includes(caller.status), caller.text);
  };
  return {
    async tryCase(draw, note) {
      const request = draw.isOneIn(5) ? madeUp(draw, tenant.key) : draw.mutated(draw.pick(corpus), corpus);
      note(JSON.stringify(request.toString('latin1')));
      const answer = await exchange({ port: draw.pick(ports), localAddress: addressOf(cases) }, request);
      for (const [, status = ''] of answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm))
        assert.ok(status < '500' || TOLD.includes(status), answer);
      cases += 1;
      if (cases % CASES_BETWEEN_LOOKS === 0) await look();
    },
    async close() {
      try {
        await look();
      } finally {
        await service.stop();
      }
    },
  };
}

/** A request of parts that fit together or do not. */
function madeUp(draw: Draw, key: string): Buffer {
  const text = () =>
    draw.pick(['', 'a', ' ', '%', '%00', '%c3%28', '/', '//', '?', '#', '\t', '\u00e9', 'x'.repeat(9_000)]);
  const method = draw.pick([
    'GET',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'HEAD',
    'TRACE',
    'get',
    'PRI',
    '',
    'GET ',
  ]);
  const path = draw.pick(['/api/v1/', '/admin/v1/', '/', '*', 'http://a/', '/docs/', '/.', '/api/v1/shops/']);
  const names = [
    'host',
    'content-length',
    'transfer-encoding',
    'accept',
    'authorization',
    'expect',
    'upgrade',
  ];
  const values = [
    'a',
    '-1',
    '5',
    '99999999999999999999',
    'chunked',
    'identity, chunked',
    '100-continue',
    `Bearer ${key}`,
  ];
  const fields = Array.from({ length: draw.int(12) }, () => {
    const name = draw.isOneIn(4) ? text() : draw.pick(names);
    return `${name}${draw.pick([':', ': ', ' : ', '='])}${draw.isOneIn(3) ? text() : draw.pick(values)}\r\n`;
  });
  const version = draw.pick(['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 x', '']);
  const head = `${method} ${path}${text()}${text()} ${version}\r\nHost: a\r\n${fields.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), draw.bytes(draw.int(40))]);
}

/** The address of a case's caller. An address that sends 20 wrong tokens is refused, also with the right one. */
function addressOf(number: number): string {
  return `127.1.${(number >> 8) % 256}.${number % 256}`;
}

/** Resolves with the answer to bytes after which the connection is half closed. */
function exchange(
  to: { readonly port: number; readonly localAddress: string },
  bytes: Uint8Array,
): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect({ host: '127.0.0.1', ...to }, () => socket.end(bytes));
    socket.setTimeout(ANSWER_MS, () => socket.destroy());
    socket.on('data', (part: Buffer) => void parts.push(part));
    // A server may close while bytes still come.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(parts).toString('latin1')));
  });
}
