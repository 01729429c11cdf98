#!lua flags=allow-oom
-- Stores that an operator begins a change, and removes entries beyond the log's bounds. It runs on a full Redis too: the
-- log is bounded, and an operator must be able to make the change that frees memory.
-- KEYS[1] order, a sorted set of ids with equal scores   KEYS[2] entries by id   KEYS[3] outcomes by id
-- KEYS[4] marks of what was erased
-- ARGV[1] end of the id   ARGV[2] entry   ARGV[3] entry with marks instead of ids   ARGV[4] most entries kept
-- ARGV[5] longest age in ms   ARGV[6...] marks of what the entry names
-- Reply: the id
-- Errors: arguments of another form: nothing was written.
-- A whole number that Redis and Lua both take; nil for anything else.
local function whole(text)
  return text and #text <= 15 and tonumber(string.match(text, '^%d+$')) or nil
end

local most, ageMs = whole(ARGV[4]), whole(ARGV[5])
if #KEYS ~= 4 or not most or not ageMs then return redis.error_reply('ERR the arguments are no change') end
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local id = string.format('%013d-%s', nowMs, ARGV[1])
local entry = ARGV[2]
for index = 6, #ARGV do
  if redis.call('ZSCORE', KEYS[4], ARGV[index]) then entry = ARGV[3] end
end
redis.call('ZADD', KEYS[1], 0, id)
redis.call('HSET', KEYS[2], id, entry)
local oldestKept = string.format('(%013d', nowMs - ageMs)
-- One entry is added a call, so giving up at most eight keeps every call short and still catches up.
local gone = redis.call('ZRANGEBYLEX', KEYS[1], '-', oldestKept, 'LIMIT', 0, 8)
if #gone == 0 and redis.call('ZCARD', KEYS[1]) > most then
  gone = redis.call('ZRANGE', KEYS[1], 0, 7)
end
for _, each in ipairs(gone) do
  redis.call('ZREM', KEYS[1], each)
  redis.call('HDEL', KEYS[2], each)
  redis.call('HDEL', KEYS[3], each)
end
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', nowMs - ageMs)
for index = 1, 4 do redis.call('PEXPIRE', KEYS[index], ageMs) end
return id
