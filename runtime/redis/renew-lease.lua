#!lua flags=allow-oom
-- Extends a lease that is still valid. It never makes one, because a paused process could then continue after its lease
-- has ended (runtime/README.md, How one writer is ensured).
--
-- KEYS[1]: `{runtime}:lease:<node id>`
-- ARGV: the incarnation, the lease in milliseconds
-- Reply: 1: it was extended. 0: it has ended, or belongs to another incarnation.
-- Errors: READONLY, MISCONF and the like: nothing was changed.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
