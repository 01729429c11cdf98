#!lua flags=allow-oom
-- Lengthens a lease that is still valid. Never makes one: otherwise a paused process could go on after its lease ended
-- (runtime/README.md, How one writer is ensured).
--
-- KEYS[1]: `{runtime}:lease:<node id>`
-- ARGV[1]: incarnation, ARGV[2]: lease in milliseconds
-- Reply: 1 lengthened, 0 the lease has ended or is another incarnation's
-- Errors: READONLY, MISCONF and the like: nothing was changed.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
