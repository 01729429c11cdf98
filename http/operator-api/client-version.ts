import * as v from 'valibot';
import { done } from '../../actors/failure.ts';
import { closedObject } from '../contract/closed-object.ts';
import { operatorEndpoint } from './services.ts';

const versions = v.strictObject({ version: v.nullable(v.string()), pageVersion: v.nullable(v.string()) });
const example = { version: '2.3000.1035194821', pageVersion: null };

export const readClientVersion = operatorEndpoint({
  name: 'readClientVersion',
  method: 'GET',
  path: '/client-version',
  role: 'read',
  tag: 'Fleet',
  summary: 'The client version that sessions report',
  description:
    "`version` is the operators' setting, and overrides `MSGAPP_CLIENT_VERSION`. `pageVersion` is the latest version on the network's page. It is used if `MSGAPP_CLIENT_VERSION` is `latest`.",
  replies: { 200: { description: 'Both versions.', data: versions, example } },
  async handle({ services }) {
    return done(await services.ownNode.clientVersion());
  },
});

export const changeClientVersion = operatorEndpoint({
  name: 'changeClientVersion',
  method: 'PATCH',
  path: '/client-version',
  role: 'operate',
  tag: 'Fleet',
  summary: 'Set the client version that sessions report, without a restart',
  description:
    'Use it if the network refuses the present version (405). All nodes follow within a minute. New sessions use it. Open sessions do not change. `null` removes the setting.',
  body: closedObject({
    version: v.nullable(
      v.pipe(
        v.string(),
        v.regex(
          /^\d{1,9}\.\d{1,9}\.\d{1,10}$/,
          'must be three numbers with dots between them, as in 2.3000.1035194821, or null',
        ),
      ),
    ),
  }),
  bodyExample: { version: '2.3000.1035194821' },
  replies: { 200: { description: 'Both versions, as they are now.', data: versions, example } },
  async handle({ body, services }) {
    return done(await services.ownNode.setClientVersion(body.version));
  },
});
