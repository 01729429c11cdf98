import { devEnvironment } from '../environment.ts';
import { type Addresses, bringUp } from './dev-stack.ts';
import { runProcessGroup } from './run-process-group.ts';

/**
 * Returns the text that the container of compose.try.yaml prints once everything runs, for new users of the product.
 */
function welcome({ api, admin, simulator, apiKey, adminToken }: Addresses): string {
  return [
    'Everything is up, with a demo tenant and its shop.',
    `Articles and reference: ${new URL('/docs', api)}`,
    `Operators' console: ${admin} (token ${adminToken})`,
    `Simulated phones: ${simulator}`,
    `Key of the demo tenant: ${apiKey}`,
    'The tour connects the shop, sends a message and reads what the phone got. In another terminal:',
    'docker exec tenant-messaging-try tour',
  ].join('\n');
}

await runProcessGroup({
  name: 'The try-out',
  bringUp: (group) => bringUp(devEnvironment(), group),
  print: welcome,
});
