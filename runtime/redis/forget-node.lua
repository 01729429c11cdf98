#!lua flags=allow-oom
-- Forgets a node that resigns, or one whose lease has ended.
--
-- KEYS[1]: `{runtime}:nodes`
-- KEYS[2]: `{runtime}:lease:<node id>`
-- ARGV[1]: node id
-- ARGV[2]: the incarnation that resigns, or '' to forget the node only if its lease has ended
-- Reply: 1: it was forgotten. 0: another incarnation has the lease, or it was forgotten before.
-- Errors: READONLY, MISCONF and the like, and arguments of another form: nothing was changed.

if #KEYS ~= 2 or #ARGV ~= 2 then return redis.error_reply('ERR the arguments name no node') end

local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[2] then
  return 0
end
redis.call('DEL', KEYS[2])
return redis.call('SREM', KEYS[1], ARGV[1])
