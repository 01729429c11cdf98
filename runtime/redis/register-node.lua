#!lua flags=allow-oom
-- Makes an incarnation the only one of its node id and gives it a lease. The incarnation before it has none from
-- here on, so a process that was killed and started again waits for nothing. Also when memory is full, or no node
-- could start that serves what can still be read.
--
-- KEYS[1]: `{runtime}:nodes`, the set of node ids
-- KEYS[2]: `{runtime}:lease:<node id>`, which holds the incarnation and expires with the lease
-- ARGV[1]: node id, ARGV[2]: incarnation, ARGV[3]: lease in milliseconds
-- Reply: 1
-- Errors: READONLY, MISCONF and the like: nothing was changed.

redis.call('SADD', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return 1
