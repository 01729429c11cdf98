/** The answers of the simulator that docs/tour-in-shell.md prints. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { Fixture } from './fixture.ts';

/** Returns JSON with null instead of each text, number and boolean. */
function formOf(json: string): unknown {
  return JSON.parse(json, (_name, value) => (value instanceof Object ? value : null));
}

test('the printed answers of the tour in shell have the fields of real ones', async (context) => {
  const { fixture, client } = await Fixture.linked(context, '+33611110001');
  const sentMessage = await client.socket.sendMessage('33622220001@s.whatsapp.net', { text: 'Bread' });
  await client.ack(sentMessage?.key.id ?? '');
  // The answer of `/scan` has no line end, so another one follows in its line.
  const [scan = '', , , inbox = ''] = readRepositoryFile('docs/tour-in-shell.md')
    .replaceAll('}{', '}\n{')
    .split('\n')
    .filter((line) => line.startsWith('{"success":true'));
  const [companion] = (await fixture.control.sessions()).items;
  const data = await fixture.control.inbox('+33622220001');
  assert.deepEqual(
    [formOf(scan), formOf(inbox)],
    [
      { success: true, data: companion },
      { success: true, data },
    ].map((answer) => formOf(JSON.stringify(answer))),
  );
});
