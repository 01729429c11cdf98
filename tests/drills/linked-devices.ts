import type { SimulatorControl } from '../testbed/simulator-control.ts';

/** Returns the linked device of each number, and since when it is linked. */
export async function linkedDevices(network: SimulatorControl): Promise<ReadonlyMap<string, string>> {
  const { items } = await network.sessions({ limit: 100 });
  return new Map(items.map(({ phone, id, linkedAt }) => [phone, `${id} ${linkedAt}`]));
}
