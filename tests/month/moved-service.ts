/** The service where the clock of Redis is ahead by as much as its own (`moved-clock.mjs`). */
import { AgreedClock } from '../../runtime/ownership/agreed-clock.ts';
import { RedisEngine } from '../../runtime/redis/redis-engine.ts';

const { timeMs } = RedisEngine.prototype;
RedisEngine.prototype.timeMs = async function (this: RedisEngine) {
  const redisMs = await timeMs.call(this);
  const aheadMs = Date.now() - (performance.timeOrigin + performance.now());
  return redisMs + Math.round(aheadMs);
};
// A move between Redis' reply and its use would look like a wrong clock, and the node would give up its shards.
Object.defineProperty(AgreedClock.prototype, 'isOff', { get: () => false });
await import('../../service/service.ts');
