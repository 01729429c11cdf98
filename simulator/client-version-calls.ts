import { FieldReader } from './control-input.ts';
import type { ControlReply, ControlRequest, ControlRoute } from './control-server.ts';
import type { Network } from './network.ts';

/** The largest number of a version. */
const LARGEST = 9_999_999_999;

/** The control calls that raise the gate and say what the page names. */
export function clientVersionRoutes(network: Network): ControlRoute[] {
  const path = '/client-versions';
  return [
    { method: 'GET', path, handle: () => ({ data: network.versions.shown() }) },
    { method: 'PUT', path, handle: (request) => setVersions(network, request) },
  ];
}

/** The clients that are connected are cut, so that they meet the gate. */
function setVersions({ versions, connections, companions }: Network, { body }: ControlRequest): ControlReply {
  const fields = new FieldReader(body);
  const least = fields.whole('least', { least: 0, most: LARGEST });
  const newest = fields.whole('newest', { least: 0, most: LARGEST });
  fields.check();
  versions.set({ least, newest });
  for (const connection of connections.ofAll(companions.all())) connection.drop();
  return { data: versions.shown() };
}
