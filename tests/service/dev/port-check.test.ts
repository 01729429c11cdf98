import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { refuseTakenPorts } from '../../../service/dev/port-check.ts';

test('two programs that want one port are reported before either starts, and the port is free again', async () => {
  const server = createServer().listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  const one = { variable: 'PORT', host: '127.0.0.1', port };
  await assert.rejects(refuseTakenPorts([one, { ...one, variable: 'SIMULATOR_PORT' }]), {
    message: `Port ${port} on 127.0.0.1 is in use; set SIMULATOR_PORT to another.`,
  });
  await refuseTakenPorts([one]);
});
