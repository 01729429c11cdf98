import { after, before } from 'node:test';
import { filledLater } from '../../testbed/filled-later.ts';
import { type Fleet, type FleetOptions, startFleet } from './fleet.ts';

/** Starts a fleet before the tests of a file, and stops it after them. `prepare` runs once the fleet is filled. */
export function sharedFleet(options: FleetOptions, prepare: () => unknown = () => undefined): Fleet {
  const fleet = filledLater<Fleet>('the fleet');
  before(async () => {
    fleet.fill(await startFleet(options));
    await prepare();
  });
  after(() => fleet.filled?.stop());
  return fleet.value;
}
