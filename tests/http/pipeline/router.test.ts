import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_BASE_PATH } from '../../../actors/base-path.ts';
import { makeRouter } from '../../../http/pipeline/router.ts';
import { API_ENDPOINTS } from '../../../http/tenant-api/endpoints.ts';

const router = makeRouter(API_BASE_PATH, API_ENDPOINTS);

test('a path leads to its route, with the raw values of its parameters', () => {
  const foundMatch = router('/api/v1/shops/Caf%C3%A9/messages');
  assert.equal(foundMatch?.route.path, '/shops/{idOrName}/messages');
  assert.deepEqual(foundMatch?.values, ['Caf%C3%A9']);
  assert.equal(router('/api/v1/me')?.route.path, '/me');
});

test('a path that differs in any way matches no endpoint', () => {
  const wrong = [
    '',
    '/',
    '/api/v1',
    '/api/v1/',
    '/api/v1me',
    '/api/v1xshops/a/messages',
    '/api/v2/shops/a/messages',
    '/shops/a/messages',
    '/api/v1/me/',
    '/api/v1//shops/a/messages',
    '/api/v1/shops//messages',
    '/api/v1/shops/a/messages/',
    '/api/v1/shops/a/nothing',
    'x/api/v1/shops/a/messages',
  ];
  for (const path of wrong) assert.equal(router(path), undefined, path);
});
