#!lua
-- Commits one batch: a section a shard, each applied whole or not at all.
--
-- The first line matters: with it Redis checks memory (maxmemory), role (read-only replica) and persistence
-- (MISCONF) before the script starts and refuses it whole, instead of failing in the middle of it.
--
-- KEYS, a section: the shard's record `{sN}:owner`, then the key of each write, in order.
-- ARGV: how many sections; then a section: expected record, next record, how many writes, how many ARGV these
--   take; then a write: command, how many arguments, the arguments after the key.
-- Reply: an entry a section: 1, committed; a string, the record that was there instead ('' for none), nothing
--   was applied; a list of strings `index message`, committed but for these writes (a wrong type: broken invariant).
-- Errors: OOM, READONLY, MISCONF, NOSCRIPT, CLUSTERDOWN and the like: nothing was applied.

local outcomes = {}
local argument = 2
local key = 1
for section = 1, tonumber(ARGV[1]) do
  local record = KEYS[key]
  local writes = tonumber(ARGV[argument + 2])
  local actual = redis.call('GET', record)
  if actual ~= ARGV[argument] then
    outcomes[section] = actual or ''
    argument = argument + 4 + tonumber(ARGV[argument + 3])
    key = key + 1 + writes
  else
    redis.call('SET', record, ARGV[argument + 1])
    argument = argument + 4
    key = key + 1
    local failures = nil
    for write = 1, writes do
      local last = argument + 1 + tonumber(ARGV[argument + 1])
      local reply = redis.pcall(ARGV[argument], KEYS[key], unpack(ARGV, argument + 2, last))
      if type(reply) == 'table' and reply.err then
        failures = failures or {}
        failures[#failures + 1] = (write - 1) .. ' ' .. reply.err
      end
      argument = last + 1
      key = key + 1
    end
    outcomes[section] = failures or 1
  end
end
return outcomes
