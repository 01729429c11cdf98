#!lua flags=allow-oom
-- Makes an incarnation the only one of its node id and gives it a lease. The incarnation before it loses its lease, so
-- a restarted process need not wait. It also runs when memory is full. Otherwise no node could start to serve reads.
--
-- The registration of a killed process may arrive after that of its successor. It has a lower ticket, so it changes
-- nothing.
--
-- KEYS[1]: `{runtime}:nodes`, the set of node ids
-- KEYS[2]: `{runtime}:lease:<node id>`, which holds the incarnation and expires with the lease
-- KEYS[3]: `{runtime}:ticket:<node id>`, the highest ticket that registered, kept for a day
-- ARGV: the node id, the incarnation, the lease in milliseconds, the ticket
-- Reply: 1: it is registered. 0: a process with a later ticket is registered.
-- Errors: READONLY, MISCONF and the like, and arguments of another form: nothing was changed.

-- Returns a whole number that both Redis and Lua can represent, or nil.
local function whole(text)
  return text and #text <= 15 and tonumber(string.match(text, '^%d+$')) or nil
end

local leaseMs, ticket = whole(ARGV[3]), whole(ARGV[4])
if #KEYS ~= 3 or not ticket or not leaseMs or leaseMs == 0 then
  return redis.error_reply('ERR the arguments are no registration')
end

if ticket < tonumber(redis.call('GET', KEYS[3]) or '0') then return 0 end
redis.call('SET', KEYS[3], ARGV[4], 'PX', 86400000)
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2], 'PX', leaseMs)
return 1
