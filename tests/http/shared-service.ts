import { after, before } from 'node:test';
import { type RealService, startRealService } from './real-service.ts';
import { type FixtureOptions, type ServiceFixture, startService, targetOf } from './service-fixture.ts';
import type { Target } from './target.ts';

/**
 * Starts a service before the tests of a file or suite, and stops it after them. Both objects are empty until then.
 * `prepare` runs once they are not. In another `before` they might be: those of a file begin together.
 */
export function sharedService(
  options: FixtureOptions = {},
  prepare: () => unknown = () => undefined,
): { service: ServiceFixture; target: Target } {
  const [service, target] = [{} as ServiceFixture, {} as Partial<Target> as Target];
  before(async () => {
    Object.assign(service, await startService(options));
    Object.assign(target, await targetOf(service));
    await prepare();
  });
  after(async () => {
    target.close?.();
    await service.stop?.();
  });
  return { service, target };
}

/** Starts a service with the tools to call it, as `sharedService` does. */
export function sharedRealService(prepare: () => unknown = () => undefined): RealService {
  const service = {} as RealService;
  before(async () => {
    Object.assign(service, await startRealService());
    await prepare();
  });
  after(() => service.stop?.());
  return service;
}
