#!lua flags=allow-oom
-- Makes an incarnation the only one of its node id and gives it a lease. The incarnation before it loses its lease, so
-- a restarted process need not wait. It runs when memory is full too; otherwise no node could start to serve reads.
--
-- A killed process's registration may arrive after its successor's. It took a lower ticket, so it changes nothing.
--
-- KEYS[1]: `{runtime}:nodes`, the set of node ids
-- KEYS[2]: `{runtime}:lease:<node id>`, which holds the incarnation and expires with the lease
-- KEYS[3]: `{runtime}:ticket:<node id>`, the highest ticket that registered, kept for a day
-- ARGV[1]: node id, ARGV[2]: incarnation, ARGV[3]: lease in milliseconds, ARGV[4]: the ticket
-- Reply: 1, or 0: a process registered that took its ticket later
-- Errors: READONLY, MISCONF and the like, and arguments of another form: nothing was changed.

-- A whole number that Redis and Lua both take; nil for anything else.
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
