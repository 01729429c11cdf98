#!lua flags=allow-oom
-- Gives a shard to an owner with the next epoch. It claims, takes over and releases. It also settles an unknown outcome:
-- the owner stays and the epoch rises, so that a write still under way on a dead connection is refused.
-- It runs when memory is full too: about 100 bytes a shard, without which no shard could change its owner.
--
-- KEYS[1]: the shard's record `{sN}:owner`, `owner epoch revision wallMs`
-- ARGV[1]: the epoch it must have, 0 when it was never claimed
-- ARGV[2]: the new owner's incarnation, `-` for none
-- Reply: { 1, new record } or { 0, the record that is there, '' for none }
-- Errors: READONLY, MISCONF and the like: nothing was changed.

local actual = redis.call('GET', KEYS[1]) or ''
local epoch, rest = '0', '0 0'
if actual ~= '' then
  epoch, rest = string.match(actual, '^%S+ (%d+) (%d+ %d+)$')
end
if epoch ~= ARGV[1] then
  return { 0, actual }
end
local changed = ARGV[2] .. ' ' .. string.format('%d', tonumber(epoch) + 1) .. ' ' .. rest
redis.call('SET', KEYS[1], changed)
return { 1, changed }
