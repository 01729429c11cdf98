import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from 'qrcode';
import sharp from 'sharp';
import { startQrImages } from '../../../../actors/sessions/main-thread/qr-image.ts';
import { descriptorLimit } from '../../../testbed/descriptor-limit.ts';
import { QuietLog } from '../../../testbed/quiet-log.ts';

test('a code is drawn as a PNG data URL, the same one once', async (context) => {
  const images = startQrImages({ log: new QuietLog() });
  context.after(() => images.close());
  const first = images.render('https://wa.me/settings/linked_devices#2@abc');
  assert.equal(images.render('https://wa.me/settings/linked_devices#2@abc'), first);
  const url = await first;
  assert.ok(url.startsWith('data:image/png;base64,'));
  const png = Buffer.from(url.slice('data:image/png;base64,'.length), 'base64');
  assert.deepEqual([...png.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  assert.notEqual(await images.render('another'), url);
});

test('the picture shows each module of the code, and a white margin around them', async (context) => {
  const images = startQrImages({ log: new QuietLog() });
  context.after(() => images.close());
  const text = `https://wa.me/settings/linked_devices#2@${'x'.repeat(180)}`;
  const png = Buffer.from((await images.render(text)).replace(/^.*,/, ''), 'base64');
  const { data, info } = await sharp(png).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
  assert.deepEqual([info.width, info.height, info.channels], [320, 320, 1]);
  const { size, data: modulesOfCode } = create(text, { errorCorrectionLevel: 'M' }).modules;
  const isDark = (row: number, column: number): boolean =>
    Math.min(row, column) >= 0 && Math.max(row, column) < size && modulesOfCode[row * size + column] === 1;
  const modules = size + 4;
  const middle = (index: number): number => Math.floor(((index + 0.5) * 320) / modules);
  const places = Array.from({ length: modules }, (_, index) => index);
  for (const row of places) {
    const shown = places.map((column) => data[middle(row) * 320 + middle(column)] === 0);
    const expected = places.map((column) => isDark(row - 2, column - 2));
    assert.deepEqual(shown, expected);
  }
});

test('many codes at once make Node print no warning', async (context) => {
  const images = startQrImages({ log: new QuietLog() });
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  context.after(async () => {
    process.off('warning', onWarning);
    await images.close();
  });
  await Promise.all(Array.from({ length: 20 }, (_, index) => images.render(`code ${index}`)));
  assert.deepEqual(warnings, []);
});

test('a code that no thread can draw is refused, and the next call draws it', async (context) => {
  const log = new QuietLog();
  const images = startQrImages({ log });
  const limit = await descriptorLimit(process.pid);
  context.after(async () => {
    await limit.close();
    await images.close();
  });
  await limit.leave(1);
  const refused = { code: 'NODE_BUSY', retryAfterSeconds: 2 };
  await Promise.all(['one', 'two'].map((text) => assert.rejects(images.render(text), refused)));
  assert.deepEqual(log.errors, Array(2).fill('a QR code could not be drawn'));
  await limit.restore();
  assert.match(await images.render('one'), /^data:image/);
});
