import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceListHash } from '../../../../actors/sessions/worker-thread/sending/post-devices.ts';

test('the hash of a list of devices is that of other clients', () => {
  // The values are those of oxidezap/whatsapp-rust, wacore/src/messages.rs (phash_crosscheck_vectors).
  assert.equal(deviceListHash(['5511999999999:3@s.whatsapp.net']), '2:5s+YxCff');
  assert.equal(deviceListHash(['5511999999999@s.whatsapp.net']), '2:RJWVxcMQ');
  const both = ['7469250125917:21@s.whatsapp.net', '5511988887777:14@s.whatsapp.net'];
  assert.equal(deviceListHash(both), '2:AAv/hwhn');
  assert.equal(deviceListHash([...both.toReversed(), ...both]), '2:AAv/hwhn');
});
