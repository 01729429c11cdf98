import { after, before } from 'node:test';
import { filledLater } from '../testbed/filled-later.ts';
import { type RealService, startRealService } from './real-service.ts';
import { type FixtureOptions, type ServiceFixture, startService, targetOf } from './service-fixture.ts';
import type { Target } from './target.ts';

/**
 * Starts a service before the tests of a file or suite, and stops it after them. Both objects are empty until then.
 * `prepare` runs once they are filled. Another `before` hook may run earlier: those of a file begin together.
 */
export function sharedService(
  options: FixtureOptions = {},
  prepare: () => unknown = () => undefined,
): { service: ServiceFixture; target: Target } {
  const service = filledLater<ServiceFixture>('the service');
  const target = filledLater<Target>('the target');
  before(async () => {
    service.fill(await startService(options));
    target.fill(await targetOf(service.value));
    await prepare();
  });
  after(async () => {
    target.filled?.close();
    await service.filled?.stop();
  });
  return { service: service.value, target: target.value };
}

/** Starts a service with the tools to call it, as `sharedService` does. */
export function sharedRealService(prepare: () => unknown = () => undefined): RealService {
  const service = filledLater<RealService>('the service');
  before(async () => {
    service.fill(await startRealService());
    await prepare();
  });
  after(() => service.filled?.stop());
  return service.value;
}
