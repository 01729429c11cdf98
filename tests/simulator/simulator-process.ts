/** Runs a simulator until it is killed. Arguments: data directory and port. Prints where it is, as a line of JSON. */

import { startSimulator } from '../../simulator/simulator.ts';

const [dataDir = '', port = '0'] = process.argv.slice(2);
const { url, chatUrl, noiseRootKey, port: chosen } = await startSimulator({ dataDir, port: Number(port) });
process.stdout.write(`${JSON.stringify({ url, chatUrl, noiseRootKey, port: chosen })}\n`);
