import { after, before } from 'node:test';
import { type Fleet, type FleetOptions, startFleet } from './fleet.ts';

/** Starts a fleet before the tests of a file, and stops it after them. It is empty until then; `prepare` runs then. */
export function sharedFleet(options: FleetOptions, prepare: () => unknown = () => undefined): Fleet {
  const fleet = {} as Fleet;
  before(async () => {
    Object.assign(fleet, await startFleet(options));
    await prepare();
  });
  after(() => fleet.stop?.());
  return fleet;
}
