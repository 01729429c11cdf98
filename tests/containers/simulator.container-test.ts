/** The simulator's image: a client outside of the container is linked, sends, and sends an attachment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GenericContainer, Wait } from 'testcontainers';
import { png } from '../actors/sessions/attachments/media-samples.ts';
import { linkedClient, trusting } from '../simulator/test-client.ts';
import { simulatorControl } from '../testbed/simulator-control.ts';
import { eventually } from '../testbed/waiting.ts';
import { freePort } from './free-port.ts';

const PHONE = '+33611110001';
const CUSTOMER = '33622220001@s.whatsapp.net';

test('a client of this machine uses the simulator in its container, attachments included', async () => {
  const [port, mediaPort] = [await freePort(), await freePort()];
  const container = await new GenericContainer('tenant-messaging-simulator')
    .withEnvironment({ SIMULATOR_PORT: String(port), SIMULATOR_MEDIA_PORT: String(mediaPort) })
    .withExposedPorts({ container: port, host: port }, { container: mediaPort, host: mediaPort })
    .withWaitStrategy(Wait.forLogMessage('"ready":true'))
    .start();
  try {
    const url = `http://127.0.0.1:${port}`;
    const control = simulatorControl(url);
    const { data } = (await (await fetch(`${url}/root-key`)).json()) as { data: { noiseRootKey: string } };
    const simulator = {
      url,
      port,
      noiseRootKey: data.noiseRootKey,
      chatUrl: `ws://127.0.0.1:${port}/ws/chat`,
      close: () => Promise.resolve(),
    };
    const fetchAgent = trusting(await control.mediaCa());
    const client = await linkedClient(simulator, (qr) => control.scan(qr, PHONE), { fetchAgent });
    await client.socket.sendMessage(CUSTOMER, { text: 'Your bread is ready' });
    await client.socket.sendMessage(CUSTOMER, { image: png(60, 40), caption: 'The bread' });
    // The client resolves as soon as the stanza is in its socket.
    const readInbox = () => control.inbox('+33622220001');
    await eventually(async () => (await readInbox()).items.length === 2, 10_000);
    const { items } = await readInbox();
    assert.deepEqual(
      items.map(({ text, mediaType }) => [text, mediaType]),
      [
        ['Your bread is ready', null],
        ['The bread', 'image'],
      ],
    );
    await client.end();
  } finally {
    await container.stop();
  }
});
