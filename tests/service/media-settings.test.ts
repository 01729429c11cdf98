import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EnvironmentError, serviceEnvironment, type Variables } from '../../service/environment.ts';

const read = (variables: Variables) =>
  serviceEnvironment({
    ADMIN_TOKEN: 'operators-only-operators-only',
    REDIS_URL: 'redis://127.0.0.1:6379',
    CREDENTIALS_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...variables,
  }).media;

test('ranges that are never asked and name servers are read', () => {
  const media = read({
    MEDIA_DENIED_RANGES: '203.0.114.0/24, 2600::1',
    MEDIA_NAME_SERVERS: '10.0.0.2, 127.0.0.1:5353, [::1]:5353',
  });
  assert.deepEqual(media, {
    deniedRanges: ['203.0.114.0/24', '2600::1'],
    nameServers: ['10.0.0.2', '127.0.0.1:5353', '[::1]:5353'],
  });
});

test('an invalid range or name server is refused with its name', () => {
  const problems = (variables: Variables): readonly string[] => {
    try {
      read(variables);
    } catch (error) {
      if (error instanceof EnvironmentError) return error.problems;
    }
    return [];
  };
  const [range, server] = problems({ MEDIA_DENIED_RANGES: '10.0.0.0/33', MEDIA_NAME_SERVERS: 'dns.local' });
  assert.match(range ?? '', /^MEDIA_DENIED_RANGES: expected IP addresses or CIDR ranges/);
  assert.match(server ?? '', /^MEDIA_NAME_SERVERS: expected IP addresses separated by commas/);
});
