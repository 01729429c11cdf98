/** The service where the clock of Redis is ahead by as much as its own (`moved-clock.ts`). */
import { RedisEngine } from '../../runtime/redis/redis-engine.ts';

const { timeMs } = RedisEngine.prototype;
RedisEngine.prototype.timeMs = async function (this: RedisEngine) {
  const aheadMs = Date.now() - (performance.timeOrigin + performance.now());
  return (await timeMs.call(this)) + Math.round(aheadMs);
};
await import('../../service/service.ts');
