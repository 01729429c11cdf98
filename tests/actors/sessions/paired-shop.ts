import type { TestContext } from 'node:test';
import type { BaileysHostOptions } from '../../../actors/sessions/main-thread/baileys-host-options.ts';
import type { SendOutcome } from '../../../actors/sessions/session-events.ts';
import type { SendOrder, SessionAddress } from '../../../actors/sessions/session-host.ts';
import type { SimulatorOptions } from '../../../simulator/simulator.ts';
import { newShop, pair } from './conformance-network.ts';
import { type SimulatedNetwork, startSimulated } from './simulated-network.ts';

/** A connected shop, and the network that it is on. */
export interface PairedShop extends SimulatedNetwork {
  readonly network: SimulatedNetwork;
  readonly shop: SessionAddress;
  /** Sends an order, and resolves with its outcome. */
  outcomeOf(order: SendOrder): Promise<SendOutcome>;
}

/** Starts a simulator and a host on it. They stop when the test ends, and so does a host that replaces the first. */
export async function simulatedNetwork(
  context: TestContext,
  change?: Partial<BaileysHostOptions>,
  simulation?: Partial<SimulatorOptions>,
): Promise<SimulatedNetwork> {
  const network = await startSimulated(change, simulation);
  context.after(() => network.stop());
  return network;
}

/** Pairs a shop on a simulated network of its own, in generation 2. */
export async function pairedShop(
  context: TestContext,
  change?: Partial<BaileysHostOptions>,
  simulation?: Partial<SimulatorOptions>,
): Promise<PairedShop> {
  const network = await simulatedNetwork(context, change, simulation);
  const shop = newShop();
  await pair(network, shop);
  const outcomeOf = async (order: SendOrder): Promise<SendOutcome> => {
    network.host.order(shop, { type: 'prepare', order });
    return (await network.log.next(shop, 'session.send_outcome')).outcome;
  };
  return { ...network, network, shop, outcomeOf };
}
