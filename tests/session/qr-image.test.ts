import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startQrImages } from '../../actors/sessions/main-thread/qr-image.ts';

test('a code is drawn as a PNG data URL, the same one once', async () => {
  const images = startQrImages();
  try {
    const first = images.render('https://wa.me/settings/linked_devices#2@abc');
    assert.equal(images.render('https://wa.me/settings/linked_devices#2@abc'), first);
    const url = await first;
    assert.ok(url.startsWith('data:image/png;base64,'));
    const png = Buffer.from(url.slice('data:image/png;base64,'.length), 'base64');
    assert.deepEqual([...png.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    assert.notEqual(await images.render('another'), url);
  } finally {
    await images.close();
  }
});
