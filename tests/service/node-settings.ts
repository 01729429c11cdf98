import { randomBytes } from 'node:crypto';
import { freePorts } from '../testbed/free-ports.ts';

/** Returns the settings of one node with new secrets. Both of its listeners have free ports on this machine. */
export async function nodeSettings(own: {
  readonly nodeId: string;
  readonly redisUrl: string;
  readonly dataDir: string;
}) {
  const [port, adminPort] = await freePorts(2);
  return {
    ADMIN_TOKEN: randomBytes(24).toString('base64url'),
    REDIS_URL: own.redisUrl,
    DATA_DIR: own.dataDir,
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: String(adminPort),
    NODE_ID: own.nodeId,
  };
}
