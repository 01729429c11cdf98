#!lua flags=allow-oom
-- Gives a shard to an owner with the next epoch: it claims, takes over or releases the shard. It also settles an
-- unknown outcome. Then the owner stays and the epoch rises, so a write that is still in flight on a dead connection is
-- refused. It also runs when memory is full. It needs about 100 bytes a shard, and no shard could change its owner
-- otherwise.
--
-- KEYS[1]: the shard's record `{sN}:owner`, `owner epoch revision wallMs`
-- ARGV[1]: the epoch that the record must have, 0 if it was never claimed
-- ARGV[2]: the new owner's incarnation, `-` for none
-- Reply: { 1, the new record }, or { 0, the present record, '' for none }: nothing was changed
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
