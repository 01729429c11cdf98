/** The examples of the articles end if a wait leads nowhere. They run unchanged against a server that reports this. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { listening } from '../../testbed/listening.ts';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';

const COMMANDS = {
  sh: ['bash', '-c'],
  js: [process.execPath, '--input-type=module', '-e'],
  python: ['python3', '-c'],
};
type Language = keyof typeof COMMANDS;

let server: Server;
before(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '';
    const isSend = path.endsWith('/messages');
    const connection = { status: request.method === 'POST' ? 'starting' : 'disconnected', pollAfterMs: 1 };
    const data = path.endsWith('/connect') ? connection : { id: 'shop' };
    const error = { code: 'DAILY_CAP_REACHED', message: 'no', retryAfter: 86_400 };
    const headers = { 'content-type': 'application/json', ...(isSend ? { 'retry-after': '86400' } : {}) };
    request.resume().on('end', () => {
      response.writeHead(isSend ? 429 : 200, headers);
      response.end(JSON.stringify(isSend ? { success: false, error } : { success: true, data }));
    });
  });
  await listening(server);
});
after(() => server.close());

/** The first examples of an article in a language. */
function examples(article: string, language: Language, count: number): string[] {
  const markdown = readRepositoryFile(`http/articles/texts/${article}.md`);
  const fences = markdown.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...fences].slice(0, count).map(([, text = '']) => text);
}

/** Runs a program. Returns its output, and whether it failed by itself. */
async function run(language: Language, program: readonly string[]) {
  const [command = '', ...flags] = COMMANDS[language];
  const API = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const text = [...(language === 'sh' ? ['set -euo pipefail'] : []), ...program].join('\n');
  return await new Promise<{ failed: boolean; inTime: boolean; said: string }>((resolve) => {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', API, KEY: 'key', SHOP: 'shop' };
    execFile(command, [...flags, text], { env, timeout: 20_000 }, (error, stdout, stderr) => {
      resolve({ failed: error !== null, inTime: error?.killed !== true, said: stdout + stderr });
    });
  });
}

for (const language of Object.keys(COMMANDS) as Language[]) {
  test(`in ${language} a connection that came to nothing ends the program`, async () => {
    const { failed, inTime, said } = await run(language, examples('10-getting-started', language, 4));
    assert.deepEqual([inTime, failed], [true, true], said);
  });

  test(`in ${language} a wait of a day is given up, not slept`, async () => {
    const [call = ''] = examples('10-getting-started', language, 1);
    const { inTime, said } = await run(language, [call, ...examples('40-errors-and-retries', language, 1)]);
    assert.ok(inTime, said);
    assert.match(said, /DAILY_CAP_REACHED/);
  });
}
